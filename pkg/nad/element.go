package nad

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"reflect"
	"slices"
	"strings"
)

// list reads the JSON syntax (NET-2).
func (p *parser) list() {
	if err := p.source.checkSyntax("list"); err != nil {
		p.faults.add("%v", err)
		return
	}
	start := strings.IndexByte(p.source.text, '[')
	all, err := elements(value{json.RawMessage(p.source.text[start:]), start})
	if err != nil {
		p.faults.add("%v", err)
		return
	}
	for i, v := range all {
		p.element(i, v)
	}
}

func (p *parser) element(index int, v value) {
	if v.RawMessage[0] != '{' {
		p.faults.add("%s: must be an object, is %s at %s", label(index, ""), kind(v.RawMessage), p.source.position(v.at))
		return
	}
	keys, err := members(v)
	if err != nil {
		p.faults.add("%s: %v", label(index, ""), err)
		return
	}
	e := element{source: p.source, given: make(map[string]member, len(keys))}
	for _, m := range keys {
		e.set(m)
	}
	faults := e.finish(p.namespace)
	for _, warning := range e.warnings {
		p.warnings.add("%s: %s", label(index, e.name), warning)
	}
	p.take(index, e.name, &e.selection, faults)
}

// element is one selection of the JSON syntax while its keys are read.
type element struct {
	source    source // the annotation
	selection NetworkSelectionElement
	gateways  []string
	name      string            // as written
	given     map[string]member // by standard spelling
	faults    []fault           // of types
	warnings  []string
}

// set reads one key, with null as if it were not there.
func (e *element) set(m member) {
	key := spelling(m.key)
	if key == "" {
		if !strings.Contains(m.key, ".") {
			e.warnings = append(e.warnings, fmt.Sprintf("key %s is not known and has no effect", quote(m.key)))
		}
		return
	}
	if key != m.key {
		e.warnings = append(e.warnings, fmt.Sprintf("key %s is read as %q, its standard spelling", quote(m.key), key))
	}
	if string(m.value.RawMessage) == "null" {
		return
	}
	if before, ok := e.given[key]; ok {
		if !bytes.Equal(before.value.RawMessage, m.value.RawMessage) {
			e.fault(key, "given twice, as %s and at %s as %s", quote(before.key), e.source.position(m.value.at), quote(m.key))
		}
		return
	}
	e.given[key] = m
	e.decode(key, m.value)
}

func (e *element) fault(key, format string, args ...any) {
	e.faults = append(e.faults, fault{key, fmt.Errorf(format, args...)})
}

// decode reads the value of a key.
func (e *element) decode(key string, v value) {
	target, wanted := e.target(key)
	d := json.NewDecoder(bytes.NewReader(v.RawMessage))
	d.UseNumber() // so that a big integer in cni-args survives
	err := d.Decode(target)
	if err == nil {
		return
	}
	reflect.ValueOf(target).Elem().SetZero() // half a value would have faults of its own
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		err = errors.New("found " + found(wrong))
	}
	e.fault(key, "must be %s, %w at %s", wanted, err, e.source.position(v.at))
}

// target is where the value of a key goes, and what it has to be.
func (e *element) target(key string) (pointer any, wanted string) {
	s := &e.selection
	switch key {
	case "name":
		return &s.Name, "a string"
	case "namespace":
		return &s.Namespace, "a string"
	case "ips":
		return &s.IPRequest, "a list of addresses"
	case "mac":
		return &s.MacRequest, "a string"
	case "infiniband-guid":
		return &s.InfinibandGUIDRequest, "a string"
	case "interface":
		return &s.InterfaceRequest, "a string"
	case "portMappings":
		return &s.PortMappingsRequest, "a list of port mappings"
	case "bandwidth":
		return &s.BandwidthRequest, "an object of whole numbers"
	case "cni-args":
		return &s.CNIArgs, "an object"
	case "default-route":
		return &e.gateways, "a list of addresses"
	case "ipam-claim-reference":
		return &s.IPAMClaimReference, "a string"
	default:
		return &s.DeviceID, "a string"
	}
}

// spelling is the standard's spelling of a key of a selection (NET-4), empty if it is none. Letter case does not matter,
// as wherever Go decodes into a struct.
func spelling(key string) string {
	known := [...]string{
		"name", "namespace", "ips", "mac", "interface", "portMappings", "bandwidth", "cni-args", "default-route",
		"infiniband-guid", "ipam-claim-reference", "deviceID",
	}
	for _, standard := range known {
		if strings.EqualFold(key, standard) {
			return standard
		}
	}
	switch {
	case strings.EqualFold(key, "interfaceRequest"):
		return "interface"
	case strings.EqualFold(key, "macRequest"):
		return "mac"
	case strings.EqualFold(key, "ipRequest"):
		return "ips"
	}
	return ""
}

// found tells which value has a wrong type, also deep within the value of a key.
func found(wrong *json.UnmarshalTypeError) string {
	what, _, _ := strings.Cut(wrong.Value, " ") // "number 1.5" may be long
	if wrong.Field != "" {
		return what + " for " + wrong.Field
	}
	return what
}

// finish completes the selection and gives all its faults.
func (e *element) finish(defaultNamespace string) []fault {
	e.name = e.selection.Name
	asked := e.selection.Namespace
	e.selection.splitName(defaultNamespace)
	if asked != "" && asked != e.selection.Namespace {
		e.fault("namespace", "%s contradicts the name %s", quote(asked), quote(e.name))
	}
	if e.gateways != nil {
		e.setGateways()
	}
	e.selection.normalise()
	return append(e.faults, e.unsaid(e.selection.check())...)
}

// unsaid drops what follows from a fault that is known already: a name of the wrong type is also empty.
func (e *element) unsaid(faults []fault) []fault {
	known := map[string]bool{}
	for _, f := range e.faults {
		known[f.key] = true
	}
	return slices.DeleteFunc(faults, func(f fault) bool { return known[f.key] })
}

// setGateways keeps an empty list apart from none (ADD-7).
func (e *element) setGateways() {
	gateways := make([]net.IP, 0, len(e.gateways))
	for i, text := range e.gateways {
		gateway := net.ParseIP(text)
		if gateway == nil {
			e.fault(fmt.Sprintf("default-route[%d]", i), "%s is not an address", quote(text))
		}
		gateways = append(gateways, gateway)
	}
	e.selection.GatewayRequest = &gateways
}
