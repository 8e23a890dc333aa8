package netns

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"

	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// list makes a plugin list.
func list(plugins ...string) string {
	return `{"cniVersion": "1.0.0", "plugins": [` + strings.Join(plugins, ", ") + `]}`
}

var _ = Describe("addresses and a MAC of the pod's own choice (NET-6)", func() {
	const (
		ip4, ip6 = "192.0.2.20/24", "2001:db8:2::20/64"
		hardware = "02:00:00:00:00:05"
		static   = `"ipam": {"type": "static"}`
		both     = `"capabilities": {"ips": true, "mac": true}`
		leases   = `"ipam": {"type": "host-local", "ranges": [[{"subnet": "192.0.2.0/24"}], [{"subnet": "2001:db8:2::/64"}]]}`
		lease4   = `"ipam": {"type": "host-local", "subnet": "192.0.2.0/24"}`
	)

	DescribeTable("are what the interface has, the status shows, and DEL gives back",
		func(config string, ips []string, wanted string) {
			b := newBench()
			b.nad("n1", config)
			box := b.pod("web-0", asking(ips, wanted))
			b.add(box)
			Expect(addresses(box.NetNS, "net1")).To(ConsistOf(ips))
			status := b.status("web-0")[1]
			for i, address := range ips {
				Expect(status.IPs[i] + "/").To(Equal(address[:strings.Index(address, "/")+1]))
			}
			Expect(status.Mac).To(Equal(mac(box.NetNS, "net1")))
			if wanted != "" {
				Expect(status.Mac).To(Equal(wanted))
			}
			b.del(box)
		},
		Entry("macvlan with static, by capability", list(`{"type": "macvlan", "master": "eth1", `+both+`, `+static+`}`), []string{ip4, ip6}, hardware),
		Entry("macvlan with static, by CNI_ARGS (NET-7)", list(`{"type": "macvlan", "master": "eth1", `+static+`}`), []string{ip4, ip6}, hardware),
		Entry("bridge with static, by capability", list(`{"type": "bridge", "bridge": "br-1", `+both+`, `+static+`}`), []string{ip4, ip6}, hardware),
		Entry("bridge with static, by CNI_ARGS (NET-7)", list(`{"type": "bridge", "bridge": "br-1", `+static+`}`), []string{ip4, ip6}, hardware),
		Entry("the MAC by tuning's capability", list(`{"type": "bridge", "bridge": "br-1", "capabilities": {"ips": true}, `+static+`}`,
			`{"type": "tuning", "capabilities": {"mac": true}}`), []string{ip4}, hardware),
		Entry("the MAC by tuning and CNI_ARGS (NET-7)", list(`{"type": "ptp", `+lease4+`}`, `{"type": "tuning"}`), []string{ip4}, hardware),
		Entry("host-local, by capability", list(`{"type": "macvlan", "master": "eth1", "capabilities": {"ips": true}, `+leases+`}`), []string{ip4, ip6}, ""),
		Entry("host-local, one by CNI_ARGS (NET-7)", list(`{"type": "macvlan", "master": "eth1", `+lease4+`}`), []string{ip4}, ""),
	)

	DescribeTable("that nobody honours fail the attachment, which is taken back (NET-7, ADD-4)",
		func(config string, ips []string, mac, message string) {
			b := newBench()
			b.nad("n1", config)
			b.refused(b.pod("web-0", asking(ips, mac)), []string{"pod blue/web-0", "network blue/n1", message})
		},
		Entry("a MAC, by ptp", list(`{"type": "ptp", `+lease4+`}`), nil, hardware, "capabilities.mac"),
		Entry("addresses, without IPAM", list(`{"type": "macvlan", "master": "eth1"}`), []string{ip4}, "", "capabilities.ips"),
	)

	It("are refused beforehand where host-local could not even detach them: several, by CNI_ARGS (NET-7)", func() {
		b := newBench()
		b.nad("n1", list(`{"type": "macvlan", "master": "eth1", `+leases+`}`))
		b.refused(b.pod("web-0", asking([]string{ip4, ip6}, "")), []string{"network blue/n1", "host-local", "capabilities.ips"})
		Expect(links(b.space)).NotTo(ContainElement("br-main"), "the master has run")
	})
})

// asking selects n1 with addresses and a MAC, empty: none.
func asking(ips []string, mac string) string {
	selection := node.Config{"name": "n1"}
	if ips != nil {
		selection["ips"] = ips
	}
	if mac != "" {
		selection["mac"] = mac
	}
	return "[" + selection.String() + "]"
}

var _ = Describe("bandwidth (NET-6)", func() {
	It("is limited on the interface that asks for it, and the limit goes with it", func() {
		b := newBench()
		b.nad("n1", list(`{"type": "bridge", "bridge": "br-1", "ipam": {"type": "static", "addresses": [{"address": "192.0.2.20/24"}]}}`,
			`{"type": "bandwidth", "capabilities": {"bandwidth": true}}`))
		box := b.pod("web-0", `[{"name": "n1", "bandwidth": {"ingressRate": 8000000, "ingressBurst": 800000, "egressRate": 4000000, "egressBurst": 400000}}]`)
		b.add(box)
		Expect(b.rates()).To(ConsistOf("veth 1000000", "ifb 500000"))
		b.del(box)
	})
})

// rates lists the node's rate limits with the kind of interface that they are on, in bytes per second: what goes to a
// pod is limited on its veth, what comes from it on an ifb.
func (b *bench) rates() (list []string) {
	GinkgoHelper()
	kernel(b.space, func(handle *netlink.Handle) {
		links, err := handle.LinkList()
		Expect(err).NotTo(HaveOccurred())
		for _, link := range links {
			disciplines, err := handle.QdiscList(link)
			Expect(err).NotTo(HaveOccurred())
			for _, discipline := range disciplines {
				if limit, ok := discipline.(*netlink.Tbf); ok {
					list = append(list, fmt.Sprintf("%s %d", link.Type(), limit.Rate))
				}
			}
		}
	})
	return list
}
