package cluster

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("a pod of the same name", func() {
	It("has its own status and networks when it replaces one deleted by force (NET-15, STAT-3, DEL-7)", func(ctx SpecContext) {
		b := newBench(ctx)
		b.nad("n1", b.bridge("br-n1", "192.0.2.0/24"))
		b.nad("n2", b.bridge("br-n2", "198.51.100.0/24"))
		old := b.run("web-0", "n1", stubborn)
		b.forget("web-0")
		b.pod("web-0", "n2", stubborn)
		Expect(b.ready("web-0").Metadata.UID).NotTo(Equal(old.Metadata.UID))

		Eventually(func() (int, error) {
			sandboxes, err := b.Sandboxes(b.namespace, "web-0")
			return len(sandboxes), err
		}).Should(Equal(1), "the old one's last DEL is done")
		Expect(b.networks("web-0")).To(Equal([]string{"cni0 eth0", b.namespace + "/n2 net1"}))
	})
})
