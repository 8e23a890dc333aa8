package recorder_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	current "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/cni/pkg/types/create"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/recorder"
)

var binary string

var _ = BeforeSuite(func(ctx context.Context) {
	binary = filepath.Join(GinkgoT().TempDir(), "delegate")
	Expect(recorder.Build(ctx, binary)).To(Succeed())
})

// outcome is what a caller of a delegate sees.
type outcome struct {
	Stdout, Stderr string
	Exit           int
	Signal         syscall.Signal // that ended it
}

// command is one call as a runtime makes it, for container c1 and interface net1.
func command(r *recorder.Recorder, name, verb, stdin string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(r.Dir(), name))
	cmd.Env = []string{
		"CNI_COMMAND=" + verb, "CNI_CONTAINERID=c1", "CNI_NETNS=/run/netns/n", "CNI_IFNAME=net1",
		"CNI_ARGS=IgnoreUnknown=1;IP=192.0.2.1", "CNI_PATH=/opt/cni/bin", "OTHER=1",
	}
	cmd.Stdin = strings.NewReader(stdin)
	return cmd
}

func run(r *recorder.Recorder, name, verb, stdin string) outcome {
	cmd := command(r, name, verb, stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the outcome says it
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	o := outcome{Stdout: stdout.String(), Stderr: stderr.String(), Exit: status.ExitStatus()}
	if status.Signaled() {
		o.Signal = status.Signal()
	}
	return o
}

func newRecorder(names ...string) *recorder.Recorder {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	r := recorder.New(binary, dir, filepath.Join(dir, "calls"))
	Expect(r.Install(names...)).To(Succeed())
	return r
}

const list = `{"cniVersion":"1.0.0","name":"n","type":"macvlan", "big":12345678901234567890,"text":"<&>"}`

var _ = Describe("what was asked", func() {
	It("is read back, stdin byte for byte", func() {
		r := newRecorder("macvlan")
		run(r, "macvlan", "ADD", list)

		calls, err := r.Calls()
		Expect(err).NotTo(HaveOccurred())
		Expect(calls).To(HaveLen(1))
		call := calls[0]
		Expect(call.PID).NotTo(BeZero())
		Expect(call.ParentPID).To(Equal(os.Getpid()))
		call.PID, call.ParentPID, call.Environment = 0, 0, nil
		Expect(call).To(Equal(recorder.Call{
			Name: "macvlan", Command: "ADD", ContainerID: "c1", NetNS: "/run/netns/n", IfName: "net1",
			Args: [][2]string{{"IgnoreUnknown", "1"}, {"IP", "192.0.2.1"}}, Path: "/opt/cni/bin",
			Stdin: json.RawMessage(list), Start: 1, End: 2,
		}))
		Expect(calls[0].Environment).NotTo(HaveKey("OTHER"))
		Expect(calls[0].Arg("IP")).To(Equal("192.0.2.1"))
		Expect(calls[0].String()).To(Equal("ADD macvlan net1"))
	})

	It("holds the whole environment on request", func() {
		r := newRecorder()
		Expect(r.Script("macvlan", script.Script{AllEnvironment: true})).To(Succeed())
		run(r, "macvlan", "ADD", list)
		calls, err := r.Calls()
		Expect(err).NotTo(HaveOccurred())
		Expect(calls[0].Environment).To(HaveKeyWithValue("OTHER", "1"))
	})

	It("is in order over several delegates, and forgotten on request", func() {
		r := newRecorder("a", "b")
		run(r, "a", "VERSION", `{"cniVersion":"1.0.0"}`)
		run(r, "a", "ADD", list)
		run(r, "b", "ADD", list)
		calls, err := r.Of("ADD")
		Expect(err).NotTo(HaveOccurred())
		Expect(calls).To(HaveLen(2))
		Expect(calls[0].Name).To(Equal("a"))
		Expect(calls[0].End).To(BeNumerically("<", calls[1].Start))
		Expect(r.Forget()).To(Succeed())
		Expect(r.Calls()).To(BeEmpty())
	})

	It("stays whole when many call at once", func() {
		r := newRecorder("a")
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() { run(r, "a", "ADD", list) })
		}
		group.Wait()
		calls, err := r.Calls()
		Expect(err).NotTo(HaveOccurred())
		Expect(calls).To(HaveLen(20))
		Expect(calls).To(HaveEach(HaveField("End", BeNumerically(">", 0))))
	})
})

var _ = Describe("without a rule", func() {
	DescribeTable("ADD gives a result in the configuration's version",
		func(version string) {
			r := newRecorder("a")
			o := run(r, "a", "ADD", `{"cniVersion":"`+version+`","name":"n","type":"a"}`)
			Expect(o.Exit).To(BeZero())
			result, err := create.Create(version, []byte(o.Stdout))
			Expect(err).NotTo(HaveOccurred())
			Expect(result.Version()).To(Equal(version))
			newest, err := current.NewResultFromResult(result)
			Expect(err).NotTo(HaveOccurred())
			Expect(newest.IPs).To(HaveLen(1))
			if version > "0.3" {
				Expect(newest.Interfaces).To(ConsistOf(And(HaveField("Name", "net1"), HaveField("Sandbox", "/run/netns/n"))))
			}
		},
		Entry(nil, "0.1.0"), Entry(nil, "0.2.0"), Entry(nil, "0.3.0"), Entry(nil, "0.3.1"), Entry(nil, "0.4.0"), Entry(nil, "1.0.0"), Entry(nil, "1.1.0"),
	)

	It("ADD hands on a previous result", func() {
		r := newRecorder("a")
		o := run(r, "a", "ADD", `{"cniVersion":"1.0.0","name":"n","type":"a","prevResult":{"cniVersion":"1.0.0","ips":[]}}`)
		Expect(o.Stdout).To(Equal(`{"cniVersion":"1.0.0","ips":[]}`))
	})

	It("other commands print nothing, and VERSION the versions", func() {
		r := newRecorder()
		Expect(r.Script("a", script.Script{Versions: []string{"0.3.1", "0.4.0"}})).To(Succeed())
		old := `{"cniVersion":"0.4.0","name":"n","type":"a"}`
		Expect(run(r, "a", "DEL", old)).To(Equal(outcome{}))
		Expect(run(r, "a", "CHECK", old)).To(Equal(outcome{}))
		Expect(run(r, "a", "VERSION", old).Stdout).To(MatchJSON(`{"cniVersion":"0.4.0","supportedVersions":["0.3.1","0.4.0"]}`))
		refused := run(r, "a", "ADD", list)
		Expect(refused.Exit).To(Equal(1))
		Expect(refused.Stdout).To(ContainSubstring(`"code":1`))
	})
})

var _ = Describe("a rule", func() {
	behave := func(rules ...script.Rule) *recorder.Recorder {
		GinkgoHelper()
		r := newRecorder()
		Expect(r.Behave("a", rules...)).To(Succeed())
		return r
	}

	It("answers as told", func() {
		failure := &script.Error{Code: 11, Msg: "later", Details: "busy"}
		for _, step := range []struct {
			rule script.Rule
			want outcome
		}{
			{script.Rule{Result: json.RawMessage(`{"cniVersion":"0.2.0"}`)}, outcome{Stdout: `{"cniVersion":"0.2.0"}`}},
			{script.Rule{Error: failure}, outcome{Stdout: `{"cniVersion":"1.0.0","code":11,"msg":"later","details":"busy"}`, Exit: 1}},
			{script.Rule{Error: failure, Exit: 3}, outcome{Stdout: `{"cniVersion":"1.0.0","code":11,"msg":"later","details":"busy"}`, Exit: 3}},
			{script.Rule{Nothing: true}, outcome{}},
			{script.Rule{Output: "{garbage"}, outcome{Stdout: "{garbage"}},
			{script.Rule{Stderr: "oh\n", Exit: 139}, outcome{Stderr: "oh\n", Exit: 139}},
			{script.Rule{Die: true}, outcome{Exit: -1, Signal: syscall.SIGKILL}},
		} {
			Expect(run(behave(step.rule), "a", "ADD", list)).To(Equal(step.want))
		}
		Expect(run(behave(script.Rule{Panic: true}), "a", "ADD", list)).To(And(HaveField("Exit", 2), HaveField("Stderr", HavePrefix("panic: "))))
	})

	It("holds for the calls it names, and as often as it says", func() {
		r := behave(script.Rule{Command: "DEL", ContainerID: "c1", Interface: "net1", Times: 2, Exit: 5}, script.Rule{Interface: "net2", Exit: 6})
		Expect(run(r, "a", "ADD", list).Exit).To(BeZero())
		var exits []int
		for range 3 {
			exits = append(exits, run(r, "a", "DEL", list).Exit)
		}
		Expect(exits).To(Equal([]int{5, 5, 0}))
		Expect(r.Behave("a", script.Rule{Command: "DEL", Times: 1, Exit: 7})).To(Succeed())
		Expect(run(r, "a", "DEL", list).Exit).To(Equal(7))
	})

	It("leaves, takes and awaits markers", func(ctx context.Context) {
		dir := GinkgoT().TempDir()
		started, open := filepath.Join(dir, "started"), filepath.Join(dir, "open")
		Expect(os.WriteFile(filepath.Join(dir, "old"), nil, 0o600)).To(Succeed())
		r := behave(script.Rule{Create: started, Delete: filepath.Join(dir, "old"), WaitFor: open})
		done := make(chan outcome)
		go func() { done <- run(r, "a", "ADD", list) }()
		Eventually(started).WithContext(ctx).Should(BeAnExistingFile())
		Eventually(filepath.Join(dir, "old")).ShouldNot(BeAnExistingFile())
		Expect(r.Calls()).To(ConsistOf(HaveField("End", 0)))
		Expect(os.WriteFile(open, nil, 0o600)).To(Succeed())
		Eventually(ctx, done).Should(Receive(HaveField("Exit", 0)))
		Expect(r.Calls()).To(ConsistOf(HaveField("End", 2)))
	})

	It("hangs until it is killed, deaf to SIGTERM if told so", func(ctx context.Context) {
		marker := filepath.Join(GinkgoT().TempDir(), "hangs")
		r := behave(script.Rule{Deaf: true, Create: marker, Hang: true})
		cmd := command(r, "a", "ADD", list)
		Expect(cmd.Start()).To(Succeed())
		Eventually(marker).WithContext(ctx).Should(BeAnExistingFile())
		Expect(cmd.Process.Signal(syscall.SIGTERM)).To(Succeed())
		Expect(cmd.Process.Kill()).To(Succeed())
		Expect(cmd.Wait()).To(HaveOccurred())
		Expect(r.Calls()).To(ConsistOf(HaveField("End", 0)))
	})

	It("kills its parent", func() {
		r := behave(script.Rule{KillParent: true})
		parent := exec.Command("/bin/sh", "-c", `"$0"; exit 0`, filepath.Join(r.Dir(), "a"))
		parent.Env = command(r, "a", "ADD", "").Env
		Expect(parent.Run()).To(MatchError("signal: killed"))
	})

	It("goes with the delegate", func() {
		r := behave(script.Rule{Times: 1, Exit: 1})
		run(r, "a", "DEL", list)
		Expect(r.Forget()).To(Succeed())
		Expect(r.Uninstall("a")).To(Succeed())
		Expect(os.ReadDir(r.Dir())).To(BeEmpty())
	})
})
