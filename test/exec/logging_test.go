package exec

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// traced runs a verb that must succeed under strace and gives the system calls of the plugin itself, not of its
// delegates: those of the set, as strace prints them, with the paths of descriptors.
func (b *bench) traced(set, verb string, box node.Sandbox, changes ...node.Config) []string {
	GinkgoHelper()
	strace, err := exec.LookPath("strace")
	Expect(err).NotTo(HaveOccurred(), "install the Debian package strace")
	log := filepath.Join(b.Dir, "strace")
	cmd := b.Command(context.Background(), verb, box, b.Config(changes...).String())
	cmd.Path, cmd.Args = strace, []string{"strace", "-f", "-y", "-s", "4096", "-o", log, "-e", "trace=execve,clone,clone3," + set, b.Binary}
	outcome := b.wait(cmd)
	Expect(outcome.Exit).To(Equal(0), outcome.String())
	raw, err := os.ReadFile(log)
	Expect(err).NotTo(HaveOccurred())
	return ofPlugin(strings.Split(strings.TrimSpace(string(raw)), "\n"))
}

// ofPlugin leaves the delegates out: processes other than the first that execute something, and what those start.
func ofPlugin(trace []string) []string {
	started := regexp.MustCompile(`^(\d+) .*clone3?[( ].* = (\d+)$`)
	executed, parent := map[string]bool{}, map[string]string{}
	for _, line := range trace {
		pid, call, _ := strings.Cut(line, " ")
		if strings.HasPrefix(strings.TrimSpace(call), "execve(") {
			executed[pid] = true
		}
		if found := started.FindStringSubmatch(line); found != nil {
			parent[found[2]] = found[1]
		}
	}
	first, _, _ := strings.Cut(trace[0], " ")
	var calls []string
	for _, line := range trace {
		pid, call, _ := strings.Cut(line, " ")
		ancestor := pid
		for ancestor != first && ancestor != "" && !executed[ancestor] {
			ancestor = parent[ancestor]
		}
		if ancestor == first {
			calls = append(calls, strings.TrimSpace(call))
		}
	}
	return calls
}

// ofPath selects the calls with that path as an argument.
func ofPath(path string, calls []string) []string {
	return slices.DeleteFunc(calls, func(call string) bool { return !strings.Contains(call, `"`+path+`"`) })
}

// line is one line of the log (LOG-1).
const line = `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d) \[(error|verbose|debug)\] \S.*$`

// linesOf are the lines of a log, each whole and in the right form.
func linesOf(log string) []string {
	GinkgoHelper()
	if log == "" {
		return nil
	}
	Expect(log).To(HaveSuffix("\n"))
	lines := strings.Split(strings.TrimSuffix(log, "\n"), "\n")
	for _, one := range lines {
		Expect(one).To(MatchRegexp(line))
	}
	return lines
}

func contentOf(path string) string {
	GinkgoHelper()
	raw, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	return string(raw)
}

var _ = Describe("the log (LOG-1)", func() {
	var b *bench
	var box node.Sandbox
	BeforeEach(func() {
		b = newBench()
		b.nad("n1", secondary)
		box = b.pod("web-0", `[{"name":"n1","hints":1}]`)
	})
	failing := func() {
		b.behave("second", script.Rule{Command: "ADD", Error: &script.Error{Code: 7, Msg: "one\ntwo \x1b[31mred"}})
	}

	It("has one line for each event, with time, level, pod, network and interface", func() {
		log := linesOf(b.add(box).Stderr)
		Expect(log).To(ContainElement(HaveSuffix("[verbose] attached pod=blue/web-0 network=blue/n1 interface=net1")))
		Expect(log).To(ContainElement(MatchRegexp(`\[verbose\] warning: annotation k8s\.v1\.cni\.cncf\.io/networks: .*hints.* pod=blue/web-0$`)))
	})

	It("says how each verb ended and how long it took (E142)", func() {
		Expect(linesOf(b.add(box).Stderr)).To(ContainElement(MatchRegexp(`\[verbose\] ADD done pod=blue/web-0 duration=[\d.]+[mµn]?s$`)))
		Expect(linesOf(b.del(box).Stderr)).To(ContainElement(MatchRegexp(`\[verbose\] DEL done pod=blue/web-0 duration=[\d.]+[mµn]?s$`)))
		failing()
		Expect(linesOf(b.run("ADD", box).Stderr)).To(ContainElement(MatchRegexp(`\[error\] ADD failed pod=blue/web-0 error=".*" duration=[\d.]+[mµn]?s$`)))
	})

	It("is written one whole line at a time", func() {
		written := b.traced("write", "ADD", box)
		stderr := slices.DeleteFunc(written, func(call string) bool { return !strings.HasPrefix(call, "write(2<") })
		Expect(stderr).NotTo(BeEmpty())
		for _, call := range stderr {
			Expect(call).To(MatchRegexp(`^write\(2<.*>, "\d{4}-.*\\n", \d+`))
			Expect(strings.Count(call, `\n`)).To(Equal(1), call)
		}
	})

	It("has an error once, on one line, whatever it holds", func() {
		failing()
		log := linesOf(b.run("ADD", box, node.Config{"logLevel": "error"}).Stderr)
		Expect(log).To(HaveLen(1))
		Expect(log[0]).To(And(ContainSubstring("[error] ADD failed"), ContainSubstring("one"), ContainSubstring("two")))
		Expect(log[0]).NotTo(ContainSubstring("\x1b"))
	})

	It("is the same in logFile, and there alone with logToStderr false", func() {
		file := filepath.Join(b.Dir, "log", "multus.log")
		Expect(b.add(box, node.Config{"logFile": file}).Stderr).To(Equal(contentOf(file)))
		before := len(linesOf(contentOf(file)))
		Expect(b.del(box, node.Config{"logFile": file, "logToStderr": false}).Stderr).To(BeEmpty())
		Expect(len(linesOf(contentOf(file)))).To(BeNumerically(">", before), "it is appended to")
	})

	DescribeTable("has what its level lets through, in any letter case",
		func(level any, labels ...string) {
			change := node.Config{"logLevel": level, "unknown": 1}
			log := b.add(box, change).Stderr + b.del(box, change).Stderr
			failing()
			log += b.run("ADD", box, change).Stderr
			found := map[string]bool{}
			for _, one := range linesOf(log) {
				found[strings.Fields(one)[1]] = true
			}
			Expect(slices.Sorted(maps.Keys(found))).To(Equal(labels))
		},
		Entry(nil, "error", "[error]"),
		Entry(nil, "ERROR", "[error]"),
		Entry(nil, "verbose", "[error]", "[verbose]"),
		Entry(nil, "Verbose", "[error]", "[verbose]"),
	)

	DescribeTable("is empty at level panic in normal running, the default",
		func(level any) {
			file := filepath.Join(b.Dir, "multus.log")
			change := node.Config{"logLevel": level, "logFile": file, "unknown": 1}
			Expect(b.add(box, change).Stderr).To(BeEmpty())
			Expect(b.del(box, change).Stderr).To(BeEmpty())
			Expect(file).NotTo(BeAnExistingFile())
		},
		Entry("by name", "panic"),
		Entry("in upper case", "PANIC"),
		Entry("not set", nil),
	)

	DescribeTable("does no harm where its file cannot be written, and never goes to stdout (E128)",
		func(logFile func(dir string) string) {
			clean := b.add(b.pod("clean", "n1")).Stdout
			change := node.Config{"logFile": logFile(b.Dir)}
			outcome := b.add(box, change)
			Expect(b.resultKeys(outcome)).To(HaveLen(len(b.resultKeys(node.Outcome{Stdout: clean}))))
			Expect(linesOf(outcome.Stderr)).NotTo(BeEmpty(), "the other place is not affected")
			b.del(box, change)
		},
		Entry("below a file", func(dir string) string { return dir + "/kubeconfig/x.log" }),
		Entry("a directory", func(dir string) string { return dir }),
		Entry("where nobody can create files", func(string) string { return "/proc/nowhere/x.log" }),
		Entry("a full disk", func(string) string { return "/dev/full" }),
		Entry("a name that is too long", func(dir string) string { return dir + "/" + strings.Repeat("x", 300) }),
		Entry("a FIFO that nobody reads", func(dir string) string {
			fifo := filepath.Join(dir, "fifo")
			Expect(syscall.Mkfifo(fifo, 0o600)).To(Succeed())
			return fifo
		}),
	)

	DescribeTable("does no harm where stderr cannot be written (E128)",
		func(open func() *os.File) {
			stderr := open()
			defer stderr.Close()
			for _, verb := range []string{"ADD", "DEL"} {
				var stdout bytes.Buffer
				cmd := b.Command(context.Background(), verb, box, b.Config().String())
				cmd.Stdout, cmd.Stderr = &stdout, stderr
				Expect(cmd.Run()).To(Succeed(), stdout.String())
			}
			b.expectNoState()
		},
		Entry("full", func() *os.File {
			full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
			Expect(err).NotTo(HaveOccurred())
			return full
		}),
		Entry("closed by its reader", func() *os.File {
			reader, writer, err := os.Pipe()
			Expect(err).NotTo(HaveOccurred())
			Expect(reader.Close()).To(Succeed())
			return writer
		}),
	)

	It("is rotated as logOptions say (E128)", func() {
		dir := b.write("log", map[string]string{"multus.log": strings.Repeat("x", 1<<20), "multus-2020-01-01T00-00-00.000.log": "old"})
		options := object{"maxSize": 1, "compress": false}
		b.add(box, node.Config{"logFile": dir + "/multus.log", "logOptions": options})
		Expect(linesOf(contentOf(dir + "/multus.log"))).NotTo(BeEmpty())
		rotated, err := filepath.Glob(dir + "/multus-*.log")
		Expect(err).NotTo(HaveOccurred())
		Expect(rotated).To(ContainElement(WithTransform(contentOf, HaveLen(1<<20))))
	})
})

var _ = Describe("files (SEC-2)", func() {
	It("are for root alone from the start, whatever the umask (E130)", func() {
		b := newBench()
		b.nad("n1", secondary)
		log := filepath.Join(b.Dir, "log", "multus.log")
		cmd := b.Command(context.Background(), "ADD", b.pod("web-0", "n1"), b.Config(node.Config{"logFile": log}).String())
		cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `umask 000 && exec "$0"`, b.Binary}
		outcome := b.wait(cmd)
		Expect(outcome.Exit).To(Equal(0), outcome.String())

		modes := map[fs.FileMode]int{}
		for _, root := range []string{b.CNIDir, filepath.Dir(log)} {
			Expect(filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
				if err != nil {
					return err
				}
				info, err := entry.Info()
				modes[info.Mode()]++
				Expect(info.Mode()).To(Or(Equal(fs.FileMode(0o600)), Equal(0o700|fs.ModeDir)), path)
				return err
			})).To(Succeed())
		}
		Expect(modes[0o600]).To(BeNumerically(">=", 4), "plan, two results, log")
	})

	It("are written nowhere but below cniDir (E053)", func() {
		b := newBench()
		b.nad("n1", secondary)
		box := b.pod("web-0", "n1")
		changing := regexp.MustCompile(`^(openat\(.*O_(WRONLY|RDWR|CREAT)|creat|mkdir|rename|link|symlink|unlink|rmdir|truncate|chmod|fchmodat|mknod)`)
		path := regexp.MustCompile(`"(/[^"]*)"`)
		for _, verb := range []string{"ADD", "DEL"} {
			below := 0
			for _, call := range b.traced("%file", verb, box) {
				if !changing.MatchString(call) {
					continue
				}
				for _, found := range path.FindAllStringSubmatch(call, -1) {
					Expect(found[1]).To(Or(HavePrefix(b.CNIDir), Equal("/dev/null")), call)
					below++
				}
			}
			Expect(below).To(BeNumerically(">", 3), "it does write")
		}
	})
})
