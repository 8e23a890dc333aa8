package nad

// DeviceInfoVersion is the version of the NPWG device information specification that DeviceInfo follows.
const DeviceInfoVersion = "1.1.0"

// Types of a device (device information specification 1.1.0, section 3.1.1).
const (
	DeviceInfoTypePCI       = "pci"
	DeviceInfoTypeVDPA      = "vdpa"
	DeviceInfoTypeVHostUser = "vhost-user"
	DeviceInfoTypeMemif     = "memif"
)

// Values of VhostDevice.Mode (section 3.1.5).
const (
	VhostDeviceModeClient = "client"
	VhostDeviceModeServer = "server"
)

// Values of MemifDevice.Role and MemifDevice.Mode (section 3.1.6).
const (
	MemifDeviceRoleMaster     = "master"
	MemifDeviceRoleSlave      = "slave"
	MemifDeviceModeEthernet   = "ethernet"
	MemifDeviceModeIP         = "ip"
	MemifDeviceModeInjectPunt = "inject-punt"
)

// DeviceInfo describes the device behind an attachment: the content of a device information file, and of "device-info"
// in a network-status (device information specification 1.1.0, section 3). The field that Type names is set, the others
// are nil.
type DeviceInfo struct {
	// Type is one of the DeviceInfoType constants.
	Type string `json:"type"`
	// Version of the specification that the writer follows.
	Version   string       `json:"version"`
	Pci       *PciDevice   `json:"pci,omitempty"`
	Vdpa      *VdpaDevice  `json:"vdpa,omitempty"`
	VhostUser *VhostDevice `json:"vhost-user,omitempty"`
	Memif     *MemifDevice `json:"memif,omitempty"`
}

// PciDevice is a PCI device (section 3.1.3). Addresses have the form "dddd:BB:DD.f".
type PciDevice struct {
	PciAddress string `json:"pci-address"`
	// Vhostnet is the path of the vhost-net character device.
	Vhostnet   string `json:"vhost-net,omitempty"`
	RdmaDevice string `json:"rdma-device,omitempty"`
	// PfPciAddress is the address of the physical function.
	PfPciAddress      string `json:"pf-pci-address,omitempty"`
	RepresentorDevice string `json:"representor-device,omitempty"`
}

// VdpaDevice is a vDPA device (section 3.1.4).
type VdpaDevice struct {
	// ParentDevice is the name in /sys/bus/vdpa/devices.
	ParentDevice string `json:"parent-device"`
	// Driver is "vhost" or "virtio".
	Driver string `json:"driver"`
	// Path of the vhost or virtio device.
	Path              string `json:"path"`
	PciAddress        string `json:"pci-address,omitempty"`
	PfPciAddress      string `json:"pf-pci-address,omitempty"`
	RepresentorDevice string `json:"representor-device,omitempty"`
}

// VhostDevice is a vhost-user socket (section 3.1.5).
type VhostDevice struct {
	// Mode is "client" or "server", as the application in the container sees it.
	Mode string `json:"mode"`
	Path string `json:"path"`
}

// MemifDevice is a memif socket (section 3.1.6).
type MemifDevice struct {
	// Role is "master" or "slave", as the application in the container sees it.
	Role string `json:"role"`
	Path string `json:"path"`
	// Mode is "ethernet", "ip" or "inject-punt".
	Mode string `json:"mode"`
}
