package netns

import (
	"fmt"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// busy is a master of one family: an IPv6 address takes the kernel longer.
func busy() node.Config {
	return node.Config{"delegates": []any{raw(`{"cniVersion": "1.0.0", "name": "main", "type": "bridge", "bridge": "br-main", "isGateway": true,
		"ipam": {"type": "host-local", "subnet": "10.1.0.0/24"}}`)}}
}

var _ = Describe("many pods", func() {
	It("one after another leave nothing: 100 times ADD and DEL of one sandbox (DEL-1)", func() {
		b := newBench()
		b.nad("n1", leased)
		box := b.pod("web-0", "n1")
		for range 100 {
			b.add(box, busy())
			b.del(box, busy())
		}
	})

	It("at once each get their own addresses and leave nothing: 50 ADDs, then 50 DELs (DEL-1, DEL-9)", func() {
		const count = 50
		b := newBench()
		b.nad("n1", leased)
		var boxes []node.Sandbox
		for i := range count {
			boxes = append(boxes, b.pod(fmt.Sprintf("web-%d", i), "n1"))
		}
		b.allAtOnce("ADD", boxes)
		given := map[string]bool{}
		for i, box := range boxes {
			Expect(links(box.NetNS)).To(Equal([]string{"eth0", "lo", "net1"}))
			Expect(b.status(fmt.Sprintf("web-%d", i))).To(HaveLen(2))
			for _, ifname := range []string{"eth0", "net1"} {
				own := addresses(box.NetNS, ifname)
				Expect(own).To(HaveLen(1))
				given[own[0]] = true
			}
		}
		Expect(given).To(HaveLen(2 * count))
		Expect(b.leases()).To(HaveLen(2 * count))

		b.allAtOnce("DEL", boxes)
		for i, box := range boxes {
			b.nothingLeft(box)
			Expect(b.status(fmt.Sprintf("web-%d", i))).To(BeEmpty())
		}
	})
})

// allAtOnce calls the plugin for all sandboxes at the same time; each call must succeed.
func (b *bench) allAtOnce(verb string, boxes []node.Sandbox) {
	GinkgoHelper()
	outcomes := make([]node.Outcome, len(boxes))
	var group sync.WaitGroup
	for i, box := range boxes {
		group.Go(func() {
			defer GinkgoRecover()
			outcomes[i] = b.run(verb, box, busy())
		})
	}
	group.Wait()
	for _, outcome := range outcomes {
		Expect(outcome.Exit).To(Equal(0), outcome.String())
	}
}
