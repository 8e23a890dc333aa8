package config

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/containernetworking/cni/libcni"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// Load reads the network of a path: of a file, or of the first configuration file of a directory in lexical order
// (CONF-5).
func Load(path string) (*Network, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return FirstInDir(path)
	}
	return LoadFile(path)
}

// FirstInDir reads the first configuration file of a directory in lexical order. The error is nad.ErrNoConfig if
// there is none.
func FirstInDir(dir string) (*Network, error) {
	files, err := libcni.ConfFiles(dir, []string{".conf", ".conflist", ".json"})
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w (.conf, .conflist, .json)", dir, nad.ErrNoConfig)
	}
	return LoadFile(slices.Min(files))
}

// LoadFile reads a configuration file, list or single plugin, whatever its name says (E113). A list gets the plugins
// of <directory>/<list name>/*.conf in addition to its own, unless it says loadOnlyInlinedPlugins (CONF-7).
func LoadFile(path string) (*Network, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return fromFile(raw, path, "")
}

// ByName reads the configuration in dir whose JSON name is the given one (CONF-6), as LoadFile does. The warnings name
// the files that could not be read on the way; the error is nad.ErrNoConfig if there is no such name.
func ByName(dir, name string) (*Network, []string, error) {
	raw, path, warnings, err := nad.NamedConfig(dir, name)
	if err != nil {
		return nil, warnings, err
	}
	network, err := fromFile(raw, path, name)
	return network, warnings, err
}

// LoadChain makes a network of the plugins in <dir>/<name>/*.conf, in lexical order; nil if there are none.
func LoadChain(dir, name, cniVersion string) (*Network, error) {
	list := Object{}
	list.Set("cniVersion", quote(cniVersion))
	list.Set("name", quote(name))
	network, faults := readNetwork(&scanner{data: list.Bytes()}, "")
	if len(faults) > 0 {
		return nil, faults
	}
	if err := network.pullIn(filepath.Join(dir, name)); err != nil || len(network.Plugins) == 0 {
		return nil, err
	}
	return network, nil
}

func fromFile(raw []byte, path, defaultName string) (*Network, error) {
	if len(raw) > maxSize {
		return nil, fmt.Errorf("%s: %d bytes long, the limit is %d", path, len(raw), maxSize)
	}
	network, faults := readNetwork(&scanner{data: raw}, defaultName)
	if len(faults) == 0 && !network.single && !network.inlined {
		if err := network.pullIn(filepath.Join(filepath.Dir(path), network.Name)); err != nil {
			return nil, err
		}
	}
	network, err := complete(network, faults)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return network, nil
}

// pullIn adds the plugins of the .conf files in dir, in lexical order.
func (n *Network) pullIn(dir string) error {
	files, err := libcni.ConfFiles(dir, []string{".conf"})
	if err != nil {
		return err
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		object, err := ParseObject(raw)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		plugin, faults := readPlugin(object, bytes.TrimSpace(raw), "")
		if len(faults) > 0 {
			return fmt.Errorf("%s: %w", file, faults)
		}
		n.Plugins = append(n.Plugins, plugin)
	}
	return nil
}
