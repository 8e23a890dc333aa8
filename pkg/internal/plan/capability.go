package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// forMaster is the runtime's capability arguments without those that are meant for us (NET-9, NET-17).
func forMaster(runtimeConfig map[string]json.RawMessage) map[string]json.RawMessage {
	args := maps.Clone(runtimeConfig)
	delete(args, config.PodAnnotationsCapability)
	return args
}

// capability sets a capability argument; each plugin gets it that declares the capability.
func (a *Attachment) capability(name string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("capability %s: %w", name, err)
	}
	if a.CapabilityArgs == nil {
		a.CapabilityArgs = map[string]json.RawMessage{}
	}
	a.CapabilityArgs[name] = raw
	return nil
}

// require sets a capability argument that some plugin has to declare, since nothing else would honour it (NET-7).
func (a *Attachment) require(key, capability string, value any) error {
	if !a.Config.Declares(capability) {
		return fmt.Errorf("%s is asked for, but no plugin of the network declares capabilities.%s", key, capability)
	}
	return a.capability(capability, value)
}

// requestAddresses hands the addresses to the plugins that declare the capability "ips", else to all of them through
// CNI_ARGS, never both (NET-6).
func (a *Attachment) requestAddresses(addresses []string) error {
	if len(addresses) == 0 {
		return nil
	}
	a.Args = without(a.Args, "IP")
	if a.Config.Declares("ips") {
		return a.capability("ips", addresses)
	}
	if len(addresses) > 1 && a.leasesLocally() {
		return errors.New("ips: several addresses are asked for, which host-local takes by capability alone, but no plugin of the network declares capabilities.ips")
	}
	a.Args = with(a.Args, "IP", strings.Join(addresses, ","))
	a.mustCarry().IPs = addresses
	return nil
}

// leasesLocally finds host-local. It fails on a list in CNI_ARGS, on DEL as well: what is attached with one can never
// be detached.
func (a *Attachment) leasesLocally() bool {
	return slices.ContainsFunc(a.Config.Plugins, func(plugin config.Plugin) bool { return plugin.IPAM == "host-local" })
}

// requestMAC does for the MAC address what requestAddresses does for addresses.
func (a *Attachment) requestMAC(mac string) error {
	if mac == "" {
		return nil
	}
	a.Args = without(a.Args, "MAC")
	if a.Config.Declares("mac") {
		return a.capability("mac", mac)
	}
	a.Args = with(a.Args, "MAC", mac)
	a.mustCarry().MAC = mac
	return nil
}

func (a *Attachment) mustCarry() *Carried {
	if a.MustCarry == nil {
		a.MustCarry = &Carried{}
	}
	return a.MustCarry
}

func (a *Attachment) requestGUID(guid string) error {
	if guid == "" {
		return nil
	}
	return a.require("infiniband-guid", "infinibandGUID", guid)
}

// requestPorts adds to the ports that the runtime maps to the master (NET-9).
func (a *Attachment) requestPorts(ports []*nad.PortMapEntry) error {
	if len(ports) == 0 {
		return nil
	}
	var all []any
	if runtimes, ok := a.CapabilityArgs["portMappings"]; ok {
		if err := json.Unmarshal(runtimes, &all); err != nil {
			return fmt.Errorf("runtimeConfig.portMappings: %w", err)
		}
	}
	for _, port := range ports {
		all = append(all, port)
	}
	return a.require("portMappings", "portMappings", all)
}

func (a *Attachment) requestBandwidth(bandwidth *nad.BandwidthEntry) error {
	if bandwidth == nil {
		return nil
	}
	return a.require("bandwidth", "bandwidth", bandwidth)
}

// with adds a CNI_ARGS entry. Plugins refuse entries that they do not know unless told otherwise.
func with(args [][2]string, key, value string) [][2]string {
	args = append(slices.Clone(args), [2]string{key, value})
	if !slices.ContainsFunc(args, func(arg [2]string) bool { return arg[0] == "IgnoreUnknown" }) {
		args = append(args, [2]string{"IgnoreUnknown", "1"})
	}
	return args
}

// without drops the CNI_ARGS entries of these keys.
func without(args [][2]string, keys ...string) [][2]string {
	return slices.DeleteFunc(slices.Clone(args), func(arg [2]string) bool { return slices.Contains(keys, arg[0]) })
}
