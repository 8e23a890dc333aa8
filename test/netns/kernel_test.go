package netns

import (
	"fmt"
	"net"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// kernel opens a netlink socket at a network namespace, and closes it after use.
func kernel(space string, use func(*netlink.Handle)) {
	GinkgoHelper()
	at, err := netns.GetFromPath(space)
	Expect(err).NotTo(HaveOccurred())
	defer at.Close()
	handle, err := netlink.NewHandleAt(at, unix.NETLINK_ROUTE)
	Expect(err).NotTo(HaveOccurred())
	defer handle.Close()
	use(handle)
}

// links lists the interfaces of a network namespace, sorted.
func links(space string) (names []string) {
	GinkgoHelper()
	kernel(space, func(handle *netlink.Handle) {
		list, err := handle.LinkList()
		Expect(err).NotTo(HaveOccurred())
		for _, link := range list {
			names = append(names, link.Attrs().Name)
		}
	})
	slices.Sort(names)
	return names
}

func mac(space, ifname string) (text string) {
	GinkgoHelper()
	kernel(space, func(handle *netlink.Handle) {
		link, err := handle.LinkByName(ifname)
		Expect(err).NotTo(HaveOccurred())
		text = link.Attrs().HardwareAddr.String()
	})
	return text
}

// addresses lists an interface's addresses with prefix length, but for those that the kernel makes itself.
func addresses(space, ifname string) (texts []string) {
	GinkgoHelper()
	kernel(space, func(handle *netlink.Handle) {
		link, err := handle.LinkByName(ifname)
		Expect(err).NotTo(HaveOccurred())
		list, err := handle.AddrList(link, netlink.FAMILY_ALL)
		Expect(err).NotTo(HaveOccurred())
		for _, address := range list {
			if !address.IP.IsLinkLocalUnicast() {
				texts = append(texts, address.IPNet.String())
			}
		}
	})
	return texts
}

// routes lists the routes of a table with a destination, as "net1 192.0.2.1" or "net1 192.0.2.1 metric 2", sorted.
// The metric that the kernel gives IPv6 routes itself is left out.
func routes(space, destination string, table int) []string {
	GinkgoHelper()
	texts := []string{}
	kernel(space, func(handle *netlink.Handle) {
		for _, family := range []int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
			list, err := handle.RouteListFiltered(family, &netlink.Route{Table: table}, netlink.RT_FILTER_TABLE)
			Expect(err).NotTo(HaveOccurred())
			for _, route := range list {
				if route.Dst.String() == destination {
					texts = append(texts, describe(handle, route)...)
				}
			}
		}
	})
	slices.Sort(texts)
	return texts
}

// defaults lists the default routes of both families in table main.
func defaults(space string) []string {
	GinkgoHelper()
	return append(routes(space, "0.0.0.0/0", unix.RT_TABLE_MAIN), routes(space, "::/0", unix.RT_TABLE_MAIN)...)
}

// describe gives one text for each way that a route has.
func describe(handle *netlink.Handle, route netlink.Route) []string {
	GinkgoHelper()
	ways := []*netlink.NexthopInfo{{LinkIndex: route.LinkIndex, Gw: route.Gw}}
	if len(route.MultiPath) > 0 {
		ways = route.MultiPath
	}
	var texts []string
	for _, way := range ways {
		link, err := handle.LinkByIndex(way.LinkIndex)
		Expect(err).NotTo(HaveOccurred())
		text := link.Attrs().Name + " " + gatewayText(way.Gw)
		if route.Priority != 0 && route.Priority != 1024 {
			text += fmt.Sprintf(" metric %d", route.Priority)
		}
		texts = append(texts, text)
	}
	return texts
}

func gatewayText(ip net.IP) string {
	if ip == nil {
		return "direct"
	}
	return ip.String()
}
