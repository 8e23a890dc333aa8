package cluster

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("a pod that asks for a network that is not there", func() {
	It("waits, says so in an event, leaks nothing, and starts once the NAD is made (NET-14, ADD-2, E011)", func(ctx SpecContext) {
		b := newBench(ctx)
		b.nad("n1", b.bridge("br-n1", "192.0.2.0/24"))
		b.pod("web-0", "n1, later")
		b.event("web-0", "FailedCreatePodSandBox", "pod "+b.namespace+"/web-0", b.namespace+"/later", "not found")
		Eventually(func() int { return b.attempts("web-0") }).Should(BeNumerically(">=", 3), "attempts")
		b.nothingLeft()

		b.nad("later", b.bridge("br-n2", "198.51.100.0/24"))
		b.ready("web-0")
		Expect(b.networks("web-0")).To(HaveExactElements("cni0 eth0", b.namespace+"/n1 net1", b.namespace+"/later net2"))
	})

	It("leaks nothing where a delegate fails at each attempt (ADD-4, INV-5, E056)", func(ctx SpecContext) {
		b := newBench(ctx)
		b.nad("n1", b.bridge("br-n1", "192.0.2.0/24"))
		b.nad("broken", `{"cniVersion": "1.0.0", "type": "macvlan", "master": "nolink0", "ipam": `+b.HostLocal("198.51.100.0/24")+`}`)
		pods := []string{"web-0", "web-1", "web-2", "web-3"}
		for _, pod := range pods {
			b.pod(pod, "n1, broken")
		}
		b.event("web-0", "FailedCreatePodSandBox", "pod "+b.namespace+"/web-0: network "+b.namespace+"/broken, interface net2", "macvlan")
		for _, pod := range pods {
			Eventually(func() int { return b.attempts(pod) }).Should(BeNumerically(">=", 3), "attempts")
		}
		b.nothingLeft()
	})
})

// attempts counts the sandboxes that failed for a pod: each has another ID in its event.
func (b *bench) attempts(pod string) int {
	GinkgoHelper()
	events, err := b.Events(b.ctx, b.namespace, pod)
	b.must(err)
	failed := 0
	for _, event := range events {
		if strings.HasPrefix(event, "FailedCreatePodSandBox") {
			failed++
		}
	}
	return failed
}
