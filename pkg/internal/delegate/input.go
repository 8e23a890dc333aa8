package delegate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
)

// stdin is the plugin's configuration: as it was given, byte for byte, with the keys that the CNI specification has
// the runtime put in (section 3).
func (s step) stdin() ([]byte, error) {
	object, err := config.ParseObject(s.plugin.Raw)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	keys := []struct {
		name  string
		value any
	}{
		{"name", s.attachment.Config.Name},
		{"cniVersion", s.attachment.Config.CNIVersion},
		{"prevResult", s.prevResultToHand()},
		{"runtimeConfig", s.runtimeConfig()},
		{"cni.dev/valid-attachments", s.validAttachments()},
		{"cni.dev/attachments", s.validAttachments()}, // as early texts of the specification call it
	}
	for _, key := range keys {
		if key.value == nil {
			continue
		}
		raw, err := encode(key.value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key.name, err)
		}
		object.Set(key.name, raw)
	}
	return object.Bytes(), nil
}

// prevResultToHand is the previous result in the configuration's version, nil if there is none. One that cannot be
// converted goes as it is, for the plugin to judge.
func (s step) prevResultToHand() any {
	if s.prevResult == nil {
		return nil
	}
	if converted, err := Convert(s.prevResult, s.attachment.Config.CNIVersion); err == nil {
		return converted
	}
	return s.prevResult
}

// runtimeConfig holds the capability arguments that the plugin declares, nil if there are none: then a runtimeConfig
// of the plugin's own configuration stays.
func (s step) runtimeConfig() any {
	declared := map[string]json.RawMessage{}
	for capability, supported := range s.plugin.Capabilities {
		if argument, given := s.attachment.CapabilityArgs[capability]; given && supported {
			declared[capability] = argument
		}
	}
	if len(declared) == 0 {
		return nil
	}
	return declared
}

func (s step) validAttachments() any {
	if s.valid == nil {
		return nil
	}
	return s.valid
}

// environ is the plugin's environment: base, with the parameters of the CNI specification, section 2.
func (s step) environ(base, path []string) []string {
	parameters := [][2]string{
		{"CNI_COMMAND", s.verb},
		{"CNI_CONTAINERID", s.sandbox.ContainerID},
		{"CNI_NETNS", s.sandbox.NetNS},
		{"CNI_IFNAME", s.attachment.Interface},
		{"CNI_ARGS", joinArgs(s.attachment.Args)},
		{"CNI_PATH", strings.Join(path, ":")},
	}
	overridden := make(map[string]bool, len(parameters))
	environ := make([]string, 0, len(base)+len(parameters))
	for _, parameter := range parameters {
		overridden[parameter[0]] = true
		environ = append(environ, parameter[0]+"="+parameter[1])
	}
	for _, variable := range base {
		if name, _, _ := strings.Cut(variable, "="); !overridden[name] {
			environ = append(environ, variable)
		}
	}
	return environ
}

func joinArgs(args [][2]string) string {
	pairs := make([]string, len(args))
	for i, arg := range args {
		pairs[i] = arg[0] + "=" + arg[1]
	}
	return strings.Join(pairs, ";")
}

// encode is json.Marshal without escaping for HTML.
func encode(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(text.Bytes()), nil
}
