package netns

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	types100 "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/cni/pkg/types/create"
	"github.com/containernetworking/cni/pkg/version"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// macvlan is a NAD on eth1 with the address 192.0.2.20, or 2001:db8:2::20, or both, and these routes.
func macvlan(addresses, routes string) string {
	return fmt.Sprintf(`{"cniVersion": "1.1.0", "type": "macvlan", "master": "eth1", "ipam": {"type": "static", "addresses": [%s], "routes": [%s]}}`, addresses, routes)
}

const (
	address4 = `{"address": "192.0.2.20/24", "gateway": "` + gateway4 + `"}`
	address6 = `{"address": "2001:db8:2::20/64", "gateway": "` + gateway6 + `"}`
	address  = address4 + "," + address6
	route4   = `{"dst": "0.0.0.0/0"}`
	route6   = `{"dst": "::/0"}`
	route    = route4 + "," + route6
)

// rerouted makes a pod with the network n1 on net1 and this default-route, empty: none.
func (b *bench) rerouted(defaultRoute string) node.Sandbox {
	GinkgoHelper()
	selection := `{"name": "n1"}`
	if defaultRoute != "" {
		selection = `{"name": "n1", "default-route": ` + defaultRoute + `}`
	}
	return b.pod("web-0", "["+selection+"]")
}

// agree compares the default routes in the kernel with the result returned, the cached results and the network-status.
func (b *bench) agree(box node.Sandbox, outcome node.Outcome) {
	GinkgoHelper()
	Expect(defaultsIn(outcome.Stdout)).To(Equal(defaultsOf(box.NetNS, "eth0")), "the result returned")
	for i, ifname := range []string{"eth0", "net1"} {
		inKernel := defaultsOf(box.NetNS, ifname)
		Expect(defaultsIn(b.cached(box, ifname))).To(Equal(inKernel), "the cached result of "+ifname)
		shown := b.status("web-0")[i].Gateway
		slices.Sort(shown)
		Expect(shown).To(HaveLen(len(inKernel)), "the network-status of "+ifname)
		for n, gateway := range shown {
			Expect(inKernel[n]).To(HavePrefix(gateway), "the network-status of "+ifname)
		}
	}
}

// defaultsOf lists an interface's default routes in the kernel, as "192.0.2.1" or "192.0.2.1 metric 2".
func defaultsOf(space, ifname string) []string {
	GinkgoHelper()
	list := []string{}
	for _, route := range defaults(space) {
		if way, found := strings.CutPrefix(route, ifname+" "); found {
			list = append(list, way)
		}
	}
	return list
}

// defaultsIn lists the default routes of a result of any version likewise. A route without a gateway has its family's.
func defaultsIn(result string) []string {
	GinkgoHelper()
	read, err := create.CreateFromBytes([]byte(result))
	Expect(err).NotTo(HaveOccurred(), result)
	current, err := types100.NewResultFromResult(read)
	Expect(err).NotTo(HaveOccurred())
	list := []string{}
	for _, route := range current.Routes {
		if !route.Dst.IP.IsUnspecified() || route.Table != nil {
			continue
		}
		gateway := route.GW
		for _, address := range current.IPs {
			if gateway == nil && isIPv4(address.Gateway) == isIPv4(route.Dst.IP) {
				gateway = address.Gateway
			}
		}
		text := gatewayText(gateway)
		if route.Priority != 0 {
			text += fmt.Sprintf(" metric %d", route.Priority)
		}
		list = append(list, text)
	}
	slices.Sort(list)
	return list
}

func isIPv4(ip net.IP) bool { return ip.To4() != nil }

// cached is the result that libcni's cache has of the interface.
func (b *bench) cached(box node.Sandbox, ifname string) string {
	GinkgoHelper()
	files, err := filepath.Glob(filepath.Join(b.CNIDir, "results", "*-"+box.ContainerID+"-"+ifname))
	Expect(err).NotTo(HaveOccurred())
	Expect(files).To(HaveLen(1))
	raw, err := os.ReadFile(files[0])
	Expect(err).NotTo(HaveOccurred())
	var cached struct{ Result json.RawMessage }
	Expect(json.Unmarshal(raw, &cached)).To(Succeed())
	return string(cached.Result)
}

var _ = Describe("the default route (ADD-7)", func() {
	DescribeTable("is the same in the kernel, in the result returned, in the cached results and in the network-status",
		func(config, defaultRoute string, onEth0, onNet1 []string) {
			b := newBench()
			b.nad("n1", config)
			box := b.rerouted(defaultRoute)
			outcome := b.add(box)
			Expect(defaultsOf(box.NetNS, "eth0")).To(Equal(onEth0))
			Expect(defaultsOf(box.NetNS, "net1")).To(Equal(onNet1))
			b.agree(box, outcome)
			b.del(box)
		},
		Entry("not asked for, the network has none (E151)", macvlan(address, ""), "", []string{main4, main6}, []string{}),
		Entry("not asked for, the network has its own (E151)", macvlan(address, route), "", []string{main4, main6}, []string{gateway4, gateway6}),
		Entry("IPv4 listed", macvlan(address, ""), `["192.0.2.1"]`, []string{main6}, []string{gateway4}),
		Entry("IPv4 listed, the network has its own (E151, E152)", macvlan(address, route4), `["192.0.2.2"]`, []string{main6}, []string{"192.0.2.2"}),
		Entry("IPv6 listed", macvlan(address, ""), `["2001:db8:2::1"]`, []string{main4}, []string{gateway6}),
		Entry("IPv6 listed, the network has its own (E152)", macvlan(address, route), `["2001:db8:2::2"]`, []string{main4}, []string{gateway4, "2001:db8:2::2"}),
		Entry("both listed", macvlan(address, ""), `["192.0.2.1", "2001:db8:2::1"]`, []string{}, []string{gateway4, gateway6}),
		Entry("both listed, the network has its own (E152)", macvlan(address, route), `["192.0.2.1", "2001:db8:2::1"]`, []string{}, []string{gateway4, gateway6}),
		Entry("the network's own, IPv4 (E151, E152)", macvlan(address, route4), `[]`, []string{main6}, []string{gateway4}),
		Entry("the network's own, IPv6 (E152)", macvlan(address, route6), `[]`, []string{main4}, []string{gateway6}),
		Entry("the network's own, both (E151, E152)", macvlan(address, route), `[]`, []string{}, []string{gateway4, gateway6}),
		Entry("several, by metric", macvlan(address, ""), `["192.0.2.2", "192.0.2.1", "2001:db8:2::1"]`,
			[]string{}, []string{"192.0.2.1 metric 2", "192.0.2.2 metric 1", gateway6}),
		Entry("outside of the subnet", macvlan(address, ""), `["198.51.100.1"]`, []string{main6}, []string{"198.51.100.1"}),
	)

	It("is found and moved whatever the versions are (E083, INV-2)", func() {
		b := newBench()
		for _, pair := range versionPairs() {
			b.nad("n1", strings.Replace(macvlan(address4, route4), "1.1.0", pair.inner, 1))
			box := b.rerouted(`["192.0.2.2"]`)
			inner := raw(strings.Replace(master, "1.0.0", pair.inner, 1))
			outer := node.Config{"cniVersion": pair.outer, "delegates": []any{inner}}
			By("outer " + pair.outer + ", inner " + pair.inner)

			outcome := b.add(box, outer)
			Expect(outcome.Stdout).To(ContainSubstring(`"cniVersion": "` + pair.outer + `"`))
			Expect(defaults(box.NetNS)).To(Equal([]string{"net1 192.0.2.2", "eth0 " + main6}))
			b.agree(box, outcome)
			b.del(box, outer)
		}
	})

	It("in other tables is left alone", func() {
		b := newBench()
		b.nad("n1", macvlan(address4, `{"dst": "0.0.0.0/0"}, {"dst": "0.0.0.0/0", "table": 100}`))
		tables := strings.Replace(master, `"routes": [`, `"routes": [{"dst": "0.0.0.0/0", "table": 101}, `, 1)
		tables = strings.Replace(tables, "1.0.0", "1.1.0", 1)
		box := b.rerouted(`[]`)
		outcome := b.add(box, node.Config{"cniVersion": "1.1.0", "delegates": []any{raw(tables)}})
		Expect(defaults(box.NetNS)).To(Equal([]string{"net1 " + gateway4, "eth0 " + main6}))
		Expect(routes(box.NetNS, "0.0.0.0/0", 100)).To(Equal([]string{"net1 " + gateway4}))
		Expect(routes(box.NetNS, "0.0.0.0/0", 101)).To(Equal([]string{"eth0 " + main4}))
		b.agree(box, outcome)
		b.del(box)
	})

	DescribeTable("cannot be given to a network that cannot carry it",
		func(config, defaultRoute, message string) {
			b := newBench()
			Expect(b.Delegates.Behave("silent", script.Rule{Nothing: true})).To(Succeed())
			b.nad("n1", config)
			b.refused(b.rerouted(defaultRoute), []string{"pod blue/web-0", "network blue/n1", "default-route", message})
		},
		Entry("the list is empty, and it provides none", macvlan(address, ""), `[]`, "list is empty"),
		Entry("it has no interface", `{"cniVersion": "1.0.0", "type": "silent"}`, `["192.0.2.1"]`, "no interface"),
	)

	It("is not given where another one is in the way, which is an error and not ignored (E152)", func() {
		b := newBench()
		b.nad("n1", macvlan(address4, ""))
		box := b.rerouted(`["192.0.2.1"]`)
		pod := filepath.Base(box.NetNS)
		ip("-n", pod, "link", "add", "pre0", "type", "veth", "peer", "name", "pre1")
		ip("-n", pod, "link", "set", "pre0", "up")
		ip("-n", pod, "link", "set", "pre1", "up")
		ip("-n", pod, "route", "add", "default", "dev", "pre0")

		outcome := b.run("ADD", box)
		Expect(outcome.Exit).To(Equal(1), outcome.String())
		Expect(outcome.Error().Msg).To(And(ContainSubstring("default-route"), ContainSubstring("file exists")))
		Expect(defaults(box.NetNS)).To(Equal([]string{"pre0 direct"}))
		Expect(links(box.NetNS)).To(Equal([]string{"lo", "pre0", "pre1"}))
		b.nothingOnNode()
	})

	It("as it is now goes to the plugins on CHECK and DEL, and CHECK finds it so (E154, CHK-1)", func() {
		b := newBench()
		Expect(b.Delegates.Install("watch")).To(Succeed())
		watched := func(plugin string) string {
			return fmt.Sprintf(`{"cniVersion": "1.0.0", "name": "w", "plugins": [%s, {"type": "watch"}]}`, plugin)
		}
		b.nad("n1", watched(macvlan(address4, "")))
		box := b.rerouted(`["192.0.2.1"]`)
		change := node.Config{"delegates": []any{raw(watched(master))}}
		b.add(box, change)
		outcome := b.run("CHECK", box, change)
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		b.del(box, change)
		for _, verb := range []string{"CHECK", "DEL"} {
			Expect(b.handed(verb, "eth0")).To(Equal([]string{main6}), verb)
			Expect(b.handed(verb, "net1")).To(Equal([]string{gateway4}), verb)
		}
	})
})

// handed lists the default routes in the prevResult that the recording delegate got for the interface.
func (b *bench) handed(verb, ifname string) []string {
	GinkgoHelper()
	calls, err := b.Delegates.Of(verb)
	Expect(err).NotTo(HaveOccurred())
	for _, call := range calls {
		if call.IfName == ifname {
			var config struct{ PrevResult json.RawMessage }
			Expect(json.Unmarshal(call.Stdin, &config)).To(Succeed())
			return defaultsIn(string(config.PrevResult))
		}
	}
	Fail("no " + verb + " of " + ifname)
	return nil
}

// pair is a version of our configuration and one of the delegates'.
type pair struct{ outer, inner string }

// versionPairs has each version as ours, as the delegates', and as both.
func versionPairs() []pair {
	var pairs []pair
	for _, v := range version.All.SupportedVersions() {
		pairs = append(pairs, pair{"0.4.0", v}, pair{v, "0.4.0"}, pair{v, v})
	}
	return pairs
}
