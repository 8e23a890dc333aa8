package netns

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"

	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

const (
	// reached is a network of both families on the node, whose pods answer the neighbour through the node.
	reached = `{"type": "host-local", "ranges": [[{"subnet": "198.51.100.0/24"}], [{"subnet": "2001:db8:5::/64"}]],
		"routes": [{"dst": "192.0.2.0/24"}, {"dst": "2001:db8:2::/64"}]}`
	portmapPlugin = `{"type": "portmap", "backend": %q, "capabilities": {"portMappings": true}}`
)

var _ = Describe("plugin portmap", func() {
	for _, backend := range []string{"iptables", "nftables"} {
		config := chain(onBridge(reached, `"isGateway": true, `), fmt.Sprintf(portmapPlugin, backend))

		row("host ports by "+backend+" lead to the pod, IPv4 and IPv6", func(n *network) {
			n.onWire()
			a := n.attach(config, ports(node.Config{"hostPort": 8080, "containerPort": 80, "protocol": "tcp"}))
			n.serves(a.box, "web")
			Expect(hears(n.neighbour, "192.0.2.10:8080")).To(Equal("web"))
			Expect(hears(n.neighbour, "[2001:db8:2::10]:8080")).To(Equal("web"))
			a.detach()
			Expect(n.rules(backend)).NotTo(ContainSubstring("8080"))
		})

		row("hostIP by "+backend+": the port of that address alone", func(n *network) {
			n.onWire()
			ip("-n", filepath.Base(n.space), "address", "add", "192.0.2.11/24", "dev", "eth1")
			mirror(n.space, ":8080")
			a := n.attach(config, ports(node.Config{"hostPort": 8080, "containerPort": 80, "protocol": "tcp", "hostIP": "192.0.2.11"}))
			n.serves(a.box, "web")
			Expect(hears(n.neighbour, "192.0.2.11:8080")).To(Equal("web"))
			Expect(hears(n.neighbour, "192.0.2.10:8080")).NotTo(Equal("web"), "another address of the node")
			a.detach()
		})
	}
})

// ports asks for a host port.
func ports(mapping node.Config) wish {
	return wish{capabilities: node.Config{"portMappings": []any{mapping}}}
}

var _ = Describe("plugin bandwidth", func() {
	row("rates of the configuration", func(n *network) {
		a := n.attach(chain(onBridge(static4), `{"type": "bandwidth", "ingressRate": 8000000, "ingressBurst": 800000, "egressRate": 4000000, "egressBurst": 400000}`))
		Expect(n.rates()).To(ConsistOf("veth 1000000", "ifb 500000"))
		a.detach()
	})

	row("rates by the capability", func(n *network) {
		a := n.attach(chain(onBridge(static4), `{"type": "bandwidth", "capabilities": {"bandwidth": true}}`), wish{capabilities: node.Config{
			"bandwidth": node.Config{"ingressRate": 8000000, "ingressBurst": 800000, "egressRate": 4000000, "egressBurst": 400000}}})
		Expect(n.rates()).To(ConsistOf("veth 1000000", "ifb 500000"))
		a.detach()
	})
})

var _ = Describe("plugin tuning", func() {
	tuned := func(keys string) string { return chain(onBridge(static4), `{"type": "tuning", `+keys+`}`) }

	row("sysctl, by the interface's name", func(n *network) {
		a := n.attach(tuned(`"sysctl": {"net.ipv4.conf.IFNAME.arp_notify": "1", "net.ipv6.conf.IFNAME.accept_ra": "0"}`))
		Expect(sysctl(a.box.NetNS, "net/ipv4/conf/"+a.ifname+"/arp_notify")).To(Equal("1"))
		Expect(sysctl(a.box.NetNS, "net/ipv6/conf/"+a.ifname+"/accept_ra")).To(Equal("0"))
		a.detach()
	})

	row("mac, of the configuration: in the result as well", func(n *network) {
		a := n.attach(tuned(`"mac": "` + chosenMAC + `"`))
		Expect(mac(a.box.NetNS, a.ifname)).To(Equal(chosenMAC))
		Expect(a.shown().Mac).To(Equal(chosenMAC))
		a.detach()
	})

	row("mac, by the capability", func(n *network) {
		a := n.attach(tuned(`"capabilities": {"mac": true}`), byMAC)
		Expect(mac(a.box.NetNS, a.ifname)).To(Equal(chosenMAC))
		a.detach()
	})

	row("mtu", func(n *network) {
		a := n.attach(tuned(`"mtu": 1400`))
		Expect(a.link().Attrs().MTU).To(Equal(1400))
		a.detach()
	})

	row("promisc", func(n *network) {
		a := n.attach(tuned(`"promisc": true`))
		Expect(a.link().Attrs().Promisc).To(Equal(1))
		a.detach()
	})

	row("allmulti", func(n *network) {
		a := n.attach(tuned(`"allmulti": true`))
		Expect(a.link().Attrs().Allmulti).To(Equal(1))
		a.detach()
	})

	row("txQLen", func(n *network) {
		a := n.attach(tuned(`"txQLen": 500`))
		Expect(a.link().Attrs().TxQLen).To(Equal(500))
		a.detach()
	})

	row("a sysctl that does not exist: a clear error", func(n *network) {
		n.refuse(tuned(`"sysctl": {"net.ipv4.conf.IFNAME.no_such": "1"}`), 999, "plugin tuning", "no_such")
	})
})

var _ = Describe("plugin sbr", func() {
	row("two networks with a subnet each: replies leave by the one that was called", func(n *network) {
		const outside = "203.0.113.7" // behind both gateways
		there := filepath.Base(n.neighbour)
		ip("-n", there, "address", "add", "203.0.113.7/32", "dev", "lo")
		ip("-n", there, "link", "set", "lo", "up")
		ip("-n", there, "address", "add", "198.51.100.1/24", "dev", "eth0.50")
		n.strict()
		second := `{"type": "macvlan", "master": "eth0.50", "ipam": {"type": "static", "addresses": [{"address": "198.51.100.20/24", "gateway": "198.51.100.1"}], "routes": [{"dst": "0.0.0.0/0"}]}}`
		n.nad("n2", unchecked(second, `{"type": "sbr"}`))
		a := n.attach(unchecked(`{"type": "macvlan", "master": "eth1", "ipam": {"type": "static", "addresses": [{"address": "192.0.2.20/24", "gateway": "192.0.2.1"}], "routes": [{"dst": "0.0.0.0/0"}]}}`, `{"type": "sbr"}`), wish{others: "n2"})
		n.serves(a.box, "web")
		for _, address := range []string{"192.0.2.20:80", "198.51.100.20:80"} {
			Expect(hearsFrom(n.neighbour, outside, address)).To(Equal("web"))
		}
		a.detach()
	})
})

// strict has the neighbour drop what comes in by another card than the one that answers would leave by.
func (b *bench) strict() {
	GinkgoHelper()
	Expect(inside(b.neighbour, func() error {
		return os.WriteFile("/proc/sys/net/ipv4/conf/all/rp_filter", []byte("1"), 0)
	})).To(Succeed())
}

var _ = Describe("plugin vrf", func() {
	row("the interface is in the VRF", func(n *network) {
		config := chain(onBridge(static4), `{"type": "vrf", "vrfname": "red", "table": 100}`)
		if !n.kernelHas(&netlink.Vrf{LinkAttrs: netlink.LinkAttrs{Name: "red"}, Table: 100}) {
			n.failsVRF(config)
			return
		}
		a := n.attach(config)
		Expect(a.link().Attrs().MasterIndex).To(Equal(linkOf(a.box.NetNS, "red").Attrs().Index))
		a.detach()
	})
})

// failsVRF: a kernel without VRF.
func (n *network) failsVRF(config string) {
	GinkgoHelper()
	n.refuse(config, 999, "plugin vrf", "could not add VRF", "operation not supported")
}

var _ = Describe("plugin firewall", func() {
	row("the pod is let through where all else is not", func(n *network) {
		n.onWire()
		ip("-n", filepath.Base(n.neighbour), "route", "add", "198.51.100.0/24", "via", nodeAddress)
		mirror(n.neighbour, "192.0.2.2:80")
		outcome := n.wait(exec.Command("iptables", "-P", "FORWARD", "DROP"))
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		a := n.attach(chain(onBridge(own, `"isGateway": true, `), `{"type": "firewall", "backend": "iptables"}`))
		Expect(hears(a.box.NetNS, "192.0.2.2:80")).To(Equal("198.51.100.2"))
		a.detach()
		Expect(n.rules("iptables")).NotTo(ContainSubstring("198.51.100.2"))
	})

	row("ingressPolicy same-bridge: pods of other bridges are kept out", func(n *network) {
		a := n.attach(chain(onBridge(own, `"isGateway": true, `), `{"type": "firewall", "backend": "iptables", "ingressPolicy": "same-bridge"}`))
		Expect(n.rules("iptables")).To(MatchRegexp(`-A CNI-ISOLATION-STAGE-2 -o br-1 .* -j DROP`))
		a.detach()
	})

	row("below version 0.4.0: the plugin's error with its code and details", func(n *network) {
		outcome := n.refuse(`{"cniVersion": "0.3.1", "name": "n1", "plugins": [`+onBridge(own)+`, {"type": "firewall"}]}`, 1, "plugin firewall", "incompatible CNI versions")
		Expect(outcome.Error().Details).To(And(ContainSubstring("0.3.1"), ContainSubstring("0.4.0")))
	})
})

var _ = Describe("plugin chain", func() {
	row("four plugins in one list: bridge, tuning, bandwidth, portmap", func(n *network) {
		n.onWire()
		a := n.attach(chain(onBridge(reached, `"isGateway": true, `), `{"type": "tuning", "mtu": 1400, "mac": "`+chosenMAC+`"}`,
			`{"type": "bandwidth", "ingressRate": 80000000, "ingressBurst": 8000000, "egressRate": 40000000, "egressBurst": 4000000}`,
			fmt.Sprintf(portmapPlugin, "iptables")), ports(node.Config{"hostPort": 8080, "containerPort": 80, "protocol": "tcp"}))
		Expect(a.link().Attrs().MTU).To(Equal(1400))
		Expect(a.shown().Mac).To(Equal(chosenMAC))
		Expect(n.rates()).To(ConsistOf("veth 10000000", "ifb 5000000"))
		n.serves(a.box, "web")
		Expect(hears(n.neighbour, "192.0.2.10:8080")).To(Equal("web"))
		a.detach()
		Expect(n.rules("iptables")).NotTo(ContainSubstring("8080"))
	})
})
