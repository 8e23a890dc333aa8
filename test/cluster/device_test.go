package cluster

import (
	"encoding/json"
	"fmt"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/cluster/device"
)

var _ = Describe("devices that the kubelet allocates", func() {
	const resource = "example.com/nic"
	socket := func(b *bench) string { return b.Path("kubelet", "pod-resources", "kubelet.sock") }

	DescribeTable("go to the networks of their resource, each to one (DEV-1, DEV-2)", func(ctx SpecContext, prepare func(*bench)) {
		b := newBench(ctx)
		plugin, err := device.Start(ctx, b.Path("kubelet", "device-plugins"), resource, "d0", "d1", "d2", "d3")
		b.must(err)
		DeferCleanup(plugin.Stop)
		Eventually(func() (string, error) { return b.Allocatable(ctx, resource) }).Should(Equal("4"))
		seen := b.recording()
		for _, name := range []string{"nic1", "nic2"} {
			b.apply(fmt.Sprintf(`
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {namespace: %s, name: %s, annotations: {k8s.v1.cni.cncf.io/resourceName: %s}}
spec: {config: '{"cniVersion": "1.0.0", "type": "recording", "bridge": "br-n1", "ipam": %s}'}
`, b.namespace, name, resource, b.HostLocal("192.0.2.0/24")))
		}
		prepare(b)
		b.run("web-0", "nic1, nic2", func(_, _, container object) {
			container["resources"] = object{"limits": object{resource: "2"}}
		})
		used := []string{seen("net1"), seen("net2")}
		Expect(used[0]).NotTo(Equal(used[1]))
		Expect([]string{"d0", "d1", "d2", "d3"}).To(ContainElements(used))

		By("asking for one more network than devices")
		b.pod("web-1", "nic1, nic2", func(_, _, container object) {
			container["resources"] = object{"limits": object{resource: "1"}}
		})
		b.event("web-1", "FailedCreatePodSandBox", resource, "1")
	},
		Entry("as its PodResources socket says", func(*bench) {}),
		Entry("as its checkpoint says, without the socket", func(b *bench) {
			away := b.Path("kubelet", "socket-away")
			b.must(os.Rename(socket(b), away))
			b.later(func() { b.must(os.Rename(away, socket(b))) })
		}),
	)
})

// recording adds a plugin "recording", which is bridge, and gives a function that says which device it got for an interface.
func (b *bench) recording() (deviceOf func(ifname string) string) {
	GinkgoHelper()
	dir := b.Path("recorded")
	b.must(os.MkdirAll(dir, 0o755))
	b.later(func() { b.must(os.RemoveAll(dir)) })
	b.must(b.AddPlugin("recording", fmt.Sprintf(`tee "%s/$CNI_COMMAND-$CNI_IFNAME" | "$(dirname "$0")/bridge"`+"\n", dir)))
	return func(ifname string) string {
		text, err := os.ReadFile(dir + "/ADD-" + ifname)
		b.must(err)
		var config struct{ DeviceID string }
		b.must(json.Unmarshal(text, &config))
		return config.DeviceID
	}
}
