package netns

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// bench is a node in a network namespace of its own, so that this machine's network stays as it is. Cables lead from
// its cards, eth1 and eth0.50, to a neighbour.
type bench struct {
	*node.Node
	space     string // path of the node's network namespace
	neighbour string // path of the neighbour's
	varLib    string // the node's /var/lib
	volatile  string // the node's /run
}

// The neighbour's addresses on eth1, which are gateways there.
const (
	gateway4 = "192.0.2.1"
	gateway6 = "2001:db8:2::1"
)

func newBench() *bench {
	GinkgoHelper()
	b := &bench{varLib: GinkgoT().TempDir(), volatile: GinkgoT().TempDir(), space: newSpace()}
	Expect(os.Mkdir(filepath.Join(b.volatile, "netns"), 0o755)).To(Succeed())
	b.on(func() (err error) {
		ip("link", "set", "lo", "up")
		b.Node, err = node.New(GinkgoT().TempDir(), binaries) // whose API server listens there
		return err
	})
	DeferCleanup(func() { Expect(b.Close()).To(Succeed()) })
	neighbour, err := b.NewNamespace()
	Expect(err).NotTo(HaveOccurred())
	b.neighbour = neighbour
	settleAtOnce(b.space)
	settleAtOnce(neighbour)
	b.cable("eth1", gateway4+"/24", "192.0.2.2/24", "192.0.2.254/24", gateway6+"/64", "2001:db8:2::2/64")
	b.cable("eth0.50")
	return b
}

// newSpace makes a named network namespace for the spec.
func newSpace() string {
	GinkgoHelper()
	name := fmt.Sprintf("multus-test-node-%d", os.Getpid())
	ip("netns", "add", name)
	DeferCleanup(ip, "netns", "del", name)
	return "/var/run/netns/" + name
}

// cable gives the node a card, and the neighbour these addresses at its other end.
func (b *bench) cable(card string, addresses ...string) {
	GinkgoHelper()
	there := filepath.Base(b.neighbour)
	ip("-n", filepath.Base(b.space), "link", "add", card, "type", "veth", "peer", "name", card, "netns", there)
	ip("-n", filepath.Base(b.space), "link", "set", card, "up")
	ip("-n", there, "link", "set", card, "up")
	for _, address := range addresses {
		ip("-n", there, "address", "add", address, "dev", card)
	}
}

// on runs f on the node: in its network namespace, and with its /var/lib and /run. So are processes that f starts.
func (b *bench) on(f func() error) {
	GinkgoHelper()
	Expect(inside(b.space, func() error {
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return err
		}
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
			return err
		}
		for _, bind := range [][2]string{{"/run/netns", b.volatile + "/netns"}, {b.volatile, "/run"}, {b.varLib, "/var/lib"}} {
			if err := unix.Mount(bind[0], bind[1], "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
				return err
			}
		}
		return f()
	})).To(Succeed())
}

// inside runs f on a thread in a network namespace. The thread ends with it.
func inside(space string, f func() error) error {
	handle, err := netns.GetFromPath(space)
	if err != nil {
		return err
	}
	defer handle.Close()
	done := make(chan error)
	go func() {
		defer GinkgoRecover()
		runtime.LockOSThread() // and never unlocked, which is what ends it
		err := netns.Set(handle)
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}

// settleAtOnce spares the specs the seconds that an IPv6 address is tentative.
func settleAtOnce(space string) {
	GinkgoHelper()
	Expect(inside(space, func() error {
		for _, which := range []string{"all", "default"} {
			if err := os.WriteFile("/proc/sys/net/ipv6/conf/"+which+"/accept_dad", []byte("0"), 0); err != nil {
				return err
			}
		}
		return nil
	})).To(Succeed())
}

func ip(arguments ...string) {
	GinkgoHelper()
	output, err := exec.Command("ip", arguments...).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), "ip %s: %s", strings.Join(arguments, " "), output)
}

// nad stores a NAD of the namespace blue.
func (b *bench) nad(name, config string) {
	b.API.AddNAD(fake.NAD{Namespace: "blue", Name: name, Config: config})
}

// pod makes a pod with this networks annotation, and its sandbox.
func (b *bench) pod(name, networks string) node.Sandbox {
	GinkgoHelper()
	box, err := b.AddPod(name, map[string]string{nad.NetworksAnnotation: networks})
	Expect(err).NotTo(HaveOccurred())
	settleAtOnce(box.NetNS)
	return box
}

// run calls the plugin on the node. The master is a bridge with addresses and default routes of both families.
func (b *bench) run(verb string, box node.Sandbox, changes ...node.Config) node.Outcome {
	GinkgoHelper()
	return b.wait(b.command(verb, box, changes...))
}

// command prepares a call for wait.
func (b *bench) command(verb string, box node.Sandbox, changes ...node.Config) *exec.Cmd {
	own := node.Config{"binDir": plugins, "delegates": []any{raw(master)}}
	return b.Command(context.Background(), verb, box, b.Config(append([]node.Config{own}, changes...)...).String())
}

// wait runs a command on the node.
func (b *bench) wait(cmd *exec.Cmd) node.Outcome {
	GinkgoHelper()
	var outcome node.Outcome
	b.on(func() (err error) {
		outcome, err = node.Wait(cmd)
		return err
	})
	return outcome
}

const master = `{"cniVersion": "1.0.0", "name": "main", "type": "bridge", "bridge": "br-main", "isGateway": true, "ipam": {"type": "host-local",
	"ranges": [[{"subnet": "10.1.0.0/24"}], [{"subnet": "2001:db8:1::/64"}]], "routes": [{"dst": "0.0.0.0/0"}, {"dst": "::/0"}]}}`

// The gateways of the master.
const (
	main4 = "10.1.0.1"
	main6 = "2001:db8:1::1"
)

// add is an ADD that must succeed.
func (b *bench) add(box node.Sandbox, changes ...node.Config) node.Outcome {
	GinkgoHelper()
	outcome := b.run("ADD", box, changes...)
	Expect(outcome.Exit).To(Equal(0), outcome.String())
	return outcome
}

// del is a DEL that must succeed, and leave nothing.
func (b *bench) del(box node.Sandbox, changes ...node.Config) {
	GinkgoHelper()
	outcome := b.run("DEL", box, changes...)
	Expect(outcome.Exit).To(Equal(0), outcome.String())
	b.nothingLeft(box)
}

// refused is an ADD that must fail, by the meaning of the rules: a CNI error object with all of these texts, and
// nothing left.
func (b *bench) refused(box node.Sandbox, texts []string, changes ...node.Config) {
	GinkgoHelper()
	outcome := b.run("ADD", box, changes...)
	Expect(outcome.Exit).To(Equal(1), outcome.String())
	Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
	for _, text := range texts {
		Expect(outcome.Error().Msg).To(ContainSubstring(text))
	}
	b.nothingLeft(box)
}

// nothingLeft: the sandbox is as it was made, and the node has nothing of it.
func (b *bench) nothingLeft(box node.Sandbox) {
	GinkgoHelper()
	Expect(links(box.NetNS)).To(Equal([]string{"lo"}))
	b.nothingOnNode()
}

func (b *bench) nothingOnNode() {
	GinkgoHelper()
	Expect(b.pods()).To(BeEmpty())
	Expect(b.leases()).To(BeEmpty())
	files, err := b.State()
	Expect(err).NotTo(HaveOccurred())
	Expect(files).To(BeEmpty())
}

// pods lists the links that the node has for pods: all but its own, and the bridges, which stay.
func (b *bench) pods() []string {
	GinkgoHelper()
	return slices.DeleteFunc(links(b.space), func(name string) bool {
		return slices.Contains([]string{"lo", "eth1", "eth0.50"}, name) || strings.HasPrefix(name, "br-")
	})
}

// leases lists the addresses that host-local has given out, as "network address".
func (b *bench) leases() []string {
	GinkgoHelper()
	files, err := filepath.Glob(filepath.Join(b.varLib, "cni/networks/*/*"))
	Expect(err).NotTo(HaveOccurred())
	list := []string{}
	for _, file := range files {
		if net.ParseIP(filepath.Base(file)) != nil {
			list = append(list, filepath.Base(filepath.Dir(file))+" "+filepath.Base(file))
		}
	}
	return list
}

// status is the pod's network-status.
func (b *bench) status(name string) []*nad.NetworkStatus {
	GinkgoHelper()
	statuses, err := nad.ParseNetworkStatus(b.API.Annotations("blue", name)[nad.StatusAnnotation])
	Expect(err).NotTo(HaveOccurred())
	return statuses
}

// raw is a JSON text as part of a configuration.
func raw(text string) json.RawMessage { return json.RawMessage(text) }

// named gives a configuration in JSON a name.
func named(name, config string) string {
	return strings.Replace(config, "{", fmt.Sprintf(`{"name": %q, `, name), 1)
}
