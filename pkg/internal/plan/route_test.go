package plan

import (
	"net"

	"github.com/containernetworking/cni/pkg/types"
	types100 "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/cni/pkg/types/create"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// outcome is an attachment with its result, both given as the test reads best.
func outcome(network, ifname string, wish *RouteWish, result string) Outcome {
	made, err := create.CreateFromBytes([]byte(result))
	Expect(err).NotTo(HaveOccurred())
	return Outcome{Attachment: Attachment{Network: network, Interface: ifname, DefaultRoute: wish}, Result: made}
}

// result is a result of one interface with an address in each family and these routes.
func result(ifname, routes string) string {
	return `{"cniVersion":"1.0.0","interfaces":[{"name":"veth0"},{"name":"` + ifname + `","sandbox":"/ns"}],
		"ips":[{"address":"192.0.2.4/24","gateway":"192.0.2.1","interface":1},{"address":"2001:db8::4/64","interface":1}],"routes":[` + routes + `]}`
}

func wish(gateways ...string) *RouteWish {
	w := &RouteWish{Gateways: []net.IP{}}
	for _, gateway := range gateways {
		w.Gateways = append(w.Gateways, net.ParseIP(gateway))
	}
	return w
}

func routesOf(result *types100.Result) []string {
	var texts []string
	for _, route := range result.Routes {
		texts = append(texts, route.Dst.String()+" "+route.GW.String())
	}
	return texts
}

const (
	v4  = `{"dst":"0.0.0.0/0","gw":"192.0.2.1"}`
	v6  = `{"dst":"::/0","gw":"2001:db8::1"}`
	lan = `{"dst":"198.51.100.0/24","gw":"192.0.2.1"}`
)

var _ = Describe("Reroute (ADD-7)", func() {
	master := func() Outcome { return outcome("main", "eth0", nil, result("eth0", v4+","+v6+","+lan)) }

	It("leaves everything alone if nobody asks", func() {
		routing, err := Reroute([]Outcome{master(), outcome("blue/n", "net1", nil, result("net1", v4))})
		Expect(err).NotTo(HaveOccurred())
		Expect(routing).To(BeNil())
	})

	It("moves the families of the listed gateways and no others", func() {
		routing, err := Reroute([]Outcome{master(), outcome("blue/n", "net1", wish("192.0.2.254"), result("net1", lan))})
		Expect(err).NotTo(HaveOccurred())
		Expect(routing.Carrier).To(Equal("net1"))
		Expect(routing.Strip).To(Equal([]Strip{{Interface: "eth0"}, {Interface: "net1"}}))
		Expect(routing.Add).To(HaveLen(1))
		Expect(routing.Add[0].IP.String()).To(Equal("192.0.2.254"))
		Expect(routing.Add[0].OnLink).To(BeFalse())
		Expect(routesOf(routing.Results[0])).To(Equal([]string{"::/0 2001:db8::1", "198.51.100.0/24 192.0.2.1"}))
		Expect(routesOf(routing.Results[1])).To(Equal([]string{"198.51.100.0/24 192.0.2.1", "0.0.0.0/0 192.0.2.254"}))
	})

	It("leaves the given results as they are", func() {
		first := master()
		_, err := Reroute([]Outcome{first, outcome("blue/n", "net1", wish("192.0.2.254"), result("net1", ""))})
		Expect(err).NotTo(HaveOccurred())
		Expect(first.Result.(*types100.Result).Routes).To(HaveLen(3))
	})

	It("gives several gateways of a family metrics in list order, and marks one outside of the subnet", func() {
		routing, err := Reroute([]Outcome{master(), outcome("blue/n", "net1", wish("192.0.2.254", "203.0.113.1", "fe80::1"), result("net1", ""))})
		Expect(err).NotTo(HaveOccurred())
		Expect(routing.Add).To(HaveLen(3))
		Expect([]int{routing.Add[0].Metric, routing.Add[1].Metric, routing.Add[2].Metric}).To(Equal([]int{1, 2, 0}))
		Expect([]bool{routing.Add[0].OnLink, routing.Add[1].OnLink, routing.Add[2].OnLink}).To(Equal([]bool{false, true, false}))
		Expect(routing.Add[2].IPv6).To(BeTrue())
	})

	It("keeps the carrier's own with an empty list (E151)", func() {
		routing, err := Reroute([]Outcome{master(), outcome("blue/n", "net1", wish(), result("net1", v4))})
		Expect(err).NotTo(HaveOccurred())
		Expect(routesOf(routing.Results[0])).NotTo(ContainElement(HavePrefix("0.0.0.0/0")))
		Expect(routesOf(routing.Results[0])).To(ContainElement(HavePrefix("::/0")))
		Expect(routesOf(routing.Results[1])).To(Equal([]string{"0.0.0.0/0 192.0.2.1"}))
		Expect(routing.Add).To(HaveLen(1), "the kernel may have kept the master's alone")
	})

	It("takes the address's gateway for a route of the carrier without one", func() {
		routing, err := Reroute([]Outcome{master(), outcome("blue/n", "net1", wish(), result("net1", `{"dst":"0.0.0.0/0"}`))})
		Expect(err).NotTo(HaveOccurred())
		Expect(routing.Add[0].IP.String()).To(Equal("192.0.2.1"))
	})

	It("leaves routes in other tables alone", func() {
		routing, err := Reroute([]Outcome{
			outcome("main", "eth0", nil, `{"cniVersion":"1.1.0","interfaces":[{"name":"eth0","sandbox":"/ns"}],"routes":[{"dst":"0.0.0.0/0","gw":"192.0.2.1","table":100}]}`),
			outcome("blue/n", "net1", wish("192.0.2.254"), result("net1", "")),
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(routing.Results[0].Routes).To(HaveLen(1))
	})

	DescribeTable("must fail",
		func(carrier string, w *RouteWish, fault string) {
			_, err := Reroute([]Outcome{master(), outcome("blue/n", "net1", w, carrier)})
			Expect(err).To(MatchError(And(ContainSubstring("network blue/n: default-route"), ContainSubstring(fault))))
		},
		Entry("an empty list and no route of its own", result("net1", lan), wish(), "list a gateway"),
		Entry("no interface in the sandbox", `{"cniVersion":"1.0.0"}`, wish("192.0.2.254"), "no interface in the pod"),
		Entry("none but the host's", `{"cniVersion":"1.0.0","interfaces":[{"name":"veth0"}]}`, wish("192.0.2.254"), "no interface in the pod"),
	)

	DescribeTable("recognises a default route (E152)",
		func(route types.Route, ipv6, want bool) { Expect(isDefault(&route, ipv6)).To(Equal(want)) },
		Entry("0.0.0.0/0", types.Route{Dst: anywhere(false)}, false, true),
		Entry("::/0", types.Route{Dst: anywhere(true)}, true, true),
		Entry("of the other family", types.Route{Dst: anywhere(true)}, false, false),
		Entry("no destination, IPv4 gateway", types.Route{GW: net.ParseIP("192.0.2.1")}, false, true),
		Entry("no destination, IPv6 gateway", types.Route{GW: net.ParseIP("2001:db8::1")}, true, true),
		Entry("no destination, no gateway", types.Route{}, false, false),
		Entry("a network", types.Route{Dst: net.IPNet{IP: net.IPv4(10, 0, 0, 0).To4(), Mask: net.CIDRMask(8, 32)}}, false, false),
	)
})
