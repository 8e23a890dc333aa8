package exec

import (
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

var _ = Describe("the result (ADD-5)", func() {
	DescribeTable("of a master that prints next to nothing is accepted",
		func(rule script.Rule) {
			b := newBench()
			rule.Command = "ADD"
			b.behave("master", rule)
			outcome := b.add(b.pod("web-0", ""))
			Expect(outcome.Stdout).To(MatchJSON(`{"cniVersion":"1.0.0"}`))
			status := b.API.Annotations("blue", "web-0")["k8s.v1.cni.cncf.io/network-status"]
			Expect(status).To(MatchJSON(`[{"name":"main","interface":"eth0","default":true,"dns":{}}]`))
		},
		Entry("nothing at all (E077)", script.Rule{Nothing: true}),
		Entry("no interface", script.Rule{Result: json.RawMessage(`{"cniVersion":"1.0.0"}`)}),
	)

	DescribeTable("is the master's, in the version of our configuration",
		func(outer string, want string) {
			b := newBench()
			b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
			b.behave("master", script.Rule{Command: "ADD", Result: json.RawMessage(`{"cniVersion":"1.0.0",
				"interfaces":[{"name":"eth0","mac":"02:00:00:00:00:01","sandbox":"/ns"}],"ips":[{"address":"192.0.2.4/24","interface":0}]}`)})
			outcome := b.add(b.pod("web-0", "n1"), node.Config{"cniVersion": outer})
			Expect(outcome.Stdout).To(MatchJSON(want))
		},
		Entry("0.2.0", "0.2.0", `{"cniVersion":"0.2.0","ip4":{"ip":"192.0.2.4/24"},"dns":{}}`),
		Entry("0.4.0", "0.4.0", `{"cniVersion":"0.4.0","interfaces":[{"name":"eth0","mac":"02:00:00:00:00:01","sandbox":"/ns"}],
			"ips":[{"version":"4","address":"192.0.2.4/24","interface":0}],"dns":{}}`),
		Entry("1.1.0", "1.1.0", `{"cniVersion":"1.1.0","interfaces":[{"name":"eth0","mac":"02:00:00:00:00:01","sandbox":"/ns"}],
			"ips":[{"address":"192.0.2.4/24","interface":0}]}`),
	)
})

var _ = Describe("behind other plugins of an outer list (ADD-6)", func() {
	DescribeTable("the result keeps what they made and adds the master's",
		func(version, prev, want string) {
			b := newBench()
			b.behave("master", script.Rule{Command: "ADD", Result: json.RawMessage(`{"cniVersion":"1.0.0",
				"interfaces":[{"name":"veth1"},{"name":"eth0","sandbox":"/ns"}],
				"ips":[{"address":"192.0.2.4/24","interface":1},{"address":"2001:db8::4/64"}],"routes":[{"dst":"198.51.100.0/24"}]}`)})
			outcome := b.add(b.pod("web-0", ""), node.Config{"cniVersion": version, "prevResult": json.RawMessage(prev)})
			Expect(outcome.Stdout).To(MatchJSON(want))
			Expect(handed(b.call("ADD master eth0").Stdin)).To(ContainSubstring("203.0.113.4/24"))
		},
		Entry("in the newest version", "1.1.0",
			`{"cniVersion":"1.1.0","interfaces":[{"name":"veth0"},{"name":"eth9","sandbox":"/ns"}],
				"ips":[{"address":"203.0.113.4/24","interface":1}],"routes":[{"dst":"0.0.0.0/0"}],"dns":{"nameservers":["192.0.2.53"]}}`,
			`{"cniVersion":"1.1.0","interfaces":[{"name":"veth0"},{"name":"eth9","sandbox":"/ns"},{"name":"veth1"},{"name":"eth0","sandbox":"/ns"}],
				"ips":[{"address":"203.0.113.4/24","interface":1},{"address":"192.0.2.4/24","interface":3},{"address":"2001:db8::4/64"}],
				"routes":[{"dst":"0.0.0.0/0"},{"dst":"198.51.100.0/24"}],"dns":{"nameservers":["192.0.2.53"]}}`),
		Entry("in an older one", "0.3.1",
			`{"cniVersion":"0.3.1","interfaces":[{"name":"eth9","sandbox":"/ns"}],"ips":[{"version":"4","address":"203.0.113.4/24","interface":0}]}`,
			`{"cniVersion":"0.3.1","interfaces":[{"name":"eth9","sandbox":"/ns"},{"name":"veth1"},{"name":"eth0","sandbox":"/ns"}],
				"ips":[{"version":"4","address":"203.0.113.4/24","interface":0},{"version":"4","address":"192.0.2.4/24","interface":2},{"version":"6","address":"2001:db8::4/64"}],
				"routes":[{"dst":"198.51.100.0/24"}],"dns":{}}`),
	)

	const before = `{"cniVersion":"1.0.0","interfaces":[{"name":"eth0","mac":"02:00:00:00:00:01","sandbox":"/ns"}],
		"ips":[{"address":"203.0.113.4/24","interface":0}],"routes":[{"dst":"0.0.0.0/0"}]}`

	DescribeTable("a master that works on what they made and hands it on changes it, and adds nothing twice",
		func(answer, want string) {
			b := newBench()
			b.behave("master", script.Rule{Command: "ADD", Result: json.RawMessage(answer)})
			outcome := b.add(b.pod("web-0", ""), node.Config{"prevResult": json.RawMessage(before)})
			Expect(outcome.Stdout).To(MatchJSON(want))
		},
		Entry("another MAC, no route any more", strings.NewReplacer("00:01", "00:02", `,"routes":[{"dst":"0.0.0.0/0"}]`, "").Replace(before),
			`{"cniVersion":"1.0.0","interfaces":[{"name":"eth0","mac":"02:00:00:00:00:02","sandbox":"/ns"}],"ips":[{"address":"203.0.113.4/24","interface":0}]}`),
		Entry("in a version without interfaces", `{"cniVersion":"0.2.0","ip4":{"ip":"203.0.113.4/24","routes":[{"dst":"0.0.0.0/0"}]}}`,
			`{"cniVersion":"1.0.0","interfaces":[{"name":"eth0","mac":"02:00:00:00:00:01","sandbox":"/ns"}],
				"ips":[{"address":"203.0.113.4/24","interface":0}],"routes":[{"dst":"0.0.0.0/0"}]}`),
	)

	It("the master's first plugin alone is given their result, in its own version; CHECK and DEL get the master's", func() {
		b := newBench()
		b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
		b.behave("master", script.Rule{Command: "ADD", Result: json.RawMessage(`{"cniVersion":"0.4.0","ips":[{"version":"4","address":"192.0.2.4/24"}]}`)})
		b.behave("second", script.Rule{Command: "ADD", Result: json.RawMessage(`{"cniVersion":"1.0.0","dns":{"domain":"made.example"}}`)})
		box := b.pod("web-0", "n1")
		outer := node.Config{"prevResult": json.RawMessage(before), "delegates": []any{
			node.Config{"cniVersion": "0.4.0", "name": "main", "plugins": []any{node.Config{"type": "master"}, node.Config{"type": "second"}}}}}
		b.add(box, outer)
		Expect(handed(b.call("ADD master eth0").Stdin)).To(MatchJSON(`{"cniVersion":"0.4.0","interfaces":[{"name":"eth0","mac":"02:00:00:00:00:01","sandbox":"/ns"}],
			"ips":[{"version":"4","address":"203.0.113.4/24","interface":0}],"routes":[{"dst":"0.0.0.0/0"}],"dns":{}}`))
		Expect(handed(b.call("ADD second eth0").Stdin)).To(And(ContainSubstring("192.0.2.4/24"), Not(ContainSubstring("203.0.113.4"))))
		Expect(handed(b.call("ADD second net1").Stdin)).To(BeEmpty())
		checked := b.run("CHECK", box, outer)
		Expect(checked.Exit).To(Equal(0), checked.String())
		b.del(box, outer)
		for _, verb := range []string{"CHECK", "DEL"} {
			Expect(handed(b.call(verb + " master eth0").Stdin)).To(And(ContainSubstring("made.example"), Not(ContainSubstring("203.0.113.4"))))
		}
	})

	It("the master may work on an interface that is there already", func() {
		b := newBench()
		box := b.pod("web-0", "")
		box.IfName = "lo"
		b.add(box, node.Config{"prevResult": json.RawMessage(`{"cniVersion":"1.0.0","interfaces":[{"name":"lo","sandbox":"/ns"}]}`)})
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master lo"}))
	})
})

// handed is the prevResult in a configuration; empty if there is none.
func handed(stdin []byte) string {
	GinkgoHelper()
	var config struct{ PrevResult json.RawMessage }
	Expect(json.Unmarshal(stdin, &config)).To(Succeed())
	return string(config.PrevResult)
}
