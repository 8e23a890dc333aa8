package exec

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

var _ = Describe("GC (GC-1, GC-2)", func() {
	var b *bench
	runtime := node.Sandbox{} // GC has no sandbox
	newest := node.Config{"cniVersion": "1.1.0", "delegates": []any{node.Config{"cniVersion": "1.1.0", "name": "main", "type": "master"}}}

	BeforeEach(func() {
		b = newBench()
		b.API.AddNAD(fake.NAD{Namespace: "blue", Name: "n1", Config: `{"cniVersion":"1.1.0","name":"data","type":"second"}`})
	})

	valid := func(boxes ...node.Sandbox) node.Config {
		list := []any{}
		for _, box := range boxes {
			list = append(list, node.Config{"containerID": box.ContainerID, "ifname": box.IfName})
		}
		return node.Config{"cni.dev/valid-attachments": list}
	}

	// told is the list that a delegate was given.
	told := func(name string) []any {
		GinkgoHelper()
		config, err := b.call("GC " + name + " ").Config()
		Expect(err).NotTo(HaveOccurred())
		list, _ := config["cni.dev/valid-attachments"].([]any)
		Expect(config["cni.dev/attachments"]).To(Equal(config["cni.dev/valid-attachments"]))
		return list
	}

	It("keeps live sandboxes whole and releases the others, then tells each network what is valid", func() {
		live, dead := b.pod("live", "n1,n1"), b.pod("dead", "n1")
		b.add(live, newest)
		b.add(dead, newest)
		outcome := b.run("GC", runtime, newest, valid(live))
		Expect(outcome.Exit).To(Equal(0), outcome.String())

		dels, err := b.Delegates.Of("DEL")
		Expect(err).NotTo(HaveOccurred())
		Expect(b.calls("DEL")).To(Equal([]string{"DEL second net1", "DEL master eth0"}))
		Expect(dels[0].ContainerID).To(Equal(dead.ContainerID))
		Expect(dels[0].NetNS).To(Equal(dead.NetNS), "it still is a namespace")
		Expect(b.API.Annotations("blue", "dead")).NotTo(HaveKey("k8s.v1.cni.cncf.io/network-status"))
		Expect(b.API.Annotations("blue", "live")).To(HaveKey("k8s.v1.cni.cncf.io/network-status"))

		entry := func(ifname string) map[string]any {
			return map[string]any{"containerID": live.ContainerID, "ifname": ifname}
		}
		Expect(told("master")).To(ConsistOf(entry("eth0")))
		Expect(told("second")).To(ConsistOf(entry("net1"), entry("net2")))
		Expect(b.calls("GC")).To(HaveLen(2), "one GC per network")

		b.del(live, newest)
		b.expectNoState()
	})

	It("keeps the runtime's own list for the master: pods from before us keep their addresses", func() {
		before := node.Sandbox{ContainerID: "older", IfName: "eth0"}
		outcome := b.run("GC", runtime, newest, valid(before))
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		Expect(told("master")).To(ConsistOf(map[string]any{"containerID": "older", "ifname": "eth0"}))
	})

	It("takes an empty list for what it says: all is stale", func() {
		b.add(b.pod("dead", "n1"), newest)
		outcome := b.run("GC", runtime, newest, valid())
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		Expect(told("second")).To(Equal([]any{}))
		b.expectNothingAttached()
		b.expectNoState()
	})

	It("takes null for an empty list, as the CNI library writes it for a node without pods", func() {
		b.add(b.pod("dead", "n1"), newest)
		outcome, err := node.Wait(b.Command(context.Background(), "GC", runtime,
			strings.Replace(b.Config(newest, node.Config{"cni.dev/valid-attachments": 0}).String(), `"cni.dev/valid-attachments":0`, `"cni.dev/valid-attachments":null`, 1)))
		Expect(err).NotTo(HaveOccurred())
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		b.expectNothingAttached()
	})

	DescribeTable("releases nothing without a list that it understands",
		func(list any, text string) {
			box := b.pod("web-0", "n1")
			b.add(box, newest)
			outcome := b.run("GC", runtime, newest, node.Config{"cni.dev/valid-attachments": list})
			Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
			Expect(outcome.Error().Msg).To(ContainSubstring(text))
			Expect(b.calls("DEL", "GC")).To(BeEmpty())
		},
		Entry("none", nil, "cni.dev/valid-attachments: missing"),
		Entry("no list", "all", "cni.dev/valid-attachments: must be a list"),
		Entry("an element that is none", []any{1}, "cni.dev/valid-attachments[0]"),
		Entry("an element without a container", []any{node.Config{"ifname": "eth0"}}, "cni.dev/valid-attachments[0]"),
	)

	It("recovers a plan that cannot be read from the result cache", func() {
		dead := b.pod("dead", "n1")
		b.add(dead, newest)
		plan := filepath.Join(b.CNIDir, "plans", dead.ContainerID+":eth0")
		Expect(os.Truncate(plan, 7)).To(Succeed())
		outcome := b.run("GC", runtime, newest, valid())
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		Expect(b.calls("DEL")).To(Equal([]string{"DEL second net1", "DEL master eth0"}))
		b.expectNoState()
	})

	It("tells no network what is valid while it does not know all that is alive", func() {
		live := b.pod("live", "n1")
		b.add(live, newest)
		Expect(os.Truncate(filepath.Join(b.CNIDir, "plans", live.ContainerID+":eth0"), 7)).To(Succeed())
		Expect(b.run("GC", runtime, newest, valid(live)).Exit).To(Equal(0))
		Expect(told("second")).To(HaveLen(1), "the result cache knows it")

		Expect(b.Delegates.Forget()).To(Succeed())
		Expect(os.RemoveAll(filepath.Join(b.CNIDir, "results"))).To(Succeed())
		outcome := b.run("GC", runtime, newest, valid(live))
		Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
		Expect(outcome.Error().Msg).To(ContainSubstring(live.ContainerID))
		Expect(b.calls("GC", "DEL")).To(BeEmpty())
	})

	It("releases cached attachments whose plan is lost (E052)", func() {
		dead := b.pod("dead", "n1")
		b.add(dead, newest)
		Expect(os.Remove(filepath.Join(b.CNIDir, "plans", dead.ContainerID+":eth0"))).To(Succeed())
		outcome := b.run("GC", runtime, newest, valid())
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		b.expectNothingAttached()
		b.expectNoState()
	})

	It("goes on after a failing delegate, returns all errors and keeps that plan", func() {
		one, two := b.pod("one", "n1"), b.pod("two", "n1")
		b.add(one, newest)
		b.add(two, newest)
		Expect(b.Delegates.Behave("second", script.Rule{Command: "DEL", ContainerID: one.ContainerID, Error: &script.Error{Code: 11, Msg: "not now"}})).To(Succeed())
		outcome := b.run("GC", runtime, newest, valid())
		Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
		Expect(outcome.Error().Msg).To(And(ContainSubstring(one.ContainerID), ContainSubstring("not now")))
		Expect(b.State()).To(ContainElement("plans/" + one.ContainerID + ":eth0"))
		Expect(b.State()).NotTo(ContainElement("plans/" + two.ContainerID + ":eth0"))
		Expect(b.calls("GC")).To(HaveLen(2))
	})

	It("honours disableGC, and succeeds on an empty state directory", func() {
		quiet := node.Config{"delegates": []any{node.Config{"cniVersion": "1.1.0", "name": "main", "disableGC": true, "plugins": []any{node.Config{"type": "master"}}}}}
		outcome := b.run("GC", runtime, newest, quiet, valid())
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		Expect(b.calls("GC")).To(BeEmpty())
	})

	It("keeps what live sandboxes hold where two networks share a name", func() {
		b.API.AddNAD(fake.NAD{Namespace: "red", Name: "n2", Config: `{"cniVersion":"1.1.0","name":"data","type":"second","other":true}`})
		one, two := b.pod("one", "n1"), b.pod("two", "red/n2")
		b.add(one, newest)
		b.add(two, newest)
		Expect(b.run("GC", runtime, newest, valid(one, two)).Exit).To(Equal(0))
		gcs, err := b.Delegates.Of("GC")
		Expect(err).NotTo(HaveOccurred())
		lists := 0
		for _, call := range gcs {
			if call.Name != "second" {
				continue
			}
			var config struct {
				Valid []any `json:"cni.dev/valid-attachments"`
			}
			Expect(json.Unmarshal(call.Stdin, &config)).To(Succeed())
			Expect(config.Valid).To(HaveLen(2))
			lists++
		}
		Expect(lists).To(Equal(2))
	})
})
