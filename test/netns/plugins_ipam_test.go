package netns

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// onBridge is a bridge plugin with this IPAM, and with these further keys, each followed by a comma.
func onBridge(ipam string, keys ...string) string {
	return `{"type": "bridge", "bridge": "br-1", ` + strings.Join(keys, "") + `"ipam": ` + ipam + `}`
}

// hostLocal is host-local with these range sets, and with these further keys, each followed by a comma.
func hostLocal(ranges string, keys ...string) string {
	return `{"type": "host-local", ` + strings.Join(keys, "") + `"ranges": [` + ranges + `]}`
}

const (
	range4 = `[{"subnet": "192.0.2.0/24", "rangeStart": "192.0.2.10"}]`
	range6 = `[{"subnet": "2001:db8:2::/64", "rangeStart": "2001:db8:2::10"}]`
)

var _ = Describe("plugin host-local", func() {
	row("a range with its first and last address and its gateway", func(n *network) {
		config := chain(onBridge(hostLocal(`[{"subnet": "192.0.2.0/24", "rangeStart": "192.0.2.10", "rangeEnd": "192.0.2.11", "gateway": "192.0.2.9"}]`)))
		first, second := n.attach(config), n.attach(config)
		Expect(first.addresses()).To(Equal([]string{"192.0.2.10/24"}))
		Expect(second.addresses()).To(Equal([]string{"192.0.2.11/24"}))
		Expect(first.gateways()).To(Equal([]string{"192.0.2.9"}))
		first.release()
		second.detach()
	})

	row("disjoint ranges in one set: the second is used when the first is full", func(n *network) {
		config := chain(onBridge(hostLocal(`[{"subnet": "192.0.2.0/24", "rangeStart": "192.0.2.10", "rangeEnd": "192.0.2.10"},
			{"subnet": "198.51.100.0/24", "rangeStart": "198.51.100.20", "rangeEnd": "198.51.100.20"}]`)))
		first, second := n.attach(config), n.attach(config)
		Expect(first.addresses()).To(Equal([]string{"192.0.2.10/24"}))
		Expect(second.addresses()).To(Equal([]string{"198.51.100.20/24"}))
		first.release()
		second.detach()
	})

	row("several range sets: an address of each", func(n *network) {
		a := n.attach(chain(onBridge(hostLocal(range4 + `, [{"subnet": "198.51.100.0/24", "rangeStart": "198.51.100.10"}]`))))
		Expect(a.addresses()).To(Equal([]string{"192.0.2.10/24", "198.51.100.10/24"}))
		Expect(a.ips()).To(Equal(a.addresses()))
		a.detach()
	})

	row("both address families", func(n *network) {
		a := n.attach(chain(onBridge(hostLocal(range4 + "," + range6))))
		Expect(a.addresses()).To(Equal([]string{"192.0.2.10/24", "2001:db8:2::10/64"}))
		Expect(a.ips()).To(Equal(a.addresses()))
		a.detach()
	})

	row("routes, by the range's gateway and by their own", func(n *network) {
		a := n.attach(chain(onBridge(hostLocal(range4+","+range6, `"routes": [{"dst": "198.51.100.0/24"}, {"dst": "203.0.113.0/24", "gw": "192.0.2.7"}, {"dst": "2001:db8:9::/64"}], `))))
		Expect(routes(a.box.NetNS, "198.51.100.0/24", unix.RT_TABLE_MAIN)).To(Equal([]string{a.ifname + " 192.0.2.1"}))
		Expect(routes(a.box.NetNS, "203.0.113.0/24", unix.RT_TABLE_MAIN)).To(Equal([]string{a.ifname + " 192.0.2.7"}))
		Expect(routes(a.box.NetNS, "2001:db8:9::/64", unix.RT_TABLE_MAIN)).To(Equal([]string{a.ifname + " 2001:db8:2::1"}))
		a.detach()
	})

	row("resolvConf arrives as dns in the result and in the network-status", func(n *network) {
		file := filepath.Join(n.Dir, "resolv.conf")
		Expect(os.WriteFile(file, []byte("nameserver 192.0.2.53\nsearch one.example two.example\ndomain example\noptions ndots:2\n"), 0o600)).To(Succeed())
		a := n.attach(chain(onBridge(hostLocal(range4, `"resolvConf": "`+file+`", `))))
		Expect(pretty(a.result.DNS)).To(MatchJSON(`{"nameservers":["192.0.2.53"],"domain":"example","search":["one.example","two.example"],"options":["ndots:2"]}`))
		shown := a.shown()
		Expect(shown.DNS.Nameservers).To(Equal([]string{"192.0.2.53"}))
		Expect(shown.DNS.Search).To(Equal([]string{"one.example", "two.example"}))
		a.detach()
	})

	row("dataDir holds the leases, on DEL as well", func(n *network) {
		dir := filepath.Join(n.Dir, "leases")
		a := n.attach(chain(onBridge(hostLocal(range4, `"dataDir": "`+dir+`", `))))
		Expect(filepath.Join(dir, "n1", "192.0.2.10")).To(BeAnExistingFile())
		Expect(n.leases()).NotTo(ContainElement(HavePrefix("n1 ")))
		a.detach()
		Expect(filepath.Join(dir, "n1", "192.0.2.10")).NotTo(BeAnExistingFile())
	})

	row("an address asked for by CNI_ARGS, IP=", func(n *network) {
		a := n.attach(chain(onBridge(hostLocal(range4))), n.byArgs("192.0.2.77"))
		Expect(a.addresses()).To(Equal([]string{"192.0.2.77/24"}))
		a.detach()
	})

	row("addresses asked for by the capability ips", func(n *network) {
		a := n.attach(chain(onBridge(hostLocal(range4+","+range6), `"capabilities": {"ips": true}, `)), wish{capabilities: node.Config{"ips": []string{"192.0.2.77", "2001:db8:2::77"}}})
		Expect(a.addresses()).To(Equal([]string{"192.0.2.77/24", "2001:db8:2::77/64"}))
		a.detach()
	})

	row("no address left: a clear error, and none is lost", func(n *network) {
		config := chain(onBridge(hostLocal(`[{"subnet": "192.0.2.0/24", "rangeStart": "192.0.2.10", "rangeEnd": "192.0.2.10"}]`)))
		first := n.attach(config)
		before := n.leases()
		for range 3 {
			n.refuse(config, 999, "bridge", "no IP addresses available", "192.0.2.10-192.0.2.10")
			Expect(n.leases()).To(Equal(before))
		}
		first.detach()
		again := n.attach(config)
		Expect(again.addresses()).To(Equal([]string{"192.0.2.10/24"}))
		again.detach()
	})

	row("an address that another pod has: a clear error, and it stays with that pod", func(n *network) {
		config := chain(onBridge(hostLocal(range4)))
		first := n.attach(config, n.byArgs("192.0.2.77"))
		before := n.leases()
		second := n.ask(config, n.byArgs("192.0.2.77"))
		outcome := n.run("ADD", second.box, second.changes)
		Expect(outcome.Error()).To(HaveField("Msg", And(ContainSubstring("bridge"), ContainSubstring("192.0.2.77"), ContainSubstring("is not available"))))
		Expect(n.leases()).To(Equal(before))
		first.detach()
	})
})

// unchecked is chain for plugins whose own CHECK is wrong.
func unchecked(plugins ...string) string {
	return strings.Replace(chain(plugins...), `"plugins"`, `"disableCheck": true, "plugins"`, 1)
}

// byArgs asks for an address through CNI_ARGS: the runtime for the master, a selection of which no plugin declares the
// capability for a NAD (NET-7).
func (n *network) byArgs(address string) wish {
	if n.master {
		return wish{args: [][2]string{{"IP", address}}}
	}
	return wish{capabilities: node.Config{"ips": []string{address}}}
}

var _ = Describe("plugin static", func() {
	row("addresses of both families and their gateways", func(n *network) {
		a := n.attach(chain(onBridge(`{"type": "static", "addresses": [{"address": "192.0.2.20/24", "gateway": "192.0.2.9"}, {"address": "2001:db8:2::20/64", "gateway": "2001:db8:2::9"}]}`)))
		Expect(a.addresses()).To(Equal([]string{"192.0.2.20/24", "2001:db8:2::20/64"}))
		Expect(a.ips()).To(Equal(a.addresses()))
		Expect(a.gateways()).To(Equal([]string{"192.0.2.9", "2001:db8:2::9"}))
		a.detach()
	})

	row("routes, in a table of their own as well", func(n *network) {
		a := n.attach(unchecked(onBridge(`{"type": "static", "addresses": [{"address": "192.0.2.20/24", "gateway": "192.0.2.9"}],
			"routes": [{"dst": "198.51.100.0/24"}, {"dst": "203.0.113.0/24", "gw": "192.0.2.7", "mtu": 1300}, {"dst": "203.0.113.0/24", "gw": "192.0.2.8", "table": 100}]}`)))
		Expect(routes(a.box.NetNS, "198.51.100.0/24", unix.RT_TABLE_MAIN)).To(Equal([]string{a.ifname + " 192.0.2.9"}))
		Expect(routes(a.box.NetNS, "203.0.113.0/24", unix.RT_TABLE_MAIN)).To(Equal([]string{a.ifname + " 192.0.2.7"}))
		Expect(routes(a.box.NetNS, "203.0.113.0/24", 100)).To(Equal([]string{a.ifname + " 192.0.2.8"}))
		Expect(a.result.Routes).To(ContainElement(HaveField("MTU", 1300)))
		a.detach()
	})

	row("dns arrives in the result and in the network-status", func(n *network) {
		a := n.attach(chain(onBridge(`{"type": "static", "addresses": [{"address": "192.0.2.20/24"}], "dns": {"nameservers": ["192.0.2.53"], "domain": "example", "search": ["one.example"]}}`)))
		Expect(a.result.DNS.Nameservers).To(Equal([]string{"192.0.2.53"}))
		Expect(a.shown().DNS).To(And(HaveField("Domain", "example"), HaveField("Search", []string{"one.example"})))
		a.detach()
	})

	row("addresses asked for by CNI_ARGS, IP=", func(n *network) {
		a := n.attach(chain(onBridge(`{"type": "static"}`)), n.byArgs("192.0.2.77/24"))
		Expect(a.addresses()).To(Equal([]string{"192.0.2.77/24"}))
		a.detach()
	})

	row("addresses asked for by the capability ips", func(n *network) {
		a := n.attach(chain(onBridge(`{"type": "static"}`, `"capabilities": {"ips": true}, `)), wish{capabilities: node.Config{"ips": []string{"192.0.2.77/24", "2001:db8:2::77/64"}}})
		Expect(a.addresses()).To(Equal([]string{"192.0.2.77/24", "2001:db8:2::77/64"}))
		a.detach()
	})
})
