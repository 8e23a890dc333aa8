package install

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
)

// self is the type under which a runtime runs us. A shim of that name is what a client of a daemon calls itself.
const (
	self = "multus"
	shim = "multus-shim"
)

// Validate judges a file as the two that read it will: the runtime, which expects the shape that the name's ending
// promises (E113), and each of our own plugins in it.
func Validate(c Configuration) error {
	network, err := config.ParseNetwork(c.Text, "")
	if err != nil {
		return err
	}
	outer, err := config.ParseObject(c.Text)
	if err != nil {
		return err
	}
	_, list := outer.Get("plugins")
	if err := checkShape(c.Name, list); err != nil {
		return err
	}
	for i, plugin := range network.Plugins {
		if plugin.Type != self {
			continue
		}
		if err := checkOurs(network, plugin, list); err != nil {
			return fmt.Errorf("plugin %d, %q: %w", i, self, err)
		}
	}
	return nil
}

func checkShape(name string, list bool) error {
	switch ending := filepath.Ext(name); ending {
	case ".conflist":
		if !list {
			return errors.New(`ending .conflist, but no list "plugins"; call it .conf`)
		}
	case ".conf", ".json":
		if list {
			return fmt.Errorf(`ending %s, but a list "plugins"; call it .conflist`, ending)
		}
	default:
		return fmt.Errorf("ending %q: a runtime reads only .conf, .conflist and .json", ending)
	}
	return nil
}

// checkOurs reads a plugin of ours as it will come on standard input: in a list it gets the list's name and version.
func checkOurs(network *config.Network, plugin config.Plugin, list bool) error {
	stdin, err := config.ParseObject(plugin.Raw)
	if err != nil {
		return err
	}
	if list {
		stdin.Set("name", []byte(encode(network.Name)))
		stdin.Set("cniVersion", []byte(encode(network.CNIVersion)))
	}
	_, err = config.Parse(stdin.Bytes(), self)
	return err
}
