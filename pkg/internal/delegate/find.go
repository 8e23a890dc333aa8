package delegate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/types"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// Find gives the path of a plugin's binary: the first regular file of that name in the Runner's Path. The error is a
// *types.Error that names where it looked (E134).
func (r Runner) Find(plugin string) (string, error) {
	if err := nad.ValidatePathElement(plugin); err != nil {
		return "", notUsable(fmt.Sprintf("plugin type %q: %v", plugin, err)) // SEC-2
	}
	return r.exec().FindInPath(plugin, r.Path)
}

// FindInPath is a part of invoke.Exec.
func (*processes) FindInPath(plugin string, path []string) (string, error) {
	for _, dir := range path {
		file := filepath.Join(dir, plugin)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file, nil
		}
	}
	return "", notUsable(notFound(plugin, path))
}

func notFound(plugin string, path []string) string {
	if len(path) == 0 {
		return fmt.Sprintf("plugin %q not found: no directory to search", plugin)
	}
	text := fmt.Sprintf("%q not found in %s", plugin, strings.Join(path, ", "))
	if isReferencePlugin(plugin) {
		text += "; install the reference plugins (containernetworking/plugins)"
	}
	return text
}

// isReferencePlugin tells of the names that users often think we install.
func isReferencePlugin(plugin string) bool {
	return slices.Contains([]string{
		"bandwidth", "bridge", "dhcp", "dummy", "firewall", "host-device", "host-local", "ipvlan", "loopback", "macvlan",
		"portmap", "ptp", "sbr", "static", "tap", "tuning", "vlan", "vrf",
	}, plugin)
}

// notUsable keeps nil out of an error interface.
func notUsable(text string) error {
	return types.NewError(types.ErrInvalidNetworkConfig, text, "")
}
