package exec

import (
	"fmt"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// withOwnRun lets the plugin see a directory as /run, which has this machine's network namespaces too.
const withOwnRun = `#!/bin/sh
exec unshare --mount sh -ec 'mount --rbind /run/netns %[1]s/netns; mount --rbind %[1]s /run; exec %[2]s'
`

// ownRun gives the node a /run of its own, and its device information files.
func (b *bench) ownRun() nad.DeviceInfoFiles {
	GinkgoHelper()
	run := filepath.Join(b.Dir, "run")
	Expect(os.MkdirAll(filepath.Join(run, "netns"), 0o755)).To(Succeed())
	plugin, err := filepath.Abs(b.Binary)
	Expect(err).NotTo(HaveOccurred())
	b.Binary = filepath.Join(b.Dir, "on-this-node")
	Expect(os.WriteFile(b.Binary, fmt.Appendf(nil, withOwnRun, run, plugin), 0o755)).To(Succeed())
	return nad.DeviceInfoFiles{Root: filepath.Join(run, "k8s.cni.cncf.io", "devinfo")}
}

// infoFile is the file of an attachment to blue/n1, as the node and as the plugin see it.
func infoFile(files nad.DeviceInfoFiles, box node.Sandbox, ifname string) (onNode, inPlugin string) {
	GinkgoHelper()
	name := "blue-n1:" + box.ContainerID + ":" + ifname
	onNode, err := files.CNIPath(name)
	Expect(err).NotTo(HaveOccurred())
	inPlugin, err = nad.DeviceInfoFiles{}.CNIPath(name)
	Expect(err).NotTo(HaveOccurred())
	return onNode, inPlugin
}

// infoFiles lists the files of attachments.
func infoFiles(files nad.DeviceInfoFiles) []string {
	GinkgoHelper()
	found, err := filepath.Glob(filepath.Join(files.Root, "cni", "*"))
	Expect(err).NotTo(HaveOccurred())
	hidden, err := filepath.Glob(filepath.Join(files.Root, "cni", ".*"))
	Expect(err).NotTo(HaveOccurred())
	return append(found, hidden...)
}

func pciInfo(address string) *nad.DeviceInfo {
	return &nad.DeviceInfo{Type: "pci", Version: "1.1.0", Pci: &nad.PciDevice{PciAddress: address, PfPciAddress: "0000:03:00.0"}}
}

var _ = Describe("device information (DEV-3)", func() {
	const (
		declaring = `{"cniVersion":"1.0.0","plugins":[{"type":"sriov","capabilities":{"CNIDeviceInfoFile":true}},{"type":"third"}]}`
		vhost     = `{"type":"vhost-user","version":"1.1.0","vhost-user":{"mode":"client","path":"/var/run/net1/vhost.sock"}}`
	)
	var (
		b     *bench
		files nad.DeviceInfoFiles
	)
	BeforeEach(func() {
		b = newBench()
		files = b.ownRun()
	})

	// vfBox is a pod with these networks and two devices of the resource vf, and NAD n1.
	vfBox := func(config, networks string) node.Sandbox {
		GinkgoHelper()
		b.vfNAD("n1", config)
		box := b.vfPod(networks)
		Expect(b.kubelet().WriteCheckpoint(checkpointOf(box, `["0000:03:02.0","0000:03:02.1"]`))).To(Succeed())
		return box
	}

	// putDP writes a device plugin's file as it is.
	putDP := func(device, content string) string {
		GinkgoHelper()
		path, err := files.DPPath(vf, device)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
		Expect(os.WriteFile(path, []byte(content), 0o644)).To(Succeed())
		return path
	}

	It("of the device plugin is in the status, each attachment its own, until DEL", func() {
		box := vfBox(declaring, "n1, n1@data")
		for _, device := range []string{"0000:03:02.0", "0000:03:02.1"} {
			Expect(files.SaveForDP(vf, device, pciInfo(device))).To(Succeed())
		}
		b.add(box)
		status := b.status("web-0")
		Expect(status).To(HaveLen(3))
		Expect(status[0].DeviceInfo).To(BeNil())
		Expect(status[1].DeviceInfo).To(Equal(pciInfo("0000:03:02.0")))
		Expect(status[2].DeviceInfo).To(Equal(pciInfo("0000:03:02.1")))
		Expect(infoFiles(files)).To(HaveLen(2))

		b.del(box)
		Expect(infoFiles(files)).To(BeEmpty())
		Expect(files.LoadFromDP(vf, "0000:03:02.0")).NotTo(BeNil(), "it is the device plugin's")
		Expect(b.statusText()).To(BeEmpty(), "DEL knows the status with its device-info (DEL-7)")
		b.expectNoState()
	})

	It("is there when the delegate runs, byte for byte, at the path that it is given", func() {
		const content = `{"type":"pci", "version":"1.2.0", "pci":{"pci-address":"0000:03:02.0"}, "later":1}` + "\n"
		putDP("0000:03:02.0", content)
		box := vfBox(declaring, "n1")
		onNode, inPlugin := infoFile(files, box, "net1")
		goOn := filepath.Join(b.Dir, "go-on")
		b.behave("sriov", script.Rule{Command: "ADD", WaitFor: goOn})
		add := b.start("ADD", box)
		b.began("ADD sriov net1")
		Expect(os.ReadFile(onNode)).To(BeEquivalentTo(content))
		Expect(os.WriteFile(goOn, nil, 0o600)).To(Succeed())
		Expect(add.wait().Exit).To(Equal(0))
		Expect(given(b.call("ADD sriov net1"))).To(HaveKeyWithValue("stdin runtimeConfig", fmt.Sprintf(`{"CNIDeviceInfoFile":%q}`, inPlugin)))
		Expect(given(b.call("ADD third net1"))).NotTo(HaveKey("stdin runtimeConfig"), "it does not declare the capability")

		b.del(box)
		Expect(given(b.call("DEL sriov net1"))).To(Equal(given(b.call("ADD sriov net1"))))
	})

	It("may be made by the delegate, with or without a device", func() {
		Expect(b.Delegates.Install("sriov", "third")).To(Succeed())
		b.behave("sriov", script.Rule{Command: "ADD", DeviceInfo: vhost})
		b.nad("n1", declaring)
		box := b.pod("web-0", "n1")
		b.add(box)
		Expect(b.status("web-0")[1].DeviceInfo).To(Equal(
			&nad.DeviceInfo{Type: "vhost-user", Version: "1.1.0", VhostUser: &nad.VhostDevice{Mode: "client", Path: "/var/run/net1/vhost.sock"}}))
		b.del(box)
		Expect(infoFiles(files)).To(BeEmpty())
		Expect(b.statusText()).To(BeEmpty())
	})

	It("may be changed by the delegate", func() {
		box := vfBox(declaring, "n1")
		Expect(files.SaveForDP(vf, "0000:03:02.0", pciInfo("0000:03:02.0"))).To(Succeed())
		b.behave("sriov", script.Rule{Command: "ADD", DeviceInfo: vhost})
		b.add(box)
		Expect(b.status("web-0")[1].DeviceInfo.Type).To(Equal("vhost-user"))
	})

	It("is nobody's business where neither device nor plugin has any: no file, no directory", func() {
		b.add(b.pod("web-0", ""))
		box := vfBox(`{"cniVersion":"1.0.0","type":"sriov"}`, "n1")
		b.add(box)
		Expect(b.status("web-0")[1].DeviceInfo).To(BeNil())
		Expect(files.Root).NotTo(BeADirectory())
		Expect(given(b.call("ADD sriov net1"))).NotTo(HaveKey("stdin runtimeConfig"))
	})

	It("in a file that the runtime gives the master is the runtime's (NET-9)", func() {
		theirs := filepath.Join(b.Dir, "theirs")
		b.behave("master", script.Rule{Command: "ADD", DeviceInfo: vhost})
		change := node.Config{
			"delegates":     []any{object{"cniVersion": "1.0.0", "name": "main", "type": "master", "capabilities": object{"CNIDeviceInfoFile": true}}},
			"runtimeConfig": object{"CNIDeviceInfoFile": theirs},
		}
		box := b.pod("web-0", "")
		b.add(box, change)
		Expect(b.status("web-0")[0].DeviceInfo.Type).To(Equal("vhost-user"))
		b.del(box, change)
		Expect(theirs).To(BeARegularFile())
	})

	DescribeTable("that is malformed must fail before anything runs, and name the file (ADD-2)",
		func(content, reason string) {
			path := putDP("0000:03:02.0", content)
			box := vfBox(declaring, "n1")
			b.refused(box, []string{"pod blue/web-0", "network blue/n1", filepath.Base(path), reason})
			Expect(b.calls("ADD")).To(BeEmpty())
			Expect(infoFiles(files)).To(BeEmpty())
		},
		Entry("empty", "", "byte 0"),
		Entry("truncated", `{"type":"pci","ver`, "byte 17"),
		Entry("a list", "[]", "cannot unmarshal array"),
		Entry("without type", `{"version":"1.1.0"}`, "type: missing"),
		Entry("huge", mega(" "), "larger than 65536 bytes"),
	)

	It("that a delegate leaves malformed must fail, rolled back", func() {
		Expect(b.Delegates.Install("sriov", "third")).To(Succeed())
		b.behave("sriov", script.Rule{Command: "ADD", DeviceInfo: "garbage"})
		b.nad("n1", declaring)
		box := b.pod("web-0", "n1")
		_, inPlugin := infoFile(files, box, "net1")
		b.refused(box, []string{"network blue/n1", inPlugin, "invalid character"})
		Expect(b.calls("DEL")).To(Equal([]string{"DEL third net1", "DEL sriov net1", "DEL master eth0"}))
		Expect(infoFiles(files)).To(BeEmpty())
	})

	It("that cannot be read any more keeps no DEL from its work", func() {
		box := vfBox(declaring, "n1")
		Expect(files.SaveForDP(vf, "0000:03:02.0", pciInfo("0000:03:02.0"))).To(Succeed())
		b.add(box)
		onNode, _ := infoFile(files, box, "net1")
		damage(onNode, "garbage")
		outcome := b.del(box)
		Expect(outcome.Stderr).To(ContainSubstring("the network-status is left as it is"))
		Expect(infoFiles(files)).To(BeEmpty())
		b.expectNothingAttached()
		b.expectNoState()
	})

	It("goes with an attachment that is rolled back (ADD-4)", func() {
		box := vfBox(declaring, "n1, n1")
		Expect(files.SaveForDP(vf, "0000:03:02.0", pciInfo("0000:03:02.0"))).To(Succeed())
		Expect(files.SaveForDP(vf, "0000:03:02.1", pciInfo("0000:03:02.1"))).To(Succeed())
		b.behave("third", script.Rule{Command: "ADD", Interface: "net2", Error: full()})
		b.refused(box, []string{"no address left"})
		Expect(infoFiles(files)).To(BeEmpty())
	})

	It("stays for the next DEL of an attachment whose DEL failed (DEL-5)", func() {
		box := vfBox(declaring, "n1, n1")
		Expect(files.SaveForDP(vf, "0000:03:02.0", pciInfo("0000:03:02.0"))).To(Succeed())
		Expect(files.SaveForDP(vf, "0000:03:02.1", pciInfo("0000:03:02.1"))).To(Succeed())
		b.add(box)
		b.behave("sriov", script.Rule{Command: "DEL", Interface: "net1", Times: 1, Error: full()})
		Expect(b.run("DEL", box).Exit).To(Equal(1))
		first, _ := infoFile(files, box, "net1")
		Expect(infoFiles(files)).To(Equal([]string{first}))
		b.del(box)
		Expect(infoFiles(files)).To(BeEmpty())
	})

	It("goes where the plan was lost (DEL-4)", func() {
		box := vfBox(declaring, "n1")
		Expect(files.SaveForDP(vf, "0000:03:02.0", pciInfo("0000:03:02.0"))).To(Succeed())
		b.add(box)
		damage(b.planFile(box), "")
		b.del(box)
		Expect(infoFiles(files)).To(BeEmpty())
	})

	It("goes with a sandbox that GC collects, and stays with one that lives (GC-1)", func() {
		newest := node.Config{"cniVersion": "1.1.0", "delegates": []any{object{"cniVersion": "1.1.0", "name": "main", "type": "master"}}}
		Expect(b.Delegates.Install("sriov", "third")).To(Succeed())
		b.behave("sriov", script.Rule{Command: "ADD", DeviceInfo: vhost})
		b.nad("n1", declaring)
		live, dead := b.pod("live", "n1"), b.pod("dead", "n1")
		b.add(live, newest)
		b.add(dead, newest)
		Expect(infoFiles(files)).To(HaveLen(2))
		outcome := b.run("GC", node.Sandbox{}, newest, node.Config{
			"cni.dev/valid-attachments": []any{object{"containerID": live.ContainerID, "ifname": "eth0"}}})
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		kept, _ := infoFile(files, live, "net1")
		Expect(infoFiles(files)).To(Equal([]string{kept}))
		Expect(b.API.Annotations("blue", "dead")).NotTo(HaveKey(nad.StatusAnnotation), "GC knows the status with its device-info")
	})
})
