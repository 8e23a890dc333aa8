package nad

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"unicode"
)

// maxArgsDepth is how deep the values of cni-args may nest. What goes deeper could not be read back from a plan.
const maxArgsDepth = 100

// normalise gives values that mean the same one form: lists without entries are nil, protocols in lower case. Port
// mappings are TCP unless they say otherwise, as in Kubernetes; the portmap plugin knows no default.
func (e *NetworkSelectionElement) normalise() {
	if len(e.IPRequest) == 0 {
		e.IPRequest = nil
	}
	if len(e.PortMappingsRequest) == 0 {
		e.PortMappingsRequest = nil
	}
	for _, port := range e.PortMappingsRequest {
		if port == nil {
			continue
		}
		if port.Protocol = strings.ToLower(port.Protocol); port.Protocol == "" {
			port.Protocol = "tcp"
		}
	}
}

// check gives the faults of all values (NET-3, NET-5).
func (e *NetworkSelectionElement) check() []fault {
	var c checker
	c.must("name", ValidateName(e.Name))
	c.must("namespace", ValidateNamespace(e.Namespace))
	c.optional("interface", e.InterfaceRequest, ValidateInterfaceName)
	for i, ip := range e.IPRequest {
		c.must(fmt.Sprintf("ips[%d]", i), validateIP(ip))
	}
	if len(e.IPRequest) > 0 && e.IPAMClaimReference != "" {
		c.must("ips", errors.New("not together with ipam-claim-reference"))
	}
	c.optional("mac", e.MacRequest, validateMAC)
	c.optional("infiniband-guid", e.InfinibandGUIDRequest, validateGUID)
	c.optional("deviceID", e.DeviceID, validateDevice)
	for i, port := range e.PortMappingsRequest {
		c.port(fmt.Sprintf("portMappings[%d]", i), port)
	}
	if e.BandwidthRequest != nil {
		c.bandwidth(*e.BandwidthRequest)
	}
	if e.CNIArgs != nil && tooDeep(*e.CNIArgs, maxArgsDepth) {
		c.must("cni-args", fmt.Errorf("nested deeper than %d levels", maxArgsDepth))
	}
	return c.faults
}

// checker collects faults.
type checker struct {
	faults []fault
}

func (c *checker) must(key string, err error) {
	if err != nil {
		c.faults = append(c.faults, fault{key, err})
	}
}

// optional takes an empty value for one that is not given.
func (c *checker) optional(key, value string, validate func(string) error) {
	if value != "" {
		c.must(key, validate(value))
	}
}

func (c *checker) port(key string, port *PortMapEntry) {
	if port == nil {
		c.must(key, errors.New("null"))
		return
	}
	c.must(key+".hostPort", validatePort(port.HostPort))
	c.must(key+".containerPort", validatePort(port.ContainerPort))
	c.must(key+".protocol", validateProtocol(port.Protocol))
	c.optional(key+".hostIP", port.HostIP, validateAddress)
}

func (c *checker) bandwidth(b BandwidthEntry) {
	c.must("bandwidth.ingressRate", validateRate(b.IngressRate, b.IngressBurst))
	c.must("bandwidth.egressRate", validateRate(b.EgressRate, b.EgressBurst))
}

func validateAddress(text string) error {
	address, err := netip.ParseAddr(text)
	if err != nil || address.Zone() != "" {
		return fmt.Errorf("%s is not an address", quote(text))
	}
	return nil
}

func validateIP(text string) error {
	if !strings.Contains(text, "/") {
		return validateAddress(text)
	}
	if _, err := netip.ParsePrefix(text); err != nil {
		return fmt.Errorf("%s is not an address with a prefix length", quote(text))
	}
	return nil
}

func validateMAC(text string) error {
	mac, err := net.ParseMAC(text)
	if err != nil || len(mac) != 6 {
		return fmt.Errorf("%s is not a MAC address of 6 bytes", quote(text))
	}
	if mac[0]&1 != 0 {
		return fmt.Errorf("%q is a multicast address", text)
	}
	if [6]byte(mac) == [6]byte{} {
		return fmt.Errorf("%q is not the address of an interface", text)
	}
	return nil
}

func validateGUID(text string) error {
	guid, err := net.ParseMAC(text)
	if err != nil || len(guid) != 8 && len(guid) != 20 {
		return fmt.Errorf("%s is not an InfiniBand GUID of 8 or 20 bytes", quote(text))
	}
	return nil
}

// validateDevice admits what can be part of the name of a device information file (DEV-3, SEC-2).
func validateDevice(text string) error {
	if strings.ContainsFunc(text, unicode.IsControl) {
		return fmt.Errorf("%s has a control character", quote(text))
	}
	return ValidatePathElement(text)
}

func validatePort(port int) error {
	if port < 1 || port > 65535 {
		return fmt.Errorf("%d is not in 1–65535", port)
	}
	return nil
}

func validateProtocol(protocol string) error {
	switch protocol {
	case "tcp", "udp", "sctp":
		return nil
	default:
		return fmt.Errorf("%s is not tcp, udp or sctp", quote(protocol))
	}
}

func validateRate(rate, burst int) error {
	switch {
	case rate < 0:
		return fmt.Errorf("%d is negative", rate)
	case burst < 0:
		return fmt.Errorf("its burst, %d, is negative", burst)
	case burst > 0 && rate == 0:
		return errors.New("missing; a burst needs its rate")
	default:
		return nil
	}
}

// tooDeep says whether value nests deeper than depth levels.
func tooDeep(value any, depth int) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			if depth == 0 || tooDeep(inner, depth-1) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if depth == 0 || tooDeep(inner, depth-1) {
				return true
			}
		}
	}
	return false
}
