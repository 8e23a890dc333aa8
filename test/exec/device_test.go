package exec

import (
	"encoding/json"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/kubelet"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

const vf = "example.com/vf"

// kubelet is the node's kubelet; it has given nothing to anyone yet.
func (b *bench) kubelet() *kubelet.Kubelet {
	GinkgoHelper()
	made, err := kubelet.New(b.KubeletDir)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(made.Close)
	return made
}

// vfNAD is a NAD of the namespace "blue" that takes devices of the resource vf.
func (b *bench) vfNAD(name, config string) {
	b.API.AddNAD(fake.NAD{Namespace: "blue", Name: name, Config: config,
		Annotations: map[string]string{"k8s.v1.cni.cncf.io/resourceName": vf}})
}

// vfPod is the pod blue/web-0 with these networks.
func (b *bench) vfPod(networks string) node.Sandbox {
	GinkgoHelper()
	Expect(b.Delegates.Install("sriov", "third")).To(Succeed())
	return b.pod("web-0", networks)
}

// checkpointOf is a checkpoint with devices of the resource vf for the pod of a sandbox; ids in any of the two layouts.
func checkpointOf(box node.Sandbox, ids string) string {
	return fmt.Sprintf(`{"Data":{"PodDeviceEntries":[
		{"PodUID":"another","ContainerName":"c","ResourceName":%q,"DeviceIDs":["theirs"],"AllocResp":"AA=="},
		{"PodUID":%q,"ContainerName":"c","ResourceName":%q,"DeviceIDs":%s,"AllocResp":"AA=="}],"RegisteredDevices":{}},"Checksum":1}`,
		vf, uidOf(box), vf, ids)
}

// served is a PodResources answer with devices of the resource vf for blue/web-0, one NUMA node for each.
func served(ids ...string) map[string][]kubelet.Reply {
	var lists [][]byte
	for i, id := range ids {
		lists = append(lists, kubelet.Devices(vf, i, id))
	}
	return map[string][]kubelet.Reply{kubelet.Get: {kubelet.Answer(kubelet.Pod("blue", "web-0", kubelet.Container("c", lists...)))}}
}

// device is what a call was given under both of the keys that plugins read, which say the same.
func (b *bench) device(call string) string {
	GinkgoHelper()
	var config struct{ DeviceID, PCIBusID string }
	Expect(json.Unmarshal(b.call(call).Stdin, &config)).To(Succeed())
	Expect(config.PCIBusID).To(Equal(config.DeviceID))
	return config.DeviceID
}

// devices are those of the calls.
func (b *bench) devices(calls ...string) []string {
	GinkgoHelper()
	var list []string
	for _, call := range calls {
		list = append(list, b.device(call))
	}
	return list
}

var _ = Describe("devices (DEV-1)", func() {
	const c7 = `{"cniVersion":"0.3.1","name":"vf-a","type":"sriov","vlan":100,"ipam":{"type":"host-local","subnet":"203.0.113.0/24"}}`

	It("of one NAD that is selected twice are two, on ADD and on DEL (C7, NET-13)", func() {
		b := newBench()
		b.vfNAD("vf-a", c7)
		box := b.vfPod("vf-a, vf-a@data1")
		Expect(b.kubelet().WriteCheckpoint(checkpointOf(box, `["0000:03:02.0","0000:03:02.1"]`))).To(Succeed())
		b.add(box)
		Expect(b.devices("ADD sriov net1", "ADD sriov data1")).To(Equal([]string{"0000:03:02.0", "0000:03:02.1"}))
		Expect(b.API.Count(fake.GetNAD)).To(Equal(1))
		b.del(box)
		Expect(b.devices("DEL sriov net1", "DEL sriov data1")).To(Equal([]string{"0000:03:02.0", "0000:03:02.1"}))
	})

	It("go to every plugin of a list, and as capability argument to those that declare it (NET-11, E095)", func() {
		b := newBench()
		b.vfNAD("n1", `{"cniVersion":"1.0.0","name":"n1","plugins":[{"type":"sriov"},{"type":"third","capabilities":{"deviceID":true}}]}`)
		box := b.vfPod("n1")
		Expect(b.kubelet().WriteCheckpoint(checkpointOf(box, `["0000:03:02.0"]`))).To(Succeed())
		b.add(box)
		Expect(b.devices("ADD sriov net1", "ADD third net1")).To(Equal([]string{"0000:03:02.0", "0000:03:02.0"}))
		Expect(given(b.call("ADD sriov net1"))).NotTo(HaveKey("stdin runtimeConfig"))
		Expect(given(b.call("ADD third net1"))).To(HaveKeyWithValue("stdin runtimeConfig", `{"deviceID":"0000:03:02.0"}`))
	})

	It("replace what the NAD itself says (NET-11, E097)", func() {
		b := newBench()
		b.vfNAD("n1", `{"cniVersion":"1.0.0","type":"sriov","pciBusID":"0000:ff:00.0"}`)
		box := b.vfPod("n1")
		Expect(b.kubelet().WriteCheckpoint(checkpointOf(box, `["0000:03:02.0"]`))).To(Succeed())
		b.add(box)
		Expect(b.device("ADD sriov net1")).To(Equal("0000:03:02.0"))
	})

	DescribeTable("go to the master too (E098)",
		func(change node.Config, annotations map[string]string) {
			b := newBench()
			b.API.AddNAD(fake.NAD{Namespace: "kube-system", Name: "main", Config: `{"cniVersion":"1.0.0","type":"master"}`,
				Annotations: map[string]string{"k8s.v1.cni.cncf.io/resourceName": vf}})
			b.vfNAD("n1", c7)
			Expect(b.Delegates.Install("sriov")).To(Succeed())
			annotations["k8s.v1.cni.cncf.io/networks"] = "n1"
			box := b.podWith("web-0", annotations)
			Expect(b.kubelet().WriteCheckpoint(checkpointOf(box, `["0000:03:02.0","0000:03:02.1"]`))).To(Succeed())
			b.add(box, change)
			Expect(b.devices("ADD master eth0", "ADD sriov net1")).To(Equal([]string{"0000:03:02.0", "0000:03:02.1"}))
		},
		Entry("by clusterNetwork", node.Config{"delegates": nil, "clusterNetwork": "main"}, map[string]string{}),
		Entry("by default-network", node.Config{}, map[string]string{"v1.multus-cni.io/default-network": "main"}),
	)

	It("may be chosen by a selection; the others get what is left", func() {
		b := newBench()
		b.vfNAD("n1", c7)
		box := b.vfPod(`[{"name":"n1"},{"name":"n1","deviceID":"d1"}]`)
		Expect(b.kubelet().WriteCheckpoint(checkpointOf(box, `["d1","d2"]`))).To(Succeed())
		b.add(box)
		Expect(b.devices("ADD sriov net1", "ADD sriov net2")).To(Equal([]string{"d2", "d1"}))
	})

	DescribeTable("that are not there must fail, before anything runs",
		func(networks, ids string, texts ...string) {
			b := newBench()
			b.vfNAD("n1", c7)
			box := b.vfPod(networks)
			Expect(b.kubelet().WriteCheckpoint(checkpointOf(box, ids))).To(Succeed())
			b.refused(box, append(texts, "pod blue/web-0", "network blue/n1", vf))
			Expect(b.calls("ADD")).To(BeEmpty())
		},
		Entry("none was allocated (E106)", "n1", `[]`, "no device of resource", "0 allocated to the pod"),
		Entry("none is left", "n1, n1", `["d1"]`, "no device of resource", "1 allocated to the pod"),
		Entry("the one asked for is not the pod's", `[{"name":"n1","deviceID":"theirs"}]`, `["d1"]`, `deviceID "theirs"`),
		Entry("one is asked for twice", `[{"name":"n1","deviceID":"d1"},{"name":"n1","deviceID":"d1"}]`, `["d1","d2"]`, `deviceID "d1"`, "twice"),
	)

	It("are nobody's business where no NAD names a resource", func() {
		b := newBench()
		b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
		k := b.kubelet()
		Expect(k.Serve(served("d1"))).To(Succeed())
		b.add(b.pod("web-0", "n1"))
		Expect(k.Asked()).To(BeEmpty())
		Expect(given(b.call("ADD second net1"))).NotTo(HaveKey("stdin deviceID"))
	})
})

var _ = Describe("the sources of devices (DEV-2)", func() {
	// ask is an ADD of a pod that takes two devices.
	ask := func(prepare func(k *kubelet.Kubelet, box node.Sandbox)) (*bench, node.Sandbox, *kubelet.Kubelet) {
		GinkgoHelper()
		b := newBench()
		b.vfNAD("n1", `{"cniVersion":"1.0.0","type":"sriov"}`)
		box, k := b.vfPod("n1, n1"), b.kubelet()
		prepare(k, box)
		return b, box, k
	}

	DescribeTable("give IDs in stable order",
		func(prepare func(k *kubelet.Kubelet, box node.Sandbox), first, second string) {
			b, box, _ := ask(prepare)
			b.add(box)
			Expect(b.devices("ADD sriov net1", "ADD sriov net2")).To(Equal([]string{first, second}))
		},
		Entry("the checkpoint, a list (E100)", func(k *kubelet.Kubelet, box node.Sandbox) {
			Expect(k.WriteCheckpoint(checkpointOf(box, `["y","x"]`))).To(Succeed())
		}, "y", "x"),
		Entry("the checkpoint, a map of NUMA node to list (E100)", func(k *kubelet.Kubelet, box node.Sandbox) {
			Expect(k.WriteCheckpoint(checkpointOf(box, `{"10":["b"],"9":["a"]}`))).To(Succeed())
		}, "a", "b"),
		Entry("the socket", func(k *kubelet.Kubelet, _ node.Sandbox) {
			Expect(k.Serve(served("b", "a"))).To(Succeed())
		}, "b", "a"),
		Entry("the socket goes first", func(k *kubelet.Kubelet, box node.Sandbox) {
			Expect(k.Serve(served("d1", "d2"))).To(Succeed())
			Expect(k.WriteCheckpoint(checkpointOf(box, `["x","y"]`))).To(Succeed())
		}, "d1", "d2"),
	)

	It("are asked at kubelet.sock, for this pod alone (E101)", func() {
		b, box, k := ask(func(k *kubelet.Kubelet, _ node.Sandbox) { Expect(k.Serve(served("d1", "d2"))).To(Succeed()) })
		b.add(box)
		Expect(k.Asked()).To(Equal([]string{kubelet.Get}))
		Expect(string(k.Messages()[0])).To(And(ContainSubstring("blue"), ContainSubstring("web-0")))
	})

	// silent is a socket that fails, in every way.
	silent := []TableEntry{
		Entry("refuses", func(k *kubelet.Kubelet) error { return k.Die() }, "did not answer"),
		Entry("answers with an error", func(k *kubelet.Kubelet) error {
			return k.Serve(map[string][]kubelet.Reply{kubelet.Get: {{Status: "7", Message: "not allowed"}}})
		}, "not allowed"),
		Entry("answers with garbage", func(k *kubelet.Kubelet) error {
			return k.Serve(map[string][]kubelet.Reply{kubelet.Get: {{Body: kubelet.Frame([]byte("garbage")), Status: "0"}}})
		}, "reading the answer"),
		Entry("accepts and never answers (E104)", func(k *kubelet.Kubelet) error {
			_, err := k.Listen()
			return err
		}, "did not answer"),
	}

	DescribeTable("are the checkpoint where the socket", func(spoil func(*kubelet.Kubelet) error, fault string) {
		b, box, k := ask(func(k *kubelet.Kubelet, box node.Sandbox) {
			Expect(k.WriteCheckpoint(checkpointOf(box, `["d1","d2"]`))).To(Succeed())
			Expect(spoil(k)).To(Succeed())
		})
		outcome := b.add(box)
		Expect(b.devices("ADD sriov net1", "ADD sriov net2")).To(Equal([]string{"d1", "d2"}))
		Expect(outcome.Stderr).To(And(ContainSubstring(k.Socket()), ContainSubstring(fault)), "a warning")
	}, silent)

	DescribeTable("must fail, and name the socket, where there is no checkpoint either and the socket", func(spoil func(*kubelet.Kubelet) error, fault string) {
		b, box, k := ask(func(k *kubelet.Kubelet, _ node.Sandbox) { Expect(spoil(k)).To(Succeed()) })
		b.refused(box, []string{"pod blue/web-0", "network blue/n1", "kubelet pod-resources " + k.Socket(), fault})
		Expect(b.calls("ADD")).To(BeEmpty())
	}, silent)

	It("must fail where there is neither, and name both", func() {
		b, box, k := ask(func(*kubelet.Kubelet, node.Sandbox) {})
		b.refused(box, []string{k.Socket(), k.Checkpoint(), vf})
	})

	DescribeTable("must fail where the checkpoint is garbage, which is not 'no devices' (E100)",
		func(content string) {
			b, box, k := ask(func(k *kubelet.Kubelet, _ node.Sandbox) { Expect(k.WriteCheckpoint(content)).To(Succeed()) })
			b.refused(box, []string{k.Checkpoint(), vf})
		},
		Entry("empty", ""),
		Entry("truncated", `{"Data":{"PodDeviceEntries":[{"Pod`),
		Entry("another layout", `{"Data":{"PodDeviceEntries":{"a":1}}}`),
		Entry("text", strings.Repeat("garbage ", 100)),
	)
})
