package exec

import (
	"encoding/json"

	"github.com/containernetworking/cni/pkg/types"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// hostOnly is a result without an interface in the sandbox, which CHECK need not look for.
var hostOnly = json.RawMessage(`{"cniVersion":"1.0.0","interfaces":[{"name":"veth7"}],"ips":[{"address":"192.0.2.7/24"}]}`)

var _ = Describe("CHECK (CHK-1)", func() {
	var b *bench
	BeforeEach(func() {
		b = newBench()
		for _, name := range []string{"master", "second"} {
			Expect(b.Delegates.Behave(name, script.Rule{Command: "ADD", Result: hostOnly})).To(Succeed())
		}
		b.API.AddNAD(fake.NAD{Namespace: "blue", Name: "n1", Config: `{"cniVersion":"1.0.0","type":"second","keep":9007199254740993}`})
	})

	It("replays the plan in order, each delegate with its cached result, and asks no API server", func() {
		box := b.pod("web-0", "n1")
		b.add(box)
		b.API.Forget()
		outcome := b.run("CHECK", box)
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		Expect(b.calls("CHECK")).To(Equal([]string{"CHECK master eth0", "CHECK second net1"}))
		call := b.call("CHECK second net1")
		Expect(string(call.Stdin)).To(And(ContainSubstring(`"prevResult"`), ContainSubstring("192.0.2.7/24"), ContainSubstring("9007199254740993")))
		Expect(b.API.Count(fake.Any)).To(BeZero())
	})

	It("skips delegates older than 0.4.0 (E080)", func() {
		b.API.AddNAD(fake.NAD{Namespace: "blue", Name: "n1", Config: `{"cniVersion":"0.3.1","type":"second"}`})
		box := b.pod("web-0", "n1")
		b.add(box)
		outcome := b.run("CHECK", box, node.Config{"cniVersion": "0.4.0"})
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		Expect(b.calls("CHECK")).To(Equal([]string{"CHECK master eth0"}))
		Expect(outcome.Stderr).To(And(ContainSubstring("not checked"), ContainSubstring("blue/n1")))
	})

	It("answers code 3 for a container that was never added", func() {
		outcome := b.run("CHECK", b.pod("web-0", ""))
		Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
		Expect(outcome.Error().Code).To(BeEquivalentTo(types.ErrUnknownContainer))
		Expect(b.calls("CHECK")).To(BeEmpty())
	})

	It("passes on what a delegate finds, with its code, and asks the others too", func() {
		box := b.pod("web-0", "n1")
		b.add(box)
		Expect(b.Delegates.Behave("master", script.Rule{Command: "CHECK", Error: &script.Error{Code: 101, Msg: "address is gone"}})).To(Succeed())
		outcome := b.run("CHECK", box)
		Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
		Expect(outcome.Error().Code).To(BeEquivalentTo(101))
		Expect(outcome.Error().Msg).To(And(ContainSubstring("pod blue/web-0"), ContainSubstring("network main"), ContainSubstring("address is gone")))
		Expect(b.calls("CHECK")).To(HaveLen(2))
	})

	It("misses an interface that the result named", func() {
		Expect(b.Delegates.Behave("second")).To(Succeed()) // reports net1, which no recording delegate makes
		box := b.pod("web-0", "n1")
		b.add(box)
		outcome := b.run("CHECK", box)
		Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
		Expect(outcome.Error().Msg).To(ContainSubstring("network blue/n1: interface net1 is missing"))
	})
})

var _ = Describe("STATUS (STS-1)", func() {
	var b *bench
	runtime := node.Sandbox{} // STATUS has no sandbox
	BeforeEach(func() { b = newBench() })
	ready := func(version string) node.Config {
		return node.Config{"cniVersion": "1.1.0", "delegates": []any{node.Config{"cniVersion": version, "name": "main", "type": "master"}}}
	}

	It("needs nothing but CNI_COMMAND, CNI_PATH and stdin, and asks the master (E088)", func() {
		outcome := b.run("STATUS", runtime, ready("1.1.0"))
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		Expect(b.calls("STATUS")).To(Equal([]string{"STATUS master "}))
		Expect(b.API.Count(fake.Any)).To(BeZero())
	})

	It("is ready for a master whose version has no STATUS", func() {
		outcome := b.run("STATUS", runtime, ready("1.0.0"))
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		Expect(b.calls("STATUS")).To(BeEmpty())
	})

	It("passes on the master's code (E089)", func() {
		Expect(b.Delegates.Behave("master", script.Rule{Command: "STATUS", Error: &script.Error{Code: 51, Msg: "limited"}})).To(Succeed())
		outcome := b.run("STATUS", runtime, ready("1.1.0"))
		Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
		Expect(outcome.Error().Code).To(BeEquivalentTo(51))
		Expect(outcome.Error().Msg).To(ContainSubstring("limited"))
	})

	DescribeTable("answers code 50 while something is missing (E089)",
		func(change node.Config, text string) {
			outcome := b.run("STATUS", runtime, ready("1.1.0"), change)
			Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
			Expect(outcome.Error().Code).To(BeEquivalentTo(50))
			Expect(outcome.Error().Msg).To(ContainSubstring(text))
			Expect(b.calls("STATUS")).To(BeEmpty())
		},
		Entry("the readiness file", node.Config{"readinessindicatorfile": "/nowhere/ready"}, "/nowhere/ready"),
		Entry("the master's binary", node.Config{"delegates": []any{node.Config{"name": "main", "type": "absent"}}}, `"absent" not found`),
		Entry("the kubeconfig", node.Config{"kubeconfig": "/nowhere/kubeconfig"}, "/nowhere/kubeconfig"),
		Entry("a valid configuration", node.Config{"delegates": []any{}}, "delegates: missing"),
		Entry("the master's file", node.Config{"delegates": nil, "clusterNetwork": "/nowhere/10-main.conflist"}, "/nowhere/10-main.conflist"),
	)
})
