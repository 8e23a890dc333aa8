package exec

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
	"github.com/seed-2ba21eab/multus-cni/test/fake/recorder"
)

func TestExec(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(30 * time.Second)
	RunSpecs(t, "exec")
}

var binaries node.Binaries

var _ = BeforeSuite(func(ctx SpecContext) {
	binaries.Plugin = os.Getenv("MULTUS_TEST_BINARY")
	Expect(binaries.Plugin).NotTo(BeEmpty(), "run ./test.sh exec, or set MULTUS_TEST_BINARY to what ./build made")
	binaries.Delegate = filepath.Join(GinkgoT().TempDir(), "delegate")
	Expect(recorder.Build(ctx, binaries.Delegate)).To(Succeed())
})

// bench is a node with the delegates "master" and "second" for one spec, and the short words that specs are made of.
type bench struct {
	*node.Node
}

func newBench() *bench {
	GinkgoHelper()
	made, err := node.New(GinkgoT().TempDir(), binaries)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(made.Close()).To(Succeed()) })
	Expect(made.Delegates.Install("master", "second")).To(Succeed())
	return &bench{made}
}

// pod is AddPod with the networks annotation; empty: none.
func (b *bench) pod(name, networks string) node.Sandbox {
	GinkgoHelper()
	annotations := map[string]string{}
	if networks != "" {
		annotations["k8s.v1.cni.cncf.io/networks"] = networks
	}
	return b.podWith(name, annotations)
}

func (b *bench) podWith(name string, annotations map[string]string) node.Sandbox {
	GinkgoHelper()
	box, err := b.AddPod(name, annotations)
	Expect(err).NotTo(HaveOccurred())
	return box
}

// sandbox is one without a pod.
func (b *bench) sandbox() node.Sandbox {
	GinkgoHelper()
	box, err := b.NewSandbox()
	Expect(err).NotTo(HaveOccurred())
	return box
}

func (b *bench) run(verb string, box node.Sandbox, changes ...node.Config) node.Outcome {
	GinkgoHelper()
	return b.runText(verb, box, b.Config(changes...).String())
}

// runText is run with any text for the configuration.
func (b *bench) runText(verb string, box node.Sandbox, stdin string) node.Outcome {
	GinkgoHelper()
	return b.wait(b.Command(context.Background(), verb, box, stdin))
}

// wait runs a prepared call.
func (b *bench) wait(cmd *exec.Cmd) node.Outcome {
	GinkgoHelper()
	outcome, err := node.Wait(cmd)
	Expect(err).NotTo(HaveOccurred())
	return outcome
}

// add is an ADD that must succeed.
func (b *bench) add(box node.Sandbox, changes ...node.Config) node.Outcome {
	GinkgoHelper()
	outcome := b.run("ADD", box, changes...)
	Expect(outcome.Exit).To(Equal(0), outcome.String())
	return outcome
}

// del is a DEL that must succeed.
func (b *bench) del(box node.Sandbox, changes ...node.Config) node.Outcome {
	GinkgoHelper()
	outcome := b.run("DEL", box, changes...)
	Expect(outcome.Exit).To(Equal(0), outcome.String())
	return outcome
}

// refused is an ADD that must fail, by the meaning of the rules: a CNI error object with all of these texts, nothing
// attached, nothing left.
func (b *bench) refused(box node.Sandbox, texts []string, changes ...node.Config) node.Outcome {
	GinkgoHelper()
	outcome := b.run("ADD", box, changes...)
	Expect(outcome.Exit).To(Equal(1), outcome.String())
	Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
	for _, text := range texts {
		Expect(outcome.Error().Msg).To(ContainSubstring(text))
	}
	Expect(outcome.Stderr).NotTo(ContainSubstring("goroutine "), "a panic")
	b.expectNothingAttached()
	b.expectNoState()
	return outcome
}

// calls lists the delegates' calls with these commands as "ADD master eth0".
func (b *bench) calls(commands ...string) []string {
	GinkgoHelper()
	calls, err := b.Delegates.Of(commands...)
	Expect(err).NotTo(HaveOccurred())
	list := []string{}
	for _, call := range calls {
		list = append(list, call.String())
	}
	return list
}

// call is the one call of that name, as calls lists it.
func (b *bench) call(name string) recorder.Call {
	GinkgoHelper()
	calls, err := b.Delegates.Calls()
	Expect(err).NotTo(HaveOccurred())
	for _, call := range calls {
		if call.String() == name {
			return call
		}
	}
	Fail("no call " + name)
	return recorder.Call{}
}

// status is the pod's network-status annotation, empty if there is none.
func (b *bench) status(pod string) []*nad.NetworkStatus {
	GinkgoHelper()
	value := b.API.Annotations("blue", pod)[nad.StatusAnnotation]
	if value == "" {
		return nil
	}
	statuses, err := nad.ParseNetworkStatus(value)
	Expect(err).NotTo(HaveOccurred())
	return statuses
}

// expectNothingAttached: every attachment that was begun was detached after it.
func (b *bench) expectNothingAttached() {
	GinkgoHelper()
	calls, err := b.Delegates.Of("ADD", "DEL")
	Expect(err).NotTo(HaveOccurred())
	attached := map[string]bool{}
	for _, call := range calls {
		key := call.Name + " " + call.ContainerID + " " + call.IfName
		attached[key] = call.Command == "ADD"
	}
	for key, still := range attached {
		Expect(still).To(BeFalse(), key+" is still attached")
	}
}

// expectNoState: no plan, cached result, lock or temporary file is left.
func (b *bench) expectNoState() {
	GinkgoHelper()
	files, err := b.State()
	Expect(err).NotTo(HaveOccurred())
	Expect(files).To(BeEmpty())
}
