package nad_test

import (
	"encoding/json"
	"net"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

func parsed(value string) []*nad.NetworkSelectionElement {
	GinkgoHelper()
	selections, err := nad.ParseNetworkAnnotation(value, "blue")
	Expect(err).NotTo(HaveOccurred())
	return selections
}

func only(value string) *nad.NetworkSelectionElement {
	GinkgoHelper()
	selections := parsed(value)
	Expect(selections).To(HaveLen(1))
	return selections[0]
}

func shortForms(selections []*nad.NetworkSelectionElement) []string {
	forms := []string{}
	for _, selection := range selections {
		forms = append(forms, selection.String())
	}
	return forms
}

var _ = DescribeTable("what an annotation selects (NET-2, NET-3)",
	func(value string, want ...string) { Expect(shortForms(parsed(value))).To(HaveExactElements(want)) },
	Entry("nothing: empty", ""),
	Entry("nothing: a blank (E002)", " "),
	Entry("nothing: blanks and newlines", " \n\t "),
	Entry("nothing: commas alone", ", ,,"),
	Entry("nothing: an empty list", " [ ] "),
	Entry("a name", "n1", "blue/n1"),
	Entry("namespace and interface", "ns1/n1@eth1", "ns1/n1@eth1"),
	Entry("blanks and newlines around items (C7)", "\n vf-a,\n\tvf-a@data1 \n", "blue/vf-a", "blue/vf-a@data1"),
	Entry("a trailing comma (E002)", "n1,n2,", "blue/n1", "blue/n2"),
	Entry("a leading comma (E002)", ",n1", "blue/n1"),
	Entry("a doubled comma (E002)", "n1,,n2", "blue/n1", "blue/n2"),
	Entry("an interface with a dot (E004)", "n1@veth.10", "blue/n1@veth.10"),
	Entry("an interface with a capital (E004)", "ns1/n1@Eth0", "ns1/n1@Eth0"),
	Entry("an interface with an underscore (E005)", `[{"name":"n1","interface":"uplink_p0"}]`, "blue/n1@uplink_p0"),
	Entry("an interface with '@'", "n1@a@b", "blue/n1@a@b"),
	Entry("a JSON list after blanks", "\n [{\"name\":\"n1\"}, {\"name\":\"n2\",\"namespace\":\"ns2\"}]\n", "blue/n1", "ns2/n2"),
	Entry("the namespace within the name, as in the short form (E010)", `[{"name":"shared/n1"}]`, "shared/n1"),
	Entry("the namespace twice, but the same", `[{"name":"shared/n1","namespace":"shared"}]`, "shared/n1"),
	Entry("an empty namespace", `[{"name":"n1","namespace":""}]`, "blue/n1"),
	Entry("the same network many times", "n1,n1", "blue/n1", "blue/n1"),
	Entry("null for keys that are given in another spelling", `[{"name":"n1","interface":null,"interfaceRequest":"eth1"}]`, "blue/n1@eth1"),
	Entry("a key twice with one value", `[{"name":"n1","interface":"eth1","interfaceRequest":"eth1"}]`, "blue/n1@eth1"),
	Entry("a default network in JSON (C8)", `[{"name":"alt-primary","namespace":"kube-system","interface":"eth0"}]`, "kube-system/alt-primary@eth0"),
	Entry("a default network in the short form (C8)", "kube-system/isolated-egress", "kube-system/isolated-egress"),
	Entry("a default network by its name alone (C8)", "alt-primary", "blue/alt-primary"),
)

var _ = DescribeTable("annotations that are refused (NET-2, NET-3, NET-4, NET-5)",
	func(value string, says ...string) {
		selections, err := nad.ParseNetworkAnnotation(value, "blue")
		Expect(err).To(HaveOccurred())
		Expect(selections).To(BeNil())
		for _, text := range says {
			Expect(err.Error()).To(ContainSubstring(text))
		}
	},
	Entry("JSON that ends too early (E001)", `[{"name":"n1","ips":["192.0.2.4/24"]`, "not valid JSON", "byte 36"),
	Entry("JSON with a fault in its second line", "[\n {\"name\" \"n1\"}]", "not valid JSON", "byte 11 (line 2, column 10)"),
	Entry("JSON with a comma too many", `[{"name":"n1"},]`, "not valid JSON", "byte 15"),
	Entry("JSON with bytes that are not UTF-8", "[{\"name\":\"n1\",\"cni-args\":{\"a\":\"\xff\"}}]", "not valid UTF-8 at byte 31"),
	Entry("JSON followed by text (E016)", `[{"name":"n1"}], istio-cni`, "JSON list followed by text", `", istio-cni"`, "byte 15"),
	Entry("a JSON object", `{"name":"n1"}`, "list"),
	Entry("an element that is null", `[{"name":"n1"},null]`, "element 1", "null"),
	Entry("an element that is a string", `["n1"]`, "element 0", "a string", "byte 1"),
	Entry("an interface with a slash (E004)", "n1@a/b", `"n1@a/b"`, "interface"),
	Entry("an interface of 16 bytes (E005)", `[{"name":"n1","interface":"1234567890123456"}]`, `element 0 ("n1")`, "interface", "15"),
	Entry("an interface with a blank (E005)", `[{"name":"n1","interface":"a b"}]`, `element 0 ("n1")`, "interface", "blank"),
	Entry("no interface after '@'", "n0,n1@", "element 1", `"n1@"`, "interface"),
	Entry("no namespace before '/'", "/n1", `"/n1"`, "namespace: empty"),
	Entry("no name after '/'", "ns1/", `"ns1/"`, "name: empty"),
	Entry("no name before '@'", "@eth1", "name: empty"),
	Entry("two slashes", "a/b/c", `name: "b/c"`),
	Entry("a way up the directories (E149)", "../kube-system/n", "namespace", `".."`),
	Entry("a name with capitals (E149)", "N1", "name", `"N1"`),
	Entry("a JSON element without a name", `[{"namespace":"ns1"}]`, "element 0", "name: empty"),
	Entry("a JSON name without a namespace before '/'", `[{"name":"/n1"}]`, "namespace: empty"),
	Entry("two namespaces (E010)", `[{"name":"shared/n1","namespace":"other"}]`, "namespace", `"other"`, `"shared/n1"`),
	Entry("a name that is a number", `[{"name":1}]`, "element 0: name: must be a string, found number at byte 9"),
	Entry("a string for ips (E008)", `[{"name":"n1","ips":"192.0.2.7/24"}]`, `element 0 ("n1"): ips: must be a list of addresses, found string at byte 20`),
	Entry("a string for portMappings", `[{"name":"n1","portMappings":"80"}]`, "portMappings: must be a list"),
	Entry("a string for default-route", `[{"name":"n1","default-route":"192.0.2.1"}]`, "default-route: must be a list of addresses"),
	Entry("a string for a port", `[{"name":"n1","portMappings":[{"hostPort":"80"}]}]`, "portMappings", "hostPort", "found string"),
	Entry("a list for cni-args", `[{"name":"n1","cni-args":[]}]`, "cni-args: must be an object"),
	Entry("a number with a fraction for a rate", `[{"name":"n1","bandwidth":{"ingressRate":1.5}}]`, "bandwidth", "ingressRate"),
	Entry("a key with two values", `[{"name":"n1","mac":"02:00:00:00:00:01","macRequest":"02:00:00:00:00:02"}]`, "mac: given twice", "macRequest"),
)

var _ = It("reports all faults at once, each with its element and key (NET-5)", func() {
	_, err := nad.ParseNetworkAnnotation(`[{"name":"N","mac":"x","ips":7},{"name":"n1","interface":".."}]`, "blue")
	Expect(strings.Split(err.Error(), "\n")).To(HaveExactElements(
		HavePrefix(`element 0 ("N"): ips: `),
		HavePrefix(`element 0 ("N"): name: `),
		HavePrefix(`element 0 ("N"): mac: `),
		HavePrefix(`element 1 ("n1"): interface: `),
	))
})

var _ = It("makes nothing of a default namespace that is none (NET-3)", func() {
	for _, value := range []string{"n1", `[{"name":"n1"}]`} {
		_, err := nad.ParseNetworkAnnotation(value, "")
		Expect(err).To(MatchError(ContainSubstring("namespace: empty")))
	}
	Expect(nad.ParseNetworkAnnotation("ns1/n1", "")).To(HaveLen(1))
})

var _ = DescribeTable("values that are checked (NET-5)",
	func(key string, good, bad []string) {
		for _, value := range good {
			_, err := nad.ParseNetworkAnnotation(`[{"name":"n1","`+key+`":`+value+`}]`, "blue")
			Expect(err).NotTo(HaveOccurred(), value)
		}
		for _, value := range bad {
			_, err := nad.ParseNetworkAnnotation(`[{"name":"n1","`+key+`":`+value+`}]`, "blue")
			Expect(err).To(MatchError(HavePrefix(`element 0 ("n1"): `+key)), value)
		}
	},
	Entry("ips", "ips",
		[]string{`["192.0.2.4"]`, `["192.0.2.4/24","2001:db8::4/64"]`, `["2001:db8::4"]`, `["192.0.2.4/0"]`, `[]`, `null`},
		[]string{`[""]`, `["x"]`, `["192.0.2.4/33"]`, `["192.0.2.4/"]`, `["192.0.2.256"]`, `["fe80::1%eth0"]`, `["192.0.2.4,192.0.2.5"]`, `[" 192.0.2.4"]`, `[null]`, `[1]`, `"192.0.2.4"`}),
	Entry("mac", "mac",
		[]string{`"02:00:00:00:00:01"`, `"0A-00-00-00-00-01"`, `""`, `null`},
		[]string{`"x"`, `"02:00:00:00:00"`, `"02:00:00:00:00:00:00:01"`, `"01:00:00:00:00:01"`, `"ff:ff:ff:ff:ff:ff"`, `"00:00:00:00:00:00"`, `1`}),
	Entry("infiniband-guid (E014)", "infiniband-guid",
		[]string{`"02:00:00:00:00:00:00:01"`, `"00:00:00:00:fe:80:00:00:00:00:00:00:02:00:5e:10:00:00:00:01"`, `""`},
		[]string{`"x"`, `"02:00:00:00:00:01"`, `"02:00:00:00:00:00:00"`, `1`}),
	Entry("default-route", "default-route",
		[]string{`["192.0.2.1"]`, `["192.0.2.1","2001:db8::1"]`, `["fe80::1"]`, `[]`, `null`},
		[]string{`["x"]`, `["192.0.2.1/24"]`, `[""]`, `[null]`, `[1]`, `{}`}),
	Entry("portMappings", "portMappings",
		[]string{`[{"hostPort":1,"containerPort":65535,"protocol":"sctp","hostIP":"192.0.2.1"}]`, `[{"hostPort":80,"containerPort":80,"protocol":"UDP"}]`, `[]`},
		[]string{`[{"hostPort":0,"containerPort":80}]`, `[{"hostPort":65536,"containerPort":80}]`, `[{"hostPort":80}]`, `[{"hostPort":80,"containerPort":-1}]`, `[{"hostPort":80,"containerPort":80,"protocol":"icmp"}]`, `[{"hostPort":80,"containerPort":80,"hostIP":"x"}]`, `[null]`, `{}`}),
	Entry("bandwidth", "bandwidth",
		[]string{`{"ingressRate":1000,"ingressBurst":500,"egressRate":1000,"egressBurst":500}`, `{"ingressRate":1000}`, `{}`, `null`},
		[]string{`{"ingressBurst":500}`, `{"egressBurst":500}`, `{"egressRate":-1}`, `{"ingressRate":1,"ingressBurst":-1}`, `{"ingressRate":"1M"}`, `[]`}),
	Entry("deviceID", "deviceID",
		[]string{`"0000:01:02.2"`, `"eth0"`, `""`},
		[]string{`"../x"`, `"a/b"`, `".."`, `"a\u0000b"`, `"a\nb"`, `1`}),
	Entry("cni-args", "cni-args",
		[]string{`{}`, `{"k":"v","n":{"x":[1]}}`, `null`},
		[]string{`[]`, `"k=v"`, strings.Repeat(`{"a":`, 102) + `1` + strings.Repeat(`}`, 102), `{"a":` + strings.Repeat("[", 101) + "1" + strings.Repeat("]", 101) + "}"}),
	Entry("ipam-claim-reference", "ipam-claim-reference", []string{`"claim"`, `""`}, []string{`1`, `{}`}),
)

var _ = It("refuses ips with ipam-claim-reference (NET-5)", func() {
	_, err := nad.ParseNetworkAnnotation(`[{"name":"n1","ips":["192.0.2.4"],"ipam-claim-reference":"c"}]`, "blue")
	Expect(err).To(MatchError(ContainSubstring(`element 0 ("n1"): ips: not together with ipam-claim-reference`)))
})

var _ = Describe("values of a selection (NET-4)", func() {
	It("come as they are written", func() {
		Expect(only(`[{"name":"n1","ips":["192.0.2.4/24"],"mac":"0A-00-00-00-00-01","interface":"eth1","infiniband-guid":"02:00:00:00:00:00:00:01",
			"portMappings":[{"hostPort":8080,"containerPort":80,"protocol":"udp","hostIP":"192.0.2.1"}],
			"bandwidth":{"ingressRate":4,"ingressBurst":3,"egressRate":2,"egressBurst":1},"default-route":["192.0.2.1"],"deviceID":"0000:01:02.2"}]`,
		)).To(Equal(&nad.NetworkSelectionElement{
			Name: "n1", Namespace: "blue",
			IPRequest:             []string{"192.0.2.4/24"},
			MacRequest:            "0A-00-00-00-00-01",
			InterfaceRequest:      "eth1",
			InfinibandGUIDRequest: "02:00:00:00:00:00:00:01",
			PortMappingsRequest:   []*nad.PortMapEntry{{HostPort: 8080, ContainerPort: 80, Protocol: "udp", HostIP: "192.0.2.1"}},
			BandwidthRequest:      &nad.BandwidthEntry{IngressRate: 4, IngressBurst: 3, EgressRate: 2, EgressBurst: 1},
			GatewayRequest:        &[]net.IP{net.ParseIP("192.0.2.1")},
			DeviceID:              "0000:01:02.2",
		}))
	})

	It("keep the reference of an IPAM claim", func() {
		Expect(only(`[{"name":"n1","ipam-claim-reference":"claim-a"}]`).IPAMClaimReference).To(Equal("claim-a"))
	})

	It("keep big integers of cni-args", func() {
		args := only(`[{"name":"n1","cni-args":{"k":"v","n":{"x":9007199254740993}}}]`).CNIArgs
		Expect(*args).To(Equal(map[string]any{"k": "v", "n": map[string]any{"x": json.Number("9007199254740993")}}))
	})

	It("tell an empty default-route from none (E151)", func() {
		Expect(only(`[{"name":"n1"}]`).GatewayRequest).To(BeNil())
		Expect(only(`[{"name":"n1","default-route":null}]`).GatewayRequest).To(BeNil())
		Expect(only(`[{"name":"n1","default-route":[]}]`).GatewayRequest).To(HaveValue(BeEmpty()))
	})

	It("name protocols as plugins do, TCP where there is none", func() {
		ports := only(`[{"name":"n1","portMappings":[{"hostPort":1,"containerPort":1,"protocol":"SCTP"},{"hostPort":2,"containerPort":2}]}]`).PortMappingsRequest
		Expect([]string{ports[0].Protocol, ports[1].Protocol}).To(Equal([]string{"sctp", "tcp"}))
	})
})

var _ = DescribeTable("warnings (NET-4, E007)",
	func(value string, want ...any) {
		selections, warnings, err := nad.ParseSelections(value, "blue")
		Expect(err).NotTo(HaveOccurred())
		Expect(selections).NotTo(BeEmpty())
		Expect(warnings).To(HaveExactElements(want...))
	},
	Entry("none", `[{"name":"n1","mac":"02:00:00:00:00:01"}]`),
	Entry("none for a key with a dot", `[{"name":"n1","example.com/x":1}]`),
	Entry("an unknown key (C9)", `[{"name":"n1"},{"name":"rf","interface":"rf","ips":["192.0.2.20/24","2001:db8:66::20/64"],"default-route":["192.0.2.254"],"gateways":["192.0.2.3"]}]`,
		`element 1 ("rf"): key "gateways" is not known and has no effect`),
	Entry("old spellings", `[{"name":"n1","interfaceRequest":"eth1","macRequest":"02:00:00:00:00:01","ipRequest":["192.0.2.4"]}]`,
		ContainSubstring(`"interfaceRequest" is read as "interface"`),
		ContainSubstring(`"macRequest" is read as "mac"`),
		ContainSubstring(`"ipRequest" is read as "ips"`)),
	Entry("another letter case", `[{"name":"n1","deviceid":"x"}]`, ContainSubstring(`"deviceid" is read as "deviceID"`)),
)

var _ = It("honours old spellings (NET-4)", func() {
	selection := only(`[{"name":"n1","interfaceRequest":"eth1","macRequest":"02:00:00:00:00:01","ipRequest":["192.0.2.4"]}]`)
	Expect(selection.InterfaceRequest).To(Equal("eth1"))
	Expect(selection.MacRequest).To(Equal("02:00:00:00:00:01"))
	Expect(selection.IPRequest).To(Equal([]string{"192.0.2.4"}))
})

var _ = It("warns also where there are faults", func() {
	_, warnings, err := nad.ParseSelections(`[{"name":"N","x":1}]`, "blue")
	Expect(err).To(HaveOccurred())
	Expect(warnings).To(HaveLen(1))
})

// Each of these takes minutes or gigabytes if work or messages grow with the square of the size.
var _ = DescribeTable("annotations of 1 MiB",
	func(value string, selections int) {
		got, warnings, err := nad.ParseSelections(value, "blue")
		Expect(got).To(HaveLen(selections))
		Expect(len(strings.Join(warnings, "\n"))).To(BeNumerically("<", 20_000))
		if selections == 0 {
			Expect(err).To(HaveOccurred())
			Expect(len(err.Error())).To(BeNumerically("<", 20_000))
		}
	},
	Entry("names", strings.Repeat("n,", 1<<19), 1<<19),
	Entry("names at fault", strings.Repeat("N,", 1<<19), 0),
	Entry("one name", strings.Repeat("n", 1<<20), 0),
	Entry("elements of the wrong type", "["+strings.Repeat("1,", 1<<19)+"1]", 0),
	Entry("elements at fault, a line each", "["+strings.Repeat("{\"mac\":1},\n", 1<<16)+"{}]", 0),
	Entry("unknown keys", `[{"name":"n"`+strings.Repeat(`,"k":1`, 1<<17)+`}]`, 1),
	Entry("one key twice and twice again", `[{"name":"n","mac":""`+strings.Repeat(`,"mac":1`, 1<<17)+`}]`, 0),
	Entry("addresses at fault", `[{"name":"n","ips":[""`+strings.Repeat(`,"x"`, 1<<18)+`]}]`, 0),
	Entry("brackets", strings.Repeat("[", 1<<20), 0),
	Entry("cni-args", `[{"name":"n","cni-args":{"a":[1`+strings.Repeat(",1", 1<<19)+`]}}]`, 1),
)

var _ = It("gives the first of many faults, and says how many there are", func() {
	_, err := nad.ParseNetworkAnnotation(strings.Repeat("N,", 60), "blue")
	lines := strings.Split(err.Error(), "\n")
	Expect(lines).To(HaveLen(51))
	Expect(slices.Index(lines, "and 10 more")).To(Equal(50))
})
