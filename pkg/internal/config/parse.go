package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/containernetworking/cni/pkg/types"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/logging"
)

// Parse reads our configuration as it comes on stdin. self is the base name of our executable, which must not be a
// delegate (CONF-3). The error is Faults, with all of them. The Config is nil only if stdin holds no JSON object; else
// each value that is at fault has its default in it, and a delegate that is at fault is left out.
func Parse(stdin []byte, self string) (*Config, error) {
	if len(stdin) > maxSize {
		return nil, Faults{{Text: fmt.Sprintf("configuration: %d bytes long, the limit is %d", len(stdin), maxSize)}}
	}
	object, err := ParseObject(stdin)
	if err != nil {
		return nil, Faults{{Text: "configuration: " + err.Error()}}
	}
	var faults Faults
	r := newReader(object, "", &faults)
	cfg := r.config()
	rotation := r.within("logOptions")
	cfg.Logging = r.logging(rotation)
	if cfg.ClusterNetwork == "" {
		cfg.Delegates = r.delegates(cfg.Name, self)
	}
	r.check(cfg)
	cfg.Warnings = append(r.warnings(cfg), unknown(r, rotation)...)
	return cfg, faults.err()
}

func (r *reader) config() *Config {
	return &Config{
		CNIVersion:             r.supported("cniVersion", r.textOr("cniVersion", "0.1.0")),
		Name:                   r.text("name"),
		Capabilities:           r.flags("capabilities"),
		PrevResult:             r.objectText("prevResult"),
		ConfDir:                r.textOr("confDir", "/etc/cni/multus/net.d"),
		CNIDir:                 r.textOr("cniDir", "/var/lib/cni/multus"),
		BinDir:                 r.textOr("binDir", "/opt/cni/bin"),
		Kubeconfig:             r.text("kubeconfig"),
		KubeletDir:             r.textOr("kubeletDir", "/var/lib/kubelet"),
		ClusterNetwork:         r.text("clusterNetwork"),
		DefaultNetworks:        r.textsOr("defaultNetworks", nil),
		MultusNamespace:        r.textOr("multusNamespace", "kube-system"),
		SystemNamespaces:       r.textsOr("systemNamespaces", []string{"kube-system"}),
		NamespaceIsolation:     r.flagOr("namespaceIsolation", false),
		GlobalNamespaces:       r.commaListOr("globalNamespaces", []string{"default"}),
		AuxiliaryCNIChainName:  r.text("auxiliaryCNIChainName"),
		ReadinessIndicatorFile: r.text("readinessindicatorfile"),
		RuntimeConfig:          r.values("runtimeConfig"),
		ValidAttachments:       r.validAttachments("cni.dev/attachments", "cni.dev/valid-attachments"),
	}
}

func (r *reader) logging(rotation *reader) logging.Options {
	options := logging.Options{
		Level:  strings.ToLower(r.textOr("logLevel", "panic")),
		File:   r.text("logFile"),
		Stderr: r.flagOr("logToStderr", true),
		Rotation: logging.Rotation{
			MaxAge:     rotation.countOr("maxAge", 5),
			MaxSize:    rotation.countOr("maxSize", 100),
			MaxBackups: rotation.countOr("maxBackups", 5),
			Compress:   rotation.flagOr("compress", true),
		},
	}
	if _, err := logging.Threshold(options.Level); err != nil {
		r.fault("logLevel", "%v", err)
		options.Level = "panic"
	}
	return options
}

// delegates reads the networks that are written out in our own configuration.
func (r *reader) delegates(defaultName, self string) []*Network {
	elements := r.elements("delegates")
	if raw, given := r.raw("delegates"); !given || raw[0] == '[' && len(elements) == 0 {
		r.fault("delegates", "missing; one of delegates, clusterNetwork is needed")
	}
	var networks []*Network
	for i, raw := range elements {
		network, faults := readDelegate(raw, defaultName, self)
		if len(faults) > 0 {
			*r.faults = append(*r.faults, faults.under(index("delegates", i))...)
			continue
		}
		networks = append(networks, network)
	}
	return networks
}

func (r *reader) commaListOr(key string, unset []string) []string {
	items := strings.FieldsFunc(r.text(key), func(c rune) bool { return c == ',' || c == ' ' || c == '\t' || c == '\n' })
	if len(items) == 0 {
		return unset
	}
	return items
}

// objectText gives an object as it is written; nil if there is none.
func (r *reader) objectText(key string) json.RawMessage {
	raw, ok := r.raw(key)
	if !ok {
		return nil
	}
	if raw[0] != '{' {
		r.wrong(key, "an object", raw)
		return nil
	}
	return raw
}

// values gives the members of an object as they are written.
func (r *reader) values(key string) map[string]json.RawMessage {
	members := r.within(key).object.members
	if len(members) == 0 {
		return nil
	}
	values := make(map[string]json.RawMessage, len(members))
	for _, m := range members {
		values[m.name] = m.value
	}
	return values
}

// validAttachments reads the list of a GC, under the last of the keys that is given (CNI specification, section 2). null
// is an empty list: the CNI library writes it for a node without pods.
func (r *reader) validAttachments(keys ...string) []types.GCAttachment {
	var valid []types.GCAttachment
	for _, key := range keys {
		if raw, _ := r.raw(key); raw == nil {
			continue
		}
		valid = []types.GCAttachment{}
		for i, raw := range r.elements(key) {
			valid = append(valid, r.validAttachment(index(key, i), raw))
		}
	}
	return valid
}

func (r *reader) validAttachment(key string, raw json.RawMessage) types.GCAttachment {
	attachment := types.GCAttachment{}
	if raw[0] != '{' {
		r.wrong(key, "an object", raw)
	} else if err := json.Unmarshal(raw, &attachment); err != nil || attachment.ContainerID == "" {
		r.fault(key, "must have containerID and ifname, both strings")
	}
	return attachment
}
