package multus

import (
	"path/filepath"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// checkDeviceInfo says what keeps handDeviceInfo from its work.
func (c *call) checkDeviceInfo(attachment plan.Attachment) error {
	if attachment.Device == nil {
		return nil
	}
	_, err := c.deviceInfo.LoadFromDP(attachment.Device.Resource, attachment.Device.ID)
	return err
}

// handDeviceInfo gives the delegate what the device plugin says of the attachment's device (DEV-3).
func (c *call) handDeviceInfo(attachment plan.Attachment) error {
	path := attachment.DeviceInfoFile()
	if path == "" || attachment.Device == nil {
		return nil
	}
	return c.deviceInfo.CopyForCNIFromDP(path, attachment.Device.Resource, attachment.Device.ID)
}

// readDeviceInfo is what the device plugin or the delegate says of the attachment's device; nil if neither does.
func readDeviceInfo(attachment plan.Attachment) (*nad.DeviceInfo, error) {
	path := attachment.DeviceInfoFile()
	if path == "" {
		return nil, nil
	}
	return nad.LoadDeviceInfoFromCNI(path)
}

// removeDeviceInfo clears the attachment's file away, if we gave it one: the runtime may have given its own (NET-9).
// Nothing is held by it, so that failing must not keep a sandbox from being removed.
func (c *call) removeDeviceInfo(attachment plan.Attachment) {
	path := attachment.DeviceInfoFile()
	if ours, err := c.deviceInfo.CNIPath(filepath.Base(path)); err != nil || path != ours {
		return
	}
	if err := nad.CleanDeviceInfoForCNI(path); err != nil {
		c.log.Warn("not removed", "network", attachment.Network, "interface", attachment.Interface, "error", err)
	}
}
