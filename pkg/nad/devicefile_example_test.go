package nad_test

import (
	"fmt"
	"os"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

func ExampleDeviceInfoFiles() {
	root, err := os.MkdirTemp("", "devinfo")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(root)
	files := nad.DeviceInfoFiles{Root: root} // a test; the zero value is the node's own

	info := &nad.DeviceInfo{Type: nad.DeviceInfoTypePCI, Version: nad.DeviceInfoVersion, Pci: &nad.PciDevice{PciAddress: "0000:01:02.2"}}
	if err := files.SaveForDP("example.com/vf", "0000:01:02.2", info); err != nil { // the device plugin
		fmt.Println(err)
		return
	}
	path, err := files.CNIPath("blue-n1:c1:net1")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := files.CopyForCNIFromDP(path, "example.com/vf", "0000:01:02.2"); err != nil { // who calls the CNI plugin
		fmt.Println(err)
		return
	}
	read, err := nad.LoadDeviceInfoFromCNI(path) // the CNI plugin
	fmt.Println(read.Type, read.Pci.PciAddress, err)
	// Output: pci 0000:01:02.2 <nil>
}

func ExampleDeviceInfoFiles_DPPath() {
	fmt.Println(nad.DeviceInfoFiles{}.DPPath("example.com/vf", "0000:01:02.2"))
	// Output: /var/run/k8s.cni.cncf.io/devinfo/dp/example.com-vf-0000:01:02.2-device.json <nil>
}

func ExampleSaveDeviceInfoForDP() {
	err := nad.SaveDeviceInfoForDP("example.com/vf", "0000:01:02.2", &nad.DeviceInfo{
		Type:    nad.DeviceInfoTypePCI,
		Version: nad.DeviceInfoVersion,
		Pci:     &nad.PciDevice{PciAddress: "0000:01:02.2", PfPciAddress: "0000:01:00.0"},
	})
	fmt.Println(err)
}

func ExampleLoadDeviceInfoFromDP() {
	info, err := nad.LoadDeviceInfoFromDP("example.com/vf", "0000:01:02.2")
	fmt.Println(info == nil, err) // true <nil> where the device plugin has written nothing
}

func ExampleCleanDeviceInfoForDP() {
	fmt.Println(nad.CleanDeviceInfoForDP("example.com/vf", "0000:01:02.2"))
}

func ExampleCopyDeviceInfoForCNIFromDP() {
	path, err := nad.DeviceInfoFiles{}.CNIPath("blue-n1:c1:net1")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(nad.CopyDeviceInfoForCNIFromDP(path, "example.com/vf", "0000:01:02.2"))
}

func ExampleLoadDeviceInfoFromCNI() {
	const path = "/no/such/file" // runtimeConfig.CNIDeviceInfoFile on the plugin's stdin
	info, err := nad.LoadDeviceInfoFromCNI(path)
	fmt.Println(info == nil, err)
	// Output: true <nil>
}

func ExampleSaveDeviceInfoForCNI() {
	const path = "vhost.json" // must be absolute
	err := nad.SaveDeviceInfoForCNI(path, &nad.DeviceInfo{
		Type:      nad.DeviceInfoTypeVHostUser,
		Version:   nad.DeviceInfoVersion,
		VhostUser: &nad.VhostDevice{Mode: "server", Path: "/var/run/net1/vhost.sock"},
	})
	fmt.Println(err)
	// Output: device information file: "vhost.json" is not an absolute path
}

func ExampleCleanDeviceInfoForCNI() {
	fmt.Println(nad.CleanDeviceInfoForCNI("/no/such/file"))
	// Output: <nil>
}
