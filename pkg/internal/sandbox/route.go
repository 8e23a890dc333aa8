package sandbox

import (
	"errors"
	"fmt"
	"net"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Gateway is a default route by way of one interface (ADD-7).
type Gateway struct {
	Interface string
	IP        net.IP // nil: everything is reached directly
	IPv6      bool
	Metric    int  // 0: the kernel's default
	OnLink    bool // the gateway is on the link although no subnet of the interface holds it
}

// RemoveDefaultRoutes removes the interface's default routes of one family from table main. An interface that has
// none, or is gone, is no error.
func (n *Namespace) RemoveDefaultRoutes(ifname string, ipv6 bool) error {
	link, err := n.handle.LinkByName(ifname)
	if errors.As(err, &netlink.LinkNotFoundError{}) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("network namespace %s: interface %s: %w", n.path, ifname, err)
	}
	routes, err := n.defaultRoutes(link, ipv6)
	if err != nil {
		return fmt.Errorf("network namespace %s: listing the routes of %s: %w", n.path, ifname, err)
	}
	for _, route := range routes {
		if err := n.handle.RouteDel(&route); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("network namespace %s: removing the default route of %s: %w", n.path, ifname, err)
		}
	}
	return nil
}

// AddDefaultRoute adds a default route to table main. One of the same metric that is in the way is an error (E152).
func (n *Namespace) AddDefaultRoute(gateway Gateway) error {
	link, err := n.handle.LinkByName(gateway.Interface)
	if err != nil {
		return fmt.Errorf("network namespace %s: interface %s: %w", n.path, gateway.Interface, err)
	}
	route := &netlink.Route{
		LinkIndex: link.Attrs().Index,
		Dst:       anywhere(gateway.IPv6),
		Gw:        gateway.IP,
		Priority:  gateway.Metric,
		Table:     unix.RT_TABLE_MAIN,
	}
	if gateway.OnLink {
		route.SetFlag(netlink.FLAG_ONLINK)
	}
	if gateway.IP == nil {
		route.Scope = netlink.SCOPE_LINK
	}
	if err := n.handle.RouteAdd(route); err != nil {
		return fmt.Errorf("network namespace %s: adding the default route by %s on %s: %w", n.path, gateway.IP, gateway.Interface, err)
	}
	return nil
}

// DefaultRoutes lists the interface's default routes of one family in table main.
func (n *Namespace) DefaultRoutes(ifname string, ipv6 bool) ([]Gateway, error) {
	link, err := n.handle.LinkByName(ifname)
	if err != nil {
		return nil, fmt.Errorf("network namespace %s: interface %s: %w", n.path, ifname, err)
	}
	routes, err := n.defaultRoutes(link, ipv6)
	if err != nil {
		return nil, fmt.Errorf("network namespace %s: listing the routes of %s: %w", n.path, ifname, err)
	}
	var gateways []Gateway
	for _, route := range routes {
		gateways = append(gateways, Gateway{Interface: ifname, IP: route.Gw, IPv6: ipv6, Metric: route.Priority})
	}
	return gateways, nil
}

// defaultRoutes finds them by their destination, which the kernel and the library give as none or as a prefix of
// length 0 (E152).
func (n *Namespace) defaultRoutes(link netlink.Link, ipv6 bool) ([]netlink.Route, error) {
	family := netlink.FAMILY_V4
	if ipv6 {
		family = netlink.FAMILY_V6
	}
	routes, err := n.handle.RouteListFiltered(family, &netlink.Route{Table: unix.RT_TABLE_MAIN}, netlink.RT_FILTER_TABLE)
	if err != nil {
		return nil, err
	}
	var found []netlink.Route
	for _, route := range routes {
		if isDefault(route.Dst) {
			found = append(found, through(link.Attrs().Index, route)...)
		}
	}
	return found, nil
}

// through gives what of the route goes through a link. The kernel makes one route, of several ways, of the default
// routes that plugins add for IPv6 one after the other.
func through(link int, route netlink.Route) []netlink.Route {
	if route.LinkIndex == link {
		return []netlink.Route{route}
	}
	var ways []netlink.Route
	for _, way := range route.MultiPath {
		if way.LinkIndex == link {
			single := route
			single.MultiPath, single.LinkIndex, single.Gw, single.Flags = nil, way.LinkIndex, way.Gw, way.Flags
			ways = append(ways, single)
		}
	}
	return ways
}

func isDefault(destination *net.IPNet) bool {
	if destination == nil {
		return true
	}
	ones, _ := destination.Mask.Size()
	return ones == 0 && destination.IP.IsUnspecified()
}

func anywhere(ipv6 bool) *net.IPNet {
	if ipv6 {
		return &net.IPNet{IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)}
	}
	return &net.IPNet{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}
}
