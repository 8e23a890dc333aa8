package cluster

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("two pods with a bridge and a macvlan network", eachRuntime, func() {
	It("reach each other over each of them, show them in their status, and leave nothing (ADD-1, STAT-1, DEL-1, DEL-5)", func(ctx SpecContext) {
		b := newBench(ctx)
		b.nad("br", b.bridge("br-n1", "192.0.2.0/24"))
		b.nad("mac", b.macvlan("198.51.100.0/24"))
		b.pod("a", "br, mac")
		b.pod("b", "br, mac")
		pod := b.ready("b")
		b.ready("a")

		Expect(b.links("a")).To(And(HaveLen(4), HaveKey("lo"), HaveKey("eth0"), HaveKey("net1"), HaveKey("net2")))
		Expect(b.networks("a")).To(Equal([]string{"cni0 eth0", b.namespace + "/br net1", b.namespace + "/mac net2"}))
		for _, status := range b.status("b") {
			Expect(status.IPs).To(HaveLen(1))
			Expect(status.Default).To(Equal(status.Interface == "eth0"), status.Interface)
			Expect(b.answers(b.sandbox("a").NetNS, status.IPs[0]+":8080")).To(Equal("b"), status.Interface)
		}
		Expect(pod.Status.PodIP).To(Equal(b.status("b")[0].IPs[0]))

		b.delete("a", "b")
		b.nothingLeft()
	})
})
