package exec

import (
	"maps"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// handover is the capability by which runtimes hand over the pod's annotations.
const handover = "io.kubernetes.cri.pod-annotations"

// handedOver is what a runtime adds to the configuration, besides an annotation that no pod lacks.
func handedOver(annotations map[string]string) node.Config {
	all := map[string]string{"example.com/mark": "handed-over"}
	maps.Copy(all, annotations)
	return node.Config{"runtimeConfig": object{handover: all}}
}

// selecting are annotations of a pod that selects networks.
func selecting(networks string) map[string]string {
	return map[string]string{nad.NetworksAnnotation: networks}
}

// unread is the pod blue/web-0 whose annotations are known from the runtime alone: those of the API object select a
// network that is not there.
func (b *bench) unread() node.Sandbox {
	GinkgoHelper()
	return b.pod("web-0", "not-to-be-read")
}

var _ = Describe("annotations that the runtime hands over (NET-17)", func() {
	DescribeTable("spare the read of the pod: one request for each NAD, and the status",
		func(annotations map[string]string, definitions []string, calls ...string) {
			b := newBench()
			b.define("blue/n1", "blue/n2", "kube-system/alt")
			b.add(b.unread(), handedOver(annotations))
			Expect(b.calls("ADD")).To(Equal(calls))
			requests := b.requests()
			Expect(requests).To(HaveLen(len(definitions) + 1))
			for _, definition := range definitions {
				Expect(requests[:len(definitions)]).To(ContainElement(nadRead(definition)))
			}
			Expect(requests[len(definitions)]).To(Equal(statusSent))
			Expect(b.API.Connections()).To(Equal(1))
			Expect(b.status("web-0")).To(HaveLen(len(calls)))
		},
		Entry("no selection", nil, nil, "ADD master eth0"),
		Entry("one", selecting("n1"), []string{"blue/n1"}, "ADD master eth0", "ADD second net1"),
		Entry("two", selecting(`[{"name":"n1"},{"name":"n2","interface":"data"}]`), []string{"blue/n1", "blue/n2"}, "ADD master eth0", "ADD second net1", "ADD second data"),
		Entry("another master", map[string]string{nad.DefaultNetworkAnnotation: "alt"}, []string{"kube-system/alt"}, "ADD second eth0"),
	)

	It("never reach a delegate, not even one that declares the capability", func() {
		b := newBench()
		b.answers()
		const declares = `,"capabilities":{"io.kubernetes.cri.pod-annotations":true,"mac":true}}`
		b.nad("n1", strings.TrimSuffix(secondary, "}")+declares)
		box := b.unread()
		changes := []node.Config{handedOver(selecting(`[{"name":"n1","mac":"02:00:00:00:00:01"}]`)), {"delegates": list(object{
			"cniVersion": "1.0.0", "name": "main", "type": "master", "capabilities": object{handover: true, "mac": true}})}}
		for _, verb := range []string{"ADD", "CHECK", "DEL"} {
			outcome := b.run(verb, box, changes...)
			Expect(outcome.Exit).To(Equal(0), outcome.String())
		}
		calls, err := b.Delegates.Calls()
		Expect(err).NotTo(HaveOccurred())
		for _, call := range calls {
			Expect(string(call.Stdin)).NotTo(Or(ContainSubstring("handed-over"), ContainSubstring(`"runtimeConfig":{"io`)), call.String())
			Expect(call.Environment).NotTo(ContainElement(ContainSubstring("handed-over")))
		}
		Expect(b.stdin("ADD second net1", "runtimeConfig")).To(MatchJSON(`{"mac":"02:00:00:00:00:01"}`), "the others do")
	})

	It("are no part of the plan", func() {
		b := newBench()
		box := b.unread()
		b.add(box, handedOver(nil))
		saved, err := os.ReadFile(b.planFile(box))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(saved)).NotTo(Or(ContainSubstring("handed-over"), ContainSubstring(handover)))
	})

	It("need no kubeconfig", func() {
		b := newBench()
		b.add(b.unread(), handedOver(nil), node.Config{"kubeconfig": nil})
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0"}))
		Expect(b.requests()).To(BeEmpty())
	})

	It("of a wrong type are an error, not a pod that selects nothing", func() {
		b := newBench()
		b.untouched(b.unread(), []string{"pod blue/web-0", "runtimeConfig"}, node.Config{"runtimeConfig": object{handover: list("a")}})
		Expect(b.requests()).To(BeEmpty())
	})

	It("that are null are not handed over", func() {
		b := newBench()
		b.define("blue/n1")
		b.add(b.pod("web-0", "n1"), node.Config{"runtimeConfig": object{handover: nil}})
		Expect(b.requests()).To(Equal([]string{podRead, nadRead("blue/n1"), statusSent}))
	})

	It("are obeyed as those of the API object are", func() {
		b := newBench()
		outcome := b.untouched(b.unread(), []string{"pod blue/web-0", nad.NetworksAnnotation, "name"}, handedOver(selecting("N1")))
		Expect(outcome.Error().Code).To(BeEquivalentTo(7))
		b.untouched(b.unread(), []string{"namespaceIsolation", "other/n1"}, handedOver(selecting("other/n1")), node.Config{"namespaceIsolation": true})
		Expect(b.requests()).To(BeEmpty())
	})

	It("leave the UID to the status patch: a new pod of the same name is not annotated (NET-15)", func() {
		b := newBench()
		box := b.unread()
		outcome := b.add(withUID(box, anotherUID), handedOver(nil))
		Expect(b.API.Requests()[0].Body).To(ContainSubstring(`"uid":"` + anotherUID + `"`))
		Expect(b.requests()).To(Equal([]string{statusSent}))
		Expect(b.status("web-0")).To(BeEmpty())
		Expect(outcome.Stderr).To(ContainSubstring("warning: the pod is gone"))
	})

	DescribeTable("do not spare the read of a static pod, whose API object has another UID",
		func(annotations map[string]string, uid string) {
			b := newBench()
			b.define("blue/n1")
			mirrored := selecting("n1")
			maps.Copy(mirrored, annotations)
			mirror := b.podWith("web-0", mirrored)
			b.add(withUID(mirror, uid), handedOver(annotations))
			Expect(b.requests()).To(Equal([]string{podRead, nadRead("blue/n1"), statusSent}))
			Expect(b.API.Requests()[2].Body).To(ContainSubstring(`"uid":"` + uidOf(mirror) + `"`))
			Expect(b.status("web-0")).To(HaveLen(2))
		},
		Entry("known by its annotation", map[string]string{sourceAnnotation: "file"}, anotherUID),
		Entry("known by its UID", nil, staticUID),
	)

	It("tell a static pod that the API server does not know", func() {
		b := newBench()
		box := withUID(b.unmirrored(), anotherUID)
		b.add(box, b.onFile(), handedOver(map[string]string{sourceAnnotation: "file"}))
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0", "ADD second net1"}))
		Expect(b.requests()).To(Equal([]string{podRead, podRead, podRead}))
	})
})

// failures are ways in which the API server is of no use to anybody.
func failures() map[string]func(*bench) {
	return map[string]func(*bench){
		"the API server is down":         (*bench).refuse,
		"the API server is silent":       (*bench).silence,
		"a black hole":                   (*bench).blackHole,
		"no answer":                      always(fake.Fault{Hang: true}),
		"the API server answers 503":     always(fake.Fault{Code: 503}),
		"the token has expired":          func(b *bench) { b.API.SetToken("another") },
		"a right is missing":             always(fake.Fault{Code: 403}),
		"the kubeconfig is gone":         func(b *bench) { Expect(os.Remove(b.Kubeconfig)).To(Succeed()) },
		"the kubeconfig is garbage":      func(b *bench) { Expect(content("{")(b.Kubeconfig)).To(Succeed()) },
		"something else answers instead": always(fake.Fault{Garbage: "<html>"}),
	}
}

var _ = Describe("a pod that is known to select nothing (NET-17)", func() {
	It("starts, with a warning, whatever is wrong with the API server and the way to it (E119)", func() {
		atOnce(failures(), func(b *bench, useless func(*bench)) *running {
			box := b.unread()
			useless(b)
			return b.start("ADD", box, handedOver(nil))
		}, func(b *bench, _ func(*bench), outcome node.Outcome) {
			Expect(outcome.Exit).To(Equal(0), outcome.String())
			Expect(b.calls("ADD", "DEL")).To(Equal([]string{"ADD master eth0"}))
			Expect(outcome.Stdout).To(ContainSubstring(`"name": "eth0"`))
			Expect(outcome.Stderr).To(ContainSubstring("warning: the network-status is not written"))
		})
	})

	It("starts on networks that are files, too", func() {
		b := newBench()
		box, config := b.unread(), b.onFile()
		config["defaultNetworks"] = list(b.ConfDir + "/as-file.conf")
		b.refuse()
		b.add(box, config, handedOver(nil))
		Expect(b.calls("ADD", "DEL")).To(Equal([]string{"ADD master eth0", "ADD second net1"}))
	})
})

var _ = It("what needs the API server fails without it: a selection, or a network of the node that is a NAD (NET-17)", func() {
	type needy struct {
		useless     func(*bench)
		annotations map[string]string
		networks    []any // defaultNetworks
	}
	cases := map[string]needy{}
	for name, useless := range failures() {
		cases["a selection: "+name] = needy{useless, selecting("n1"), nil}
		cases["a default network: "+name] = needy{useless, nil, list("n1")}
	}
	atOnce(cases, func(b *bench, needy needy) *running {
		b.define("blue/n1", "kube-system/n1")
		box, config := b.unread(), b.onFile()
		config["defaultNetworks"] = needy.networks
		needy.useless(b)
		return b.start("ADD", box, config, handedOver(needy.annotations))
	}, func(b *bench, _ needy, outcome node.Outcome) {
		Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
		Expect(outcome.Error().Msg).To(And(ContainSubstring("pod blue/web-0"), ContainSubstring("/n1")))
		Expect(b.Delegates.Calls()).To(BeEmpty())
		b.expectNoState()
	})
})

var _ = It("a pod that selects something without any API server fails, whoever says so (NET-17)", func() {
	b := newBench()
	b.untouched(b.unread(), []string{"network blue/n1", "no API server is configured"}, handedOver(selecting("n1")), node.Config{"kubeconfig": nil})
})
