package plan

import (
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/containernetworking/cni/pkg/types"
	types100 "github.com/containernetworking/cni/pkg/types/100"
)

// Routing is how one attachment comes to carry the pod's default route (ADD-7): what the kernel has to do, and what the
// results say afterwards.
type Routing struct {
	Results []*types100.Result // with their routes rearranged, in plan order
	Strip   []Strip            // default routes to remove, in this order
	Carrier string             // interface that gets the new ones
	Add     []Gateway          // in list order
}

// Strip is an interface that loses its default routes of one family.
type Strip struct {
	Interface string
	IPv6      bool
}

// Gateway is a default route to add.
type Gateway struct {
	IP     net.IP // nil: everything is reached directly
	IPv6   bool
	Metric int  // 0: the kernel's default
	OnLink bool // outside of the carrier's subnets
}

// Reroute decides it. It is nil if no attachment wishes to carry the default route.
func Reroute(outcomes []Outcome) (*Routing, error) {
	carrier := slices.IndexFunc(outcomes, func(o Outcome) bool { return o.Attachment.DefaultRoute != nil })
	if carrier < 0 {
		return nil, nil
	}
	routing := &Routing{}
	for _, outcome := range outcomes {
		result, err := types100.NewResultFromResult(outcome.Result)
		if err != nil {
			return nil, fmt.Errorf("network %s: result: %w", outcome.Attachment.Network, err)
		}
		copied := *result
		routing.Results = append(routing.Results, &copied)
	}
	if err := routing.decide(outcomes, carrier); err != nil {
		return nil, fmt.Errorf("network %s: default-route: %w", outcomes[carrier].Attachment.Network, err)
	}
	return routing, nil
}

func (r *Routing) decide(outcomes []Outcome, carrier int) error {
	gateways, own := outcomes[carrier].Attachment.DefaultRoute.Gateways, r.Results[carrier]
	interfaces := sandboxInterfaces(outcomes[carrier].Attachment, own)
	if len(interfaces) == 0 {
		return errors.New("the network has no interface in the pod that could carry it")
	}
	r.Carrier = interfaces[0]
	for _, ipv6 := range []bool{false, true} {
		if !concerns(gateways, own, ipv6) {
			continue
		}
		kept := provided(own, ipv6)
		for i, outcome := range outcomes {
			r.strip(i, outcome.Attachment, ipv6)
		}
		r.add(own, kept, gateways, ipv6)
	}
	if len(r.Add) == 0 {
		return errors.New("the list is empty and the network's own configuration provides no default route; list a gateway")
	}
	return nil
}

// concerns says whether the wish is about this family: about those of the listed gateways, else about those in which
// the carrier's own configuration provides a default route.
func concerns(gateways []net.IP, own *types100.Result, ipv6 bool) bool {
	if len(gateways) > 0 {
		return slices.ContainsFunc(gateways, func(gateway net.IP) bool { return isIPv6(gateway) == ipv6 })
	}
	return slices.ContainsFunc(own.Routes, func(route *types.Route) bool { return isDefault(route, ipv6) })
}

// strip takes the default routes of one family from an attachment.
func (r *Routing) strip(i int, attachment Attachment, ipv6 bool) {
	result := r.Results[i]
	for _, name := range sandboxInterfaces(attachment, result) {
		r.Strip = append(r.Strip, Strip{Interface: name, IPv6: ipv6})
	}
	result.Routes = slices.DeleteFunc(slices.Clone(result.Routes), func(route *types.Route) bool { return isDefault(route, ipv6) })
}

// add gives the carrier the listed gateways of one family, with metrics if there is more than one; else those that it
// provided itself: the kernel may not have them, since the route of an attachment before it was in the way.
func (r *Routing) add(own *types100.Result, kept []*types.Route, gateways []net.IP, ipv6 bool) {
	routes := kept
	if len(gateways) > 0 {
		routes = listed(gateways, ipv6)
	}
	own.Routes = append(own.Routes, routes...)
	for _, route := range routes {
		ip := route.GW
		if ip == nil {
			ip = familyGateway(own, ipv6)
		}
		r.Add = append(r.Add, Gateway{IP: ip, IPv6: ipv6, Metric: route.Priority, OnLink: ip != nil && !reachable(own, ip)})
	}
}

// listed makes the routes of the listed gateways of one family.
func listed(gateways []net.IP, ipv6 bool) []*types.Route {
	var routes []*types.Route
	for _, gateway := range gateways {
		if isIPv6(gateway) == ipv6 {
			routes = append(routes, &types.Route{Dst: anywhere(ipv6), GW: gateway})
		}
	}
	if len(routes) > 1 {
		for i, route := range routes {
			route.Priority = i + 1
		}
	}
	return routes
}

// provided are the default routes of one family in a result.
func provided(result *types100.Result, ipv6 bool) []*types.Route {
	return slices.DeleteFunc(slices.Clone(result.Routes), func(route *types.Route) bool { return !isDefault(route, ipv6) })
}

// familyGateway is the gateway of a result's addresses of one family, nil if there is none.
func familyGateway(result *types100.Result, ipv6 bool) net.IP {
	for _, ip := range result.IPs {
		if ip.Gateway != nil && isIPv6(ip.Gateway) == ipv6 {
			return ip.Gateway
		}
	}
	return nil
}

// sandboxInterfaces are the interfaces that an attachment has in the sandbox; a result that reports no interfaces at
// all stands for the one that was asked for.
func sandboxInterfaces(attachment Attachment, result *types100.Result) []string {
	if len(result.Interfaces) == 0 && len(result.IPs) > 0 {
		return []string{attachment.Interface}
	}
	var names []string
	for _, made := range result.Interfaces {
		if made.Sandbox != "" {
			names = append(names, made.Name)
		}
	}
	return names
}

// Interfaces are the interfaces that an attachment's result says to be in the sandbox.
func Interfaces(outcome Outcome) ([]string, error) {
	result, err := types100.NewResultFromResult(outcome.Result)
	if err != nil {
		return nil, fmt.Errorf("network %s: result: %w", outcome.Attachment.Network, err)
	}
	return sandboxInterfaces(outcome.Attachment, result), nil
}

// isDefault recognises the default route of a family: 0.0.0.0/0, ::/0, or no destination and a gateway of the family.
func isDefault(route *types.Route, ipv6 bool) bool {
	if route.Table != nil && *route.Table != mainTable {
		return false
	}
	if len(route.Dst.IP) == 0 {
		return len(route.GW) > 0 && isIPv6(route.GW) == ipv6
	}
	ones, _ := route.Dst.Mask.Size()
	return ones == 0 && route.Dst.IP.IsUnspecified() && isIPv6(route.Dst.IP) == ipv6
}

// mainTable is the number of the routing table "main".
const mainTable = 254

func anywhere(ipv6 bool) net.IPNet {
	if ipv6 {
		return net.IPNet{IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)}
	}
	return net.IPNet{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}
}

func isIPv6(ip net.IP) bool { return ip.To4() == nil }

// reachable says whether the gateway lies in a subnet of the result's addresses. Link-local ones always do.
func reachable(result *types100.Result, gateway net.IP) bool {
	return gateway.IsLinkLocalUnicast() || slices.ContainsFunc(result.IPs, func(ip *types100.IPConfig) bool { return ip.Address.Contains(gateway) })
}
