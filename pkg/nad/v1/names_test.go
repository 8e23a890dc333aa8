package v1_test

import (
	"os"
	"path/filepath"

	types100 "github.com/containernetworking/cni/pkg/types/100"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
	nadv1 "github.com/seed-2ba21eab/multus-cni/pkg/nad/v1"
)

// outcome is what a function returns, with the error as text.
type outcome struct {
	value any
	err   string
}

func of(value any, err error) outcome {
	if err != nil {
		return outcome{value, err.Error()}
	}
	return outcome{value: value}
}

func only(err error) outcome { return of(nil, err) }

var _ = Describe("the functions that nad has too", func() {
	It("do the same: selections and statuses", func() {
		Expect(of(nadv1.ParseNetworkAnnotation("a, c/b", "blue"))).To(Equal(of(nad.ParseNetworkAnnotation("a, c/b", "blue"))))
		result := &types100.Result{Interfaces: []*types100.Interface{{Name: "a", Sandbox: "/ns"}, {Name: "b", Sandbox: "/ns"}}}
		device := &nad.DeviceInfo{Type: nad.DeviceInfoTypePCI}
		Expect(of(nadv1.CreateNetworkStatus(result, "n1", true, device))).To(Equal(of(nad.CreateNetworkStatus(result, "n1", true, device))))
		Expect(of(nadv1.CreateNetworkStatuses(result, "n1", true, device))).To(Equal(of(nad.CreateNetworkStatuses(result, "n1", true, device))))
	})

	It("do the same: configurations", func() {
		dir := GinkgoT().TempDir()
		Expect(os.WriteFile(filepath.Join(dir, "a.conf"), []byte(`{"name":"n1"}`), 0o600)).To(Succeed())
		Expect(nadv1.GetCNIConfigFromFile("n1", dir)).To(MatchJSON(`{"name":"n1"}`))
		Expect(nadv1.GetCNIConfigFromSpec(`{}`, "n1")).To(MatchJSON(`{"name":"n1"}`))
	})

	It("do the same: device information of an attachment", func() {
		path := filepath.Join(GinkgoT().TempDir(), "a")
		device := &nad.DeviceInfo{Type: nad.DeviceInfoTypePCI, Version: nad.DeviceInfoVersion, Pci: &nad.PciDevice{PciAddress: "0000:01:02.2"}}
		Expect(nadv1.SaveDeviceInfoForCNI(path, device)).To(Succeed())
		Expect(nadv1.LoadDeviceInfoFromCNI(path)).To(Equal(device))
		Expect(nadv1.CleanDeviceInfoForCNI(path)).To(Succeed())
		Expect(path).NotTo(BeAnExistingFile())
	})

	// These work on the node's own files: shown is how they refuse, which names the argument.
	DescribeTable("do the same: device information of a device plugin",
		func(resource, device string) {
			Expect(of(nadv1.LoadDeviceInfoFromDP(resource, device))).To(Equal(of(nad.LoadDeviceInfoFromDP(resource, device))))
			Expect(only(nadv1.SaveDeviceInfoForDP(resource, device, nil))).To(Equal(only(nad.SaveDeviceInfoForDP(resource, device, nil))))
			Expect(only(nadv1.CleanDeviceInfoForDP(resource, device))).To(Equal(only(nad.CleanDeviceInfoForDP(resource, device))))
			Expect(only(nadv1.CopyDeviceInfoForCNIFromDP("/a", resource, device))).To(Equal(only(nad.CopyDeviceInfoForCNIFromDP("/a", resource, device))))
			Expect(nadv1.CleanDeviceInfoForDP(resource, device)).NotTo(Succeed())
		},
		Entry("without resource", "", "d"),
		Entry("without device", "example.com/vf", ""),
		Entry("that make no file name", "example.com/vf", "\x00"),
	)
})
