package exec

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
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
