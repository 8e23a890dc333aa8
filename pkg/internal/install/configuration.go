package install

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/containernetworking/cni/pkg/version"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
)

const (
	defaultName    = "multus-cni-network"
	defaultVersion = "1.0.0"
	firstList      = "1.0.0" // from here on the specification knows lists only
)

// Options is what can be asked of a generated configuration. What is empty is left out, so that the default holds.
type Options struct {
	CNIVersion             string
	Kubeconfig             string // as the node sees it
	ConfDir                string
	BinDir                 string
	NamespaceIsolation     bool
	GlobalNamespaces       string // comma-separated
	LogFile                string
	LogLevel               string
	QuietStderr            bool // no log to standard error
	ReadinessIndicatorFile string
	OverrideNetworkName    bool // take the master's name
}

// Configuration is a file for the runtime's configuration directory.
type Configuration struct {
	Name string // of the file, without directory
	Text []byte
}

// Configure makes the configuration that attaches the master by way of us (ENT-4, ENT-5). The master's own stands in
// it byte for byte. The result has been read again, so a fault here is one of the options.
func Configure(o Options, m *Master) (Configuration, error) {
	members := o.plugin(m)
	made := Configuration{Name: "00-multus.conf"}
	outer := []member{{"cniVersion", o.version(m)}, {"name", o.name(m)}}
	if list, err := version.GreaterThanOrEqualTo(o.version(m), firstList); err != nil {
		return Configuration{}, fmt.Errorf("cniVersion: %w", err)
	} else if list {
		made.Name = "00-multus.conflist"
		plugin := object("    ", members)
		made.Text = object("", append(outer, member{"plugins", verbatim("[\n    " + string(plugin) + "\n  ]")}))
	} else {
		made.Text = object("", append(outer, members...))
	}
	if err := Validate(made); err != nil {
		return Configuration{}, err
	}
	return made, nil
}

func (o Options) version(m *Master) string {
	for _, choice := range []string{o.CNIVersion, m.version} {
		if choice != "" {
			return choice
		}
	}
	return defaultVersion
}

func (o Options) name(m *Master) string {
	if o.OverrideNetworkName {
		return m.network.Name
	}
	return defaultName
}

// plugin lists the keys of our own plugin, the master last since it is the longest.
func (o Options) plugin(m *Master) []member {
	members := []member{{"type", "multus"}, {"capabilities", capabilities(m)}}
	for _, text := range []member{
		{"kubeconfig", o.Kubeconfig},
		{"confDir", o.ConfDir},
		{"binDir", o.BinDir},
		{"globalNamespaces", o.GlobalNamespaces},
		{"logFile", o.LogFile},
		{"logLevel", o.LogLevel},
		{"readinessindicatorfile", o.ReadinessIndicatorFile},
	} {
		if text.value != "" {
			members = append(members, text)
		}
	}
	if o.NamespaceIsolation {
		members = append(members, member{"namespaceIsolation", true})
	}
	if o.QuietStderr {
		members = append(members, member{"logToStderr", false})
	}
	return append(members, member{"delegates", verbatim("[" + string(m.raw) + "]")})
}

// capabilities repeats what the master's plugins declare, since a runtime looks at the outermost configuration alone
// (E092), and adds the one by which we get the pod's annotations (NET-17).
func capabilities(m *Master) map[string]bool {
	all := map[string]bool{config.PodAnnotationsCapability: true}
	for _, capability := range m.network.Capabilities() {
		all[capability] = true
	}
	return all
}

type member struct {
	key   string
	value any
}

// verbatim is a value that is JSON already.
type verbatim string

// object writes a member a line. encoding/json would compact the master's text.
func object(indent string, members []member) []byte {
	var text bytes.Buffer
	for i, m := range members {
		separator := ",\n"
		if i == 0 {
			separator = "{\n"
		}
		fmt.Fprintf(&text, "%s%s  %q: %s", separator, indent, m.key, encode(m.value))
	}
	fmt.Fprintf(&text, "\n%s}", indent)
	return text.Bytes()
}

// encode writes a value without escapes for HTML.
func encode(value any) string {
	if text, ok := value.(verbatim); ok {
		return string(text)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(err) // strings, booleans and maps of them always encode
	}
	return string(bytes.TrimSpace(text.Bytes()))
}
