package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
)

// legacyDelegate is one element of a plan that Multus v3 or v4 wrote. encoding/json takes its keys in any letter case,
// which differs between their releases.
type legacyDelegate struct {
	Bytes    []byte          `json:"bytes"` // the configuration as it was given to the delegate
	ConfList json.RawMessage `json:"confList"`
	Conf     json.RawMessage `json:"conf"`

	Name         string `json:"name"`
	MasterPlugin bool   `json:"masterPlugin"`

	Interface string          `json:"ifnameRequest"`
	IPs       texts           `json:"ipRequest"`
	MAC       string          `json:"macRequest"`
	GUID      string          `json:"infinibandGUIDRequest"`
	Ports     json.RawMessage `json:"portMappingsRequest"`
	Bandwidth json.RawMessage `json:"bandwidthRequest"`
	DeviceID  string          `json:"deviceID"`
	Device    string          `json:"deviceIDRequest"`

	CNIArgs map[string]json.RawMessage `json:"cniArgs"`
}

// texts is a list of texts, or a single one as in early releases.
type texts []string

// UnmarshalJSON takes both forms.
func (t *texts) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		if one != "" {
			*t = texts{one}
		}
		return nil
	}
	return json.Unmarshal(raw, (*[]string)(t))
}

// decodeLegacy makes a plan of one that Multus v3 or v4 wrote (DEL-8).
func decodeLegacy(text []byte, box plan.Sandbox) (*plan.Plan, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("the file is empty")
	}
	var delegates []*legacyDelegate
	if err := json.Unmarshal(text, &delegates); err != nil {
		return nil, err
	}
	if box.Interface == "" {
		box.Interface = "eth0" // where nobody knows (GC): what all of Kubernetes' runtimes ask for
	}
	decoded := &plan.Plan{Sandbox: box}
	master := max(0, slices.IndexFunc(delegates, func(d *legacyDelegate) bool { return d != nil && d.MasterPlugin }))
	for i, delegate := range delegates {
		if delegate == nil {
			return nil, fmt.Errorf("[%d]: is null", i)
		}
		attachment, err := delegate.attachment(box, i, i == master)
		if err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
		decoded.Attachments = append(decoded.Attachments, *attachment)
	}
	return decoded, validate(decoded)
}

func (d *legacyDelegate) attachment(box plan.Sandbox, i int, isMaster bool) (*plan.Attachment, error) {
	network, err := d.config()
	if err != nil {
		return nil, err
	}
	if err := mergeCNIArgs(network, d.CNIArgs); err != nil {
		return nil, fmt.Errorf("cniArgs: %w", err)
	}
	attachment := &plan.Attachment{
		Network:        d.network(network),
		Interface:      d.Interface,
		Config:         network,
		Args:           slices.Clone(box.Args),
		CapabilityArgs: d.capabilityArgs(),
	}
	switch {
	case d.Interface != "":
	case isMaster:
		attachment.Interface = box.Interface
	default:
		attachment.Interface = fmt.Sprintf("net%d", i)
	}
	if !isMaster {
		attachment.Args = without(attachment.Args, "IP", "MAC") // NET-9
	}
	requestByArgs(attachment, "ips", "IP", strings.Join(d.IPs, ","))
	requestByArgs(attachment, "mac", "MAC", d.MAC)
	return attachment, nil
}

// config reads the delegate's configuration: the bytes that it was given, if they are there, since the two others hold
// no keys but those that Multus knew.
func (d *legacyDelegate) config() (*config.Network, error) {
	var faults []error
	for _, raw := range [][]byte{d.Bytes, d.ConfList, d.Conf} {
		if len(raw) == 0 || string(raw) == "null" {
			continue
		}
		network, err := config.ParseNetwork(raw, path.Base(d.Name))
		if err == nil {
			return network, nil
		}
		faults = append(faults, err)
	}
	if len(faults) == 0 {
		return nil, errors.New("there is no configuration in it")
	}
	return nil, fmt.Errorf("configuration: %w", errors.Join(faults...))
}

// network is the delegate's name, "namespace/name" if a NAD made it.
func (d *legacyDelegate) network(network *config.Network) string {
	if d.Name != "" {
		return d.Name
	}
	return network.Name
}

// capabilityArgs are all requests, each plugin gets those that it declares.
func (d *legacyDelegate) capabilityArgs() map[string]json.RawMessage {
	device := d.DeviceID
	if device == "" {
		device = d.Device
	}
	arguments := map[string]json.RawMessage{
		"ips":            quote([]string(d.IPs)),
		"mac":            quote(d.MAC),
		"infinibandGUID": quote(d.GUID),
		"deviceID":       quote(device),
		"portMappings":   d.Ports,
		"bandwidth":      d.Bandwidth,
	}
	for capability, argument := range arguments {
		if slices.Contains([]string{"", "null", `""`, "[]"}, string(argument)) {
			delete(arguments, capability)
		}
	}
	return arguments
}

func mergeCNIArgs(network *config.Network, raw map[string]json.RawMessage) error {
	if len(raw) == 0 {
		return nil
	}
	arguments := make(map[string]any, len(raw))
	for key, value := range raw {
		arguments[key] = value
	}
	return network.MergeCNIArgs(arguments)
}

// requestByArgs moves a request into CNI_ARGS if no plugin declares the capability (NET-6).
func requestByArgs(a *plan.Attachment, capability, key, value string) {
	if value == "" {
		return
	}
	a.Args = without(a.Args, key)
	if a.Config.Declares(capability) {
		return
	}
	delete(a.CapabilityArgs, capability)
	a.Args = append(a.Args, [2]string{key, value})
	if !slices.ContainsFunc(a.Args, func(arg [2]string) bool { return arg[0] == "IgnoreUnknown" }) {
		a.Args = append(a.Args, [2]string{"IgnoreUnknown", "1"})
	}
}

// without drops the CNI_ARGS entries of these keys from args.
func without(args [][2]string, keys ...string) [][2]string {
	return slices.DeleteFunc(args, func(arg [2]string) bool { return slices.Contains(keys, arg[0]) })
}

// quote is the JSON of a text or of texts.
func quote(value any) json.RawMessage {
	raw, _ := json.Marshal(value) // neither can fail
	return raw
}
