package cluster

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/cluster/node"
)

var _ = Describe("requests to the API server, as its audit log counts them", eachRuntime, func() {
	const annotations = "io.kubernetes.cri.pod-annotations"

	DescribeTable("for a pod with two networks (NET-16, NET-17, STAT-3, DEL-7)", func(ctx SpecContext, handedOver bool, want []string) {
		b := newBench(ctx)
		if !handedOver {
			b.configure(node.Config{"capabilities": nil})
		}
		b.nad("n1", b.bridge("br-n1", "192.0.2.0/24"))
		b.nad("n2", b.bridge("br-n2", "198.51.100.0/24"))
		b.run("web-0", "n1, n2, n1")
		Expect(b.networks("web-0")).To(HaveLen(4))
		Eventually(b.requests).Should(ConsistOf(want))

		b.delete("web-0")
		b.nothingLeft()
		Eventually(b.requests).Should(ConsistOf(append(want, "patch pods/status web-0")))
	},
		Entry("with the capability "+annotations+": N + 1", true, []string{
			"get network-attachment-definitions n1", "get network-attachment-definitions n2", "patch pods/status web-0",
		}),
		Entry("without it: N + 2", false, []string{
			"get pods web-0",
			"get network-attachment-definitions n1", "get network-attachment-definitions n2", "patch pods/status web-0",
		}),
	)
})

// requests are those that the plugin made in the scenario's namespace.
func (b *bench) requests() []string {
	GinkgoHelper()
	requests, err := b.Requests(b.namespace)
	b.must(err)
	var list []string
	for _, request := range requests {
		list = append(list, request.String())
	}
	return list
}
