package v1

import (
	"github.com/containernetworking/cni/pkg/types"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// Annotation keys; see the constants of pkg/nad.
const (
	NetworkAttachmentAnnot = nad.NetworksAnnotation
	NetworkStatusAnnot     = nad.StatusAnnotation
)

// Device information; see the constants of pkg/nad.
const (
	DeviceInfoVersion       = nad.DeviceInfoVersion
	DeviceInfoTypePCI       = nad.DeviceInfoTypePCI
	DeviceInfoTypeVDPA      = nad.DeviceInfoTypeVDPA
	DeviceInfoTypeVHostUser = nad.DeviceInfoTypeVHostUser
	DeviceInfoTypeMemif     = nad.DeviceInfoTypeMemif

	VhostDeviceModeClient = nad.VhostDeviceModeClient
	VhostDeviceModeServer = nad.VhostDeviceModeServer

	MemifDeviceRoleMaster     = nad.MemifDeviceRoleMaster
	MemifDeviceRoleSlave      = nad.MemifDeviceRoleSlave
	MemifDeviceModeEthernet   = nad.MemifDeviceModeEthernet
	MemifDeviceModeIP         = nad.MemifDeviceModeIP
	MemifDeviceModeInjectPunt = nad.MemifDeviceModeInjectPunt
)

// The types of pkg/nad, which has their documentation.
type (
	NetworkSelectionElement = nad.NetworkSelectionElement
	PortMapEntry            = nad.PortMapEntry
	BandwidthEntry          = nad.BandwidthEntry
	NetworkStatus           = nad.NetworkStatus
	DNS                     = nad.DNS
	DeviceInfo              = nad.DeviceInfo
	PciDevice               = nad.PciDevice
	VdpaDevice              = nad.VdpaDevice
	VhostDevice             = nad.VhostDevice
	MemifDevice             = nad.MemifDevice
)

// ParseNetworkAnnotation is nad.ParseNetworkAnnotation.
func ParseNetworkAnnotation(podNetworks, defaultNamespace string) ([]*NetworkSelectionElement, error) {
	return nad.ParseNetworkAnnotation(podNetworks, defaultNamespace)
}

// CreateNetworkStatus is nad.CreateNetworkStatus.
func CreateNetworkStatus(result types.Result, networkName string, defaultNetwork bool, deviceInfo *DeviceInfo) (*NetworkStatus, error) {
	return nad.CreateNetworkStatus(result, networkName, defaultNetwork, deviceInfo)
}

// CreateNetworkStatuses is nad.CreateNetworkStatuses.
func CreateNetworkStatuses(result types.Result, networkName string, defaultNetwork bool, deviceInfo *DeviceInfo) ([]*NetworkStatus, error) {
	return nad.CreateNetworkStatuses(result, networkName, defaultNetwork, deviceInfo)
}

// GetCNIConfig is nad.GetCNIConfig of the object's Definition: spec.config if it is not blank, else the file in the
// directory confDir of this machine that has the object's name. The error is nad.ErrNoConfig if there is neither.
func GetCNIConfig(network *NetworkAttachmentDefinition, confDir string) ([]byte, error) {
	return nad.GetCNIConfig(network.Definition(), confDir)
}

// GetCNIConfigFromFile is nad.GetCNIConfigFromFile.
func GetCNIConfigFromFile(name, confDir string) ([]byte, error) {
	return nad.GetCNIConfigFromFile(name, confDir)
}

// GetCNIConfigFromSpec is nad.GetCNIConfigFromSpec.
func GetCNIConfigFromSpec(configData, netName string) ([]byte, error) {
	return nad.GetCNIConfigFromSpec(configData, netName)
}

// LoadDeviceInfoFromDP is nad.LoadDeviceInfoFromDP.
func LoadDeviceInfoFromDP(resourceName, deviceID string) (*DeviceInfo, error) {
	return nad.LoadDeviceInfoFromDP(resourceName, deviceID)
}

// SaveDeviceInfoForDP is nad.SaveDeviceInfoForDP.
func SaveDeviceInfoForDP(resourceName, deviceID string, devInfo *DeviceInfo) error {
	return nad.SaveDeviceInfoForDP(resourceName, deviceID, devInfo)
}

// CleanDeviceInfoForDP is nad.CleanDeviceInfoForDP.
func CleanDeviceInfoForDP(resourceName, deviceID string) error {
	return nad.CleanDeviceInfoForDP(resourceName, deviceID)
}

// LoadDeviceInfoFromCNI is nad.LoadDeviceInfoFromCNI.
func LoadDeviceInfoFromCNI(cniPath string) (*DeviceInfo, error) {
	return nad.LoadDeviceInfoFromCNI(cniPath)
}

// SaveDeviceInfoForCNI is nad.SaveDeviceInfoForCNI.
func SaveDeviceInfoForCNI(cniPath string, devInfo *DeviceInfo) error {
	return nad.SaveDeviceInfoForCNI(cniPath, devInfo)
}

// CopyDeviceInfoForCNIFromDP is nad.CopyDeviceInfoForCNIFromDP.
func CopyDeviceInfoForCNIFromDP(cniPath, resourceName, deviceID string) error {
	return nad.CopyDeviceInfoForCNIFromDP(cniPath, resourceName, deviceID)
}

// CleanDeviceInfoForCNI is nad.CleanDeviceInfoForCNI.
func CleanDeviceInfoForCNI(cniPath string) error {
	return nad.CleanDeviceInfoForCNI(cniPath)
}
