package exec

import (
	"encoding/json"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// says makes a delegate answer ADD with a result.
func (b *bench) says(delegate, result string) {
	GinkgoHelper()
	b.behave(delegate, script.Rule{Command: "ADD", Result: json.RawMessage(result)})
}

// three is a result of a host's interface and two in the sandbox.
const three = `{"cniVersion":"1.0.0","interfaces":[{"name":"veth7","mac":"02:00:00:00:00:0a"},
	{"name":"eth0","mac":"02:00:00:00:00:01","sandbox":"/ns"},{"name":"eth0.100","mac":"02:00:00:00:00:02","sandbox":"/ns"}],
	"ips":[{"interface":1,"address":"192.0.2.4/24","gateway":"192.0.2.1"},{"interface":2,"address":"198.51.100.4/24"},{"interface":2,"address":"2001:db8::4/64"}],
	"routes":[{"dst":"0.0.0.0/0"}],"dns":{}}`

var _ = DescribeTable("the network-status of results (STAT-1, STAT-2)",
	func(master, second, want string) {
		b := newBench()
		b.define("blue/n1")
		b.says("master", master)
		b.says("second", second)
		outcome := b.add(b.pod("web-0", "n1"))
		Expect(b.statusText()).To(MatchJSON(want))
		Expect(b.statusText() + outcome.Stdout).NotTo(ContainSubstring("nil"))
	},
	Entry("of one interface each, with an MTU (E071)",
		`{"cniVersion":"1.1.0","interfaces":[{"name":"eth0","mac":"02:00:00:00:00:01","mtu":9000,"sandbox":"/ns"}],"ips":[{"interface":0,"address":"192.0.2.4/24"}]}`,
		`{"cniVersion":"1.1.0","interfaces":[{"name":"net1","mac":"02:00:00:00:00:02","mtu":0,"sandbox":"/ns"}],"ips":[{"interface":0,"address":"2001:db8::4/64"}]}`,
		`[{"name":"main","interface":"eth0","ips":["192.0.2.4"],"mac":"02:00:00:00:00:01","mtu":9000,"default":true,"dns":{}},
		  {"name":"blue/n1","interface":"net1","ips":["2001:db8::4"],"mac":"02:00:00:00:00:02","dns":{}}]`),
	Entry("of versions that know no MTU (E071)",
		`{"cniVersion":"0.4.0","interfaces":[{"name":"eth0","mtu":9000,"sandbox":"/ns"}]}`,
		`{"cniVersion":"1.0.0","interfaces":[{"name":"net1","sandbox":"/ns"}]}`,
		`[{"name":"main","interface":"eth0","default":true,"dns":{}},{"name":"blue/n1","interface":"net1","dns":{}}]`),
	Entry("of several interfaces, the host's first: one element each, addresses by index, gateways in all (E064, E065)", three, three,
		`[{"name":"main","interface":"eth0","ips":["192.0.2.4"],"mac":"02:00:00:00:00:01","default":true,"gateway":["192.0.2.1"],"dns":{}},
		  {"name":"main","interface":"eth0.100","ips":["198.51.100.4","2001:db8::4"],"mac":"02:00:00:00:00:02","gateway":["192.0.2.1"],"dns":{}},
		  {"name":"blue/n1","interface":"eth0","ips":["192.0.2.4"],"mac":"02:00:00:00:00:01","gateway":["192.0.2.1"],"dns":{}},
		  {"name":"blue/n1","interface":"eth0.100","ips":["198.51.100.4","2001:db8::4"],"mac":"02:00:00:00:00:02","gateway":["192.0.2.1"],"dns":{}}]`),
	Entry("whose default is the interface with a gateway (E065)",
		`{"cniVersion":"1.0.0","interfaces":[{"name":"a","sandbox":"/ns"},{"name":"b","sandbox":"/ns"}],"ips":[{"interface":1,"address":"192.0.2.4/24","gateway":"192.0.2.1"}]}`,
		`{"cniVersion":"1.0.0","interfaces":[{"name":"net1","sandbox":"/ns"}],"ips":[{"interface":0,"address":"198.51.100.4/24","gateway":"198.51.100.1"}]}`,
		`[{"name":"main","interface":"a","dns":{}},{"name":"main","interface":"b","ips":["192.0.2.4"],"default":true,"dns":{}},
		  {"name":"blue/n1","interface":"net1","ips":["198.51.100.4"],"dns":{}}]`),
	Entry("with an address without index, which is the first sandbox interface's",
		`{"cniVersion":"1.0.0","interfaces":[{"name":"br0"},{"name":"eth0","sandbox":"/ns"},{"name":"x","sandbox":"/ns"}],"ips":[{"address":"192.0.2.4/24"},{"interface":0,"address":"203.0.113.1/24"}]}`,
		`{"cniVersion":"1.0.0","interfaces":[{"name":"net1","sandbox":"/ns"}],"ips":[{"address":"198.51.100.4/24"}]}`,
		`[{"name":"main","interface":"eth0","ips":["192.0.2.4"],"default":true,"dns":{}},{"name":"main","interface":"x","dns":{}},
		  {"name":"blue/n1","interface":"net1","ips":["198.51.100.4"],"dns":{}}]`),
	Entry("without interfaces, or with the host's alone: the requested name (E076)",
		`{"cniVersion":"1.0.0"}`,
		`{"cniVersion":"1.0.0","interfaces":[{"name":"cali7"}],"ips":[{"interface":0,"address":"192.0.2.4/32"}]}`,
		`[{"name":"main","interface":"eth0","default":true,"dns":{}},{"name":"blue/n1","interface":"net1","ips":["192.0.2.4"],"dns":{}}]`),
	Entry("of version 0.2.0 and older (E076)",
		`{"cniVersion":"0.2.0","ip4":{"ip":"192.0.2.3/24","gateway":"192.0.2.1","routes":[{"dst":"0.0.0.0/0"}]},"ip6":{"ip":"2001:db8::3/64"}}`,
		`{"cniVersion":"0.1.0","ip4":{"ip":"198.51.100.3/24"}}`,
		`[{"name":"main","interface":"eth0","ips":["192.0.2.3","2001:db8::3"],"default":true,"gateway":["192.0.2.1"],"dns":{}},
		  {"name":"blue/n1","interface":"net1","ips":["198.51.100.3"],"dns":{}}]`),
	Entry("with DNS, each its own (E070)",
		`{"cniVersion":"1.0.0","interfaces":[{"name":"eth0","sandbox":"/ns"}],"dns":{"nameservers":["192.0.2.53"],"search":["a.test"]}}`,
		`{"cniVersion":"1.0.0","interfaces":[{"name":"net1","sandbox":"/ns"}],"dns":{"nameservers":["198.51.100.53"],"domain":"b.test","search":["b.test"],"options":["ndots:2"]}}`,
		`[{"name":"main","interface":"eth0","default":true,"dns":{"nameservers":["192.0.2.53"],"search":["a.test"]}},
		  {"name":"blue/n1","interface":"net1","dns":{"nameservers":["198.51.100.53"],"domain":"b.test","search":["b.test"],"options":["ndots:2"]}}]`),
	Entry("with default routes: their gateways, else those of the family's addresses, else none",
		`{"cniVersion":"1.0.0","interfaces":[{"name":"eth0","sandbox":"/ns"}],"ips":[{"interface":0,"address":"192.0.2.4/24"},{"interface":0,"address":"2001:db8::4/64","gateway":"2001:db8::1"}],
			"routes":[{"dst":"0.0.0.0/0","gw":"192.0.2.9"},{"dst":"::/0"},{"dst":"198.51.100.0/24","gw":"192.0.2.7"}]}`,
		`{"cniVersion":"1.0.0","interfaces":[{"name":"net1","sandbox":"/ns"}],"ips":[{"interface":0,"address":"192.0.2.5/24"}],"routes":[{"dst":"0.0.0.0/0"},{"dst":"::/0"}]}`,
		`[{"name":"main","interface":"eth0","ips":["192.0.2.4","2001:db8::4"],"default":true,"gateway":["192.0.2.9","2001:db8::1"],"dns":{}},
		  {"name":"blue/n1","interface":"net1","ips":["192.0.2.5"],"dns":{}}]`),
)

var _ = It("the master's DNS is the runtime's too, a secondary's is not (E070)", func() {
	b := newBench()
	b.define("blue/n1")
	b.says("master", `{"cniVersion":"1.0.0","dns":{"nameservers":["192.0.2.53"],"search":["a.test"]}}`)
	b.says("second", `{"cniVersion":"1.0.0","dns":{"nameservers":["198.51.100.53"]}}`)
	outcome := b.add(b.pod("web-0", "n1"))
	var result struct{ DNS json.RawMessage }
	Expect(json.Unmarshal([]byte(outcome.Stdout), &result)).To(Succeed())
	Expect(result.DNS).To(MatchJSON(`{"nameservers":["192.0.2.53"],"search":["a.test"]}`))
})

var _ = It("a delegate that prints nothing is accepted, with a minimal status (STAT-2, ADD-5, E077)", func() {
	b := newBench()
	b.define("blue/n1")
	for _, name := range []string{"master", "second"} {
		b.behave(name, script.Rule{Command: "ADD", Nothing: true})
	}
	outcome := b.add(b.pod("web-0", "n1"))
	Expect(b.calls("ADD", "DEL")).To(Equal([]string{"ADD master eth0", "ADD second net1"}))
	Expect(b.statusText()).To(MatchJSON(`[{"name":"main","interface":"eth0","default":true,"dns":{}},{"name":"blue/n1","interface":"net1","dns":{}}]`))
	Expect(outcome.Stdout).To(MatchJSON(`{"cniVersion":"1.0.0"}`))
})

var _ = DescribeTable("the name of the master's network is never empty (STAT-1, E067)",
	func(delegate node.Config, want string) {
		b := newBench()
		b.add(b.pod("web-0", ""), node.Config{"delegates": list(delegate)})
		Expect(b.status("web-0")).To(HaveLen(1))
		Expect(b.status("web-0")[0].Name).To(Equal(want))
	},
	Entry("the list's", object{"name": "net-a", "cniVersion": "0.3.1", "plugins": list(object{"type": "master"})}, "net-a"),
	Entry("the plugin's", object{"name": "net-a", "cniVersion": "0.3.1", "type": "master"}, "net-a"),
	Entry("our own, where the list has none", object{"cniVersion": "0.3.1", "plugins": list(object{"type": "master"})}, "node-net"),
	Entry("our own, where the plugin has none", object{"cniVersion": "0.3.1", "type": "master"}, "node-net"),
)

var _ = It("the network-status has the standard's key alone (STAT-1, E068)", func() {
	b := newBench()
	b.add(b.podWith("web-0", map[string]string{"example.com/kept": "1"}))
	keys := []string{}
	for key := range b.API.Annotations("blue", "web-0") {
		keys = append(keys, key)
	}
	Expect(keys).To(ConsistOf("example.com/kept", "k8s.v1.cni.cncf.io/network-status"))
})

var _ = Describe("pods of system namespaces (STAT-4, E074)", func() {
	DescribeTable("are not annotated; those of others are, wherever their networks are from",
		func(namespace string, system []any, annotated bool) {
			b := newBench()
			b.define("blue/n1", "kube-system/n1", namespace+"/n2")
			box, err := b.AddPodIn(namespace, "web-0", map[string]string{nad.NetworksAnnotation: "blue/n1, kube-system/n1, n2"})
			Expect(err).NotTo(HaveOccurred())
			b.add(box, node.Config{"systemNamespaces": system})
			Expect(b.interfaces("ADD")).To(Equal([]string{"eth0", "net1", "net2", "net3"}))
			Expect(b.API.Count(fake.PatchStatus) > 0).To(Equal(annotated))
			_, found := b.API.Annotations(namespace, "web-0")[nad.StatusAnnotation]
			Expect(found).To(Equal(annotated))
		},
		Entry("kube-system", "kube-system", nil, false),
		Entry("another", "blue", nil, true),
		Entry("one that is named", "blue", list("red", "blue"), false),
		Entry("kube-system, where others are named", "kube-system", list("red"), true),
	)

	It("start though nobody may patch them", func() {
		b := newBench()
		box, err := b.AddPodIn("kube-system", "web-0", nil)
		Expect(err).NotTo(HaveOccurred())
		b.API.Fail(fake.PatchStatus, fake.Always, 403, "")
		b.API.Fail(fake.UpdateStatus, fake.Always, 403, "")
		b.add(box)
		Expect(b.API.Count(fake.Any)).To(Equal(1), "the pod")
	})
})

var _ = Describe("writing the network-status (STAT-3)", func() {
	It("is one patch of the status with the pod's UID, after all attachments", func() {
		b := newBench()
		b.define("blue/n1")
		box := b.pod("web-0", "n1")
		last := b.Dir + "/last"
		b.behave("second", script.Rule{Command: "ADD", WaitFor: last})
		add := b.start("ADD", box)
		b.began("ADD second net1")
		Expect(b.requests()).To(Equal([]string{podRead, nadRead("blue/n1")}))
		Expect(os.WriteFile(last, nil, 0o600)).To(Succeed())
		Expect(add.wait().Exit).To(Equal(0))
		requests := b.API.Requests()
		Expect(requests).To(HaveLen(3))
		Expect(requests[2].Kind).To(Equal(fake.PatchStatus))
		Expect(requests[2].ContentType).To(Equal("application/merge-patch+json"))
		body, err := json.Marshal(object{"metadata": object{"uid": uidOf(box), "annotations": object{nad.StatusAnnotation: b.statusText()}}})
		Expect(err).NotTo(HaveOccurred())
		Expect(requests[2].Body).To(MatchJSON(body))
	})

	DescribeTable("of a pod that is gone meanwhile is a warning; DEL follows (E073)",
		func(replace func(*bench), text string) {
			b := newBench()
			box := b.pod("web-0", "")
			attached := b.Dir + "/attached"
			b.behave("master", script.Rule{Command: "ADD", WaitFor: attached})
			add := b.start("ADD", box)
			b.began("ADD master eth0")
			replace(b)
			Expect(os.WriteFile(attached, nil, 0o600)).To(Succeed())
			outcome := add.wait()
			Expect(outcome.Exit).To(Equal(0), outcome.String())
			Expect(outcome.Stderr).To(And(ContainSubstring("warning: the pod is gone"), ContainSubstring("pod=blue/web-0"), ContainSubstring(text)))
			Expect(b.statusText()).To(BeEmpty(), "a new pod is never annotated")
			Expect(b.calls("DEL")).To(BeEmpty())
			Expect(b.API.Count(fake.UpdateStatus)).To(BeZero())
			b.del(box)
			b.expectNoState()
		},
		Entry("404", func(b *bench) { b.API.DeletePod("blue", "web-0") }, "not found"),
		Entry("UID conflict: a new pod of the same name (E157)", func(b *bench) {
			b.API.AddPod(fake.Pod{Namespace: "blue", Name: "web-0", UID: anotherUID})
		}, "metadata.uid"),
	)

	Context("where RBAC grants no patch", func() {
		var b *bench
		var box node.Sandbox
		BeforeEach(func() {
			b = newBench()
			box = b.podWith("web-0", map[string]string{"example.com/kept": "1"})
			b.API.Fail(fake.PatchStatus, fake.Always, 403, "")
		})
		update := strings.Replace(statusSent, "PATCH", "PUT", 1)

		It("reads, changes and updates the pod", func() {
			b.add(box)
			Expect(b.requests()).To(Equal([]string{podRead, statusSent, podRead, update}))
			Expect(b.status("web-0")).To(HaveLen(1))
			Expect(b.API.Annotations("blue", "web-0")).To(HaveKeyWithValue("example.com/kept", "1"))
			Expect(b.API.Requests()[3].Body).To(And(ContainSubstring(`"uid":"`+uidOf(box)+`"`), ContainSubstring(`"resourceVersion":"1"`)))
		})

		It("does so again after a conflict", func() {
			b.API.Fail(fake.UpdateStatus, 1, 409, "")
			b.add(box)
			Expect(b.API.Count(fake.UpdateStatus)).To(Equal(2))
			Expect(b.status("web-0")).To(HaveLen(1))
		})

		It("does not touch a new pod of the same name", func() {
			b.API.Inject(fake.Fault{Kind: fake.GetPod, Garbage: `{"metadata":{"namespace":"blue","name":"web-0","uid":"` + uidOf(box) + `"}}`})
			b.API.AddPod(fake.Pod{Namespace: "blue", Name: "web-0", UID: anotherUID})
			outcome := b.add(box)
			Expect(b.API.Count(fake.UpdateStatus)).To(BeZero())
			Expect(b.statusText()).To(BeEmpty())
			Expect(outcome.Stderr).To(ContainSubstring("warning: the pod is gone"))
		})

		It("fails, and names the right, where it grants no update either (E074)", func() {
			b.API.Fail(fake.UpdateStatus, fake.Always, 403, "")
			b.refused(box, []string{"pod blue/web-0", nad.StatusAnnotation, "forbidden", `grant "patch" on "pods/status"`, fake.User})
			Expect(b.calls("ADD", "DEL")).To(Equal([]string{"ADD master eth0", "DEL master eth0"}))
		})
	})

	DescribeTable("that the API server refuses fails ADD, and all is rolled back",
		func(fault fake.Fault, text string) {
			b := newBench()
			b.define("blue/n1")
			box := b.pod("web-0", "n1")
			fault.Kind = fake.PatchStatus
			b.API.Inject(fault)
			b.refused(box, []string{"pod blue/web-0", "writing annotation " + nad.StatusAnnotation, text})
			Expect(b.calls("ADD", "DEL")).To(Equal([]string{"ADD master eth0", "ADD second net1", "DEL second net1", "DEL master eth0"}))
			Expect(b.statusText()).To(BeEmpty())
			Expect(b.API.Count(fake.UpdateStatus)).To(BeZero(), "never before a 403")
		},
		Entry("400", fake.Fault{Code: 400}, "400 Bad Request"),
		Entry("401", fake.Fault{Code: 401}, "refused the credential"),
		Entry("413", fake.Fault{Code: 413}, "413 Request Entity Too Large"),
		Entry("422", fake.Fault{Code: 422}, "422 Unprocessable Entity"),
		Entry("something else that answers", fake.Fault{Garbage: "<html>"}, "is not the object"),
	)

	It("that was done although the answer did not come is undone, if ADD fails", func() {
		b := newBench()
		box := b.pod("web-0", "")
		b.API.Inject(fake.Fault{Kind: fake.PatchStatus, Cut: true})
		b.API.Fail(fake.PatchStatus, 1, 400, "")
		b.refused(box, []string{"400 Bad Request"})
		patches := []string{}
		for _, request := range b.API.Requests()[1:] {
			patches = append(patches, request.ContentType)
		}
		Expect(patches).To(Equal([]string{"application/merge-patch+json", "application/merge-patch+json", "application/json-patch+json"}))
		Expect(b.statusText()).To(BeEmpty())
	})

	It("that fails for as long as it is tried fails ADD, and all is rolled back", func() {
		atOnce(map[string]fake.Fault{
			"no answer": {Hang: true}, "half an answer": {Cut: true}, "reset": {Reset: true}, "429": {Code: 429}, "500": {Code: 500}, "conflict": {Code: 409},
		}, func(b *bench, fault fake.Fault) *running {
			b.define("blue/n1")
			box := b.pod("web-0", "n1")
			fault.Kind, fault.Times = fake.PatchStatus, fake.Always
			b.API.Inject(fault)
			return b.start("ADD", box)
		}, func(b *bench, _ fake.Fault, outcome node.Outcome) {
			Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
			Expect(outcome.Error().Msg).To(And(ContainSubstring("pod blue/web-0"), ContainSubstring("writing annotation "+nad.StatusAnnotation)))
			Expect(b.calls("ADD", "DEL")).To(Equal([]string{"ADD master eth0", "ADD second net1", "DEL second net1", "DEL master eth0"}))
			b.expectNoState()
			Expect(b.statusText()).To(BeEmpty())
			Expect(b.API.Count(fake.UpdateStatus)).To(BeZero())
		})
	})
})
