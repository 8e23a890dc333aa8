package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/utils"
)

// maxSize bounds a configuration. It is far more than what etcd keeps in one object (1.5 MiB).
const maxSize = 8 << 20

// Network is one CNI network configuration, always as a list: a single plugin's configuration becomes a list of one.
// It marshals to and from the JSON of the list. Every key of the list and of its plugins keeps its bytes and order,
// as long as the encoder does not escape for HTML.
type Network struct {
	Name         string
	CNIVersion   string // "0.1.0" where the configuration names none (CNI specification, section 1)
	DisableCheck bool
	DisableGC    bool
	Plugins      []Plugin
	object       Object // the list as given; its "plugins" stand for Plugins
	single       bool   // given as a single plugin, which the paths of faults follow
	inlined      bool   // loadOnlyInlinedPlugins
}

// ParseNetwork reads a CNI configuration list, or the configuration of a single plugin, whatever kind of file it comes
// from. One without a name gets defaultName. The Network refers to raw, which must not change afterwards. The error
// is Faults, with all of them.
func ParseNetwork(raw []byte, defaultName string) (*Network, error) {
	if len(raw) > maxSize {
		return nil, Faults{{Text: fmt.Sprintf("%d bytes long, the limit is %d", len(raw), maxSize)}}
	}
	return complete(readNetwork(&scanner{data: raw}, defaultName))
}

// complete judges a network that has been read: a plugin is needed, and no fault must have been found.
func complete(network *Network, faults Faults) (*Network, error) {
	if network != nil {
		faults = append(faults, network.checkPlugins()...)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return network, nil
}

// readNetwork is ParseNetwork without the demand for a plugin, for a list that may get its plugins from files. The
// network is nil if it is no JSON object.
func readNetwork(s *scanner, defaultName string) (*Network, Faults) {
	var faults Faults
	network := &Network{}
	err := s.wholeObject(func() error { return network.scan(s, &faults) })
	if err != nil {
		return nil, Faults{{Text: err.Error()}}
	}
	if !network.object.has("plugins") && network.object.hasAnyCase("type") {
		faults = append(faults, network.fromSingle(bytes.TrimSpace(s.data))...)
	}
	r := newReader(network.object, "", &faults)
	network.Name = r.networkName(defaultName)
	network.CNIVersion = r.versionOr("0.1.0")
	network.DisableCheck = r.looseFlag("disableCheck")
	network.DisableGC = r.looseFlag("disableGC")
	network.inlined = r.looseFlag("loadOnlyInlinedPlugins")
	if raw, given := r.raw("name"); !given || string(raw) == `""` {
		network.object.rename(network.Name)
	}
	return network, faults
}

// scan reads the members of a list, and its plugins on the way, in one pass over the text.
func (n *Network) scan(s *scanner, faults *Faults) error {
	return s.object(func(key []byte) error {
		name := unquote(key)
		s.next()
		start := s.pos
		if err := n.scanValue(name, s, faults); err != nil {
			return err
		}
		n.object.members = append(n.object.members, member{name: name, key: key, value: s.data[start:s.pos:s.pos]})
		return nil
	})
}

func (n *Network) scanValue(name string, s *scanner, faults *Faults) error {
	if name != "plugins" {
		return s.skip()
	}
	n.Plugins = nil // the last of several counts
	if s.next() != '[' {
		return s.skip()
	}
	return n.scanPlugins(s, faults)
}

func (n *Network) scanPlugins(s *scanner, faults *Faults) error {
	return s.list(func() error {
		path := index("plugins", len(n.Plugins))
		if s.next() != '{' {
			raw, err := s.raw()
			if err == nil {
				faults.add(path, "must be an object, is %s", kind(raw))
			}
			n.Plugins = append(n.Plugins, Plugin{Raw: raw})
			return err
		}
		start := s.pos
		object, err := s.members()
		if err != nil {
			return err
		}
		plugin, found := readPlugin(object, s.data[start:s.pos:s.pos], path)
		n.Plugins = append(n.Plugins, plugin)
		*faults = append(*faults, found...)
		return nil
	})
}

// fromSingle makes the list of the one plugin that was read in its place.
func (n *Network) fromSingle(raw []byte) Faults {
	plugin, faults := readPlugin(n.object, raw, "")
	r := newReader(n.object, "", &faults)
	list := Object{}
	if version, given := r.raw("cniVersion"); given {
		list.Set("cniVersion", version)
	}
	name, given := r.raw("name")
	if !given {
		name = json.RawMessage("null")
	}
	list.Set("name", name)
	list.Set("plugins", nil)
	n.object, n.Plugins, n.single = list, []Plugin{plugin}, true
	return faults
}

// checkPlugins finds fault with a list that has no plugins.
func (n *Network) checkPlugins() Faults {
	raw, given := n.object.Get("plugins")
	switch {
	case len(n.Plugins) > 0:
		return nil
	case !given:
		return Faults{{Path: "type", Text: "missing, and so is a list \"plugins\""}}
	case raw[0] != '[':
		return Faults{{Path: "plugins", Text: "must be a list, is " + kind(raw)}}
	default:
		return Faults{{Path: "plugins", Text: "must not be empty"}}
	}
}

// networkName reads the name of a network by the rules of the CNI specification, section 1.
func (r *reader) networkName(unset string) string {
	name := r.textOr("name", unset)
	if name == "" {
		r.fault("name", "missing")
	} else if err := utils.ValidateNetworkName(name); err != nil {
		r.fault("name", "%q: %s", name, err.Msg)
	}
	return name
}

// looseFlag reads a boolean that libcni accepts as text too.
func (r *reader) looseFlag(key string) bool {
	switch raw, _ := r.raw(key); strings.ToLower(string(raw)) {
	case `"true"`:
		return true
	case `"false"`:
		return false
	default:
		return r.flagOr(key, false)
	}
}

// MarshalJSON gives the list as JSON. It is faster called directly: encoding/json goes through the text again.
func (n *Network) MarshalJSON() ([]byte, error) {
	plugins := []byte{'['}
	for i, plugin := range n.Plugins {
		if i > 0 {
			plugins = append(plugins, ',')
		}
		plugins = append(plugins, plugin.Raw...)
	}
	list := n.object.Clone()
	list.Set("plugins", append(plugins, ']'))
	return list.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON wrote. There a single plugin nests two levels deeper than it was given.
func (n *Network) UnmarshalJSON(text []byte) error {
	network, err := complete(readNetwork(&scanner{data: slices.Clone(text), depth: -2}, ""))
	if err != nil {
		return err
	}
	*n = *network
	return nil
}

// Clone gives a Network that can be changed without changing n.
func (n *Network) Clone() *Network {
	clone := *n
	clone.object = n.object.Clone()
	clone.Plugins = slices.Clone(n.Plugins)
	return &clone
}

// Declares tells whether a plugin of the network declares the capability.
func (n *Network) Declares(capability string) bool {
	return slices.ContainsFunc(n.Plugins, func(p Plugin) bool { return p.Capabilities[capability] })
}

// Capabilities lists what the plugins of the network declare, in lexical order.
func (n *Network) Capabilities() []string {
	declared := map[string]bool{}
	for _, plugin := range n.Plugins {
		for capability, supported := range plugin.Capabilities {
			if supported {
				declared[capability] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(declared))
}

// Inject gives key this value in every plugin (NET-11).
func (n *Network) Inject(key string, value any) error {
	raw, err := encodeShallow(value)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return n.edit(func(plugin *Object) error {
		plugin.Set(key, raw)
		return nil
	})
}

// MergeCNIArgs adds to args.cni of every plugin, over what is there of the same keys (NET-8).
func (n *Network) MergeCNIArgs(args map[string]any) error {
	encoded := make(map[string]json.RawMessage, len(args))
	for key, value := range args {
		raw, err := encodeShallow(value)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		encoded[key] = raw
	}
	return n.edit(func(plugin *Object) error { return mergeCNIArgs(plugin, encoded) })
}

func mergeCNIArgs(plugin *Object, encoded map[string]json.RawMessage) error {
	args, err := plugin.inner("args")
	if err != nil {
		return err
	}
	cni, err := args.inner("cni")
	if err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(encoded)) {
		cni.Set(key, encoded[key])
	}
	args.Set("cni", cni.Bytes())
	plugin.Set("args", args.Bytes())
	return nil
}

// encodeShallow writes a value that goes into a plugin, args.cni at the deepest, and must not nest too deep there to be
// read again.
func encodeShallow(value any) (json.RawMessage, error) {
	raw, err := encode(value)
	if err != nil {
		return nil, err
	}
	s := scanner{data: raw, depth: 3}
	return raw, s.skip()
}

// edit changes every plugin, or none if there is a fault.
func (n *Network) edit(change func(plugin *Object) error) error {
	plugins := make([]Plugin, len(n.Plugins))
	for i, plugin := range n.Plugins {
		path := index("plugins", i)
		object := plugin.object.Clone()
		if err := change(&object); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		changed, faults := readPlugin(object, object.Bytes(), path)
		if len(faults) > 0 {
			return faults
		}
		plugins[i] = changed
	}
	n.Plugins = plugins
	return nil
}
