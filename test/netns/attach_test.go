package netns

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// leased is a network on eth1 that host-local gives an address of.
const leased = `{"cniVersion": "1.0.0", "type": "macvlan", "master": "eth1", "mode": "bridge",
	"ipam": {"type": "host-local", "subnet": "192.0.2.0/24", "rangeStart": "192.0.2.100"}}`

var _ = Describe("configurations from the field", func() {
	It("C5: macvlan with host-local, no name, several lines, a second default route (NET-11)", func() {
		b := newBench()
		b.nad("macvlan-a", "{ \"cniVersion\": \"0.3.1\", \"type\": \"macvlan\", \"master\": \"eth1\", \"mode\": \"bridge\",\n"+
			"\t\"ipam\": { \"type\": \"host-local\", \"subnet\": \"192.0.2.0/24\", \"rangeStart\": \"192.0.2.200\", \"rangeEnd\": \"192.0.2.216\",\n"+
			"\t\t\"routes\": [ { \"dst\": \"0.0.0.0/0\" } ], \"gateway\": \"192.0.2.1\" } }")
		box := b.pod("web-0", "macvlan-a")
		outcome := b.add(box)
		Expect(addresses(box.NetNS, "net1")).To(Equal([]string{"192.0.2.200/24"}))
		Expect(b.leases()).To(ContainElement("macvlan-a 192.0.2.200"))
		Expect(defaultsOf(box.NetNS, "eth0")).To(ContainElement(main4))
		Expect(defaultsOf(box.NetNS, "net1")).To(Equal([]string{"192.0.2.1"}))
		b.agree(box, outcome)
		b.del(box)
	})

	It("C6: a plugin list, macvlan with static addresses and tuning for the MAC (NET-6)", func() {
		b := newBench()
		b.API.AddNAD(fake.NAD{Namespace: "net-shared", Name: "iot", Config: `{"cniVersion":"0.3.1","name":"iot","plugins":[
      {"type":"macvlan","master":"eth0.50","mode":"bridge","capabilities":{"ips":true},
       "ipam":{"type":"static","routes":[{"dst":"198.51.100.0/24","gw":"192.0.2.1"},{"dst":"224.0.0.0/4"}]}},
      {"type":"tuning","capabilities":{"mac":true}}]}`})
		box := b.pod("web-0", `[{"name":"iot","namespace":"net-shared","ips":["192.0.2.5/24"],"mac":"02:00:00:00:00:05"}]`)
		b.add(box)
		Expect(addresses(box.NetNS, "net1")).To(Equal([]string{"192.0.2.5/24"}))
		Expect(mac(box.NetNS, "net1")).To(Equal("02:00:00:00:00:05"))
		Expect(routes(box.NetNS, "198.51.100.0/24", unix.RT_TABLE_MAIN)).To(Equal([]string{"net1 192.0.2.1"}))
		Expect(routes(box.NetNS, "224.0.0.0/4", unix.RT_TABLE_MAIN)).To(Equal([]string{"net1 direct"}))
		Expect(b.status("web-0")[1]).To(And(HaveField("Name", "net-shared/iot"), HaveField("Mac", "02:00:00:00:00:05")))
		b.del(box)
	})

	It("E155: the documented remedy for a default route by a router's advertisement takes effect", func() {
		b := newBench()
		b.nad("quiet", `{"cniVersion":"1.0.0","plugins":[{"type":"macvlan","master":"eth1"},{"type":"tuning","sysctl":{"net.ipv6.conf.IFNAME.accept_ra":"0"}}]}`)
		b.nad("plain", `{"cniVersion":"1.0.0","type":"macvlan","master":"eth1"}`)
		box := b.pod("web-0", "quiet, plain")
		b.add(box)
		Expect(inside(box.NetNS, func() error {
			Expect(os.ReadFile("/proc/sys/net/ipv6/conf/net1/accept_ra")).To(BeEquivalentTo("0\n"))
			Expect(os.ReadFile("/proc/sys/net/ipv6/conf/net2/accept_ra")).To(BeEquivalentTo("1\n"))
			return nil
		})).To(Succeed())
		b.del(box)
	})

	It("C9: addresses of both families, own names, the default route moved, an unknown key (NET-4, ADD-7)", func() {
		b := newBench()
		b.nad("rf", `{"cniVersion":"1.0.0","type":"macvlan","master":"eth1","capabilities":{"ips":true},"ipam":{"type":"static"}}`)
		b.nad("vlan-100", `{"cniVersion":"1.0.0","type":"macvlan","master":"eth0.50"}`)
		box := b.pod("web-0", `
  [{"name":"rf","interface":"rf","ips":["192.0.2.20/24","2001:db8:66::20/64"],"default-route":["192.0.2.254"],"gateways":["192.0.2.3"]},
   {"name":"vlan-100","interface":"vlan-100"}]`)
		outcome := b.add(box)
		Expect(links(box.NetNS)).To(Equal([]string{"eth0", "lo", "rf", "vlan-100"}))
		Expect(addresses(box.NetNS, "rf")).To(ConsistOf("192.0.2.20/24", "2001:db8:66::20/64"))
		Expect(addresses(box.NetNS, "vlan-100")).To(BeEmpty())
		Expect(defaults(box.NetNS)).To(Equal([]string{"rf 192.0.2.254", "eth0 " + main6}))
		Expect(outcome.Stderr).To(MatchRegexp(`warning: .*gateways`))
		b.del(box)
	})

	It("C10: a NAD without configuration, whose file is on the node (NET-11)", func() {
		b := newBench()
		Expect(b.WriteConfig("10-other.conf", `{"cniVersion":"1.0.0","name":"other","type":"nobody"}`)).To(Succeed())
		Expect(b.WriteConfig("20-file.conflist", `{"cniVersion":"1.0.0","name":"k8s-file-net","plugins":[`+
			`{"type":"macvlan","master":"eth1","ipam":{"type":"static","addresses":[{"address":"192.0.2.30/24"}]}}]}`)).To(Succeed())
		b.nad("k8s-file-net", "")
		box := b.pod("web-0", "k8s-file-net")
		b.add(box)
		Expect(addresses(box.NetNS, "net1")).To(Equal([]string{"192.0.2.30/24"}))
		Expect(b.status("web-0")[1]).To(HaveField("Name", "blue/k8s-file-net"))
		b.del(box)
	})
})

var _ = Describe("interface names (NET-12)", func() {
	It("that exist in the network namespace are refused before anything runs (ADD-2, E058)", func() {
		b := newBench()
		b.nad("n1", leased)
		box := b.pod("web-0", "n1")
		pod := filepath.Base(box.NetNS)
		ip("-n", pod, "link", "add", "net1", "type", "veth", "peer", "name", "other")

		outcome := b.run("ADD", box)
		Expect(outcome.Exit).To(Equal(1))
		Expect(outcome.Error().Msg).To(And(ContainSubstring("network blue/n1"), ContainSubstring(`"net1" exists already`), ContainSubstring(box.NetNS)))
		Expect(links(box.NetNS)).To(Equal([]string{"lo", "net1", "other"}))
		Expect(links(b.space)).NotTo(ContainElement("br-main"), "the master has run")
		b.nothingOnNode()
	})

	It("count on from one that was asked for (E059)", func() {
		b := newBench()
		b.nad("n1", leased)
		b.nad("n2", leased)
		box := b.pod("web-0", `[{"name":"n1","interface":"net2"},{"name":"n2"},{"name":"n2","interface":"eth1"}]`)
		b.add(box)
		Expect(links(box.NetNS)).To(Equal([]string{"eth0", "eth1", "lo", "net2", "net3"}))
		b.del(box)
	})

	DescribeTable("that are asked for twice are refused before anything runs (E061)",
		func(networks, name string) {
			b := newBench()
			b.nad("n1", leased)
			b.nad("n2", leased)
			b.refused(b.pod("web-0", networks), []string{"pod blue/web-0", name, "taken"})
			Expect(links(b.space)).NotTo(ContainElement("br-main"), "the master has run")
		},
		Entry("by two networks", `[{"name":"n1","interface":"net1"},{"name":"n2","interface":"net1"}]`, `"net1"`),
		Entry("by the runtime", `[{"name":"n1","interface":"eth0"}]`, `"eth0"`),
	)

	It("tell two attachments of one network apart, which is also the master's (NET-13, E062)", func() {
		b := newBench()
		b.nad("main", leased)
		box := b.pod("web-0", "main,main")
		b.add(box)
		Expect(addresses(box.NetNS, "net1")).To(Equal([]string{"192.0.2.100/24"}))
		Expect(addresses(box.NetNS, "net2")).To(Equal([]string{"192.0.2.101/24"}))
		Expect(b.status("web-0")).To(HaveExactElements(HaveField("Interface", "eth0"), HaveField("Interface", "net1"), HaveField("Interface", "net2")))
		for _, ifname := range []string{"eth0", "net1", "net2"} {
			Expect(b.cached(box, ifname)).To(ContainSubstring(ifname))
		}
		b.del(box)
	})
})

var _ = Describe("our own network namespace", func() {
	It("is refused before anything is attached to it", func() {
		b := newBench()
		box := b.pod("web-0", "")
		here := box
		here.NetNS = b.space
		before := links(b.space)
		outcome := b.run("ADD", here)
		Expect(outcome.Exit).To(Equal(1))
		Expect(outcome.Error().Msg).To(And(ContainSubstring("pod blue/web-0"), ContainSubstring("CNI_NETNS"), ContainSubstring("itself")))
		Expect(links(b.space)).To(Equal(before))
		b.nothingLeft(box)
	})

	It("is taken where the runtime says that it may be (CNI_NETNS_OVERRIDE)", func() {
		b := newBench()
		box := b.pod("web-0", "")
		box.NetNS, box.IfName = b.space, "up0"
		change := node.Config{"delegates": []any{node.Config{"cniVersion": "1.0.0", "name": "main", "type": "macvlan", "master": "eth1"}}}
		run := func(verb string) node.Outcome {
			cmd := b.command(verb, box, change)
			cmd.Env = append(cmd.Env, "CNI_NETNS_OVERRIDE=true")
			return b.wait(cmd)
		}
		outcome := run("ADD")
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		Expect(links(b.space)).To(ContainElement("up0"))
		outcome = run("DEL")
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		b.nothingOnNode()
	})
})
