package exec

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/kubelet"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

const (
	vfDriver  = "vf.example.com"
	gpuDriver = "gpu.example.com"

	claimRead = "GET /apis/resource.k8s.io/v1/namespaces/blue/resourceclaims/web-0-devices"
	vfList    = "GET /apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dnode-1%2Cspec.driver%3Dvf.example.com"
	gpuList   = "GET /apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dnode-1%2Cspec.driver%3Dgpu.example.com"
)

// attributesOf map a device to the resource vf.
func attributesOf(id string) map[string]string {
	return map[string]string{"k8s.cni.cncf.io/resourceName": vf, "k8s.cni.cncf.io/deviceID": id}
}

// claimedPod changes the API object of a sandbox's pod: it runs on node-1 and has claims.
func (b *bench) claimedPod(box node.Sandbox, pod fake.Pod) {
	pod.Namespace, pod.Name, pod.UID, pod.Node = "blue", "web-0", uidOf(box), "node-1"
	pod.Annotations = b.API.Annotations("blue", "web-0")
	b.API.AddPod(pod)
}

var _ = Describe("Dynamic Resource Allocation (DEV-4)", func() {
	const plain = `{"cniVersion":"1.0.0","type":"sriov"}`
	var (
		b *bench
		k *kubelet.Kubelet
	)
	BeforeEach(func() {
		b = newBench()
		k = b.kubelet()
		b.vfNAD("n1", plain)
		b.API.AddSlice(fake.Slice{Name: "vfs", Node: "node-1", Driver: vfDriver, Pool: "node-1", Devices: []fake.OfferedDevice{
			{Name: "vf-0", Attributes: attributesOf("0000:03:02.0")}, {Name: "vf-1", Attributes: attributesOf("0000:03:02.1")}, {Name: "vf-2", Attributes: attributesOf("0000:03:02.2")},
		}})
		b.API.AddSlice(fake.Slice{Name: "vfs-there", Node: "node-2", Driver: vfDriver, Pool: "node-2", Devices: []fake.OfferedDevice{
			{Name: "vf-0", Attributes: attributesOf("theirs")},
		}})
		b.API.AddSlice(fake.Slice{Name: "gpus", Node: "node-1", Driver: gpuDriver, Pool: "node-1", Devices: []fake.OfferedDevice{{Name: "gpu-0"}}})
	})

	// vfs are devices of the claim.
	vfs := func(names ...string) []fake.ClaimedDevice {
		var devices []fake.ClaimedDevice
		for _, name := range names {
			devices = append(devices, fake.ClaimedDevice{Driver: vfDriver, Pool: "node-1", Device: name})
		}
		return devices
	}
	gpu := fake.ClaimedDevice{Driver: gpuDriver, Pool: "node-1", Device: "gpu-0"}

	// claiming is a pod with these networks and a claim with these devices. The kubelet knows of none.
	claiming := func(networks string, pod fake.Pod, devices ...fake.ClaimedDevice) node.Sandbox {
		GinkgoHelper()
		box := b.vfPod(networks)
		b.claimedPod(box, pod)
		b.API.AddClaim(fake.Claim{Namespace: "blue", Name: "web-0-devices", Devices: devices})
		Expect(k.WriteCheckpoint(checkpointOf(box, `[]`))).To(Succeed())
		return box
	}
	generated := fake.Pod{Claims: []string{"web-0-devices"}}

	DescribeTable("gives devices from the pod's claims, in their order",
		func(pod fake.Pod) {
			box := claiming("n1, n1", pod, vfs("vf-1", "vf-0")...)
			b.add(box)
			Expect(b.devices("ADD sriov net1", "ADD sriov net2")).To(Equal([]string{"0000:03:02.1", "0000:03:02.0"}))
			b.API.Forget()
			b.del(box)
			Expect(b.devices("DEL sriov net1", "DEL sriov net2")).To(Equal([]string{"0000:03:02.1", "0000:03:02.0"}))
			Expect(b.API.Count(fake.Any)).To(Equal(b.API.Count(fake.PatchStatus)), "the plan has them (DEL-1)")
		},
		Entry("made for the pod", generated),
		Entry("made for its extended resources (E106)", fake.Pod{ExtendedClaim: "web-0-devices"}),
		Entry("that the pod names itself", fake.Pod{OthersClaims: []string{"web-0-devices"}}),
	)

	It("passes over a GPU in the same claim, with one request for each claim and driver, over one connection (E106)", func() {
		b.add(claiming("n1, n1", generated, append([]fake.ClaimedDevice{gpu}, vfs("vf-0", "vf-1")...)...))
		Expect(b.devices("ADD sriov net1", "ADD sriov net2")).To(Equal([]string{"0000:03:02.0", "0000:03:02.1"}))
		Expect(b.requests()).To(Equal([]string{podRead, nadRead("blue/n1"), claimRead, gpuList, vfList, statusSent}))
		Expect(b.API.Connections()).To(Equal(1))
	})

	It("asks for nothing where no NAD names a resource", func() {
		b.nad("n1", plain)
		b.add(claiming("n1", generated, vfs("vf-0")...))
		Expect(b.requests()).To(Equal([]string{podRead, nadRead("blue/n1"), statusSent}))
	})

	It("asks for nothing where the kubelet knows the resource", func() {
		box := claiming("n1", generated, vfs("vf-0")...)
		Expect(k.WriteCheckpoint(checkpointOf(box, `["by-kubelet"]`))).To(Succeed())
		b.add(box)
		Expect(b.device("ADD sriov net1")).To(Equal("by-kubelet"))
		Expect(b.requests()).To(Equal([]string{podRead, nadRead("blue/n1"), statusSent}))
	})

	It("asks for nothing where the pod has no claim", func() {
		b.refused(claiming("n1", fake.Pod{}), []string{"no device of resource " + vf, "0 allocated to the pod"})
		Expect(b.requests()).To(Equal([]string{podRead, nadRead("blue/n1")}))
	})

	It("is asked beside the kubelet: each resource has its own source", func() {
		const other = "example.com/other"
		b.API.AddNAD(fake.NAD{Namespace: "blue", Name: "n2", Config: plain, Annotations: map[string]string{"k8s.v1.cni.cncf.io/resourceName": other}})
		b.API.AddSlice(fake.Slice{Name: "others", Node: "node-1", Driver: vfDriver, Pool: "others", Devices: []fake.OfferedDevice{
			{Name: "o", Attributes: map[string]string{"k8s.cni.cncf.io/resourceName": other, "k8s.cni.cncf.io/deviceID": "by-claim"}},
		}})
		box := claiming("n1, n2", generated, append(vfs("vf-0"), fake.ClaimedDevice{Driver: vfDriver, Pool: "others", Device: "o"})...)
		Expect(k.WriteCheckpoint(checkpointOf(box, `["by-kubelet"]`))).To(Succeed())
		b.add(box)
		Expect(b.devices("ADD sriov net1", "ADD sriov net2")).To(Equal([]string{"by-kubelet", "by-claim"}))
	})

	It("does without a kubelet that has neither socket nor checkpoint", func() {
		box := b.vfPod("n1")
		b.claimedPod(box, generated)
		b.API.AddClaim(fake.Claim{Namespace: "blue", Name: "web-0-devices", Devices: vfs("vf-0")})
		b.add(box)
		Expect(b.device("ADD sriov net1")).To(Equal("0000:03:02.0"))
	})

	It("reads the pod where the runtime handed its annotations over, and only for this (NET-17)", func() {
		box := claiming("not-to-be-read", generated, vfs("vf-0")...)
		b.add(box, handedOver(selecting("n1")))
		Expect(b.device("ADD sriov net1")).To(Equal("0000:03:02.0"))
		Expect(b.requests()).To(Equal([]string{nadRead("blue/n1"), podRead, claimRead, vfList, statusSent}))
	})

	It("finds the devices again where plan and results are lost (DEL-4)", func() {
		box := claiming("n1", generated, vfs("vf-1")...)
		b.add(box)
		damage(b.planFile(box), "")
		b.forgetResults()
		b.del(box)
		Expect(b.device("DEL sriov net1")).To(Equal("0000:03:02.1"))
	})

	It("has device information like any other (DEV-3)", func() {
		files := b.ownRun()
		Expect(files.SaveForDP(vf, "0000:03:02.0", pciInfo("0000:03:02.0"))).To(Succeed())
		b.add(claiming("n1", generated, vfs("vf-0")...))
		Expect(b.status("web-0")[1].DeviceInfo).To(Equal(pciInfo("0000:03:02.0")))
	})

	DescribeTable("must fail where the claims have no device left, and say how many there were (DEV-1, E106)",
		func(networks string, devices []fake.ClaimedDevice, count string) {
			b.refused(claiming(networks, generated, devices...), []string{"pod blue/web-0", "network blue/n1", "no device of resource " + vf, count})
			Expect(b.calls("ADD")).To(BeEmpty())
		},
		Entry("none", "n1", nil, "0 allocated to the pod"),
		Entry("a GPU", "n1", []fake.ClaimedDevice{gpu}, "0 allocated to the pod"),
		Entry("on another node", "n1", []fake.ClaimedDevice{{Driver: vfDriver, Pool: "node-2", Device: "vf-0"}}, "0 allocated to the pod"),
		Entry("one for two", "n1, n1", []fake.ClaimedDevice{{Driver: vfDriver, Pool: "node-1", Device: "vf-0"}}, "1 allocated to the pod"),
	)

	DescribeTable("must fail where it cannot be asked, and name what is missing (NET-14, SEC-3)",
		func(spoil func(box node.Sandbox), texts ...string) {
			box := claiming("n1", generated, vfs("vf-0")...)
			spoil(box)
			b.refused(box, append(texts, "pod blue/web-0", "network blue/n1", vf))
			Expect(b.calls("ADD")).To(BeEmpty())
		},
		Entry("no right to read claims", func(node.Sandbox) { b.API.Fail(fake.GetClaim, fake.Always, 403, "") },
			"get resourceclaims.resource.k8s.io blue/web-0-devices", "forbidden", fake.User),
		Entry("no right to list slices", func(node.Sandbox) { b.API.Fail(fake.ListSlices, fake.Always, 403, "") },
			"list resourceslices.resource.k8s.io", "forbidden", fake.User, "in the whole cluster"),
		Entry("a claim that is gone", func(box node.Sandbox) { b.claimedPod(box, fake.Pod{Claims: []string{"gone"}}) },
			"get resourceclaims.resource.k8s.io blue/gone", "not found"),
		Entry("a claim that is garbage", func(node.Sandbox) {
			b.API.Inject(fake.Fault{Kind: fake.GetClaim, Garbage: `{"metadata":{"namespace":"blue","name":"web-0-devices"},"status":[]}`})
		},
			"resource claim blue/web-0-devices"),
		Entry("slices that are garbage", func(node.Sandbox) {
			b.API.Inject(fake.Fault{Kind: fake.ListSlices, Garbage: `{"kind":"ResourceSliceList","items":{}}`})
		},
			"resource slices of driver vf.example.com on node node-1"),
		Entry("a device with half of its attributes", func(node.Sandbox) {
			b.API.AddSlice(fake.Slice{Name: "vfs", Node: "node-1", Driver: vfDriver, Pool: "node-1", Devices: []fake.OfferedDevice{
				{Name: "vf-0", Attributes: map[string]string{"k8s.cni.cncf.io/resourceName": vf}}}})
		}, "device vf-0", "k8s.cni.cncf.io/deviceID"),
	)

	DescribeTable("is asked again after an error that may pass (NET-14)",
		func(kind fake.Kind) {
			box := claiming("n1", generated, vfs("vf-0")...)
			b.API.Inject(fake.Fault{Kind: kind, Times: 2, Code: 503})
			b.add(box)
			Expect(b.API.Count(kind)).To(Equal(3))
		},
		Entry("the claim", fake.GetClaim),
		Entry("the slices", fake.ListSlices),
	)

	It("names the kubelet too where both fail (E104)", func() {
		box := claiming("n1", generated, vfs("vf-0")...)
		Expect(k.WriteCheckpoint("garbage")).To(Succeed())
		b.API.Fail(fake.GetClaim, fake.Always, 403, "")
		b.refused(box, []string{k.Checkpoint(), "resourceclaims.resource.k8s.io"})
	})
})
