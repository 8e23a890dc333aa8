package netns

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

const (
	static4 = `{"type": "static", "addresses": [{"address": "192.0.2.20/24", "gateway": "192.0.2.1"}]}`
	// own is a network of its own on the node, from which the neighbour is reached by the node.
	own  = `{"type": "host-local", "ranges": [[{"subnet": "198.51.100.0/24"}]], "routes": [{"dst": "192.0.2.0/24"}]}`
	own4 = "198.51.100.1" // its gateway
)

const chosenMAC = "02:00:00:00:00:05"

var byMAC = wish{capabilities: node.Config{"mac": chosenMAC}}

var _ = Describe("plugin bridge", func() {
	row("isGateway: the bridge has the range's gateway address, which the pod reaches", func(n *network) {
		a := n.attach(chain(onBridge(own, `"isGateway": true, `)))
		Expect(addresses(n.space, "br-1")).To(Equal([]string{own4 + "/24"}))
		a.reaches(own4)
		a.detach()
	})

	row("isDefaultGateway: a default route by the bridge", func(n *network) {
		a := n.attach(chain(onBridge(`{"type": "host-local", "subnet": "198.51.100.0/24"}`, `"isDefaultGateway": true, `)))
		Expect(defaultsOf(a.box.NetNS, a.ifname)).To(Equal([]string{own4}))
		a.detach()
	})

	for _, backend := range []string{"iptables", "nftables"} {
		row("ipMasq by "+backend+": the pod reaches the outside under the node's address", func(n *network) {
			n.onWire()
			a := n.attach(chain(onBridge(own, `"isGateway": true, "ipMasq": true, "ipMasqBackend": "`+backend+`", `)))
			mirror(n.neighbour, "192.0.2.2:80")
			Expect(hears(a.box.NetNS, "192.0.2.2:80")).To(Equal(nodeAddress))
			Expect(n.rules(backend)).To(ContainSubstring("198.51.100.2"))
			a.detach()
			Expect(n.rules(backend)).NotTo(ContainSubstring("198.51.100.2"))
		})
	}

	row("hairpinMode, on the host's end", func(n *network) {
		a := n.attach(chain(onBridge(static4, `"hairpinMode": true, `)))
		Expect(n.ports("br-1")).To(HaveExactElements(HaveField("Hairpin", true)))
		a.detach()
	})

	row("promiscMode, on the bridge", func(n *network) {
		a := n.attach(chain(onBridge(static4, `"promiscMode": true, `)))
		Expect(linkOf(n.space, "br-1").Attrs().Promisc).To(Equal(1))
		a.detach()
	})

	row("mtu", func(n *network) {
		a := n.attach(chain(onBridge(static4, `"mtu": 1400, `)))
		Expect(a.link().Attrs().MTU).To(Equal(1400))
		a.detach()
	})

	row("mac, by the capability", func(n *network) {
		a := n.attach(chain(onBridge(static4, `"capabilities": {"mac": true}, `)), byMAC)
		Expect(mac(a.box.NetNS, a.ifname)).To(Equal(chosenMAC))
		a.detach()
	})

	row("vlan, with filtering by the bridge", func(n *network) {
		config := chain(onBridge(static4, `"vlan": 100, `))
		filtering := true
		if !n.kernelHas(&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "br-1"}, VlanFiltering: &filtering}) {
			n.refuse(config, 999, "plugin bridge", `could not add "br-1"`, "operation not supported")
			return
		}
		a := n.attach(config)
		Expect(n.wait(exec.Command("bridge", "-j", "vlan", "show")).Stdout).To(ContainSubstring(`"vlan":100`))
		a.detach()
	})

	row("portIsolation: pods reach the gateway, and not each other", func(n *network) {
		config := chain(onBridge(own, `"isGateway": true, "portIsolation": true, `))
		first, second := n.attach(config), n.attach(config)
		Expect(n.ports("br-1")).To(HaveExactElements(HaveField("Isolated", true), HaveField("Isolated", true)))
		first.reaches(own4)
		second.reaches(own4)
		first.cannotReach("198.51.100.3")
		first.release()
		second.detach()
	})

	row("pods on one node reach each other", func(n *network) {
		config := chain(onBridge(own, `"isGateway": true, `))
		first, second := n.attach(config), n.attach(config)
		first.reaches("198.51.100.3")
		second.reaches("198.51.100.2")
		first.release()
		second.detach()
	})

	row("macspoofchk: a filter of frames from another MAC", func(n *network) {
		a := n.attach(chain(onBridge(own, `"isGateway": true, "macspoofchk": true, `)))
		Expect(n.rules("nftables")).To(ContainSubstring("ether saddr " + mac(a.box.NetNS, a.ifname) + " return"))
		a.detach()
		Expect(n.rules("nftables")).NotTo(ContainSubstring("ether saddr"))
	})
})

var _ = Describe("plugin macvlan", func() {
	modes := map[string]netlink.MacvlanMode{
		"bridge": netlink.MACVLAN_MODE_BRIDGE, "private": netlink.MACVLAN_MODE_PRIVATE,
		"vepa": netlink.MACVLAN_MODE_VEPA, "passthru": netlink.MACVLAN_MODE_PASSTHRU,
	}
	for _, mode := range slices.Sorted(maps.Keys(modes)) {
		row("mode "+mode+": the pod reaches the outside", func(n *network) {
			a := n.attach(chain(fmt.Sprintf(`{"type": "macvlan", "master": "eth1", "mode": %q, "ipam": %s}`, mode, static4)))
			Expect(a.link()).To(HaveField("Mode", modes[mode]))
			a.reaches("192.0.2.1")
			a.detach()
		})
	}

	row("mtu", func(n *network) {
		a := n.attach(chain(`{"type": "macvlan", "master": "eth1", "mtu": 1400, "ipam": ` + static4 + `}`))
		Expect(a.link().Attrs().MTU).To(Equal(1400))
		a.detach()
	})

	row("an mtu above the master's: a clear error", func(n *network) {
		n.refuse(chain(`{"type": "macvlan", "master": "eth1", "mtu": 9000, "ipam": `+static4+`}`), 999, "plugin macvlan", "invalid MTU 9000")
	})

	row("mac, of the configuration", func(n *network) {
		a := n.attach(chain(`{"type": "macvlan", "master": "eth1", "mac": "` + chosenMAC + `", "ipam": ` + static4 + `}`))
		Expect(mac(a.box.NetNS, a.ifname)).To(Equal(chosenMAC))
		a.detach()
	})

	row("mac, by the capability", func(n *network) {
		a := n.attach(chain(`{"type": "macvlan", "master": "eth1", "capabilities": {"mac": true}, "ipam": `+static4+`}`), byMAC)
		Expect(mac(a.box.NetNS, a.ifname)).To(Equal(chosenMAC))
		a.detach()
	})

	row("without IPAM: an interface without address", func(n *network) {
		a := n.attach(chain(`{"type": "macvlan", "master": "eth1"}`))
		Expect(a.addresses()).To(BeEmpty())
		Expect(a.result.Interfaces).To(HaveLen(1))
		a.detach()
	})
})

var _ = Describe("plugin ptp", func() {
	row("a pair whose host's end is the gateway, and a route to the pod", func(n *network) {
		a := n.attach(chain(`{"type": "ptp", "mtu": 1400, "ipam": ` + own + `}`))
		Expect(a.link().Attrs().MTU).To(Equal(1400))
		a.reaches(own4)
		Expect(n.wait(exec.Command("ip", "route", "show", "198.51.100.2")).Stdout).To(ContainSubstring("dev veth"))
		a.detach()
	})

	row("ipMasq: the pod reaches the outside under the node's address", func(n *network) {
		n.onWire()
		a := n.attach(chain(`{"type": "ptp", "ipMasq": true, "ipMasqBackend": "iptables", "ipam": ` + own + `}`))
		mirror(n.neighbour, "192.0.2.2:80")
		Expect(hears(a.box.NetNS, "192.0.2.2:80")).To(Equal(nodeAddress))
		a.detach()
		Expect(n.rules("iptables")).NotTo(ContainSubstring("198.51.100.2"))
	})
})

var _ = Describe("plugin host-device", func() {
	row("a device by name, which is back on the node after DEL", func(n *network) {
		before := mac(n.space, "eth1")
		a := n.attach(chain(`{"type": "host-device", "device": "eth1", "ipam": ` + static4 + `}`))
		Expect(links(n.space)).NotTo(ContainElement("eth1"))
		a.reaches("192.0.2.1")
		a.detach()
		Expect(mac(n.space, "eth1")).To(Equal(before))
	})

	row("a device by MAC", func(n *network) {
		before := mac(n.space, "eth1")
		a := n.attach(chain(`{"type": "host-device", "hwaddr": "` + before + `", "ipam": ` + static4 + `}`))
		a.reaches("192.0.2.1")
		a.detach()
		Expect(mac(n.space, "eth1")).To(Equal(before))
	})

	row("a PCI path that is not there: a clear error", func(n *network) {
		n.fail(chain(`{"type": "host-device", "pciBusID": "0000:ff:1f.7"}`), 999, "plugin host-device", "0000:ff:1f.7", "no such file or directory")
	})

	row("a device that is not there: a clear error; DEL is done when the network namespace is gone", func(n *network) {
		a, _ := n.fail(chain(`{"type": "host-device", "device": "eth9"}`), 999, "plugin host-device", "Link not found")
		a.box.NetNS = ""
		outcome := n.run("DEL", a.box, a.changes)
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		n.nothingOnNode()
	})
})

var _ = Describe("plugin loopback", func() {
	row("lo is up, and the result has it", func(n *network) {
		a := n.attach(chain(`{"type": "loopback"}`))
		Expect(a.ips()).To(ContainElement("127.0.0.1/8"))
		Expect(a.result.Interfaces).To(HaveExactElements(And(HaveField("Name", "lo"), HaveField("Sandbox", a.box.NetNS))))
		a.reaches("127.0.0.1")
		a.detach()
	})
})

// nodeAddress is the node's own on eth1, where onWire has put it.
const nodeAddress = "192.0.2.10"

// onWire gives the node addresses on eth1, by which it reaches the neighbour.
func (b *bench) onWire() {
	GinkgoHelper()
	for _, address := range []string{nodeAddress + "/24", "2001:db8:2::10/64"} {
		ip("-n", filepath.Base(b.space), "address", "replace", address, "dev", "eth1")
	}
}

// reach tries to connect from the pod. That nobody listens there is an answer too.
func (a *attached) reach(address string) error {
	GinkgoHelper()
	return inside(a.box.NetNS, func() error {
		conn, err := net.DialTimeout("tcp", net.JoinHostPort(address, "9"), 30*time.Second)
		if err == nil {
			return conn.Close()
		}
		if errors.Is(err, unix.ECONNREFUSED) {
			return nil
		}
		return err
	})
}

func (a *attached) reaches(address string) {
	GinkgoHelper()
	Expect(a.reach(address)).To(Succeed())
}

// cannotReach sends a packet, and waits until the pod's kernel has found that nobody on the link answers for the address.
func (a *attached) cannotReach(address string) {
	GinkgoHelper()
	Expect(inside(a.box.NetNS, func() error {
		conn, err := net.Dial("udp", net.JoinHostPort(address, "9"))
		if err != nil {
			return err
		}
		defer conn.Close()
		_, err = conn.Write([]byte("anybody there?"))
		return err
	})).To(Succeed())
	Eventually(func() (string, error) {
		found, err := exec.Command("ip", "-n", filepath.Base(a.box.NetNS), "neighbour", "show", "to", address).Output()
		return string(found), err
	}).Should(ContainSubstring("FAILED"))
}

// mirror has a server in a network namespace that says to who connects what address he comes from.
func mirror(space, address string) {
	GinkgoHelper()
	Expect(inside(space, func() error {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return err
		}
		DeferCleanup(listener.Close)
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				host, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
				io.WriteString(conn, host)
				conn.Close()
			}
		}()
		return nil
	})).To(Succeed())
}

// hears connects to a server, and gives what is said there.
func hears(space, address string) string {
	GinkgoHelper()
	return hearsFrom(space, "", address)
}

// hearsFrom is hears from an address of one's own choice.
func hearsFrom(space, source, address string) string {
	GinkgoHelper()
	var said []byte
	dialer := net.Dialer{Timeout: 30 * time.Second}
	if source != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(source)}
	}
	Expect(inside(space, func() error {
		conn, err := dialer.Dial("tcp", address)
		if err != nil {
			return err
		}
		defer conn.Close()
		said, err = io.ReadAll(conn)
		return err
	})).To(Succeed())
	return string(said)
}

// rules lists the node's packet filter.
func (b *bench) rules(backend string) string {
	GinkgoHelper()
	commands := map[string][]string{"iptables": {"iptables-save"}, "ip6tables": {"ip6tables-save"}, "nftables": {"nft", "list", "ruleset"}}
	command := commands[backend]
	outcome := b.wait(exec.Command(command[0], command[1:]...))
	Expect(outcome.Exit).To(Equal(0), outcome.String())
	return strings.TrimSpace(outcome.Stdout)
}
