package plan

import (
	"encoding/json"
	"strings"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// deviceInfoCapability hands plugins the path of a device information file (device information specification 1.1.0,
// section 5.1).
const deviceInfoCapability = "CNIDeviceInfoFile"

// maxNetworkPart bounds what the name of a file shows of the network, in bytes: it is there for people alone.
const maxNetworkPart = 64

// DeviceInfoFile is the path of the attachment's device information file, empty if it is to have none (DEV-3). It is a
// capability argument and nothing else, so that whatever keeps those knows the file too: plan and result cache.
func (a Attachment) DeviceInfoFile() string {
	var path string
	if raw, given := a.CapabilityArgs[deviceInfoCapability]; !given || json.Unmarshal(raw, &path) != nil {
		return ""
	}
	return path
}

// offerDeviceInfo gives a file to an attachment that has a device to describe, or a plugin that may describe one. What
// the runtime gave to the master stays (NET-9).
func (a *Attachment) offerDeviceInfo(files nad.DeviceInfoFiles, containerID string) error {
	if a.Device == nil && !a.Config.Declares(deviceInfoCapability) {
		return nil
	}
	if _, given := a.CapabilityArgs[deviceInfoCapability]; given {
		return nil
	}
	path, err := files.CNIPath(a.deviceInfoName(containerID))
	if err != nil {
		return err
	}
	return a.capability(deviceInfoCapability, path)
}

// deviceInfoName differs for every attachment on the node: no container has two interfaces of one name, and neither part
// can hold the colon between them.
func (a *Attachment) deviceInfoName(containerID string) string {
	return strings.Join([]string{a.Network[:min(len(a.Network), maxNetworkPart)], containerID, a.Interface}, ":")
}
