package exec

import (
	"context"
	"debug/elf"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/types"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
	"github.com/seed-2ba21eab/multus-cni/test/fake/recorder"
)

// secondary is a NAD's configuration for the delegate "second".
const secondary = `{"cniVersion":"1.0.0","type":"second"}`

var _ = Describe("the binary as it is called", func() {
	var b *bench
	BeforeEach(func() { b = newBench() })

	// byHand calls the binary without any CNI variable.
	byHand := func(arguments ...string) node.Outcome {
		GinkgoHelper()
		return b.wait(exec.Command(b.Binary, arguments...))
	}

	It("is static (INV-1)", func() {
		file, err := elf.Open(b.Binary)
		Expect(err).NotTo(HaveOccurred())
		defer file.Close()
		for _, header := range file.Progs {
			Expect(header.Type).NotTo(Equal(elf.PT_INTERP), "it asks for a dynamic linker")
		}
	})

	It("answers VERSION with all versions, and needs no stdin for it (INV-1, INV-2)", func() {
		outcome := b.runText("VERSION", node.Sandbox{}, "")
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		var answer struct {
			CNIVersion        string
			SupportedVersions []string
		}
		Expect(json.Unmarshal([]byte(outcome.Stdout), &answer)).To(Succeed())
		Expect(answer.CNIVersion).To(Equal("1.1.0"))
		Expect(answer.SupportedVersions).To(Equal(versions()))
	})

	DescribeTable("names the variables that are missing, with code 4 (INV-1)",
		func(verb string, missing ...string) {
			cmd := b.Command(context.Background(), verb, b.sandbox(), b.Config(node.Config{"cniVersion": "1.1.0"}).String())
			cmd.Env = slices.DeleteFunc(cmd.Env, func(pair string) bool {
				name, _, _ := strings.Cut(pair, "=")
				return slices.Contains(missing, name)
			})
			outcome := b.wait(cmd)
			Expect(outcome.Exit).To(Equal(1), outcome.String())
			Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
			Expect(outcome.Error().Code).To(BeEquivalentTo(types.ErrInvalidEnvironmentVariables))
			for _, name := range missing {
				Expect(outcome.Error().Msg).To(ContainSubstring(name))
			}
			Expect(b.calls("ADD", "DEL")).To(BeEmpty())
		},
		Entry(nil, "ADD", "CNI_CONTAINERID"),
		Entry(nil, "ADD", "CNI_NETNS"),
		Entry(nil, "ADD", "CNI_IFNAME"),
		Entry(nil, "ADD", "CNI_PATH"),
		Entry(nil, "ADD", "CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME"),
		Entry(nil, "CHECK", "CNI_NETNS"),
		Entry(nil, "DEL", "CNI_CONTAINERID"),
		Entry(nil, "DEL", "CNI_IFNAME"),
		Entry(nil, "GC", "CNI_PATH"),
	)

	DescribeTable("refuses variables that it cannot use, with code 4, and asks nobody (INV-1, SEC-2)",
		func(verb, name, value string) {
			outcome := b.wait(with(b.Command(context.Background(), verb, b.sandbox(), b.Config().String()), name, value))
			Expect(outcome.Exit).To(Equal(1), outcome.String())
			Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
			Expect(outcome.Error().Code).To(BeEquivalentTo(types.ErrInvalidEnvironmentVariables))
			Expect(b.calls("ADD", "DEL")).To(BeEmpty())
			Expect(b.API.Count(fake.Any)).To(BeZero())
			b.expectNoState()
		},
		Entry("a verb that does not exist", "ADD", "CNI_COMMAND", "FROB"),
		Entry("a container ID that is a path", "ADD", "CNI_CONTAINERID", "../../etc"),
		Entry("a container ID that is a path, on DEL", "DEL", "CNI_CONTAINERID", "../../etc"),
		Entry("an interface name that is too long", "ADD", "CNI_IFNAME", "a234567890123456"),
		Entry("an interface name that is a path", "DEL", "CNI_IFNAME", "../eth0"),
		Entry("arguments that are no pairs", "ADD", "CNI_ARGS", "IgnoreUnknown=1;K8S_POD_NAME"),
		Entry("a pod name that is a path", "ADD", "CNI_ARGS", "K8S_POD_NAMESPACE=blue;K8S_POD_NAME=../secrets/s"),
		Entry("a namespace that is a path", "DEL", "CNI_ARGS", "K8S_POD_NAMESPACE=..;K8S_POD_NAME=web-0"),
	)

	DescribeTable("prints version, commit and date in one line (INV-3)",
		func(argument string) {
			outcome := byHand(argument)
			Expect(outcome.Exit).To(Equal(0), outcome.String())
			Expect(outcome.Stdout).To(MatchRegexp(`^multus-cni version:[^ ,]+, commit:[^ ,]+, date:[^ ,]+\n$`))
			Expect(outcome.Stderr).To(BeEmpty())
		},
		Entry(nil, "--version"),
		Entry(nil, "-v"),
	)

	DescribeTable("says what it is, what it is called by, and its options (INV-3)",
		func(argument string) {
			outcome := byHand(argument)
			Expect(outcome.Exit).To(Equal(0), outcome.String())
			Expect(outcome.Stdout).To(And(ContainSubstring("CNI plugin"), ContainSubstring("container runtime"), ContainSubstring("CNI_COMMAND")))
			Expect(outcome.Stdout).To(And(ContainSubstring("--version, -v"), ContainSubstring("--help, -h")))
		},
		Entry(nil, "--help"),
		Entry(nil, "-h"),
	)

	It("refuses an argument that it does not know, and points to the help (INV-3)", func() {
		outcome := byHand("--versoin")
		Expect(outcome.Exit).To(Equal(2), outcome.String())
		Expect(outcome.Stdout).To(BeEmpty())
		Expect(outcome.Stderr).To(And(ContainSubstring("--versoin"), ContainSubstring("--help")))
	})

	It("prints the CNI about text when it is run by hand (INV-3)", func() {
		outcome := byHand()
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		Expect(outcome.Stdout).To(BeEmpty())
		Expect(outcome.Stderr).To(And(ContainSubstring("CNI plugin multus"), ContainSubstring(strings.Join(versions(), ", "))))
	})

	It("takes no notice of arguments when a runtime calls it (INV-1)", func() {
		cmd := b.Command(context.Background(), "VERSION", node.Sandbox{}, "")
		cmd.Args = append(cmd.Args, "--help")
		Expect(b.wait(cmd).Stdout).To(ContainSubstring("supportedVersions"))
	})
})

var _ = Describe("the delegates' environment (INV-4)", func() {
	var b *bench
	BeforeEach(func() {
		b = newBench()
		b.nad("n1", secondary)
	})

	It("is ours, but for the CNI variables, which are each attachment's own", func() {
		for _, name := range []string{"master", "second"} {
			Expect(b.Delegates.Script(name, script.Script{AllEnvironment: true})).To(Succeed())
		}
		box := b.pod("web-0", "n1@data")
		for _, verb := range []string{"ADD", "DEL"} {
			cmd := with(b.Command(context.Background(), verb, box, b.Config().String()), "HTTPS_PROXY_OF_SOMEBODY", "http://192.0.2.1:3128/?a=b")
			outcome := b.wait(cmd)
			Expect(outcome.Exit).To(Equal(0), outcome.String())
			for delegate, ifname := range map[string]string{"master": "eth0", "second": "data"} {
				call := b.call(verb + " " + delegate + " " + ifname)
				Expect(call.Environment).To(And(
					HaveKeyWithValue("HTTPS_PROXY_OF_SOMEBODY", "http://192.0.2.1:3128/?a=b"),
					HaveKeyWithValue("PATH", os.Getenv("PATH")),
					HaveKeyWithValue("CNI_COMMAND", verb),
					HaveKeyWithValue("CNI_CONTAINERID", box.ContainerID),
					HaveKeyWithValue("CNI_NETNS", box.NetNS),
					HaveKeyWithValue("CNI_IFNAME", ifname),
					HaveKeyWithValue("CNI_PATH", b.BinDir),
				))
				Expect(call.Args).To(ContainElements(box.Args))
			}
		}
	})

	It("has the search path binDir, then CNI_PATH, for all verbs (E047)", func() {
		elsewhere := filepath.Join(b.Dir, "elsewhere")
		Expect(os.Mkdir(elsewhere, 0o755)).To(Succeed())
		other := recorder.New(binaries.Delegate, elsewhere, filepath.Join(b.Dir, "calls"))
		Expect(other.Install("only-there")).To(Succeed())
		Expect(other.Behave("in-both", script.Rule{Stderr: "from CNI_PATH\n"})).To(Succeed())
		b.nad("n1", `{"cniVersion":"1.0.0","plugins":[{"type":"in-both"},{"type":"only-there"}]}`)
		b.behave("master", script.Rule{Command: "ADD", Result: hostOnly})
		Expect(b.Delegates.Behave("in-both",
			script.Rule{Command: "ADD", Result: hostOnly, Stderr: "from binDir\n"}, script.Rule{Stderr: "from binDir\n"})).To(Succeed())

		box := b.pod("web-0", "n1")
		for _, verb := range []string{"ADD", "CHECK", "DEL"} {
			outcome := b.wait(with(b.Command(context.Background(), verb, box, b.Config().String()), "CNI_PATH", elsewhere+"::"+b.BinDir))
			Expect(outcome.Exit).To(Equal(0), outcome.String())
			Expect(outcome.Stderr).To(And(ContainSubstring("from binDir"), Not(ContainSubstring("from CNI_PATH"))))
			Expect(b.call(verb + " only-there net1").Path).To(Equal(b.BinDir + ":" + elsewhere))
		}
		b.expectNoState()
	})
})

var _ = Describe("what delegates say (INV-5)", func() {
	var b *bench
	BeforeEach(func() {
		b = newBench()
		b.nad("n1", secondary)
	})

	It("on their stderr goes to ours", func() {
		b.behave("second", script.Rule{Stderr: "second: one\nsecond: two\n"})
		box := b.pod("web-0", "n1")
		quiet := node.Config{"logToStderr": false}
		Expect(b.add(box, quiet).Stderr).To(Equal("second: one\nsecond: two\n"))
		Expect(b.del(box, quiet).Stderr).To(Equal("second: one\nsecond: two\n"))
	})

	DescribeTable("as an error keeps code, message and details, behind pod and network, on ADD",
		func(answer script.Error, code uint) {
			b.behave("second", script.Rule{Command: "ADD", Error: &answer})
			failed := b.refused(b.pod("web-0", "n1"), []string{"pod blue/web-0: network blue/n1", "second", answer.Msg}).Error()
			Expect(failed.Code).To(BeEquivalentTo(code))
			Expect(failed.Details).To(Equal(answer.Details))
		},
		Entry("a code of the specification", script.Error{Code: 11, Msg: "try later", Details: "the lease is held"}, uint(11)),
		Entry("a code of the plugin's own", script.Error{Code: 142, Msg: "no <address> & no lease", Details: "range 192.0.2.0/24\nis exhausted"}, uint(142)),
		Entry("no code", script.Error{Msg: "something"}, types.ErrInternal),
	)

	It("as an error reaches the runtime on DEL, which repeats it (E040)", func() {
		box := b.pod("web-0", "n1")
		b.add(box)
		b.behave("second", script.Rule{Command: "DEL", Times: 1, Error: &script.Error{Code: 11, Msg: "try later", Details: "busy"}})
		outcome := b.run("DEL", box)
		Expect(outcome.Exit).To(Equal(1), outcome.String())
		Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
		Expect(outcome.Error().Code).To(BeEquivalentTo(11))
		Expect(outcome.Error().Msg).To(And(ContainSubstring("pod blue/web-0: network blue/n1"), ContainSubstring("try later")))
		Expect(outcome.Error().Details).To(Equal("busy"))
		Expect(b.calls("DEL")).To(Equal([]string{"DEL second net1", "DEL master eth0"}), "the others are not kept from theirs")

		b.del(box)
		Expect(b.calls("DEL")[2]).To(Equal("DEL second net1"))
		b.expectNoState()
	})

	It("of the version keeps code 1 and names the plugin; taking down what it never attached succeeds (E085)", func() {
		Expect(b.Delegates.Script("third", script.Script{Versions: []string{"0.4.0"}})).To(Succeed())
		b.nad("n1", `{"cniVersion":"0.3.1","plugins":[{"type":"second"},{"type":"third"}]}`)
		box := b.pod("web-0", "n1")
		failed := b.run("ADD", box)
		Expect(failed.Error()).NotTo(BeNil(), failed.String())
		Expect(failed.Error().Code).To(BeEquivalentTo(types.ErrIncompatibleCNIVersion))
		Expect(failed.Error().Msg).To(And(ContainSubstring("pod blue/web-0: network blue/n1"), ContainSubstring("plugin third: ADD: incompatible CNI versions")))
		Expect(failed.Error().Details).To(ContainSubstring("0.3.1"))
		Expect(b.calls("DEL")).To(Equal([]string{"DEL third net1", "DEL second net1", "DEL master eth0"}))
		b.expectNoState()

		b.del(box)
	})

	DescribeTable("that is no CNI error is quoted, and never printed as ours",
		func(rule script.Rule, quoted string, code uint) {
			rule.Command = "ADD"
			b.behave("second", rule)
			failed := b.refused(b.pod("web-0", "n1"), []string{"pod blue/web-0: network blue/n1", "plugin second", quoted}).Error()
			Expect(failed.Code).To(Equal(code))
		},
		Entry("nothing at all", script.Rule{Exit: 3}, "exit status 3", types.ErrInternal),
		Entry("text", script.Rule{Output: "Segmentation fault", Exit: 139}, "Segmentation fault", types.ErrInternal),
		Entry("half an object", script.Rule{Output: `{"code": 11, "ms`, Exit: 1}, "code", types.ErrInternal),
		Entry("only on stderr", script.Rule{Stderr: "cannot open /dev/net/tun", Exit: 1}, "cannot open /dev/net/tun", types.ErrInternal),
		Entry("a signal's doing", script.Rule{Die: true}, "killed", types.ErrInternal),
		Entry("text with exit status 0", script.Rule{Output: "all is well"}, "all is well", types.ErrDecodingFailure),
	)
})

var _ = Describe("a sandbox without a pod identity (INV-7, E158)", func() {
	DescribeTable("gets the configured delegates only, with no API request and no status",
		func(args ...[2]string) {
			b := newBench()
			box := b.sandbox()
			box.Args = args
			two := node.Config{"delegates": []any{
				node.Config{"cniVersion": "1.0.0", "name": "main", "type": "master"},
				node.Config{"cniVersion": "1.0.0", "name": "more", "type": "second"},
			}}
			outcome := b.add(box, two)
			Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0", "ADD second net1"}))
			Expect(addresses([]byte(outcome.Stdout))).To(HaveLen(1))
			b.del(box, two)
			Expect(b.calls("DEL")).To(Equal([]string{"DEL second net1", "DEL master eth0"}))
			Expect(b.API.Count(fake.Any)).To(BeZero())
			b.expectNoState()
		},
		Entry("CNI_ARGS empty"),
		Entry("IgnoreUnknown only", [2]string{"IgnoreUnknown", "1"}),
		Entry("a namespace without a pod", [2]string{"IgnoreUnknown", "1"}, [2]string{"K8S_POD_NAMESPACE", "blue"}),
		Entry("a pod without a namespace", [2]string{"IgnoreUnknown", "1"}, [2]string{"K8S_POD_NAME", "web-0"}),
		Entry("both empty", [2]string{"K8S_POD_NAMESPACE", ""}, [2]string{"K8S_POD_NAME", ""}),
	)

	It("needs a kubeconfig file as little as an API server", func() {
		b := newBench()
		box, change := b.sandbox(), node.Config{"kubeconfig": filepath.Join(b.Dir, "nowhere", "kubeconfig")}
		b.add(box, change)
		b.del(box, change)
		b.expectNoState()
	})
})

// with sets a variable of a call's environment.
func with(cmd *exec.Cmd, name, value string) *exec.Cmd {
	cmd.Env = append(cmd.Env, name+"="+value) // the last one counts
	return cmd
}
