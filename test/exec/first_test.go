package exec

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

var _ = Describe("a pod with two networks (ADD-1, ADD-5, DEL-1)", func() {
	It("is attached in order, annotated, and detached in reverse", func() {
		b := newBench()
		b.API.AddNAD(fake.NAD{Namespace: "blue", Name: "n1", Config: `{"cniVersion":"1.0.0","type":"second"}`})
		box := b.pod("web-0", "n1, blue/n1@data")

		outcome := b.add(box)
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0", "ADD second net1", "ADD second data"}))
		Expect(outcome.Stdout).To(ContainSubstring(`"name": "eth0"`))
		status := b.API.Annotations("blue", "web-0")["k8s.v1.cni.cncf.io/network-status"]
		Expect(status).To(And(ContainSubstring(`"blue/n1"`), ContainSubstring(`"data"`)))
		Expect(b.API.Count(fake.GetPod)).To(Equal(1))
		Expect(b.API.Count(fake.GetNAD)).To(Equal(1))
		Expect(b.API.Count(fake.PatchStatus)).To(Equal(1))
		Expect(b.API.Connections()).To(Equal(1))

		b.API.Forget()
		b.del(box)
		Expect(b.calls("DEL")).To(Equal([]string{"DEL second data", "DEL second net1", "DEL master eth0"}))
		Expect(b.API.Annotations("blue", "web-0")).NotTo(HaveKey("k8s.v1.cni.cncf.io/network-status"))
		Expect(b.API.Count(fake.Any)).To(Equal(1))
		b.expectNoState()
	})

	It("refuses itself as a delegate (CONF-3, E058)", func() {
		b := newBench()
		b.refused(b.sandbox(), []string{"delegates[0].type", "multus"},
			node.Config{"delegates": []any{node.Config{"cniVersion": "1.0.0", "name": "x", "type": "multus"}}})
	})
})
