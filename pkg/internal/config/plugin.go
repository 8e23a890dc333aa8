package config

import (
	"encoding/json"
	"strings"

	"github.com/containernetworking/cni/pkg/types"
)

// Plugin is one plugin of a Network.
type Plugin struct {
	Type         string
	Capabilities map[string]bool
	IPAM         string          // ipam.type, empty if none
	Raw          json.RawMessage // the plugin's object as given
	object       Object          // Raw, taken apart
}

// readPlugin reads the keys of a plugin that everybody shares. They are checked here, all at once, since libcni would
// refuse them only when it comes to this plugin, with others attached already (ADD-2).
func readPlugin(object Object, raw json.RawMessage, path string) (Plugin, Faults) {
	var faults Faults
	r := newReader(object, path, &faults)
	plugin := Plugin{Capabilities: r.flags("capabilities"), Raw: raw, object: object}
	plugin.Type = r.pluginType()
	if plugin.Type == "" {
		r.fault("type", "missing")
	}
	plugin.IPAM = r.within("ipam").pluginType()
	r.within("args").within("cni") // plugins read labels and cni-args there
	r.within("prevResult")
	if raw, ok := r.raw("dns"); ok {
		if err := json.Unmarshal(raw, &types.DNS{}); err != nil {
			r.fault("dns", "%v", err)
		}
	}
	return plugin, faults
}

// pluginType reads the name of a plugin's binary (SEC-2). A second spelling of the key is refused: which of the two
// counts would depend on who reads it.
func (r *reader) pluginType() string {
	name := r.text("type")
	if name != "" {
		if reason := unusable(name); reason != "" {
			r.fault("type", "%q %s; it is the name of a file in the plugin directories", name, reason)
		}
	}
	spelled := ""
	for _, m := range r.object.members {
		if !strings.EqualFold(m.name, "type") {
			continue
		}
		if spelled != "" && spelled != m.name {
			r.fault(m.name, "given as %q too", spelled)
		}
		spelled = m.name
	}
	return name
}

// unusable tells why a name cannot be one component of a path, "" if it can.
func unusable(name string) string {
	switch {
	case name == "." || name == "..":
		return "is a directory"
	case strings.Contains(name, "/"):
		return "has a path separator"
	case strings.Contains(name, "\x00"):
		return "has a NUL byte"
	default:
		return ""
	}
}
