package exec

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

var _ = Describe("many pods at once", func() {
	const many = 50

	It("are all attached and detached, with one read of each pod, and leave nothing", func() {
		b := newBench()
		b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
		boxes := make([]node.Sandbox, many)
		for i := range boxes {
			boxes[i] = b.pod(fmt.Sprintf("web-%d", i), "n1")
		}
		b.allAtOnce("ADD", boxes)
		Expect(b.calls("ADD")).To(HaveLen(2 * many))
		Expect(b.API.Count(fake.GetPod)).To(Equal(many))
		Expect(b.API.Count(fake.PatchStatus)).To(Equal(many))

		b.allAtOnce("DEL", boxes)
		Expect(b.calls("DEL")).To(HaveLen(2 * many))
		Expect(b.API.Count(fake.GetPod)).To(Equal(many), "none for DEL (DEL-1)")
		b.expectNothingAttached()
		b.expectNoState()
	})
})

var _ = Describe("memory", func() {
	const many = 100

	It("stays within bounds for each of many pods at once: the sum is what a node needs after a reboot (E137)", func() {
		const limit = 32 << 10 // KiB for each; measured are 12 to 16 MiB
		b := newBench()
		gate := filepath.Join(b.Dir, "gate")
		b.behave("master", script.Rule{Command: "ADD", WaitFor: gate})
		var calls []*running
		for range many {
			calls = append(calls, b.start("ADD", b.sandbox()))
		}
		Eventually(func() []string { return b.calls("ADD") }).WithTimeout(patience).Should(HaveLen(many))
		for _, call := range calls {
			Expect(peakMemory(call.cmd.Process.Pid)).To(BeNumerically("<", limit), "KiB")
		}
		Expect(os.WriteFile(gate, nil, 0o600)).To(Succeed())
		for _, call := range calls {
			outcome := call.wait()
			Expect(outcome.Exit).To(BeZero(), outcome.String())
		}
	})
})

// peakMemory is the most that a process has had in memory, in KiB.
func peakMemory(pid int) int {
	GinkgoHelper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	Expect(err).NotTo(HaveOccurred())
	_, after, found := strings.Cut(string(status), "VmHWM:")
	Expect(found).To(BeTrue())
	var peak int
	_, err = fmt.Sscan(after, &peak)
	Expect(err).NotTo(HaveOccurred())
	return peak
}

func (b *bench) allAtOnce(verb string, boxes []node.Sandbox) {
	GinkgoHelper()
	var calls []*running
	for _, box := range boxes {
		calls = append(calls, b.start(verb, box))
	}
	for _, call := range calls {
		outcome := call.wait()
		Expect(outcome.Exit).To(BeZero(), outcome.String())
	}
}
