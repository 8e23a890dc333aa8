package nad_test

import (
	"encoding/json"
	"io"
	"net"
	"strings"

	"github.com/containernetworking/cni/pkg/types"
	types020 "github.com/containernetworking/cni/pkg/types/020"
	types040 "github.com/containernetworking/cni/pkg/types/040"
	types100 "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/cni/pkg/types/create"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

func result(text string) types.Result {
	GinkgoHelper()
	r, err := create.CreateFromBytes([]byte(text))
	Expect(err).NotTo(HaveOccurred())
	return r
}

const threeLinks = `{"cniVersion":"1.0.0",
	"interfaces":[{"name":"veth1","mac":"02:00:00:00:00:0a"},{"name":"eth0","mac":"02:00:00:00:00:01","sandbox":"/ns"},{"name":"eth0.100","sandbox":"/ns"}],
	"ips":[{"interface":1,"address":"192.0.2.4/24"},{"interface":2,"address":"198.51.100.4/24","gateway":"198.51.100.1"}]}`

var _ = DescribeTable("statuses of a result (STAT-1, STAT-2)",
	func(text, want string) {
		statuses, err := nad.CreateNetworkStatuses(result(text), "blue/n1", false, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(nad.FormatNetworkStatus(statuses)).To(MatchJSON(want))
	},
	Entry("one interface", `{"cniVersion":"1.1.0","interfaces":[{"name":"net1","mac":"02:00:00:00:00:01","sandbox":"/ns"}],"ips":[{"interface":0,"address":"192.0.2.4/24"},{"interface":0,"address":"2001:db8::4/64"}]}`,
		`[{"name":"blue/n1","interface":"net1","mac":"02:00:00:00:00:01","ips":["192.0.2.4","2001:db8::4"],"dns":{}}]`),
	Entry("several interfaces, the host's counted but not reported (E064)", threeLinks,
		`[{"name":"blue/n1","interface":"eth0","mac":"02:00:00:00:00:01","ips":["192.0.2.4"],"dns":{}},
		  {"name":"blue/n1","interface":"eth0.100","ips":["198.51.100.4"],"dns":{}}]`),
	Entry("an address of the host is not the pod's", `{"cniVersion":"1.0.0","interfaces":[{"name":"br0"},{"name":"net1","sandbox":"/ns"}],"ips":[{"interface":0,"address":"192.0.2.1/24"},{"interface":1,"address":"192.0.2.4/24"}]}`,
		`[{"name":"blue/n1","interface":"net1","ips":["192.0.2.4"],"dns":{}}]`),
	Entry("an address without index goes to the first interface in the sandbox", `{"cniVersion":"1.0.0","interfaces":[{"name":"br0"},{"name":"net1","sandbox":"/ns"},{"name":"x","sandbox":"/ns"}],"ips":[{"address":"192.0.2.4/24"}]}`,
		`[{"name":"blue/n1","interface":"net1","ips":["192.0.2.4"],"dns":{}},{"name":"blue/n1","interface":"x","dns":{}}]`),
	Entry("no interface (E076)", `{"cniVersion":"1.0.0"}`, `[{"name":"blue/n1","dns":{}}]`),
	Entry("none but the host's", `{"cniVersion":"1.0.0","interfaces":[{"name":"cali1","mac":"02:00:00:00:00:01"}],"ips":[{"address":"192.0.2.4/32"},{"interface":0,"address":"2001:db8::4/128"}]}`,
		`[{"name":"blue/n1","ips":["192.0.2.4","2001:db8::4"],"dns":{}}]`),
	Entry("version 0.2.0 (E076, E086)", `{"cniVersion":"0.2.0","ip4":{"ip":"192.0.2.3/24","gateway":"192.0.2.1","routes":[{"dst":"0.0.0.0/0"}]},"ip6":{"ip":"2001:db8::3/64"},"dns":{"nameservers":["192.0.2.53"]}}`,
		`[{"name":"blue/n1","ips":["192.0.2.3","2001:db8::3"],"gateway":["192.0.2.1"],"dns":{"nameservers":["192.0.2.53"]}}]`),
	Entry("version 0.1.0 (E086)", `{"cniVersion":"0.1.0","ip4":{"ip":"192.0.2.3/24"}}`, `[{"name":"blue/n1","ips":["192.0.2.3"],"dns":{}}]`),
	Entry("no version, which is 0.1.0 (E086)", `{"ip4":{"ip":"192.0.2.3/24"}}`, `[{"name":"blue/n1","ips":["192.0.2.3"],"dns":{}}]`),
	Entry("version 0.3.0", `{"cniVersion":"0.3.0","interfaces":[{"name":"net1","sandbox":"/ns"}],"ips":[{"version":"4","interface":0,"address":"192.0.2.3/24"}]}`,
		`[{"name":"blue/n1","interface":"net1","ips":["192.0.2.3"],"dns":{}}]`),
	Entry("version 0.3.1", `{"cniVersion":"0.3.1","interfaces":[{"name":"net1","sandbox":"/ns"}],"ips":[{"version":"4","interface":0,"address":"192.0.2.3/24"}]}`,
		`[{"name":"blue/n1","interface":"net1","ips":["192.0.2.3"],"dns":{}}]`),
	Entry("version 0.4.0, without an MTU (E071)", `{"cniVersion":"0.4.0","interfaces":[{"name":"net1","mtu":9000,"sandbox":"/ns"}],"ips":[{"version":"4","interface":0,"address":"192.0.2.3/24"}]}`,
		`[{"name":"blue/n1","interface":"net1","ips":["192.0.2.3"],"dns":{}}]`),
	Entry("an MTU (E071)", `{"cniVersion":"1.1.0","interfaces":[{"name":"net1","mtu":9000,"sandbox":"/ns"}]}`, `[{"name":"blue/n1","interface":"net1","mtu":9000,"dns":{}}]`),
	Entry("an MTU of 0 (E071)", `{"cniVersion":"1.1.0","interfaces":[{"name":"net1","mtu":0,"sandbox":"/ns"}]}`, `[{"name":"blue/n1","interface":"net1","dns":{}}]`),
	Entry("DNS (E070)", `{"cniVersion":"1.0.0","dns":{"nameservers":["192.0.2.53"],"domain":"a.test","search":["a.test"],"options":["ndots:2"]}}`,
		`[{"name":"blue/n1","dns":{"nameservers":["192.0.2.53"],"domain":"a.test","search":["a.test"],"options":["ndots:2"]}}]`),
)

var _ = DescribeTable("default gateways (STAT-2)",
	func(routes string, want ...string) {
		statuses, err := nad.CreateNetworkStatuses(result(`{"cniVersion":"1.1.0","interfaces":[{"name":"net1","sandbox":"/ns"}],
			"ips":[{"address":"203.0.113.4/24"},{"address":"192.0.2.4/24","gateway":"192.0.2.1"},{"address":"2001:db8::4/64","gateway":"2001:db8::1"}],"routes":`+routes+`}`), "n", false, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(statuses[0].Gateway).To(HaveExactElements(want))
	},
	Entry("none without a default route", `[{"dst":"198.51.100.0/24","gw":"192.0.2.9"}]`),
	Entry("not of half the addresses", `[{"dst":"0.0.0.0/1","gw":"192.0.2.9"},{"dst":"128.0.0.0/1","gw":"192.0.2.9"}]`),
	Entry("of 0.0.0.0/0", `[{"dst":"0.0.0.0/0","gw":"192.0.2.9"}]`, "192.0.2.9"),
	Entry("of ::/0", `[{"dst":"::/0","gw":"2001:db8::9"}]`, "2001:db8::9"),
	Entry("of a destination that is not given", `[{"gw":"192.0.2.9"}]`, "192.0.2.9"),
	Entry("of an address of the family, if the route has none: IPv4", `[{"dst":"0.0.0.0/0"}]`, "192.0.2.1"),
	Entry("of an address of the family, if the route has none: IPv6", `[{"dst":"::/0"}]`, "2001:db8::1"),
	Entry("of any address, if the route has neither", `[{}]`, "192.0.2.1"),
	Entry("of both families, in the order of the routes", `[{"dst":"::/0","gw":"2001:db8::9"},{"dst":"0.0.0.0/0"}]`, "2001:db8::9", "192.0.2.1"),
	Entry("each once", `[{"dst":"0.0.0.0/0","gw":"192.0.2.1"},{"dst":"0.0.0.0/0"}]`, "192.0.2.1"),
	Entry("not of another table", `[{"dst":"0.0.0.0/0","gw":"192.0.2.9","table":100}]`),
	Entry("of table main by its number", `[{"dst":"0.0.0.0/0","gw":"192.0.2.9","table":254}]`, "192.0.2.9"),
)

var _ = It("has no gateway where neither route nor address has one (STAT-2)", func() {
	status, err := nad.CreateNetworkStatus(result(`{"cniVersion":"1.0.0","ips":[{"address":"192.0.2.4/24"}],"routes":[{"dst":"0.0.0.0/0"},{"dst":"::/0"},{}]}`), "n", false, nil)
	Expect(err).NotTo(HaveOccurred())
	Expect(status.Gateway).To(BeEmpty())
})

var _ = It("gives the default gateways to each of several interfaces (STAT-2)", func() {
	statuses, err := nad.CreateNetworkStatuses(result(`{"cniVersion":"1.0.0","interfaces":[{"name":"h"},{"name":"a","sandbox":"/ns"},{"name":"b","sandbox":"/ns"}],
		"ips":[{"interface":0,"address":"203.0.113.4/24","gateway":"203.0.113.1"},{"interface":1,"address":"192.0.2.4/24"},{"interface":2,"address":"198.51.100.4/24","gateway":"198.51.100.1"}],
		"routes":[{"dst":"0.0.0.0/0"},{"dst":"::/0","gw":"fe80::1"}]}`), "n", false, nil)
	Expect(err).NotTo(HaveOccurred())
	Expect(statuses).To(HaveLen(2))
	for _, status := range statuses {
		Expect(status.Gateway).To(Equal([]string{"198.51.100.1", "fe80::1"}))
	}
})

var _ = DescribeTable("the default of the master's interfaces (STAT-1, E065)",
	func(text, want string) {
		statuses, err := nad.CreateNetworkStatuses(result(text), "net-a", true, nil)
		Expect(err).NotTo(HaveOccurred())
		var defaults []string
		for _, status := range statuses {
			if status.Default {
				defaults = append(defaults, status.Interface)
			}
		}
		Expect(defaults).To(Equal([]string{want}))
	},
	Entry("is the one that an address with a gateway names", threeLinks, "eth0.100"),
	Entry("is the first of several with a gateway", `{"cniVersion":"1.0.0","interfaces":[{"name":"a","sandbox":"/ns"},{"name":"b","sandbox":"/ns"},{"name":"c","sandbox":"/ns"}],
		"ips":[{"interface":2,"address":"192.0.2.4/24","gateway":"192.0.2.1"},{"interface":1,"address":"198.51.100.4/24","gateway":"198.51.100.1"}]}`, "b"),
	Entry("is the first without gateways, not the host's", `{"cniVersion":"1.0.0","interfaces":[{"name":"h"},{"name":"a","sandbox":"/ns"},{"name":"b","sandbox":"/ns"}],"ips":[{"interface":2,"address":"192.0.2.4/24"}]}`, "a"),
	Entry("is the only element of a result without interfaces", `{"cniVersion":"1.0.0"}`, ""),
)

var _ = It("is no secondary's (STAT-1)", func() {
	statuses, err := nad.CreateNetworkStatuses(result(threeLinks), "blue/n1", false, nil)
	Expect(err).NotTo(HaveOccurred())
	for _, status := range statuses {
		Expect(status.Default).To(BeFalse())
	}
})

var _ = It("shows the device of the attachment once", func() {
	device := &nad.DeviceInfo{Type: nad.DeviceInfoTypePCI, Version: nad.DeviceInfoVersion, Pci: &nad.PciDevice{PciAddress: "0000:01:02.2"}}
	statuses, err := nad.CreateNetworkStatuses(result(threeLinks), "blue/n1", false, device)
	Expect(err).NotTo(HaveOccurred())
	Expect(statuses[0].DeviceInfo).To(Equal(device))
	Expect(statuses[1].DeviceInfo).To(BeNil())
})

var _ = It("makes one status of the first interface in the sandbox (STAT-5)", func() {
	status, err := nad.CreateNetworkStatus(result(threeLinks), "net-a", true, nil)
	Expect(err).NotTo(HaveOccurred())
	Expect(*status).To(Equal(nad.NetworkStatus{Name: "net-a", Interface: "eth0", Mac: "02:00:00:00:00:01", IPs: []string{"192.0.2.4"}, Default: true}))
})

// foreignResult is a types.Result of somebody else's.
type foreignResult struct{ converted types.Result }

func (foreignResult) Version() string                             { return "1.0.0" }
func (r foreignResult) GetAsVersion(string) (types.Result, error) { return r.converted, nil }
func (foreignResult) Print() error                                { return nil }
func (foreignResult) PrintTo(io.Writer) error                     { return nil }

var _ = DescribeTable("results that contradict themselves give an error, not a panic (STAT-5)",
	func(r types.Result, says string) {
		_, err := nad.CreateNetworkStatuses(r, "blue/n1", true, nil)
		Expect(err).To(MatchError(ContainSubstring(says)))
		_, err = nad.CreateNetworkStatus(r, "blue/n1", true, nil)
		Expect(err).To(MatchError(ContainSubstring(says)))
	},
	Entry("nil", nil, "result: missing"),
	Entry("nil of version 0.2.0", (*types020.Result)(nil), "result: missing"),
	Entry("nil of version 0.4.0", (*types040.Result)(nil), "result: missing"),
	Entry("nil of version 1.0.0", (*types100.Result)(nil), "result: missing"),
	Entry("a null interface", &types100.Result{Interfaces: []*types100.Interface{{}, nil}}, "interfaces[1]: null"),
	Entry("a null address", &types100.Result{IPs: []*types100.IPConfig{nil}}, "ips[0]: null"),
	Entry("a null route", &types100.Result{Routes: []*types.Route{nil}}, "routes[0]: null"),
	Entry("a null interface of version 0.4.0", &types040.Result{Interfaces: []*types040.Interface{nil}}, "interfaces[0]: null"),
	Entry("a null address of version 0.4.0", &types040.Result{IPs: []*types040.IPConfig{nil}}, "ips[0]: null"),
	Entry("a null route of version 0.4.0", &types040.Result{Routes: []*types.Route{nil}}, "routes[0]: null"),
	Entry("an index that is too large", &types100.Result{Interfaces: []*types100.Interface{{Sandbox: "/ns"}}, IPs: []*types100.IPConfig{
		{Address: net.IPNet{IP: net.IPv4(192, 0, 2, 4)}}, {Interface: types100.Int(1), Address: net.IPNet{IP: net.IPv4(192, 0, 2, 5)}}}}, "ips[1].interface: 1"),
	Entry("a negative index", &types100.Result{Interfaces: []*types100.Interface{{Sandbox: "/ns"}}, IPs: []*types100.IPConfig{
		{Interface: types100.Int(-1), Address: net.IPNet{IP: net.IPv4(192, 0, 2, 4)}}}}, "ips[0].interface: -1"),
	Entry("an index without interfaces", &types100.Result{IPs: []*types100.IPConfig{
		{Interface: types100.Int(0), Address: net.IPNet{IP: net.IPv4(192, 0, 2, 4)}}}}, "ips[0].interface: 0"),
	Entry("an address that is missing", &types100.Result{IPs: []*types100.IPConfig{{}}}, "ips[0].address"),
	Entry("an address that is missing in version 0.2.0", &types020.Result{IP4: &types020.IPConfig{}}, "ips[0].address"),
	Entry("another kind of result that does not convert", foreignResult{&types040.Result{}}, "converts to *types040.Result"),
)

var _ = DescribeTable("results whose version does not fit their Go type (STAT-5)",
	func(r types.Result) {
		statuses, err := nad.CreateNetworkStatuses(r, "blue/n1", true, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(statuses).To(HaveLen(1))
	},
	Entry("of 1.0.0", &types100.Result{CNIVersion: "0.4.0"}),
	Entry("of 0.4.0", &types040.Result{CNIVersion: "1.0.0"}),
	Entry("of 0.2.0", &types020.Result{CNIVersion: "0.4.0"}),
	Entry("none", &types040.Result{}),
	Entry("of another kind", foreignResult{&types100.Result{}}),
)

var _ = It("leaves the result as it is", func() {
	r := &types040.Result{}
	_, err := nad.CreateNetworkStatuses(r, "blue/n1", true, nil)
	Expect(err).NotTo(HaveOccurred())
	Expect(r).To(Equal(&types040.Result{}))
})

var _ = It("needs a name (STAT-1, E067)", func() {
	_, err := nad.CreateNetworkStatuses(&types100.Result{}, "", true, nil)
	Expect(err).To(MatchError("network name: empty"))
})

var _ = Describe("the network-status annotation (STAT-1, STAT-5)", func() {
	It("reads what it prints", func() {
		statuses := []*nad.NetworkStatus{
			{Name: "net-a", Interface: "eth0", IPs: []string{"192.0.2.4"}, Mac: "02:00:00:00:00:01", Mtu: 1500, Default: true, Gateway: []string{"192.0.2.1"}, DNS: types.DNS{Domain: "<&>"}},
			{Name: "blue/n1", Interface: "net1", DeviceInfo: &nad.DeviceInfo{Type: nad.DeviceInfoTypeMemif, Version: "1.1.0", Memif: &nad.MemifDevice{Role: "master", Path: "/m", Mode: "ip"}}},
		}
		text, err := nad.FormatNetworkStatus(statuses)
		Expect(err).NotTo(HaveOccurred())
		Expect(text).To(ContainSubstring("<&>"))
		Expect(nad.ParseNetworkStatus(text)).To(Equal(statuses))
	})

	It("is an empty list without statuses", func() {
		Expect(nad.FormatNetworkStatus(nil)).To(Equal("[]"))
		Expect(nad.ParseNetworkStatus("[]")).To(BeEmpty())
	})

	It("may be blank", func() {
		Expect(nad.ParseNetworkStatus(" \n")).To(BeEmpty())
	})

	It("prints no nil", func() {
		_, err := nad.FormatNetworkStatus([]*nad.NetworkStatus{{Name: "a"}, nil})
		Expect(err).To(MatchError(ContainSubstring("status 1")))
	})

	DescribeTable("refuses",
		func(value, says string) {
			_, err := nad.ParseNetworkStatus(value)
			Expect(err).To(MatchError(ContainSubstring(says)))
			Expect(len(err.Error())).To(BeNumerically("<", 200))
		},
		Entry("text that ends too early", `[{"name":"a"`, "byte 12"),
		Entry("text behind it", `[] x`, "JSON value followed by text"),
		Entry("an object", `{"name":"a"}`, "must be a list, is an object"),
		Entry("null", `null`, "must be a list, is null"),
		Entry("a null element", `[{"name":"a"},null]`, "element 1"),
		Entry("bytes that are not UTF-8", "[{\"name\":\"\uFFFD\xff\"}]", "not valid UTF-8 at byte 13"),
		Entry("a number too large", `[{"name":"a","mtu":1e400}]`, "cannot unmarshal number for mtu at byte 24"),
		Entry("a number of a mebibyte, in a message that can be read", `[{"mtu":1`+strings.Repeat("0", 1<<20)+`}]`, "cannot unmarshal number for mtu at byte"),
		Entry("a wrong type", "[{\"name\":\"a\",\n\"ips\":\"192.0.2.4\"}]", "line 2"),
	)
})

var _ = DescribeTable("device information (device information specification 1.1.0, section 3)",
	func(text string) {
		var info nad.DeviceInfo
		Expect(json.Unmarshal([]byte(text), &info)).To(Succeed())
		again, err := json.Marshal(info)
		Expect(err).NotTo(HaveOccurred())
		Expect(again).To(MatchJSON(text))
	},
	Entry("of a PCI device", `{"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:01:02.2","vhost-net":"/dev/vhost-net","rdma-device":"mlx5_0","pf-pci-address":"0000:01:02.0","representor-device":"eth3"}}`),
	Entry("of a vDPA device", `{"type":"vdpa","version":"1.1.0","vdpa":{"parent-device":"vdpa3","driver":"vhost","path":"/dev/vhost-vdpa0","pci-address":"0000:01:02.2","pf-pci-address":"0000:01:02.0","representor-device":"eth3"}}`),
	Entry("of a vhost-user socket", `{"type":"vhost-user","version":"1.1.0","vhost-user":{"mode":"server","path":"/run/vhost.sock"}}`),
	Entry("of a memif socket", `{"type":"memif","version":"1.1.0","memif":{"role":"slave","path":"/run/memif.sock","mode":"ethernet"}}`),
)
