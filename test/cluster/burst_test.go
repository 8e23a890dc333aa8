package cluster

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("twenty pods at once", func() {
	It("get their networks, each its own addresses, and leave nothing (DEL-5, DEL-9)", func(ctx SpecContext) {
		b := newBench(ctx)
		b.nad("n1", b.bridge("br-n1", "192.0.2.0/24"))
		b.nad("mac", b.macvlan("198.51.100.0/24"))
		var names []string
		for i := range 20 {
			names = append(names, fmt.Sprintf("web-%d", i))
			b.pod(names[i], "n1, mac")
		}
		owner := map[string]string{} // of each address
		for _, name := range names {
			b.ready(name)
			for _, status := range b.status(name) {
				for _, address := range status.IPs {
					Expect(owner).NotTo(HaveKey(address), "%s has it too", name)
					owner[address] = name
				}
			}
		}
		Expect(owner).To(HaveLen(60))
		b.delete(names...)
		b.nothingLeft()
	})
})
