package netns

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// refusal is what a recording delegate says instead of doing its work.
func refusal(verb string, times int) script.Rule {
	return script.Rule{Command: verb, Times: times, Error: &script.Error{Code: 123, Msg: "no cable"}}
}

var _ = Describe("an ADD that fails takes back what it has attached (ADD-4)", func() {
	DescribeTable("down to addresses, interfaces and host ports, each time anew",
		func(second string, texts ...string) {
			b := newBench()
			Expect(b.Delegates.Behave("broken", refusal("ADD", 0))).To(Succeed())
			b.nad("n1", leased)
			b.nad("n2", second)
			box := b.pod("web-0", "n1, n2, n1")
			for range 3 {
				b.refused(box, append(texts, "pod blue/web-0", "network blue/n2", "interface net2"))
			}
		},
		Entry("the delegate fails (E056)", `{"cniVersion": "1.0.0", "type": "broken"}`, "broken", "no cable"),
		Entry("its IPAM has no address left (E056)", `{"cniVersion": "1.0.0", "type": "macvlan", "master": "eth1",
			"ipam": {"type": "host-local", "ranges": [[{"subnet": "198.51.100.0/24", "rangeStart": "198.51.100.9", "rangeEnd": "198.51.100.9", "gateway": "198.51.100.9"}]]}}`, "macvlan"),
		Entry("it needs an interface that the node has not", `{"cniVersion": "1.0.0", "type": "macvlan", "master": "eth9"}`, "macvlan", "Link not found"),
		Entry("a later plugin of its list fails (E091)", list(`{"type": "bridge", "bridge": "br-1", "ipam": {"type": "host-local", "subnet": "198.51.100.0/24"}}`,
			`{"type": "broken"}`), "broken", "no cable"),
		Entry("a sysctl of its tuning does not exist (E091)", list(`{"type": "bridge", "bridge": "br-1", "ipam": {"type": "host-local", "subnet": "198.51.100.0/24"}}`,
			`{"type": "tuning", "sysctl": {"net.ipv4.conf.IFNAME.no_such": "1"}}`), "tuning", "no_such"),
	)
})

var _ = Describe("DEL without the network namespace (DEL-2)", func() {
	DescribeTable("gives back all addresses and forgets the sandbox, once and again",
		func(netns func(b *bench, box node.Sandbox) string) {
			b := newBench()
			b.nad("n1", leased)
			b.nad("n2", list(`{"type": "bridge", "bridge": "br-1", "ipam": {"type": "host-local", "subnet": "198.51.100.0/24"}}`))
			box := b.pod("web-0", "n1, n2")
			b.add(box)
			Expect(b.leases()).To(HaveLen(4))
			gone := box
			gone.NetNS = netns(b, box)
			for range 2 {
				outcome := b.run("DEL", gone)
				Expect(outcome.Exit).To(Equal(0), outcome.String())
				Expect(b.leases()).To(BeEmpty())
				files, err := b.State()
				Expect(err).NotTo(HaveOccurred())
				Expect(files).To(BeEmpty())
			}
		},
		Entry("the runtime gives none (E034)", func(*bench, node.Sandbox) string { return "" }),
		Entry("it is gone", func(b *bench, box node.Sandbox) string {
			Expect(b.RemoveNamespace(box.NetNS)).To(Succeed())
			return box.NetNS
		}),
		Entry("a file is in its place, as after a reboot (E035)", func(b *bench, box node.Sandbox) string {
			Expect(b.RemoveNamespace(box.NetNS)).To(Succeed())
			path := filepath.Join(b.Dir, "netns")
			Expect(os.WriteFile(path, nil, 0o600)).To(Succeed())
			return path
		}),
	)
})

var _ = Describe("a DEL that fails in part (DEL-3)", func() {
	DescribeTable("detaches all others, tells of the failure, and is done when it is repeated (DEL-5)",
		func(config string) {
			b := newBench()
			Expect(b.Delegates.Behave("stuck", refusal("DEL", 1))).To(Succeed())
			b.nad("n1", leased)
			b.nad("n2", config)
			box := b.pod("web-0", "n1, n2, n1")
			b.add(box)

			outcome := b.run("DEL", box)
			Expect(outcome.Exit).To(Equal(1))
			Expect(outcome.Error()).To(And(HaveField("Code", BeEquivalentTo(123)), HaveField("Msg", And(
				ContainSubstring("pod blue/web-0"), ContainSubstring("network blue/n2"), ContainSubstring("no cable")))))
			Expect(links(box.NetNS)).To(Equal([]string{"lo"}))
			Expect(b.leases()).To(BeEmpty())
			Expect(b.State()).To(ContainElement(HavePrefix("plans/")))
			b.del(box)
		},
		Entry("one delegate of several", `{"cniVersion": "1.0.0", "type": "stuck"}`),
		Entry("one plugin of a list", list(`{"type": "bridge", "bridge": "br-1", "ipam": {"type": "host-local", "subnet": "198.51.100.0/24"}}`, `{"type": "stuck"}`)),
	)

	It("by two networks tells of both", func() {
		b := newBench()
		Expect(b.Delegates.Behave("stuck", refusal("DEL", 2))).To(Succeed())
		b.nad("n1", leased)
		b.nad("n2", `{"cniVersion": "1.0.0", "type": "stuck"}`)
		box := b.pod("web-0", "n2@first, n1, n2@second")
		b.add(box)
		outcome := b.run("DEL", box)
		Expect(outcome.Error().Msg).To(And(ContainSubstring("interface first"), ContainSubstring("interface second")))
		Expect(b.leases()).To(BeEmpty())
		b.del(box)
	})
})
