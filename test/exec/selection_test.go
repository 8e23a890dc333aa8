package exec

import (
	"encoding/json"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// requests lists what the API server was asked, in order, as "GET /api/v1/…".
func (b *bench) requests() []string {
	list := []string{}
	for _, request := range b.API.Requests() {
		list = append(list, request.Method+" "+request.Path)
	}
	return list
}

// The requests on the pod blue/web-0.
const (
	podRead    = "GET /api/v1/namespaces/blue/pods/web-0"
	statusSent = "PATCH /api/v1/namespaces/blue/pods/web-0/status"
)

// nadRead is the request of a NAD "namespace/name".
func nadRead(network string) string {
	namespace, name, _ := strings.Cut(network, "/")
	return "GET /apis/k8s.cni.cncf.io/v1/namespaces/" + namespace + "/network-attachment-definitions/" + name
}

// define adds NADs of the delegate "second", each as "namespace/name".
func (b *bench) define(networks ...string) {
	for _, network := range networks {
		namespace, name, _ := strings.Cut(network, "/")
		b.API.AddNAD(fake.NAD{Namespace: namespace, Name: name, Config: secondary})
	}
}

// untouched is refused before any delegate was called.
func (b *bench) untouched(box node.Sandbox, texts []string, changes ...node.Config) node.Outcome {
	GinkgoHelper()
	outcome := b.refused(box, texts, changes...)
	Expect(b.Delegates.Calls()).To(BeEmpty())
	return outcome
}

// stdin is a key of the configuration that a call got, "null" if it is not there.
func (b *bench) stdin(call, key string) string {
	GinkgoHelper()
	var config map[string]json.RawMessage
	Expect(json.Unmarshal(b.call(call).Stdin, &config)).To(Succeed())
	if config[key] == nil {
		return "null"
	}
	return string(config[key])
}

var _ = DescribeTable("networks that a pod selects (NET-1, NET-2, NET-3, NET-12)",
	func(networks string, definitions []string, calls ...string) {
		b := newBench()
		b.define("blue/n1", "blue/n2", "red/n1")
		b.add(b.pod("web-0", networks))
		Expect(b.calls("ADD")).To(Equal(append([]string{"ADD master eth0"}, calls...)))
		var reads []string
		for _, definition := range definitions {
			reads = append(reads, nadRead(definition))
		}
		requests := b.requests()
		Expect(requests[0]).To(Equal(podRead))
		Expect(requests[1 : len(requests)-1]).To(ConsistOf(reads))
		Expect(requests[len(requests)-1]).To(Equal(statusSent))
		Expect(b.status("web-0")).To(HaveLen(1 + len(calls)))
	},
	Entry("no annotation (E017)", "", nil),
	Entry("one name", "n1", []string{"blue/n1"}, "ADD second net1"),
	Entry("a trailing comma (E002)", "n1,n2,", []string{"blue/n1", "blue/n2"}, "ADD second net1", "ADD second net2"),
	Entry("a leading comma (E002)", ",n1", []string{"blue/n1"}, "ADD second net1"),
	Entry("a doubled comma (E002)", "n1,,n2", []string{"blue/n1", "blue/n2"}, "ADD second net1", "ADD second net2"),
	Entry("a blank (E002)", " ", nil),
	Entry("blanks and commas alone", " ,\n,\t", nil),
	Entry("blanks and newlines around items", "\n n1 ,\n\tred/n1@x \n", []string{"blue/n1", "red/n1"}, "ADD second net1", "ADD second x"),
	Entry("an interface with a dot (E004)", "n1@veth.10", []string{"blue/n1"}, "ADD second veth.10"),
	Entry("an interface with a capital, namespace (E004)", "red/n1@Eth0", []string{"red/n1"}, "ADD second Eth0"),
	Entry("an interface with an underscore (E005)", `[{"name":"n1","interface":"uplink_p0"}]`, []string{"blue/n1"}, "ADD second uplink_p0"),
	Entry("an interface of 15 bytes, short form (E005)", "n1@abcdefghijklmno", []string{"blue/n1"}, "ADD second abcdefghijklmno"),
	Entry("an empty list", "[]", nil),
	Entry("a list of several lines, after blanks", "\n  [\n  {\"name\": \"n1\"},\n  {\"name\": \"n2\"}\n]\n", []string{"blue/n1", "blue/n2"}, "ADD second net1", "ADD second net2"),
	Entry("key namespace", `[{"name":"n1","namespace":"red"}]`, []string{"red/n1"}, "ADD second net1"),
	Entry("a namespace within the name (E010)", `[{"name":"red/n1"}]`, []string{"red/n1"}, "ADD second net1"),
	Entry("the same namespace in both places", `[{"name":"red/n1","namespace":"red"}]`, []string{"red/n1"}, "ADD second net1"),
	Entry("key interfaceRequest (E007)", `[{"name":"n1","interfaceRequest":"data"}]`, []string{"blue/n1"}, "ADD second data"),
	Entry("a null, which is as nothing", `[{"name":"n1","interface":null,"ips":null}]`, []string{"blue/n1"}, "ADD second net1"),
	Entry("a name that takes another one's turn (E059)", `[{"name":"n1","interface":"net2"},{"name":"n2"}]`, []string{"blue/n1", "blue/n2"}, "ADD second net2", "ADD second net3"),
	Entry("a name that the next turns step over (E059)", "n1, n2, n1@net2, n2", []string{"blue/n1", "blue/n2"},
		"ADD second net1", "ADD second net3", "ADD second net2", "ADD second net4"),
)

// invalid is an annotation that must fail as it stands: the pod is read, nothing else is asked.
func invalid(annotation string) func(value string, texts ...string) {
	return func(value string, texts ...string) {
		b := newBench()
		b.define("blue/n1", "blue/n2", "red/n1", "kube-system/n1")
		box := b.podWith("web-0", map[string]string{annotation: value})
		outcome := b.untouched(box, append(texts, "pod blue/web-0", "annotation "+annotation))
		Expect(outcome.Error().Code).To(BeEquivalentTo(7))
		Expect(b.requests()).To(Equal([]string{podRead}))
	}
}

var _ = DescribeTable("a networks annotation that makes no sense, in syntax or name (NET-2, NET-3)",
	invalid(nad.NetworksAnnotation),
	Entry("JSON that ends too early (E001)", `[{"name":"n1","ips":["192.0.2.4/24"]`, "not valid JSON", "ends too early", "line 1, column 37"),
	Entry("JSON with a comma too many", "[\n {\"name\":\"n1\",}]", "not valid JSON", "line 2, column 15"),
	Entry("JSON list followed by text (E016)", `[{"name":"n1"}], istio-cni`, "JSON list followed by text", `", istio-cni"`),
	Entry("an object", `{"name":"n1"}`, "JSON object where a list is needed"),
	Entry("a list of names", `["n1"]`, "element 0: must be an object, is a string"),
	Entry("null", `[{"name":"n1"},null]`, "element 1: must be an object, is null"),
	Entry("short form: no name", "red/", "element 0", "name: empty"),
	Entry("short form: no namespace", "/n1", "element 0", "namespace: empty"),
	Entry("short form: no interface", "n1@", "element 0", "interface: empty"),
	Entry("short form: nothing but an interface", "n1,@data", "element 1", "name: empty"),
	Entry("short form: blank between names", "n1 n2", "name"),
	Entry("short form: newline between names", "n1\nn2", "name"),
	Entry("short form: two slashes", "red/n1/x", "name"),
	Entry("short form: upper case", "N1", `"N1" is not a DNS-1123 subdomain`),
	Entry("short form: namespace in upper case (E149)", "Red/n1", `"Red" is not a DNS-1123 label`),
	Entry("short form: a path (E149)", "../kube-system/n1", "namespace", `".."`),
	Entry("short form: dots (E149)", "..", "name"),
	Entry("short form: namespace of dots (E149)", "../n1", "namespace"),
	Entry("short form: query and escapes", "n1?watch=1, n1%2f, n1#x", "element 0", "element 1", "element 2"),
	Entry("short form: interface with a slash is no namespace (E004)", "n1@a/b", "interface", `"a/b"`),
	Entry("JSON: no name", `[{"namespace":"red"}]`, "element 0: name: empty"),
	Entry("JSON: empty name", `[{"name":""}]`, "name: empty"),
	Entry("JSON: empty name within (E149)", `[{"name":"red/"}]`, "name: empty"),
	Entry("JSON: empty namespace within", `[{"name":"/n1"}]`, "namespace: empty"),
	Entry("JSON: two slashes", `[{"name":"red/n1/x"}]`, "name"),
	Entry("JSON: a path (E149)", `[{"name":"../kube-system/n1"}]`, "namespace", `".."`),
	Entry("JSON: a path as namespace (E149)", `[{"name":"n1","namespace":"../red"}]`, "namespace", `"../red"`),
	Entry("JSON: upper case (E149)", `[{"name":"N1","namespace":"Red"}]`, "name", "namespace"),
	Entry("JSON: contradicting namespaces", `[{"name":"red/n1","namespace":"blue"}]`, "namespace", "contradicts"),
	Entry("JSON: name of a wrong type", `[{"name":["n1"]}]`, "name: must be a string, found array"),
	Entry("every fault at once", `[{"name":"n1","mac":"x"},{"name":"n2","interface":"a b"},{"name":""}]`, "element 0", "mac", "element 1", "interface", "element 2", "name"),
)

var _ = Describe("interface names (NET-3, NET-5)", func() {
	for _, form := range []struct{ name, before, after string }{
		{"short form", "n1@", ""},
		{"JSON", `[{"name":"n1","interface":"`, `"}]`},
	} {
		DescribeTable("follow the kernel, in "+form.name,
			func(name string) { invalid(nad.NetworksAnnotation)(form.before+name+form.after, "interface") },
			Entry("16 bytes (E005)", "abcdefghijklmnop"),
			Entry("a blank (E005)", "a b"),
			Entry("a slash (E004)", "a/b"),
			Entry("a colon", "a:b"),
			Entry("the directory", "."),
			Entry("the directory above", ".."),
		)
	}
})

var _ = DescribeTable("a value of a selection that is none (NET-5)",
	func(keys string, texts ...string) {
		invalid(nad.NetworksAnnotation)(`[{"name":"n1",`+keys+`}]`, append(texts, `element 0 ("n1")`)...)
	},
	Entry("addresses that are no list (E008)", `"ips":"192.0.2.7/24"`, "ips: must be a list of addresses, found string"),
	Entry("address", `"ips":["192.0.2.4/24","192.0.2.300/24"]`, "ips[1]", `"192.0.2.300/24"`),
	Entry("IPv4 prefix length", `"ips":["192.0.2.4/33"]`, "ips[0]"),
	Entry("IPv6 prefix length", `"ips":["2001:db8::4/129"]`, "ips[0]"),
	Entry("addresses with a claim", `"ips":["192.0.2.4/24"],"ipam-claim-reference":"claim"`, "ips", "ipam-claim-reference"),
	Entry("MAC", `"mac":"02:00:00:00:01"`, "mac", "6 bytes"),
	Entry("MAC of a group", `"mac":"03:00:00:00:00:01"`, "mac", "multicast"),
	Entry("MAC by its old name (E007)", `"macRequest":"02:00"`, "mac"),
	Entry("addresses by their old name", `"ipRequest":["x"]`, "ips[0]"),
	Entry("InfiniBand GUID (E014)", `"infiniband-guid":"02:00:00:00:00:01"`, "infiniband-guid", "8 or 20 bytes"),
	Entry("port 0", `"portMappings":[{"hostPort":0,"containerPort":80}]`, "portMappings[0].hostPort"),
	Entry("port 65536", `"portMappings":[{"hostPort":80,"containerPort":65536}]`, "portMappings[0].containerPort"),
	Entry("protocol", `"portMappings":[{"hostPort":80,"containerPort":80,"protocol":"icmp"}]`, "portMappings[0].protocol"),
	Entry("ingress burst without rate", `"bandwidth":{"ingressBurst":8000}`, "bandwidth.ingressRate"),
	Entry("egress burst without rate", `"bandwidth":{"ingressRate":8000,"egressBurst":8000}`, "bandwidth.egressRate"),
	Entry("rate that is no number", `"bandwidth":{"ingressRate":"8M"}`, "bandwidth"),
	Entry("gateway", `"default-route":["192.0.2.1","gateway"]`, "default-route[1]"),
	Entry("gateways that are no list", `"default-route":"192.0.2.1"`, "default-route"),
	Entry("arguments that are no object", `"cni-args":["a"]`, "cni-args"),
)

var _ = DescribeTable("keys of a selection that are not the standard's (NET-4)",
	func(keys string, warnings ...string) {
		b := newBench()
		b.nad("n1", `{"cniVersion":"1.0.0","type":"second","capabilities":{"mac":true,"ips":true}}`)
		outcome := b.add(b.pod("web-0", `[{"name":"n1",`+keys+`}]`))
		if len(warnings) == 0 {
			Expect(outcome.Stderr).NotTo(ContainSubstring("annotation"))
		}
		for _, warning := range warnings {
			Expect(outcome.Stderr).To(ContainSubstring("[verbose] warning: annotation " + nad.NetworksAnnotation + `: element 0 ("n1"): ` + warning))
		}
	},
	Entry("a key nobody knows (E007)", `"gateways":["192.0.2.3"]`, `key "gateways" is not known`),
	Entry("a key with a dot is somebody else's", `"example.com/x":1`),
	Entry("old spelling of interface (E007)", `"interfaceRequest":"data"`, `key "interfaceRequest" is read as "interface"`),
	Entry("old spellings of mac and ips (E007)", `"macRequest":"02:00:00:00:00:01","ipRequest":["192.0.2.4/24"]`,
		`key "macRequest" is read as "mac"`, `key "ipRequest" is read as "ips"`),
)

var _ = It("old spellings of a selection's keys have their effect (NET-4, E007)", func() {
	b := newBench()
	b.nad("n1", `{"cniVersion":"1.0.0","type":"second","capabilities":{"mac":true,"ips":true}}`)
	b.add(b.pod("web-0", `[{"name":"n1","macRequest":"02:00:00:00:00:01","ipRequest":["192.0.2.4/24"],"interfaceRequest":"data"}]`))
	Expect(b.stdin("ADD second data", "runtimeConfig")).To(MatchJSON(`{"mac":"02:00:00:00:00:01","ips":["192.0.2.4/24"]}`))
})

var _ = Describe("interface names of a plan (NET-12)", func() {
	DescribeTable("that are taken are refused before anything runs",
		func(networks string, texts ...string) {
			b := newBench()
			b.define("blue/n1", "blue/n2")
			b.untouched(b.pod("web-0", networks), append(texts, "pod blue/web-0", "network blue/n"))
		},
		Entry("twice in an annotation (E061)", `[{"name":"n1","interface":"net1"},{"name":"n2","interface":"net1"}]`, `interface "net1" is taken by network blue/n1`),
		Entry("twice, of one NAD", "n1@a, n1@a", `interface "a" is taken`),
		Entry("CNI_IFNAME (E061)", `[{"name":"n1","interface":"eth0"}]`, `interface "eth0" is taken by network main`),
		Entry("in the network namespace", "n1@lo", `interface "lo" exists already`),
	)

	It("count what the node's configuration names (E059)", func() {
		b := newBench()
		b.define("blue/n1")
		b.add(b.pod("web-0", "n1, n1@net1"), node.Config{"delegates": list(
			object{"cniVersion": "1.0.0", "name": "main", "type": "master"},
			object{"cniVersion": "1.0.0", "name": "beside", "type": "second"})})
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0", "ADD second net2", "ADD second net3", "ADD second net1"}))
	})

	It("are the runtime's for the master", func() {
		b := newBench()
		b.define("blue/n1")
		box := b.pod("web-0", "n1@eth0, n1")
		box.IfName = "pod0"
		b.add(box)
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master pod0", "ADD second eth0", "ADD second net2"}))
	})
})

var _ = It("one NAD selected twice is two attachments, results, statuses and DELs (NET-13, E062)", func() {
	b := newBench()
	b.define("blue/n1")
	box := b.pod("web-0", "n1,n1")
	b.add(box)
	Expect(b.API.Count(fake.GetNAD)).To(Equal(1))
	files, err := b.State()
	Expect(err).NotTo(HaveOccurred())
	results := slices.DeleteFunc(files, func(file string) bool { return !strings.HasPrefix(file, "results/") })
	Expect(results).To(HaveLen(3))
	statuses := b.status("web-0")
	Expect(statuses[1].Name).To(Equal(statuses[2].Name))
	Expect([]string{statuses[1].Interface, statuses[2].Interface}).To(Equal([]string{"net1", "net2"}))
	Expect(statuses[1].IPs).NotTo(Equal(statuses[2].IPs))
	b.del(box)
	Expect(b.calls("DEL")).To(Equal([]string{"DEL second net2", "DEL second net1", "DEL master eth0"}))
	b.expectNoState()
})

var _ = It("one NAD may be the master as well as a secondary (NET-13, E062)", func() {
	b := newBench()
	b.define("kube-system/n1")
	box := b.pod("web-0", "kube-system/n1")
	changes := node.Config{"delegates": nil, "clusterNetwork": "n1"}
	b.add(box, changes)
	Expect(b.calls("ADD")).To(Equal([]string{"ADD second eth0", "ADD second net1"}))
	Expect(b.API.Count(fake.GetNAD)).To(Equal(1))
	b.del(box, changes)
	Expect(b.calls("DEL")).To(Equal([]string{"DEL second net1", "DEL second eth0"}))
})

var _ = DescribeTable("a NAD that is not there (NET-14)",
	func(annotations map[string]string, namespace string, texts ...string) {
		b := newBench()
		b.define("default/n1")
		box, err := b.AddPodIn("red", "web-0", annotations)
		Expect(err).NotTo(HaveOccurred())
		b.untouched(box, append(texts, "pod red/web-0", "network "+namespace+"/n1", `in namespace "`+namespace+`"`, "not found"))
		Expect(b.requests()).To(Equal([]string{"GET /api/v1/namespaces/red/pods/web-0", nadRead(namespace + "/n1")}))
	},
	Entry("in the pod's own namespace (E011)", map[string]string{nad.NetworksAnnotation: `[{"name":"n1"}]`}, "red", "means the pod's own"),
	Entry("in the pod's own namespace, short form (E011)", map[string]string{nad.NetworksAnnotation: "n1"}, "red", "means the pod's own"),
	Entry("in the namespace that was named", map[string]string{nad.NetworksAnnotation: "blue/n1"}, "blue", nad.NetworksAnnotation+"[0]"),
	Entry("as the default network", map[string]string{nad.DefaultNetworkAnnotation: "n1"}, "kube-system", nad.DefaultNetworkAnnotation, "means multusNamespace"),
)

// capable is a NAD's list of two plugins, each of which declares half of the capabilities.
const capable = `{"cniVersion":"1.0.0","plugins":[
	{"type":"second","capabilities":{"ips":true,"portMappings":true,"bandwidth":false}},
	{"type":"third","capabilities":{"mac":true,"bandwidth":true,"infinibandGUID":true,"deviceID":true}}]}`

// answers makes all delegates give a result that CHECK does not look for in the sandbox.
func (b *bench) answers() {
	GinkgoHelper()
	for _, name := range []string{"master", "second", "third"} {
		b.behave(name, script.Rule{Command: "ADD", Result: hostOnly})
	}
}

// verbs runs ADD, CHECK and DEL, which must succeed, and looks at each.
func (b *bench) verbs(box node.Sandbox, look func(verb string)) {
	GinkgoHelper()
	for _, verb := range []string{"ADD", "CHECK", "DEL"} {
		outcome := b.run(verb, box)
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		look(verb)
	}
}

var _ = Describe("what a selection asks for (NET-6)", func() {
	It("goes to each plugin that declares the capability, on ADD, CHECK and DEL (E014)", func() {
		b := newBench()
		b.answers()
		b.nad("n1", capable)
		box := b.pod("web-0", `[{"name":"n1","ips":["192.0.2.4/24","2001:db8::4/64"],"mac":"02:00:00:00:00:01",
			"infiniband-guid":"02:00:00:00:00:00:00:01","portMappings":[{"hostPort":8080,"containerPort":80,"protocol":"UDP","hostIP":"192.0.2.9"}],
			"bandwidth":{"ingressRate":8000,"ingressBurst":9000},"deviceID":"0000:01:00.1","ipam-claim-reference":""}, {"name":"n1"}]`)
		b.verbs(box, func(verb string) {
			Expect(b.stdin(verb+" second net1", "runtimeConfig")).To(MatchJSON(`{"ips":["192.0.2.4/24","2001:db8::4/64"],
				"portMappings":[{"hostPort":8080,"containerPort":80,"protocol":"udp","hostIP":"192.0.2.9"}]}`))
			Expect(b.stdin(verb+" third net1", "runtimeConfig")).To(MatchJSON(`{"mac":"02:00:00:00:00:01","infinibandGUID":"02:00:00:00:00:00:00:01",
				"bandwidth":{"ingressRate":8000,"ingressBurst":9000,"egressRate":0,"egressBurst":0},"deviceID":"0000:01:00.1"}`))
			for _, plugin := range []string{"second", "third"} {
				Expect(b.call(verb + " " + plugin + " net1").Arg("IP")).To(BeEmpty())
				Expect(b.call(verb + " " + plugin + " net1").Arg("MAC")).To(BeEmpty())
				Expect(b.stdin(verb+" "+plugin+" net2", "runtimeConfig")).To(Equal("null"))
			}
		})
	})

	It("goes into CNI_ARGS where no plugin declares the capability: addresses and MAC, on ADD, CHECK and DEL", func() {
		b := newBench()
		b.answers()
		b.behave("second", script.Rule{Command: "ADD", Result: json.RawMessage(`{"cniVersion":"1.0.0",
			"interfaces":[{"name":"lo","mac":"02:00:00:00:00:01","sandbox":"/ns"}],"ips":[{"address":"192.0.2.4/24"},{"address":"2001:db8::4/64"}]}`)})
		b.nad("n1", secondary)
		b.nad("n2", `{"cniVersion":"1.0.0","type":"third"}`)
		box := b.pod("web-0", `[{"name":"n1","interface":"data","ips":["192.0.2.4/24","2001:db8::4"]},{"name":"n2"}]`)
		b.verbs(box, func(verb string) {
			Expect(b.call(verb + " second data").Arg("IP")).To(Equal("192.0.2.4/24,2001:db8::4"))
			Expect(b.stdin(verb+" second data", "runtimeConfig")).To(Equal("null"))
			Expect(b.call(verb + " third net2").Arg("IP")).To(BeEmpty())
		})
	})

	It("is an InfiniBand GUID of 20 bytes too (NET-5, E014)", func() {
		b := newBench()
		const guid = "80:00:00:48:fe:80:00:00:00:00:00:00:02:00:00:00:00:00:00:01"
		b.nad("ib", `{"cniVersion":"1.0.0","type":"second","capabilities":{"infinibandGUID":true}}`)
		b.add(b.pod("web-0", `[{"name":"ib","infiniband-guid":"`+guid+`"}]`))
		Expect(b.stdin("ADD second net1", "runtimeConfig")).To(MatchJSON(`{"infinibandGUID":"` + guid + `"}`))
	})

	It("may name an IPAM claim, which is nothing to the delegates (NET-5)", func() {
		b := newBench()
		b.define("blue/n1")
		b.add(b.pod("web-0", `[{"name":"n1","ipam-claim-reference":"claim-7"}]`))
		Expect(string(b.call("ADD second net1").Stdin)).NotTo(ContainSubstring("claim"))
		Expect(b.call("ADD second net1").Args).NotTo(ContainElement(ContainElement(ContainSubstring("claim"))))
	})

	DescribeTable("must be declared by some plugin, else nothing runs (NET-7)",
		func(keys, capability string) {
			b := newBench()
			b.nad("n1", `{"cniVersion":"1.0.0","type":"second","capabilities":{"mac":true,"ips":true,"`+capability+`":false}}`)
			b.untouched(b.pod("web-0", `[{"name":"n1",`+keys+`}]`), []string{"pod blue/web-0", "network blue/n1", "capabilities." + capability})
		},
		Entry("InfiniBand GUID (E014)", `"infiniband-guid":"02:00:00:00:00:00:00:01"`, "infinibandGUID"),
		Entry("port mappings", `"portMappings":[{"hostPort":80,"containerPort":80}]`, "portMappings"),
		Entry("bandwidth", `"bandwidth":{"ingressRate":8000}`, "bandwidth"),
		Entry("device", `"deviceID":"0000:01:00.1"`, "deviceID"),
	)
})

var _ = It("cni-args are merged into args.cni of every plugin of their attachment, over the NAD's (NET-8, E013)", func() {
	b := newBench()
	b.answers()
	b.nad("n1", `{"cniVersion":"1.0.0","plugins":[{"type":"second","args":{"cni":{"k":"nad","keep":1},"other":2}},{"type":"third"}]}`)
	box := b.pod("web-0", `[{"name":"n1","cni-args":{"k":"v","n":{"x":1},"big":12345678901234567890,"html":"<&>"}},{"name":"n1"}]`)
	b.verbs(box, func(verb string) {
		Expect(b.stdin(verb+" second net1", "args")).To(MatchJSON(`{"cni":{"k":"v","keep":1,"n":{"x":1},"big":12345678901234567890,"html":"<&>"},"other":2}`))
		Expect(b.stdin(verb+" third net1", "args")).To(And(ContainSubstring("12345678901234567890"), ContainSubstring(`"<&>"`), ContainSubstring(`"k":"v"`)))
		Expect(b.stdin(verb+" second net2", "args")).To(MatchJSON(`{"cni":{"k":"nad","keep":1},"other":2}`))
		Expect(b.stdin(verb+" third net2", "args")).To(Equal("null"))
		Expect(b.stdin(verb+" master eth0", "args")).To(Equal("null"))
	})
})

var _ = Describe("capability arguments and CNI_ARGS of the runtime (NET-9, E094)", func() {
	all := object{"portMappings": true, "bandwidth": true, "mac": true, "ips": true, "example.com/x": true}
	master := node.Config{"delegates": list(object{"cniVersion": "1.0.0", "name": "main", "type": "master", "capabilities": all})}
	runtime := node.Config{"runtimeConfig": object{
		"portMappings": list(object{"hostPort": 8080, "containerPort": 80, "protocol": "tcp"}),
		"bandwidth":    object{"ingressRate": 8000, "ingressBurst": 8000},
		"mac":          "02:00:00:00:00:09", "example.com/x": object{"y": list(1)},
	}}
	var b *bench
	var box node.Sandbox
	prepare := func(annotations map[string]string) {
		b = newBench()
		declared, err := json.Marshal(all)
		Expect(err).NotTo(HaveOccurred())
		for _, network := range []string{"blue/n1", "kube-system/alt"} {
			namespace, name, _ := strings.Cut(network, "/")
			b.API.AddNAD(fake.NAD{Namespace: namespace, Name: name, Config: `{"cniVersion":"1.0.0","type":"second","capabilities":` + string(declared) + `}`})
		}
		box = b.podWith("web-0", annotations)
		box.Args = append(box.Args, [2]string{"IP", "192.0.2.9"}, [2]string{"MAC", "02:00:00:00:00:0a"}, [2]string{"CUSTOM", "kept"})
	}

	It("go to the master alone; a secondary gets those of its own selection", func() {
		prepare(map[string]string{nad.NetworksAnnotation: `[{"name":"n1"},{"name":"n1","mac":"02:00:00:00:00:01"}]`})
		b.add(box, master, runtime)
		Expect(b.stdin("ADD master eth0", "runtimeConfig")).To(MatchJSON(runtime.String()[len(`{"runtimeConfig":`) : len(runtime.String())-1]))
		Expect(b.stdin("ADD second net1", "runtimeConfig")).To(Equal("null"))
		Expect(b.stdin("ADD second net2", "runtimeConfig")).To(MatchJSON(`{"mac":"02:00:00:00:00:01"}`))
		Expect(b.call("ADD master eth0").Args).To(ContainElements([2]string{"IP", "192.0.2.9"}, [2]string{"MAC", "02:00:00:00:00:0a"}))
		for _, secondary := range []string{"ADD second net1", "ADD second net2"} {
			Expect(b.call(secondary).Arg("IP")).To(BeEmpty())
			Expect(b.call(secondary).Arg("MAC")).To(BeEmpty())
			Expect(b.call(secondary).Arg("CUSTOM")).To(Equal("kept"))
			Expect(b.call(secondary).Arg("K8S_POD_UID")).To(Equal(uidOf(box)))
		}
	})

	It("are added to by a selection in default-network", func() {
		prepare(map[string]string{nad.DefaultNetworkAnnotation: `[{"name":"alt","ips":["192.0.2.5/24"],
			"portMappings":[{"hostPort":9090,"containerPort":90}]}]`})
		b.add(box, master, runtime)
		Expect(b.stdin("ADD second eth0", "runtimeConfig")).To(MatchJSON(`{"ips":["192.0.2.5/24"],"mac":"02:00:00:00:00:09",
			"bandwidth":{"ingressRate":8000,"ingressBurst":8000},"example.com/x":{"y":[1]},
			"portMappings":[{"hostPort":8080,"containerPort":80,"protocol":"tcp"},{"hostPort":9090,"containerPort":90,"protocol":"tcp"}]}`))
		Expect(b.call("ADD second eth0").Arg("IP")).To(BeEmpty(), "never both")
	})
})

var _ = Describe("the annotation default-network (NET-1)", func() {
	DescribeTable("replaces the master",
		func(value, network string, calls ...string) {
			b := newBench()
			b.define("kube-system/alt", "blue/alt")
			b.add(b.podWith("web-0", map[string]string{nad.DefaultNetworkAnnotation: value}))
			Expect(b.calls("ADD")).To(Equal(calls))
			Expect(b.requests()).To(Equal([]string{podRead, nadRead(network), statusSent}))
			Expect(b.status("web-0")).To(HaveLen(1))
			Expect(b.status("web-0")[0].Name).To(Equal(network))
			Expect(b.status("web-0")[0].Default).To(BeTrue())
		},
		Entry("short form (C8)", "alt", "kube-system/alt", "ADD second eth0"),
		Entry("short form with a namespace (C8)", "kube-system/alt", "kube-system/alt", "ADD second eth0"),
		Entry("short form of the pod's namespace", "blue/alt", "blue/alt", "ADD second eth0"),
		Entry("short form with a comma", "alt,", "kube-system/alt", "ADD second eth0"),
		Entry("JSON", `[{"name":"alt"}]`, "kube-system/alt", "ADD second eth0"),
		Entry("JSON with a namespace within the name", `[{"name":"blue/alt"}]`, "blue/alt", "ADD second eth0"),
		Entry("JSON with an interface", `[{"name":"alt","interface":"data0"}]`, "kube-system/alt", "ADD second data0"),
	)

	It("is ignored where it is blank", func() {
		b := newBench()
		b.add(b.podWith("web-0", map[string]string{nad.DefaultNetworkAnnotation: " \n"}))
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0"}))
	})

	It("replaces the master alone; both annotations may name the interfaces (C8)", func() {
		b := newBench()
		b.define("kube-system/alt-primary", "tenant-a/data")
		box := b.podWith("web-0", map[string]string{
			nad.DefaultNetworkAnnotation: `[{"name":"alt-primary","namespace":"kube-system","interface":"eth0"}]`,
			nad.NetworksAnnotation:       `[{"name":"data","namespace":"tenant-a","interface":"eth1"}]`,
		})
		b.add(box, node.Config{"delegates": list(
			object{"cniVersion": "1.0.0", "name": "main", "type": "master"},
			object{"cniVersion": "1.0.0", "name": "beside", "type": "master"})})
		Expect(b.calls("ADD")).To(Equal([]string{"ADD second eth0", "ADD master net1", "ADD second eth1"}))
	})

	It("honours addresses, MAC and arguments (E020)", func() {
		b := newBench()
		b.API.AddNAD(fake.NAD{Namespace: "kube-system", Name: "n1", Config: `{"cniVersion":"1.0.0","type":"second","capabilities":{"ips":true,"mac":true}}`})
		b.add(b.podWith("web-0", map[string]string{
			nad.DefaultNetworkAnnotation: `[{"name":"n1","ips":["192.0.2.5/24"],"mac":"02:00:00:00:00:05","cni-args":{"a":"b"}}]`,
		}))
		Expect(b.stdin("ADD second eth0", "runtimeConfig")).To(MatchJSON(`{"ips":["192.0.2.5/24"],"mac":"02:00:00:00:00:05"}`))
		Expect(b.stdin("ADD second eth0", "args")).To(MatchJSON(`{"cni":{"a":"b"}}`))
	})

	It("looks where clusterNetwork does (E019)", func() {
		b := newBench()
		b.define("net-sys/n1")
		changes := node.Config{"delegates": nil, "clusterNetwork": "n1", "multusNamespace": "net-sys"}
		b.add(b.pod("web-0", ""), changes)
		b.add(b.podWith("web-1", map[string]string{nad.DefaultNetworkAnnotation: "n1"}), changes)
		Expect(b.requests()).To(Equal([]string{
			podRead, nadRead("net-sys/n1"), statusSent,
			strings.Replace(podRead, "web-0", "web-1", 1), nadRead("net-sys/n1"), strings.Replace(statusSent, "web-0", "web-1", 1),
		}))
	})

	DescribeTable("must name one network, as the other annotation does (NET-2, NET-3)",
		invalid(nad.DefaultNetworkAnnotation),
		Entry("two, short form", "n1, red/n1", "names 2 networks"),
		Entry("two, JSON (E020)", `[{"name":"n1"},{"name":"n1"}]`, "names 2 networks"),
		Entry("JSON that ends too early", `[{"name":"n1"}`, "ends too early"),
		Entry("JSON list followed by text (E016)", `[{"name":"n1"}], istio-cni`, "JSON list followed by text"),
		Entry("a path (E149)", "../kube-system/n1", "namespace"),
		Entry("no name", "kube-system/", "name: empty"),
		Entry("no interface", "n1@", "interface: empty"),
		Entry("addresses that are no list (E008)", `[{"name":"n1","ips":"192.0.2.7/24"}]`, "ips: must be a list"),
	)
})

var _ = It("default networks come before the pod's own, whatever the annotation says (E022)", func() {
	b := newBench()
	b.define("blue/n1")
	Expect(b.Delegates.Install("extra")).To(Succeed())
	b.write("net.d", map[string]string{
		"cluster.conf": `{"cniVersion":"1.0.0","name":"cluster","type":"master"}`,
		"d1.conf":      `{"cniVersion":"1.0.0","name":"d1","type":"extra"}`,
	})
	b.add(b.pod("web-0", "n1"), node.Config{"delegates": nil, "clusterNetwork": "cluster", "defaultNetworks": list("d1")})
	Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0", "ADD extra net1", "ADD second net2"}))
})

var _ = Describe("namespace isolation (NET-10)", func() {
	isolated := func(global string) node.Config {
		return node.Config{"namespaceIsolation": true, "globalNamespaces": global}
	}
	networks := func(value string) map[string]string { return map[string]string{nad.NetworksAnnotation: value} }
	master := func(value string) map[string]string {
		return map[string]string{nad.DefaultNetworkAnnotation: value}
	}

	DescribeTable("lets through what is the pod's own or global, in both syntaxes",
		func(global string, annotations map[string]string, call string) {
			b := newBench()
			b.define("blue/n1", "default/n1", "a/n1", "c/n1", "shared/n1", "kube-system/n1")
			b.add(b.podWith("web-0", annotations), isolated(global))
			Expect(b.calls("ADD")).To(ContainElement(call))
		},
		Entry("own", "", networks("n1"), "ADD second net1"),
		Entry("own, by name", "", networks("blue/n1"), "ADD second net1"),
		Entry("own, JSON", "", networks(`[{"name":"n1","namespace":"blue"}]`), "ADD second net1"),
		Entry("default, where no list is set (E029)", "", networks("default/n1"), "ADD second net1"),
		Entry("of the list (E029)", "a,b", networks("a/n1"), "ADD second net1"),
		Entry("of the list with blanks (E029)", "b, a", networks(`[{"name":"n1","namespace":"a"}]`), "ADD second net1"),
		Entry("short form with namespace (E010)", "shared", networks("shared/n1"), "ADD second net1"),
		Entry("JSON with the namespace within the name (E010)", "shared", networks(`[{"name":"shared/n1"}]`), "ADD second net1"),
		Entry("default network of a global namespace", "kube-system", master("n1"), "ADD second eth0"),
		Entry("default network of the pod's own", "", master("blue/n1"), "ADD second eth0"),
	)

	DescribeTable("refuses the rest before anything is asked or run",
		func(global string, annotations map[string]string, namespace string) {
			b := newBench()
			b.define("blue/n1", "default/n1", "a/n1", "c/n1", "other/n1", "kube-system/n1")
			b.untouched(b.podWith("web-0", annotations), []string{"pod blue/web-0", "network " + namespace + "/n1", "namespaceIsolation"}, isolated(global))
			Expect(b.requests()).To(Equal([]string{podRead}))
		},
		Entry("another (E029, E149)", "", networks("other/n1"), "other"),
		Entry("another, JSON (E149)", "", networks(`[{"name":"n1","namespace":"other"}]`), "other"),
		Entry("another within the name (E010, E149)", "", networks(`[{"name":"other/n1"}]`), "other"),
		Entry("another beside one's own", "", networks("n1, other/n1"), "other"),
		Entry("outside the list (E029)", "a, b", networks("c/n1"), "c"),
		Entry("default, where a list without it is set (E029)", "a,b", networks("default/n1"), "default"),
		Entry("a part of a name in the list", "others,an-other", networks("other/n1"), "other"),
		Entry("default network (E149)", "", master("other/n1"), "other"),
		Entry("default network, JSON (E149)", "", master(`[{"name":"n1","namespace":"other"}]`), "other"),
		Entry("default network, within the name (E149)", "", master(`[{"name":"other/n1"}]`), "other"),
		Entry("default network of the namespace where the node's own are (E149)", "", master("n1"), "kube-system"),
	)

	It("is off unless asked for", func() {
		b := newBench()
		b.define("other/n1")
		b.add(b.pod("web-0", "other/n1"))
		Expect(b.calls("ADD")).To(ContainElement("ADD second net1"))
	})

	It("is nothing to the node's own networks", func() {
		b := newBench()
		b.define("kube-system/n1", "kube-system/n2")
		b.add(b.pod("web-0", ""), isolated(""), node.Config{"delegates": nil, "clusterNetwork": "n1", "defaultNetworks": list("n2")})
		Expect(b.calls("ADD")).To(Equal([]string{"ADD second eth0", "ADD second net1"}))
	})

	It("is no part of DEL, which asks for no NAD again (E149)", func() {
		b := newBench()
		b.define("other/n1")
		box := b.pod("web-0", "other/n1")
		b.add(box)
		b.API.Forget()
		b.del(box, isolated(""))
		Expect(b.calls("DEL")).To(Equal([]string{"DEL second net1", "DEL master eth0"}))
		Expect(b.API.Count(fake.GetNAD)).To(BeZero())
	})
})

var _ = DescribeTable("the name of a NAD's configuration (NET-11)",
	func(config, want string) {
		b := newBench()
		b.nad("n1", config)
		b.add(b.pod("web-0", "n1"))
		Expect(b.stdin("ADD second net1", "name")).To(Equal(want))
	},
	Entry("is the NAD's if there is none", `{"cniVersion":"1.0.0","type":"second"}`, `"n1"`),
	Entry("is the NAD's if it is empty", `{"cniVersion":"1.0.0","name":"","plugins":[{"type":"second"}]}`, `"n1"`),
	Entry("is its own otherwise", `{"cniVersion":"1.0.0","name":"own","plugins":[{"type":"second"}]}`, `"own"`),
)

var _ = DescribeTable("a pod name in CNI_ARGS that cannot be one is asked of nobody (NET-3)",
	func(namespace, name, variable string) {
		b := newBench()
		outcome := b.untouched(b.sandbox().Of(namespace, name, ""), []string{variable})
		Expect(outcome.Error().Code).To(BeEquivalentTo(4))
		Expect(b.requests()).To(BeEmpty())
	},
	Entry(nil, "..", "web-0", "K8S_POD_NAMESPACE"),
	Entry(nil, "blue/pods/x", "web-0", "K8S_POD_NAMESPACE"),
	Entry(nil, "blue", "../secrets/x", "K8S_POD_NAME"),
	Entry(nil, "blue", "web-0?x", "K8S_POD_NAME"),
)
