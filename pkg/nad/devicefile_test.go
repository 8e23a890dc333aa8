package nad_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

const (
	vf   = "example.com/vf"
	vfID = "0000:01:02.2"
)

func pci(address string) *nad.DeviceInfo {
	return &nad.DeviceInfo{
		Type: nad.DeviceInfoTypePCI, Version: nad.DeviceInfoVersion, Pci: &nad.PciDevice{PciAddress: address, PfPciAddress: "0000:01:02.0"},
	}
}

// infoFiles is an empty tree of device information files.
func infoFiles() nad.DeviceInfoFiles {
	return nad.DeviceInfoFiles{Root: filepath.Join(GinkgoT().TempDir(), "devinfo")}
}

// put makes a file with its directory.
func put(path, content string) {
	GinkgoHelper()
	Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
	Expect(os.WriteFile(path, []byte(content), 0o600)).To(Succeed())
}

// namesIn lists a directory, hidden files too.
func namesIn(dir string) []string {
	GinkgoHelper()
	entries, err := os.ReadDir(dir)
	Expect(err).NotTo(HaveOccurred())
	names := []string{}
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

var _ = Describe("device information files (DEV-3)", func() {
	DescribeTable("of a device plugin are where the specification has them (section 4.1)",
		func(resource, device, want string) {
			Expect(nad.DeviceInfoFiles{}.DPPath(resource, device)).To(Equal("/var/run/k8s.cni.cncf.io/devinfo/dp/" + want))
		},
		Entry("a VF", vf, vfID, "example.com-vf-0000:01:02.2-device.json"),
		Entry("an ID that is a path", "example.com/tap", "/dev/tap0", "example.com-tap--dev-tap0-device.json"),
		Entry("an ID that steps up", "..", "../../x", "..-..-..-x-device.json"),
	)

	DescribeTable("have no other name than one component of a path (SEC-2)",
		func(resource, device string) {
			files := infoFiles()
			_, err := files.DPPath(resource, device)
			Expect(err).To(HaveOccurred())
			_, err = files.LoadFromDP(resource, device)
			Expect(err).To(HaveOccurred())
			Expect(files.SaveForDP(resource, device, pci(vfID))).NotTo(Succeed())
			Expect(files.CleanForDP(resource, device)).NotTo(Succeed())
			Expect(files.CopyForCNIFromDP(filepath.Join(files.Root, "cni", "a"), resource, device)).NotTo(Succeed())
			Expect(files.Root).NotTo(BeADirectory())
		},
		Entry("no resource", "", vfID),
		Entry("no device", vf, ""),
		Entry("a NUL", vf, "a\x00b"),
	)

	DescribeTable("of an attachment have the name that the caller chooses (section 4.2, SEC-2)",
		func(name, want string) {
			path, err := nad.DeviceInfoFiles{Root: "/r"}.CNIPath(name)
			Expect(path).To(Equal(want))
			Expect(err == nil).To(Equal(want != ""))
		},
		Entry("plain", "n1:c1:net1", "/r/cni/n1:c1:net1"),
		Entry("with a slash", "blue/n1", "/r/cni/blue-n1"),
		Entry("empty", "", ""),
		Entry("a step up", "..", ""),
		Entry("a NUL", "a\x00", ""),
	)

	DescribeTable("refuse paths that depend on the working directory (SEC-2)",
		func(path string) {
			_, err := nad.LoadDeviceInfoFromCNI(path)
			Expect(err).To(MatchError(ContainSubstring("not an absolute path")))
			Expect(nad.SaveDeviceInfoForCNI(path, pci(vfID))).To(MatchError(ContainSubstring("not an absolute path")))
			Expect(nad.CleanDeviceInfoForCNI(path)).To(MatchError(ContainSubstring("not an absolute path")))
		},
		Entry("empty", ""),
		Entry("relative", "devinfo/cni/x"),
	)

	It("are written, read, replaced and removed", func() {
		files := infoFiles()
		Expect(files.LoadFromDP(vf, vfID)).To(BeNil(), "none yet")
		Expect(files.CleanForDP(vf, vfID)).To(Succeed(), "none yet")
		Expect(files.SaveForDP(vf, vfID, pci("0000:01:02.3"))).To(Succeed())
		Expect(files.SaveForDP(vf, vfID, pci(vfID))).To(Succeed())
		Expect(files.LoadFromDP(vf, vfID)).To(Equal(pci(vfID)))
		Expect(namesIn(filepath.Join(files.Root, "dp"))).To(Equal([]string{"example.com-vf-0000:01:02.2-device.json"}))
		Expect(files.CleanForDP(vf, vfID)).To(Succeed())
		Expect(namesIn(filepath.Join(files.Root, "dp"))).To(BeEmpty())
	})

	It("are read as they are written, for every type of the specification", func() {
		path := filepath.Join(GinkgoT().TempDir(), "cni", "a")
		for _, info := range []*nad.DeviceInfo{
			pci(vfID),
			{Type: "vdpa", Version: "1.1.0", Vdpa: &nad.VdpaDevice{ParentDevice: "vdpa3", Driver: "vhost", Path: "/dev/vdpa-vhost0"}},
			{Type: "vhost-user", Version: "1.1.0", VhostUser: &nad.VhostDevice{Mode: "server", Path: "/var/run/vhost.sock"}},
			{Type: "memif", Version: "1.1.0", Memif: &nad.MemifDevice{Role: "slave", Path: "/run/m.sock", Mode: "ip"}},
		} {
			Expect(nad.SaveDeviceInfoForCNI(path, info)).To(Succeed())
			Expect(nad.LoadDeviceInfoFromCNI(path)).To(Equal(info))
		}
	})

	It("are for root to write and directories for all to see (SEC-2)", func() {
		path := filepath.Join(GinkgoT().TempDir(), "devinfo", "cni", "a")
		Expect(nad.SaveDeviceInfoForCNI(path, pci(vfID))).To(Succeed())
		for path, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o755} {
			info, err := os.Stat(path)
			Expect(err).NotTo(HaveOccurred())
			Expect(info.Mode().Perm()).To(Equal(mode), path)
		}
	})

	It("appear as a whole: a reader that has the old one open keeps it", func() {
		path := filepath.Join(GinkgoT().TempDir(), "a")
		put(path, "the old one")
		old, err := os.Open(path)
		Expect(err).NotTo(HaveOccurred())
		defer old.Close()
		Expect(nad.SaveDeviceInfoForCNI(path, pci(vfID))).To(Succeed())
		content := make([]byte, 100)
		n, err := old.Read(content)
		Expect(string(content[:n]), err).To(Equal("the old one"))
	})

	It("leave nothing behind where they cannot be written", func() {
		dir := GinkgoT().TempDir()
		Expect(os.Mkdir(filepath.Join(dir, "a"), 0o755)).To(Succeed())
		Expect(nad.SaveDeviceInfoForCNI(filepath.Join(dir, "a"), pci(vfID))).NotTo(Succeed())
		Expect(namesIn(dir)).To(Equal([]string{"a"}))
	})

	It("go with what a killed writer has left", func() {
		dir := GinkgoT().TempDir()
		put(filepath.Join(dir, ".a"), "half a fi")
		Expect(nad.CleanDeviceInfoForCNI(filepath.Join(dir, "a"))).To(Succeed())
		Expect(namesIn(dir)).To(BeEmpty())
	})

	It("are no directories: those are never removed", func() {
		dir := filepath.Join(GinkgoT().TempDir(), "a")
		Expect(os.Mkdir(dir, 0o755)).To(Succeed())
		Expect(nad.CleanDeviceInfoForCNI(dir)).To(MatchError(ContainSubstring(dir)))
		Expect(dir).To(BeADirectory())
	})

	DescribeTable("are refused with file and reason",
		func(content, reason string) {
			path := filepath.Join(GinkgoT().TempDir(), "a")
			put(path, content)
			info, err := nad.LoadDeviceInfoFromCNI(path)
			Expect(info).To(BeNil())
			Expect(err).To(MatchError(And(ContainSubstring(path), ContainSubstring(reason))))
		},
		Entry("empty", "", "byte 0"),
		Entry("truncated", `{"type":"pci","pci":{`, "byte 20"),
		Entry("null", "null", "must be an object"),
		Entry("a list", "[]", "cannot unmarshal array"),
		Entry("a wrong type", `{"type":"pci","version":1}`, "version"),
		Entry("no type", `{"version":"1.1.0"}`, "type: missing"),
		Entry("no version", `{"type":"pci","pci":{}}`, "version: missing"),
		Entry("no part", `{"type":"pci","version":"1.1.0","vdpa":{}}`, "pci: missing"),
		Entry("a null part", `{"type":"vhost-user","version":"1.1.0","vhost-user":null}`, "vhost-user: missing"),
		Entry("deep", strings.Repeat("[", 60_000), "depth"),
		Entry("huge", `{"type":"`+strings.Repeat("x", 1<<20)+`"}`, "larger than 65536 bytes"),
	)

	It("are regular files: anything else is refused and never waited for", func() {
		dir := GinkgoT().TempDir()
		fifo := filepath.Join(dir, "fifo")
		Expect(syscall.Mkfifo(fifo, 0o600)).To(Succeed())
		for _, path := range []string{dir, fifo, "/dev/zero"} {
			_, err := nad.LoadDeviceInfoFromCNI(path)
			Expect(err).To(MatchError(And(ContainSubstring(path), ContainSubstring("not a regular file"))))
		}
	})

	It("may be of a type that a later specification adds", func() {
		path := filepath.Join(GinkgoT().TempDir(), "a")
		put(path, `{"type":"later","version":"2.0.0","later":{"a":1}}`)
		Expect(nad.LoadDeviceInfoFromCNI(path)).To(Equal(&nad.DeviceInfo{Type: "later", Version: "2.0.0"}))
	})

	DescribeTable("are not written against the specification",
		func(info *nad.DeviceInfo, reason string) {
			dir := GinkgoT().TempDir()
			Expect(nad.SaveDeviceInfoForCNI(filepath.Join(dir, "a"), info)).To(MatchError(ContainSubstring(reason)))
			Expect(namesIn(dir)).To(BeEmpty())
		},
		Entry("nil", nil, "nil"),
		Entry("no type", &nad.DeviceInfo{Version: "1.1.0"}, "type: missing"),
		Entry("an unknown type", &nad.DeviceInfo{Type: "PCI", Version: "1.1.0", Pci: &nad.PciDevice{}}, `"PCI" is none of`),
		Entry("no version", &nad.DeviceInfo{Type: "pci", Pci: &nad.PciDevice{}}, "version: missing"),
		Entry("no part", &nad.DeviceInfo{Type: "memif", Version: "1.1.0", Pci: &nad.PciDevice{}}, "memif: missing"),
	)

	Describe("are copied from the device plugin to the attachment (section 4.2.1)", func() {
		var files nad.DeviceInfoFiles
		var from, to string
		BeforeEach(func() {
			files = infoFiles()
			from = filepath.Join(files.Root, "dp", "example.com-vf-0000:01:02.2-device.json")
			to = filepath.Join(files.Root, "cni", "a")
		})

		It("byte for byte, over what was there", func() {
			const content = `{"type":"pci", "version":"1.2.0", "later":1, "pci":{"pci-address":"x"}}` + "\n"
			put(from, content)
			put(to, "of an earlier life")
			Expect(files.CopyForCNIFromDP(to, vf, vfID)).To(Succeed())
			Expect(os.ReadFile(to)).To(BeEquivalentTo(content))
		})

		It("not at all where the device plugin says nothing", func() {
			Expect(files.CopyForCNIFromDP(to, vf, vfID)).To(Succeed())
			Expect(files.Root).NotTo(BeADirectory())
		})

		It("not where the device plugin's file is malformed", func() {
			put(from, "{")
			Expect(files.CopyForCNIFromDP(to, vf, vfID)).To(MatchError(ContainSubstring(from)))
			Expect(to).NotTo(BeAnExistingFile())
		})
	})
})
