package exec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/types"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// versions lists what the CNI library speaks (INV-2).
func versions() []string {
	return []string{"0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"}
}

// isOld tells of versions whose results have "ip4" and "ip6" in place of lists.
func isOld(version string) bool { return version == "0.1.0" || version == "0.2.0" }

// resultOf is a result as that version of the CNI specification has it: one interface with an address of each family.
func resultOf(version, ifname, ipv4, ipv6 string) json.RawMessage {
	if isOld(version) {
		return json.RawMessage(fmt.Sprintf(
			`{"cniVersion":%q,"ip4":{"ip":%q},"ip6":{"ip":%q},"dns":{"nameservers":["192.0.2.53"]}}`, version, ipv4, ipv6))
	}
	families := []any{`"version":"4",`, `"version":"6",`} // which the address alone tells from 1.0.0 on
	if !strings.HasPrefix(version, "0.") {
		families = []any{"", ""}
	}
	return json.RawMessage(fmt.Sprintf(`{"cniVersion":%q,"interfaces":[{"name":%q,"mac":"02:00:00:00:00:07","sandbox":"/there"}],
		"ips":[{%s"interface":0,"address":%q},{%s"interface":0,"address":%q}],"dns":{"nameservers":["192.0.2.53"]}}`,
		version, ifname, families[0], ipv4, families[1], ipv6))
}

// addresses reads those of a result of any version.
func addresses(raw []byte) []string {
	GinkgoHelper()
	var result struct {
		IPs      []struct{ Address string }
		IP4, IP6 struct{ IP string }
	}
	Expect(json.Unmarshal(raw, &result)).To(Succeed())
	found := []string{result.IP4.IP, result.IP6.IP}
	for _, ip := range result.IPs {
		found = append(found, ip.Address)
	}
	return slices.DeleteFunc(found, func(address string) bool { return address == "" })
}

// versionPairs makes an entry of each outer with each inner version.
func versionPairs() []any {
	var entries []any
	for _, outer := range versions() {
		for _, inner := range versions() {
			entries = append(entries, Entry(fmt.Sprintf("ours %s, the delegates' %s", outer, inner), outer, inner))
		}
	}
	return entries
}

var _ = Describe("CNI versions", func() {
	var b *bench
	BeforeEach(func() { b = newBench() })

	// The master is configured in the inner version; the secondary in the outer one, but answers in the inner one.
	pair := func(outer, inner string) node.Config {
		b.behave("master", script.Rule{Command: "ADD", Result: resultOf(inner, "eth0", "192.0.2.7/24", "2001:db8::7/64")})
		b.behave("second", script.Rule{Command: "ADD", Result: resultOf(inner, "net1", "198.51.100.7/24", "2001:db8:1::7/64")})
		b.nad("n1", fmt.Sprintf(`{"cniVersion":%q,"type":"second"}`, outer))
		return node.Config{"cniVersion": outer, "delegates": []any{node.Config{"cniVersion": inner, "name": "main", "type": "master"}}}
	}

	DescribeTable("the result is in our version, whatever the delegates speak (INV-2, E079, E082, E083)", append([]any{
		func(outer, inner string) {
			box, change := b.pod("web-0", "n1"), pair(outer, inner)
			outcome := b.add(box, change)
			var result struct {
				CNIVersion string
				DNS        types.DNS
			}
			Expect(json.Unmarshal([]byte(outcome.Stdout), &result)).To(Succeed(), outcome.Stdout)
			Expect(result.CNIVersion).To(Equal(outer))
			Expect(result.DNS.Nameservers).To(Equal([]string{"192.0.2.53"}))
			Expect(addresses([]byte(outcome.Stdout))).To(ConsistOf("192.0.2.7/24", "2001:db8::7/64"))
			_, old := b.resultKeys(outcome)["ip4"]
			Expect(old).To(Equal(isOld(outer)), outcome.Stdout)

			status := b.status("web-0")
			Expect(status).To(HaveLen(2))
			Expect(status[0].Interface).To(Equal("eth0"))
			Expect(status[0].IPs).To(ConsistOf("192.0.2.7", "2001:db8::7"))
			Expect(status[1].Interface).To(Equal("net1"))
			Expect(status[1].IPs).To(ConsistOf("198.51.100.7", "2001:db8:1::7"))

			b.del(box, change)
			Expect(b.calls("DEL")).To(Equal([]string{"DEL second net1", "DEL master eth0"}))
			Expect(b.versionAsked("DEL master eth0")).To(Equal(inner))
			Expect(b.versionAsked("DEL second net1")).To(Equal(outer))
			b.expectNoState()
		},
	}, versionPairs()...)...)

	DescribeTable("the result of ADD comes back on DEL in the delegate's own version, from 0.4.0 on (INV-2)",
		func(inner string, given bool) {
			box, change := b.pod("web-0", "n1"), pair("1.0.0", inner)
			b.add(box, change)
			b.del(box, change)
			config, err := b.call("DEL master eth0").Config()
			Expect(err).NotTo(HaveOccurred())
			previous, found := config["prevResult"]
			Expect(found).To(Equal(given))
			if given {
				Expect(previous).To(HaveKeyWithValue("cniVersion", inner))
			}
		},
		Entry(nil, "0.2.0", false),
		Entry(nil, "0.3.1", false),
		Entry(nil, "0.4.0", true),
		Entry(nil, "1.0.0", true),
		Entry(nil, "1.1.0", true),
	)

	DescribeTable("a delegate that speaks 0.1.0 and 0.2.0 only (E086)",
		func(version string) {
			Expect(b.Delegates.Script("second", script.Script{Versions: []string{"0.1.0", "0.2.0"}})).To(Succeed())
			b.nad("n1", `{`+version+`"type":"second"}`)
			box := b.pod("web-0", "n1")
			b.add(box)
			status := b.status("web-0")
			Expect(status).To(HaveLen(2))
			Expect(status[1].Interface).To(Equal("net1"))
			Expect(status[1].IPs).To(HaveLen(1))
			b.del(box)
			b.expectNoState()
		},
		Entry("with a NAD of 0.2.0", `"cniVersion":"0.2.0",`),
		Entry("with a NAD that names no version", ``),
	)

	It("refuses a version that does not exist, before anything runs (E079)", func() {
		b.nad("n1", `{"cniVersion":"9.9.9","type":"second"}`)
		b.refused(b.pod("web-0", "n1"), []string{"pod blue/web-0", "network blue/n1", "cniVersion", "9.9.9"})
		Expect(b.calls("ADD")).To(BeEmpty())
	})

	It("names plugin and version where a delegate answers in one that does not exist (E079)", func() {
		b.behave("second", script.Rule{Command: "ADD", Result: json.RawMessage(`{"cniVersion":"9.9.9"}`)})
		b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
		b.refused(b.pod("web-0", "n1"), []string{"pod blue/web-0", "network blue/n1", "plugin second", "9.9.9"})
	})

	It("refuses an own version that does not exist (INV-2)", func() {
		outcome := b.refused(b.pod("web-0", ""), nil, node.Config{"cniVersion": "9.9.9"})
		Expect(outcome.Error().Code).To(BeEquivalentTo(types.ErrIncompatibleCNIVersion))
	})
})

// resultKeys are the keys of the result that was printed.
func (b *bench) resultKeys(outcome node.Outcome) map[string]json.RawMessage {
	GinkgoHelper()
	var keys map[string]json.RawMessage
	Expect(json.Unmarshal([]byte(outcome.Stdout), &keys)).To(Succeed(), outcome.Stdout)
	return keys
}

// versionAsked is the cniVersion that a delegate was given at a call.
func (b *bench) versionAsked(call string) any {
	GinkgoHelper()
	config, err := b.call(call).Config()
	Expect(err).NotTo(HaveOccurred())
	return config["cniVersion"]
}
