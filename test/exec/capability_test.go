package exec

import (
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// declares is a network whose two plugins declare the capability, and a third that does not.
func declares(capability, first string) string {
	return fmt.Sprintf(`{"cniVersion":"1.0.0","name":"main","plugins":[{"type":%q,"capabilities":{%q:true}},
		{"type":"third","capabilities":{%q:true,"example.com/other":false}},{"type":"fourth"}]}`, first, capability, capability)
}

// argument is the capability argument in a call's configuration; empty if there is none.
func (b *bench) argument(call, capability string) string {
	GinkgoHelper()
	var config struct{ RuntimeConfig map[string]json.RawMessage }
	Expect(json.Unmarshal(b.call(call).Stdin, &config)).To(Succeed())
	return string(config.RuntimeConfig[capability])
}

var _ = Describe("capability arguments", func() {
	var b *bench
	BeforeEach(func() {
		b = newBench()
		b.answers()
		Expect(b.Delegates.Install("third", "fourth")).To(Succeed())
	})

	DescribeTable("of the runtime go to the master alone: to its plugins that declare the capability, byte for byte, on ADD, CHECK and DEL (NET-9)",
		func(capability, argument string) {
			b.nad("n1", declares(capability, "second"))
			box := b.pod("web-0", "n1")
			config := node.Config{
				"delegates":     list(json.RawMessage(declares(capability, "master"))),
				"capabilities":  object{capability: true},
				"runtimeConfig": json.RawMessage(fmt.Sprintf(`{%q:%s,"undeclared":{"x":1}}`, capability, argument)),
			}
			for _, verb := range []string{"ADD", "CHECK", "DEL"} {
				outcome := b.run(verb, box, config)
				Expect(outcome.Exit).To(Equal(0), outcome.String())
				for _, plugin := range []string{"master", "third"} {
					Expect(b.argument(verb+" "+plugin+" eth0", capability)).To(Equal(argument), plugin)
					Expect(b.argument(verb+" "+plugin+" eth0", "undeclared")).To(BeEmpty())
				}
				for _, other := range []string{"fourth eth0", "second net1", "third net1", "fourth net1"} {
					Expect(b.argument(verb+" "+other, capability)).NotTo(Equal(argument), other)
				}
			}
		},
		Entry("ips", "ips", `["192.0.2.4/24","2001:db8::4/64"]`),
		Entry("mac", "mac", `"02:00:00:00:00:01"`),
		Entry("infinibandGUID", "infinibandGUID", `"02:00:00:00:00:00:00:01"`),
		Entry("portMappings", "portMappings", `[{"hostPort":8080,"containerPort":80,"protocol":"tcp"}]`),
		Entry("bandwidth", "bandwidth", `{"ingressRate":8000,"ingressBurst":9000}`),
		Entry("deviceID", "deviceID", `"0000:01:00.1"`),
		Entry("dns", "dns", `{"servers":["192.0.2.53"],"searches":["one.example"],"options":["ndots:2"]}`),
		Entry("ipRanges", "ipRanges", `[[{"subnet":"192.0.2.0/24","rangeStart":"192.0.2.10"}]]`),
		Entry("aliases", "aliases", `["web","web.blue"]`),
		Entry("CNIDeviceInfoFile", "CNIDeviceInfoFile", `"/run/runtime/info.json"`),
		Entry("one that a runtime invents", "example.com/new", `{"big":12345678901234567890,"none":null}`),
	)

	DescribeTable("of a selection go to that attachment alone, on ADD, CHECK and DEL (NET-6)",
		func(keys, capability, argument string) {
			b.nad("n1", declares(capability, "second"))
			box := b.pod("web-0", `[{"name":"n1",`+keys+`},{"name":"n1"}]`)
			config := node.Config{"delegates": list(json.RawMessage(declares(capability, "master")))}
			for _, verb := range []string{"ADD", "CHECK", "DEL"} {
				outcome := b.run(verb, box, config)
				Expect(outcome.Exit).To(Equal(0), outcome.String())
				for _, plugin := range []string{"second", "third"} {
					Expect(b.argument(verb+" "+plugin+" net1", capability)).To(MatchJSON(argument), plugin)
				}
				for _, other := range []string{"fourth net1", "second net2", "third net2", "fourth net2", "master eth0", "third eth0", "fourth eth0"} {
					Expect(b.argument(verb+" "+other, capability)).To(BeEmpty(), other)
				}
			}
		},
		Entry("ips", `"ips":["192.0.2.4/24","2001:db8::4"]`, "ips", `["192.0.2.4/24","2001:db8::4"]`),
		Entry("mac", `"mac":"02:00:00:00:00:01"`, "mac", `"02:00:00:00:00:01"`),
		Entry("infiniband-guid", `"infiniband-guid":"02:00:00:00:00:00:00:01"`, "infinibandGUID", `"02:00:00:00:00:00:00:01"`),
		Entry("portMappings", `"portMappings":[{"hostPort":8080,"containerPort":80}]`, "portMappings", `[{"hostPort":8080,"containerPort":80,"protocol":"tcp"}]`),
		Entry("bandwidth", `"bandwidth":{"egressRate":8000,"egressBurst":9000}`, "bandwidth", `{"ingressRate":0,"ingressBurst":0,"egressRate":8000,"egressBurst":9000}`),
		Entry("deviceID", `"deviceID":"0000:01:00.1"`, "deviceID", `"0000:01:00.1"`),
	)

	DescribeTable("that no selection can ask for are named in a warning, and go nowhere (NET-4)",
		func(capability, argument string) {
			b.nad("n1", declares(capability, "second"))
			outcome := b.add(b.pod("web-0", fmt.Sprintf(`[{"name":"n1",%q:%s}]`, capability, argument)))
			Expect(outcome.Stderr).To(MatchRegexp(`warning: .*` + capability))
			Expect(b.argument("ADD second net1", capability)).NotTo(Equal(argument))
		},
		Entry("dns", "dns", `{"servers":["192.0.2.53"]}`),
		Entry("ipRanges", "ipRanges", `[[{"subnet":"192.0.2.0/24"}]]`),
		Entry("aliases", "aliases", `["web"]`),
		Entry("CNIDeviceInfoFile", "CNIDeviceInfoFile", `"/etc/passwd"`),
	)
})
