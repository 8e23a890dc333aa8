package nad

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/types"
	types100 "github.com/containernetworking/cni/pkg/types/100"
)

// mainTable is the kernel's routing table that a route is in unless it says otherwise.
const mainTable = 254

// CreateNetworkStatus makes one status of a CNI result of any version: that of the first interface in the sandbox, as
// CreateNetworkStatuses gives it and with the same errors, but with Default as defaultNetwork says. Addresses of further
// interfaces are not in it.
func CreateNetworkStatus(result types.Result, networkName string, defaultNetwork bool, deviceInfo *DeviceInfo) (*NetworkStatus, error) {
	statuses, err := CreateNetworkStatuses(result, networkName, defaultNetwork, deviceInfo)
	if err != nil {
		return nil, err
	}
	statuses[0].Default = defaultNetwork
	return statuses[0], nil
}

// CreateNetworkStatuses makes the statuses of a CNI result of any version, one for each interface in the sandbox, in the
// result's order; at least one (de-facto standard v1.3, section 5).
//
//   - networkName is "namespace/name" of the NAD, or the name in the configuration. It must not be empty.
//   - Interface, Mac and Mtu (bytes) are the interface's; Mac and Mtu may be missing, as most plugins report no MTU.
//   - IPs, without prefix length, go to the interface that their index names, else to the first one. Interfaces of the host
//     count in the index, and have no status.
//   - Gateway, in every status, lists the gateways of the default routes in the main table, each once. A route without one
//     has that of an address of its family, if any.
//   - DNS is in every status. deviceInfo, which may be nil, is in the first one, not copied.
//   - With defaultNetwork exactly one status has Default (section 5.3.5): the first interface that an address with a gateway
//     names, else the first one.
//
// A result without interfaces in the sandbox gives one status with an empty Interface and all addresses: only the caller
// knows which interface was asked for.
//
// A nil result, or one that contradicts itself (null entries, an index that names no interface, an address that is none), is
// an error, which tells the place in the result: "ips[1].interface: …". The result is not changed.
func CreateNetworkStatuses(result types.Result, networkName string, defaultNetwork bool, deviceInfo *DeviceInfo) ([]*NetworkStatus, error) {
	if networkName == "" {
		return nil, errors.New("network name: empty")
	}
	r, err := current(result)
	if err != nil {
		return nil, err
	}
	links, err := linksOf(r)
	if err != nil {
		return nil, err
	}
	gateways := gatewaysOf(r.Routes, links)
	statuses := make([]*NetworkStatus, len(links))
	for i, l := range links {
		statuses[i] = l.status(networkName, r.DNS)
		statuses[i].Gateway = slices.Clone(gateways)
	}
	statuses[0].DeviceInfo = deviceInfo
	if defaultNetwork {
		statuses[defaultOf(links)].Default = true
	}
	return statuses, nil
}

// link is an interface in the sandbox.
type link struct {
	types100.Interface
	addresses []*types100.IPConfig
}

// linksOf gives each address to its link (STAT-2).
func linksOf(r *types100.Result) ([]*link, error) {
	links, byIndex := sandboxLinks(r.Interfaces)
	for i, ip := range r.IPs {
		if !isAddress(ip.Address.IP) {
			return nil, fmt.Errorf("ips[%d].address: missing or not an address", i)
		}
		l := links[0]
		if ip.Interface != nil {
			index := *ip.Interface
			if index < 0 || index >= len(byIndex) {
				return nil, fmt.Errorf("ips[%d].interface: %d names none of the result's interfaces, of which there are %d", i, index, len(byIndex))
			}
			l = byIndex[index]
		}
		if l != nil {
			l.addresses = append(l.addresses, ip)
		}
	}
	return links, nil
}

// sandboxLinks gives the links, at least one, and the link of each interface of the result: nil for an interface on the
// host beside others in the sandbox.
func sandboxLinks(interfaces []*types100.Interface) (links, byIndex []*link) {
	byIndex = make([]*link, len(interfaces))
	for i, in := range interfaces {
		if in.Sandbox != "" {
			byIndex[i] = &link{Interface: *in}
			links = append(links, byIndex[i])
		}
	}
	if len(links) > 0 {
		return links, byIndex
	}
	requested := &link{}
	for i := range byIndex {
		byIndex[i] = requested
	}
	return []*link{requested}, byIndex
}

// gatewaysOf lists the gateways of the default routes, each once (STAT-2).
func gatewaysOf(routes []*types.Route, links []*link) []string {
	var gateways []string
	for _, route := range routes {
		if !isDefault(route) {
			continue
		}
		gateway := route.GW
		if !isAddress(gateway) {
			gateway = gatewayOf(links, route.Dst.IP)
		}
		if gateway != nil && !slices.Contains(gateways, gateway.String()) {
			gateways = append(gateways, gateway.String())
		}
	}
	return gateways
}

// isDefault knows 0.0.0.0/0, ::/0 and a destination that is not given, in the main table.
func isDefault(route *types.Route) bool {
	if route.Table != nil && *route.Table != 0 && *route.Table != mainTable {
		return false
	}
	ones, bits := route.Dst.Mask.Size()
	everything := bits > 0 && ones == 0
	return everything || len(route.Dst.IP) == 0 || route.Dst.IP.IsUnspecified() && bits == 0
}

// gatewayOf is the first gateway that an address of the family of destination has; of any family if that is not given.
func gatewayOf(links []*link, destination net.IP) net.IP {
	for _, l := range links {
		for _, ip := range l.addresses {
			if isAddress(ip.Gateway) && (len(destination) == 0 || isIPv4(ip.Address.IP) == isIPv4(destination)) {
				return ip.Gateway
			}
		}
	}
	return nil
}

// defaultOf picks the default status among the master's (STAT-1).
func defaultOf(links []*link) int {
	hasGateway := func(ip *types100.IPConfig) bool { return isAddress(ip.Gateway) }
	i := slices.IndexFunc(links, func(l *link) bool { return slices.ContainsFunc(l.addresses, hasGateway) })
	return max(i, 0)
}

func (l *link) status(networkName string, dns types.DNS) *NetworkStatus {
	status := &NetworkStatus{
		Name:      networkName,
		Interface: l.Name,
		Mac:       l.Mac,
		Mtu:       max(l.Mtu, 0),
		DNS:       *dns.Copy(),
	}
	for _, ip := range l.addresses {
		status.IPs = append(status.IPs, ip.Address.IP.String())
	}
	return status
}

func isAddress(ip net.IP) bool { return ip.To16() != nil }

func isIPv4(ip net.IP) bool { return ip.To4() != nil }

// ParseNetworkStatus reads the value of a network-status annotation. A blank value has no statuses. A fault of syntax or
// type is an error with its position.
func ParseNetworkStatus(value string) ([]*NetworkStatus, error) {
	if strings.TrimSpace(value) == "" {
		return nil, nil
	}
	source := newSource(value)
	if err := source.checkSyntax("value"); err != nil {
		return nil, err
	}
	if raw := json.RawMessage(value); kind(raw) != "a list" {
		return nil, fmt.Errorf("must be a list, is %s", kind(raw))
	}
	var statuses []*NetworkStatus
	if err := json.Unmarshal([]byte(value), &statuses); err != nil {
		return nil, source.located(err)
	}
	if i := slices.Index(statuses, nil); i >= 0 {
		return nil, fmt.Errorf("element %d: must be an object, is null", i)
	}
	return statuses, nil
}

// FormatNetworkStatus gives the value of a network-status annotation: indented JSON, the same for the same statuses.
func FormatNetworkStatus(statuses []*NetworkStatus) (string, error) {
	if i := slices.Index(statuses, nil); i >= 0 {
		return "", fmt.Errorf("status %d: nil", i)
	}
	if len(statuses) == 0 {
		return "[]", nil
	}
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "    ")
	if err := e.Encode(statuses); err != nil {
		return "", err
	}
	return strings.TrimSuffix(text.String(), "\n"), nil
}
