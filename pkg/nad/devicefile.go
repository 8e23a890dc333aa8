package nad

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// DefaultDeviceInfoRoot is where a node has its device information files (device information specification 1.1.0,
// section 4).
const DefaultDeviceInfoRoot = "/var/run/k8s.cni.cncf.io/devinfo"

// maxDeviceInfo bounds what is read of a device information file, in bytes. Real ones have a few hundred.
const maxDeviceInfo = 64 << 10

// DeviceInfoFiles is a tree of device information files. The zero value is the node's own.
type DeviceInfoFiles struct {
	// Root is the directory with the directories "dp" and "cni"; empty: DefaultDeviceInfoRoot.
	Root string
}

func (f DeviceInfoFiles) root() string {
	if f.Root == "" {
		return DefaultDeviceInfoRoot
	}
	return f.Root
}

// DPPath is the path of the file that a device plugin writes for one of its devices (section 4.1): resourceName as in a
// NAD's annotation ("example.com/vf"), deviceID as in the kubelet's answers. A "/" in either becomes a "-". The error
// says that they make no file name.
func (f DeviceInfoFiles) DPPath(resourceName, deviceID string) (string, error) {
	if resourceName == "" {
		return "", fmt.Errorf("resource name: %w", errEmpty)
	}
	if deviceID == "" {
		return "", fmt.Errorf("device ID: %w", errEmpty)
	}
	name := strings.ReplaceAll(resourceName+"-"+deviceID, "/", "-") + "-device.json"
	if err := ValidatePathElement(name); err != nil {
		return "", fmt.Errorf("device information file: %w", err)
	}
	return filepath.Join(f.root(), "dp", name), nil
}

// CNIPath is the path of the file of one attachment (section 4.2). The name is the caller's choice, and has to differ
// from that of every other attachment on the node. A "/" in it becomes a "-". The error says that it is no file name.
func (f DeviceInfoFiles) CNIPath(name string) (string, error) {
	name = strings.ReplaceAll(name, "/", "-")
	if err := ValidatePathElement(name); err != nil {
		return "", fmt.Errorf("device information file: %w", err)
	}
	return filepath.Join(f.root(), "cni", name), nil
}

// LoadFromDP reads what the device plugin says of a device, as DPPath finds it: nil if it says nothing. The error tells
// the file, and what is wrong with it.
func (f DeviceInfoFiles) LoadFromDP(resourceName, deviceID string) (*DeviceInfo, error) {
	path, err := f.DPPath(resourceName, deviceID)
	if err != nil {
		return nil, err
	}
	return LoadDeviceInfoFromCNI(path)
}

// SaveForDP writes a device plugin's file for a device, in place of an earlier one. It is what SaveDeviceInfoForCNI is
// at a path of its own.
func (f DeviceInfoFiles) SaveForDP(resourceName, deviceID string, info *DeviceInfo) error {
	path, err := f.DPPath(resourceName, deviceID)
	if err != nil {
		return err
	}
	return SaveDeviceInfoForCNI(path, info)
}

// CleanForDP removes a device plugin's file. That there is none is no error.
func (f DeviceInfoFiles) CleanForDP(resourceName, deviceID string) error {
	path, err := f.DPPath(resourceName, deviceID)
	if err != nil {
		return err
	}
	return CleanDeviceInfoForCNI(path)
}

// CopyForCNIFromDP copies a device plugin's file, byte for byte, to the absolute path cniPath (section 4.2.1), in place
// of what is there. Without a file of the device plugin it does nothing. One that LoadFromDP refuses is not copied.
func (f DeviceInfoFiles) CopyForCNIFromDP(cniPath, resourceName, deviceID string) error {
	path, err := f.DPPath(resourceName, deviceID)
	if err != nil {
		return err
	}
	raw, err := readDeviceInfo(path)
	if raw == nil || err != nil {
		return err
	}
	if _, err := parseDeviceInfo(path, raw); err != nil {
		return err
	}
	return replaceDeviceInfo(cniPath, raw)
}

// LoadDeviceInfoFromDP is DeviceInfoFiles.LoadFromDP in the node's own tree.
func LoadDeviceInfoFromDP(resourceName, deviceID string) (*DeviceInfo, error) {
	return DeviceInfoFiles{}.LoadFromDP(resourceName, deviceID)
}

// SaveDeviceInfoForDP is DeviceInfoFiles.SaveForDP in the node's own tree.
func SaveDeviceInfoForDP(resourceName, deviceID string, info *DeviceInfo) error {
	return DeviceInfoFiles{}.SaveForDP(resourceName, deviceID, info)
}

// CleanDeviceInfoForDP is DeviceInfoFiles.CleanForDP in the node's own tree.
func CleanDeviceInfoForDP(resourceName, deviceID string) error {
	return DeviceInfoFiles{}.CleanForDP(resourceName, deviceID)
}

// CopyDeviceInfoForCNIFromDP is DeviceInfoFiles.CopyForCNIFromDP from the node's own tree.
func CopyDeviceInfoForCNIFromDP(cniPath, resourceName, deviceID string) error {
	return DeviceInfoFiles{}.CopyForCNIFromDP(cniPath, resourceName, deviceID)
}

// LoadDeviceInfoFromCNI reads the device information file of an attachment: nil if there is none. cniPath is absolute,
// for a plugin the value of its capability argument CNIDeviceInfoFile (section 5.1).
//
// The content is one JSON object with "type" and "version"; for the types of the specification also the part that the
// type names. A type that is not known here is kept without its part. The error tells the file and what is wrong with it:
// also a file of more than 64 KiB, and what is no regular file.
func LoadDeviceInfoFromCNI(cniPath string) (*DeviceInfo, error) {
	raw, err := readDeviceInfo(cniPath)
	if raw == nil || err != nil {
		return nil, err
	}
	return parseDeviceInfo(cniPath, raw)
}

// SaveDeviceInfoForCNI writes the device information file of an attachment as a whole or not at all, in place of an
// earlier one. cniPath is absolute; its directory is made if it is missing (mode 0755), the file has mode 0600. Nobody
// else may write the same file at the same time. It refuses what does not follow the specification: an unknown type,
// no version, no part for the type.
func SaveDeviceInfoForCNI(cniPath string, info *DeviceInfo) error {
	if info == nil {
		return errors.New("device information: nil")
	}
	if err := info.check(); err != nil {
		return fmt.Errorf("device information: %w", err)
	}
	if !info.isKnown() {
		return fmt.Errorf("device information: type: %s is none of pci, vdpa, vhost-user, memif", quote(info.Type))
	}
	raw, err := json.Marshal(info)
	if err != nil {
		return fmt.Errorf("device information: %w", err)
	}
	return replaceDeviceInfo(cniPath, raw)
}

// CleanDeviceInfoForCNI removes the device information file of an attachment, at an absolute path. That there is none is
// no error.
func CleanDeviceInfoForCNI(cniPath string) error {
	if err := checkDeviceInfoPath(cniPath); err != nil {
		return err
	}
	for _, path := range []string{draftOf(cniPath), cniPath} {
		// Not os.Remove, which takes directories too.
		if err := syscall.Unlink(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("device information file: %w", &fs.PathError{Op: "unlink", Path: path, Err: err})
		}
	}
	return nil
}

func parseDeviceInfo(path string, raw []byte) (*DeviceInfo, error) {
	var info *DeviceInfo
	err := json.Unmarshal(raw, &info)
	switch {
	case err != nil:
		err = newSource(string(raw)).located(err)
	case info == nil:
		err = errors.New("must be an object, is null")
	default:
		err = info.check()
	}
	if err != nil {
		return nil, fmt.Errorf("device information file %s: %w", path, err)
	}
	return info, nil
}

// check holds what the specification requires of every type (section 3.1).
func (d *DeviceInfo) check() error {
	switch {
	case d.Type == "":
		return errors.New("type: missing")
	case d.Version == "":
		return errors.New("version: missing")
	case d.isKnown() && !d.hasPart():
		return fmt.Errorf("%s: missing, and the type says so", d.Type)
	default:
		return nil
	}
}

func (d *DeviceInfo) isKnown() bool {
	switch d.Type {
	case DeviceInfoTypePCI, DeviceInfoTypeVDPA, DeviceInfoTypeVHostUser, DeviceInfoTypeMemif:
		return true
	default:
		return false
	}
}

// hasPart says that the part which the type names is there.
func (d *DeviceInfo) hasPart() bool {
	return d.Type == DeviceInfoTypePCI && d.Pci != nil || d.Type == DeviceInfoTypeVDPA && d.Vdpa != nil ||
		d.Type == DeviceInfoTypeVHostUser && d.VhostUser != nil || d.Type == DeviceInfoTypeMemif && d.Memif != nil
}

// checkDeviceInfoPath keeps files from landing in whatever directory the process runs in.
func checkDeviceInfoPath(path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("device information file: %s is not an absolute path", quote(path))
	}
	return nil
}

// readDeviceInfo gives the content of a file, not nil; nil if there is no file.
func readDeviceInfo(path string) ([]byte, error) {
	if err := checkDeviceInfoPath(path); err != nil {
		return nil, err
	}
	raw, err := readSmallFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("device information file: %w", err)
	}
	return raw, nil
}

func readSmallFile(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a FIFO would block
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxDeviceInfo+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxDeviceInfo {
		return nil, fmt.Errorf("%s: larger than %d bytes", path, maxDeviceInfo)
	}
	return raw, nil
}

// draftOf is the temporary file of a device information file: always the same one, so that removing the file clears away
// what a killed writer has left.
func draftOf(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path))
}

// replaceDeviceInfo does not wait for the disk: after a power cut the devices are given out anew.
func replaceDeviceInfo(path string, raw []byte) error {
	if err := checkDeviceInfoPath(path); err != nil {
		return err
	}
	draft := draftOf(path)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(draft, raw, 0o600)
	}
	if err == nil {
		err = os.Rename(draft, path)
	}
	if err != nil {
		_ = os.Remove(draft) // it need not be there
		return fmt.Errorf("device information file: %w", err)
	}
	return nil
}
