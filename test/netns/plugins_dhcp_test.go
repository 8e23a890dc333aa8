package netns

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// dynamic is a network on eth1 whose addresses a DHCP server at the neighbour's gives.
const dynamic = `{"type": "macvlan", "master": "eth1", "ipam": {"type": "dhcp"}}`

var _ = Describe("plugin dhcp", func() {
	row("address, gateway and routes from a DHCP server, which gets the address back on DEL", func(n *network) {
		leases := n.servesDHCP("--dhcp-range=192.0.2.50,192.0.2.60,255.255.255.0,1h", "--dhcp-option=option:router,192.0.2.1",
			"--dhcp-option=option:classless-static-route,198.51.100.0/24,192.0.2.7,0.0.0.0/0,192.0.2.1")
		n.daemon()
		a := n.attach(chain(strings.Replace(dynamic, `"dhcp"`, `"dhcp", "request": [{"option": "121"}]`, 1)))
		Expect(a.addresses()).To(HaveExactElements(MatchRegexp(`^192\.0\.2\.(5\d|60)/24$`)))
		Expect(a.ips()).To(Equal(a.addresses()))
		Expect(leases()).To(ContainSubstring(strings.TrimSuffix(a.addresses()[0], "/24")))
		Expect(routes(a.box.NetNS, "198.51.100.0/24", unix.RT_TABLE_MAIN)).To(Equal([]string{a.ifname + " 192.0.2.7"}))
		Expect(defaultsOf(a.box.NetNS, a.ifname)).To(Equal([]string{"192.0.2.1"}))
		a.reaches("192.0.2.1")
		a.detach()
		Eventually(leases).Should(BeEmpty())
	})

	row("without its daemon: a clear error; DEL is done once it runs", func(n *network) {
		a, _ := n.fail(chain(dynamic), 999, "plugin macvlan", "/run/cni/dhcp.sock")
		n.daemon()
		a.detach()
	})
})

// servesDHCP has a DHCP server on the neighbour's end of eth1, and gives what shows its leases.
func (b *bench) servesDHCP(options ...string) (leases func() string) {
	GinkgoHelper()
	file := filepath.Join(b.Dir, "dhcp.leases")
	options = append(options, "--no-daemon", "--no-ping", "--port=0", "--interface=eth1", "--bind-interfaces", "--conf-file=/dev/null",
		"--user=root", "--pid-file=", "--dhcp-leasefile="+file, "--dhcp-authoritative")
	cmd := exec.Command("dnsmasq", options...)
	Expect(inside(b.neighbour, cmd.Start)).To(Succeed())
	DeferCleanup(end, cmd)
	return func() string {
		text, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		return string(text)
	}
}

// daemon starts the plugin's daemon on the node.
func (b *bench) daemon() {
	GinkgoHelper()
	cmd := exec.Command(filepath.Join(plugins, "dhcp"), "daemon")
	b.on(cmd.Start)
	DeferCleanup(end, cmd)
	Eventually(filepath.Join(b.volatile, "cni/dhcp.sock")).Should(BeAnExistingFile())
}

func end(cmd *exec.Cmd) {
	GinkgoHelper()
	Expect(cmd.Process.Signal(syscall.SIGTERM)).To(Succeed())
	_ = cmd.Wait() // a signal ended it
}
