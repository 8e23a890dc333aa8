package exec

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// forgetResults removes the result cache.
func (b *bench) forgetResults() {
	GinkgoHelper()
	Expect(os.RemoveAll(filepath.Join(b.CNIDir, "results"))).To(Succeed())
}

// damage overwrites a file that is there.
func damage(path, content string) {
	GinkgoHelper()
	Expect(path).To(BeARegularFile())
	Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
}

// lostPlans lists the ways for a plan to be lost.
func lostPlans() []TableEntry {
	return []TableEntry{
		Entry("no file (E041)", func(path string) { Expect(os.Remove(path)).To(Succeed()) }),
		Entry("an empty file (E038)", func(path string) { damage(path, "") }),
		Entry("a truncated file (E038)", func(path string) { damage(path, `{"version":1,"sandbox":{"containerID":"c`) }),
		Entry("a file of zeros", func(path string) { damage(path, "\x00\x00\x00\x00") }),
		Entry("a plan without attachments", func(path string) { damage(path, `{"version":1,"attachments":[]}`) }),
	}
}

var _ = Describe("DEL without a plan (DEL-4)", func() {
	DescribeTable("detaches what the result cache knows, with its parameters, and asks nobody",
		func(lose func(path string)) {
			b := newBench()
			b.nad("n1", `{"cniVersion":"1.0.0","type":"second","capabilities":{"mac":true},"big":12345678901234567890}`)
			box := b.pod("web-0", `[{"name":"n1","mac":"02:00:00:00:00:01","ips":["192.0.2.4/24"]},{"name":"n1","interface":"data"}]`)
			b.behave("second", script.Rule{Command: "ADD", Interface: "net1", Result: json.RawMessage(
				`{"cniVersion":"1.0.0","interfaces":[{"name":"net1","sandbox":"/ns"}],"ips":[{"address":"192.0.2.4/24"}]}`)})
			b.add(box)
			b.API.Forget()
			lose(b.planFile(box))
			outcome := b.del(box)
			Expect(outcome.Stderr).To(ContainSubstring("no plan for this sandbox"))
			Expect(b.calls("DEL")).To(Equal([]string{"DEL second net1", "DEL second data", "DEL master eth0"}))
			for _, attachment := range []string{"second net1", "second data", "master eth0"} {
				Expect(given(b.call("DEL " + attachment))).To(Equal(given(b.call("ADD " + attachment))))
			}
			Expect(b.API.Count(fake.Any)).To(BeZero())
			b.expectNoState()
			b.del(box)
		}, lostPlans())

	DescribeTable("and without results detaches what the configuration and the pod's annotation name",
		func(lose func(path string)) {
			b := newBench()
			box := b.threeNetworks()
			lose(b.planFile(box))
			b.forgetResults()
			b.del(box)
			Expect(b.calls("DEL")).To(Equal(allThree()))
			b.expectNoState()
			b.del(box)
		}, lostPlans())

	It("leaves out the networks that the network-status does not show: a DEL has been there", func() {
		b := newBench()
		box := b.threeNetworks()
		b.del(box)
		Expect(b.Delegates.Forget()).To(Succeed())
		b.del(box)
		Expect(b.calls("DEL")).To(Equal([]string{"DEL master eth0"}))
	})

	It("does what is left to do for a sandbox of which nothing is known (E032)", func() {
		b := newBench()
		box := b.sandbox().Of("blue", "web-0", "")
		outcome := b.del(box)
		Expect(outcome.Stderr).To(ContainSubstring("not found"))
		Expect(b.calls("DEL")).To(Equal([]string{"DEL master eth0"}))
		b.expectNoState()
	})

	It("finds the master's NAD although the pod is gone", func() {
		b := newBench()
		b.API.AddNAD(fake.NAD{Namespace: "kube-system", Name: "main", Config: `{"cniVersion":"1.0.0","type":"master"}`})
		box := b.sandbox().Of("blue", "web-0", "")
		b.del(box, node.Config{"delegates": nil, "clusterNetwork": "main"})
		Expect(b.calls("DEL")).To(Equal([]string{"DEL master eth0"}))
	})

	DescribeTable("survives whatever the API server says of the pod, writes nothing, and logs what it cannot know (E049, E050)",
		func(spoil func(b *bench)) {
			b := newBench()
			box := b.threeNetworks()
			Expect(os.RemoveAll(b.CNIDir)).To(Succeed())
			b.API.Forget()
			spoil(b)
			outcome := b.boundedDel(box)
			Expect(outcome.Exit).To(BeZero(), outcome.String())
			Expect(outcome.Stderr).To(ContainSubstring("networks that it selected itself are not released"))
			Expect(outcome.Stderr).NotTo(ContainSubstring("goroutine "))
			Expect(b.calls("DEL")).To(Equal([]string{"DEL master eth0"}))
			Expect(b.API.Count(fake.PatchStatus) + b.API.Count(fake.UpdateStatus)).To(BeZero())
			Expect(b.API.Count(fake.GetPod)).To(Equal(1), "one attempt")
			b.expectNoState()
		},
		Entry("404", func(b *bench) { b.API.DeletePod("blue", "web-0") }),
		Entry("401", func(b *bench) { b.API.SetToken("renewed") }),
		Entry("403", func(b *bench) { b.API.Fail(fake.GetPod, fake.Always, 403, "") }),
		Entry("500", func(b *bench) { b.API.Fail(fake.GetPod, fake.Always, 500, "") }),
		Entry("503", func(b *bench) { b.API.Fail(fake.GetPod, fake.Always, 503, "1") }),
		Entry("no answer", func(b *bench) { b.API.Inject(fake.Fault{Kind: fake.GetPod, Times: fake.Always, Hang: true}) }),
		Entry("half an answer", func(b *bench) { b.API.Inject(fake.Fault{Kind: fake.GetPod, Times: fake.Always, Cut: true}) }),
		Entry("an empty object", func(b *bench) { b.API.Inject(fake.Fault{Kind: fake.GetPod, Times: fake.Always, Garbage: "{}"}) }),
		Entry("null", func(b *bench) { b.API.Inject(fake.Fault{Kind: fake.GetPod, Times: fake.Always, Garbage: "null"}) }),
		Entry("a web page", func(b *bench) { b.API.Inject(fake.Fault{Kind: fake.GetPod, Times: fake.Always, Garbage: "<html>"}) }),
		Entry("another UID", func(b *bench) {
			b.API.AddPod(fake.Pod{Namespace: "blue", Name: "web-0", UID: "another", Annotations: b.API.Annotations("blue", "web-0")})
		}),
	)

	It("survives a pod without annotations (E049)", func() {
		b := newBench()
		box := b.threeNetworks()
		b.API.AddPod(fake.Pod{Namespace: "blue", Name: "web-0", UID: uidOf(box)})
		Expect(os.RemoveAll(b.CNIDir)).To(Succeed())
		b.del(box)
		Expect(b.calls("DEL")).To(Equal([]string{"DEL master eth0"}))
	})

	It("survives having no API server to ask (E049)", func() {
		b := newBench()
		box := b.threeNetworks()
		Expect(os.RemoveAll(b.CNIDir)).To(Succeed())
		b.del(box, node.Config{"kubeconfig": nil})
		Expect(b.calls("DEL")).To(Equal([]string{"DEL master eth0"}))
	})
})

var _ = Describe("what cannot have been attached (DEL-4)", func() {
	DescribeTable("is logged and skipped",
		func(spoil func(b *bench), log string, calls ...string) {
			b := newBench()
			box := b.threeNetworks()
			damage(b.planFile(box), "")
			b.forgetResults()
			spoil(b)
			outcome := b.del(box)
			Expect(outcome.Stderr).To(MatchRegexp(`\[error\] not released.*` + log))
			Expect(b.calls("DEL")).To(Equal(calls))
			b.expectNoState()
		},
		Entry("a network whose binary is missing", func(b *bench) { Expect(b.Delegates.Uninstall("second")).To(Succeed()) },
			`blue/n1.*not found in`, "DEL third net2", "DEL master eth0"),
		Entry("a NAD that is gone", func(b *bench) { b.annotate("absent, n2") }, `blue/absent.*not found`, "DEL third net2", "DEL master eth0"),
		Entry("a NAD that is invalid", func(b *bench) { b.nad("n1", `{"type":`) }, `blue/n1.*spec.config`, "DEL third net2", "DEL master eth0"),
		Entry("an annotation that is invalid", func(b *bench) { b.annotate(`[{"name":"n1"`) }, `annotation k8s.v1.cni.cncf.io/networks`, "DEL master eth0"),
	)

	It("is the interface lo", func() {
		b := newBench()
		box := b.pod("web-0", "")
		box.IfName = "lo"
		outcome := b.del(box)
		Expect(outcome.Stderr).To(ContainSubstring("interface lo is never attached"))
		Expect(b.calls("DEL")).To(BeEmpty())
	})

	DescribeTable("is all that a configuration names which ADD refuses",
		func(change node.Config, fault string) {
			b := newBench()
			box := b.sandbox()
			Expect(b.run("ADD", box, change).Exit).NotTo(BeZero())
			outcome := b.del(box, change)
			Expect(outcome.Stderr).To(And(ContainSubstring("not released"), ContainSubstring(fault)))
			Expect(b.calls("DEL")).To(BeEmpty())
		},
		Entry("itself as a delegate", node.Config{"delegates": []any{node.Config{"name": "x", "type": "multus"}}}, "delegates[0].type"),
		Entry("no delegate", node.Config{"delegates": nil}, "delegates"),
	)
})

// annotate gives the pod blue/web-0 another networks annotation.
func (b *bench) annotate(networks string) {
	annotations := b.API.Annotations("blue", "web-0")
	annotations["k8s.v1.cni.cncf.io/networks"] = networks
	b.API.AddPod(fake.Pod{Namespace: "blue", Name: "web-0", UID: "00000001-0000-4000-8000-000000000000", Annotations: annotations})
}

var _ = Describe("a result cache that is damaged in part (DEL-4)", func() {
	DescribeTable("gives what it still knows; the configuration and the pod give the rest",
		func(damaged string, prepare func(b *bench), calls []string) {
			b := newBench()
			box := b.threeNetworks()
			prepare(b)
			Expect(os.Remove(b.planFile(box))).To(Succeed())
			damage(filepath.Join(b.CNIDir, "results", fmt.Sprintf(damaged, box.ContainerID)), `{"kind":"cniC`)
			outcome := b.del(box)
			Expect(outcome.Stderr).To(ContainSubstring(fmt.Sprintf(damaged, box.ContainerID)), "the log names it")
			Expect(b.calls("DEL")).To(Equal(calls))
		},
		Entry("the master's", "main-%s-eth0", func(*bench) {}, allThree()),
		Entry("a secondary's", "n1-%s-net1", func(*bench) {}, allThree()),
		Entry("the master's, without an API server", "main-%s-eth0", func(b *bench) { b.API.Refuse() }, allThree()),
		Entry("a secondary's, without an API server", "n1-%s-net1", func(b *bench) { b.API.Refuse() }, []string{"DEL third net2", "DEL master eth0"}),
	)
})

var _ = Describe("one container attached under two interface names", func() {
	// both is what podman does: two calls, one container.
	both := func(b *bench) (first, second node.Sandbox) {
		first = b.sandbox()
		second = first
		second.IfName = "eth1"
		b.add(first)
		b.add(second)
		Expect(b.Delegates.Forget()).To(Succeed())
		return first, second
	}

	DescribeTable("DEL of one leaves the other alone (DEL-1, DEL-4)",
		func(lose func(b *bench, box node.Sandbox)) {
			b := newBench()
			first, second := both(b)
			Expect(b.planFile(first)).To(BeARegularFile())
			Expect(b.planFile(second)).To(BeARegularFile())
			lose(b, second)
			b.del(second)
			Expect(b.calls("DEL")).To(Equal([]string{"DEL master eth1"}))
			Expect(b.planFile(first)).To(BeARegularFile())
			b.del(first)
			Expect(b.calls("DEL")).To(Equal([]string{"DEL master eth1", "DEL master eth0"}))
			b.expectNoState()
		},
		Entry("both have their plans", func(*bench, node.Sandbox) {}),
		Entry("its own plan is lost", func(b *bench, box node.Sandbox) { Expect(os.Remove(b.planFile(box))).To(Succeed()) }),
		Entry("its own plan is damaged", func(b *bench, box node.Sandbox) { damage(b.planFile(box), "") }),
		Entry("its own plan and all results are lost", func(b *bench, box node.Sandbox) {
			Expect(os.Remove(b.planFile(box))).To(Succeed())
			b.forgetResults()
		}),
	)

	It("with a further network: it is that of the plan which has it (DEL-4)", func() {
		b := newBench()
		two := node.Config{"delegates": []any{
			node.Config{"cniVersion": "1.0.0", "name": "main", "type": "master"},
			node.Config{"cniVersion": "1.0.0", "name": "more", "type": "second"},
		}}
		first := b.sandbox()
		b.add(first, two)
		second := first
		second.IfName = "eth1"
		b.del(second, two)
		Expect(b.calls("DEL")).To(Equal([]string{"DEL master eth1"}))
		b.del(first, two)
		Expect(b.calls("DEL")).To(Equal([]string{"DEL master eth1", "DEL second net1", "DEL master eth0"}))
	})
})
