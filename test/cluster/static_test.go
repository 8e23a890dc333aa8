package cluster

import (
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/cluster/node"
)

var _ = Describe("a static pod (NET-15)", func() {
	It("gets its networks, and its mirror their status", eachRuntime, func(ctx SpecContext) {
		b := newBench(ctx)
		b.nad("n1", b.bridge("br-n1", "192.0.2.0/24"))
		name := b.static("control", "n1")
		b.ready(name)
		Expect(b.networks(name)).To(Equal([]string{"cni0 eth0", b.namespace + "/n1 net1"}))
	})

	It("starts without an API server, and gets its networks at its next start", func(ctx SpecContext) {
		b := newBench(ctx)
		b.nad("n1", b.bridge("br-n1", "192.0.2.0/24"))
		b.must(b.Kill(node.APIServer))
		name := b.static("control", "n1")
		Eventually(func(g Gomega) {
			sandboxes, err := b.Sandboxes(b.namespace, name)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(sandboxes).To(HaveLen(1))
			g.Expect(node.Links(sandboxes[0].NetNS)).To(And(HaveKey("eth0"), Not(HaveKey("net1"))))
		}).Should(Succeed())

		b.must(b.Restore(ctx))
		b.ready(name)
		b.must(b.KillSandbox(b.sandbox(name).ID))
		Eventually(func(g Gomega) {
			sandboxes, err := b.Sandboxes(b.namespace, name)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(sandboxes).To(HaveLen(1))
			g.Expect(node.Links(sandboxes[0].NetNS)).To(HaveKey("net1"))
		}).Should(Succeed())
	})
})

// static makes a static pod for the rest of the scenario, and gives the name that the pod has in the cluster.
func (b *bench) static(name, networks string) string {
	GinkgoHelper()
	name = b.namespace + "-" + name
	path := b.Path("manifests", name+".json")
	b.must(os.WriteFile(path, []byte(manifest(b.namespace, name, networks)), 0o600))
	b.later(func() { b.must(os.Remove(path)) })
	return name + "-" + node.Name
}
