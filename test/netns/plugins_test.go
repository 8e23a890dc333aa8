package netns

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	types100 "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/cni/pkg/types/create"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// row is one row of doc/plugins.md, shown twice: with the network as the master, and as a NAD.
func row(text string, spec func(n *network)) {
	for _, as := range []string{asMaster, asNAD} {
		It(text+as, func() { spec(&network{bench: newBench(), master: as == asMaster}) })
	}
}

const (
	asMaster = ", as the master"
	asNAD    = ", as a NAD"
)

var _ = ReportAfterSuite("doc/plugins.md has a row for each spec, and no other", func(report Report) {
	text, err := os.ReadFile("../../doc/plugins.md")
	Expect(err).NotTo(HaveOccurred())
	documented, shown := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| `") {
			documented[strings.Trim(cells[0], "| `")+" "+cells[1]] = true
		}
	}
	for _, spec := range report.SpecReports {
		if row, is := strings.CutSuffix(spec.LeafNodeText, asNAD); is {
			shown[strings.TrimPrefix(spec.ContainerHierarchyTexts[0], "plugin ")+" "+row] = true
		}
	}
	Expect(slices.Sorted(maps.Keys(documented))).To(Equal(slices.Sorted(maps.Keys(shown))))
})

// network is a network n1 of pods: their master, or a NAD that they select beside a master of no interest.
type network struct {
	*bench
	master bool
	pods   int
}

// wish is what is asked of a network for one pod, by the names of the capability arguments: of the master by the
// runtime, of a NAD by the pod's selection. CNI_ARGS are for a master only.
type wish struct {
	capabilities node.Config
	args         [][2]string
	others       string // NADs that the pod selects besides
}

// attached is one pod on the network.
type attached struct {
	*network
	pod     string // its name
	box     node.Sandbox
	ifname  string
	changes node.Config
	result  *types100.Result
}

// ask prepares a pod that is to be attached to the network.
func (n *network) ask(config string, w wish) *attached {
	GinkgoHelper()
	n.pods++
	a := &attached{network: n, pod: fmt.Sprintf("web-%d", n.pods), ifname: "eth0", changes: node.Config{"cniVersion": "1.1.0"}}
	if n.master {
		a.changes["delegates"] = []any{raw(config)}
		a.changes["runtimeConfig"] = w.capabilities
		a.box = n.bench.pod(a.pod, w.others)
		a.box.Args = append(a.box.Args, w.args...)
		return a
	}
	a.ifname = "net1"
	n.nad("n1", config)
	selections := node.Config{"name": "n1"}
	maps.Copy(selections, w.capabilities)
	all := []string{selections.String()}
	for _, other := range strings.FieldsFunc(w.others, func(r rune) bool { return r == ',' }) {
		all = append(all, node.Config{"name": other}.String())
	}
	a.box = n.bench.pod(a.pod, "["+strings.Join(all, ",")+"]")
	return a
}

// attach is ADD, then CHECK. What the result says of the pod's interface is true, with MAC and sandbox.
func (n *network) attach(config string, wishes ...wish) *attached {
	GinkgoHelper()
	a := n.ask(config, one(wishes))
	outcome := n.add(a.box, a.changes)
	a.result = read(outcome.Stdout)
	if !n.master {
		a.result = read(n.cached(a.box, a.ifname))
	}
	a.isTrue()
	checked := n.run("CHECK", a.box, a.changes)
	Expect(checked.Exit).To(Equal(0), checked.String())
	return a
}

// isTrue compares the pod's interfaces in the result with the kernel's: name, sandbox, MAC.
func (a *attached) isTrue() {
	GinkgoHelper()
	for _, shown := range a.result.Interfaces {
		if shown.Sandbox == "" || shown.Name == "lo" {
			continue
		}
		Expect(shown.Name).To(Equal(a.ifname))
		Expect(shown.Sandbox).To(Equal(a.box.NetNS))
		Expect(shown.Mac).To(Equal(mac(a.box.NetNS, a.ifname)))
	}
}

// shown is the network's element of the pod's network-status.
func (a *attached) shown() *nad.NetworkStatus {
	GinkgoHelper()
	for _, status := range a.status(a.pod) {
		if status.Interface == a.ifname {
			return status
		}
	}
	Fail("no status of " + a.ifname)
	return nil
}

func one(wishes []wish) wish {
	if len(wishes) == 0 {
		return wish{}
	}
	return wishes[0]
}

// detach is a DEL that leaves nothing.
func (a *attached) detach() {
	GinkgoHelper()
	a.del(a.box, a.changes)
}

// release is a DEL where another pod stays.
func (a *attached) release() {
	GinkgoHelper()
	outcome := a.run("DEL", a.box, a.changes)
	Expect(outcome.Exit).To(Equal(0), outcome.String())
	Expect(links(a.box.NetNS)).To(Equal([]string{"lo"}))
}

// fail is an ADD that fails with this code and these texts.
func (n *network) fail(config string, code uint, texts ...string) (*attached, node.Outcome) {
	GinkgoHelper()
	a := n.ask(config, wish{})
	outcome := n.run("ADD", a.box, a.changes)
	Expect(outcome.Exit).To(Equal(1), outcome.String())
	Expect(outcome.Error()).To(HaveField("Code", code), outcome.String())
	for _, text := range append(texts, "pod blue/"+a.pod, "network ", "interface "+a.ifname) {
		Expect(outcome.Error().Msg).To(ContainSubstring(text))
	}
	return a, outcome
}

// refuse is a fail that leaves nothing in the sandbox, and no state of it.
func (n *network) refuse(config string, code uint, texts ...string) node.Outcome {
	GinkgoHelper()
	a, outcome := n.fail(config, code, texts...)
	Expect(links(a.box.NetNS)).To(Equal([]string{"lo"}))
	files, err := n.State()
	Expect(err).NotTo(HaveOccurred())
	Expect(files).NotTo(ContainElement(ContainSubstring(a.box.ContainerID)))
	return outcome
}

// chain is the network's configuration.
func chain(plugins ...string) string {
	return `{"cniVersion": "1.1.0", "name": "n1", "plugins": [` + strings.Join(plugins, ", ") + `]}`
}

// read reads a result of any version.
func read(text string) *types100.Result {
	GinkgoHelper()
	result, err := create.CreateFromBytes([]byte(text))
	Expect(err).NotTo(HaveOccurred(), text)
	current, err := types100.NewResultFromResult(result)
	Expect(err).NotTo(HaveOccurred())
	return current
}

// ips lists the result's addresses.
func (a *attached) ips() (list []string) {
	for _, ip := range a.result.IPs {
		list = append(list, ip.Address.String())
	}
	return list
}

// gateways lists the result's gateways, one for each address.
func (a *attached) gateways() (list []string) {
	for _, ip := range a.result.IPs {
		list = append(list, gatewayText(ip.Gateway))
	}
	return list
}

// addresses lists those that the kernel has on the pod's interface.
func (a *attached) addresses() []string {
	GinkgoHelper()
	return addresses(a.box.NetNS, a.ifname)
}

// link is the pod's interface.
func (a *attached) link() netlink.Link {
	GinkgoHelper()
	return linkOf(a.box.NetNS, a.ifname)
}

// ports lists what a bridge of the node has for the pods' interfaces.
func (n *network) ports(bridge string) (list []netlink.Protinfo) {
	GinkgoHelper()
	master := linkOf(n.space, bridge).Attrs().Index
	kernel(n.space, func(handle *netlink.Handle) {
		links, err := handle.LinkList()
		Expect(err).NotTo(HaveOccurred())
		for _, link := range links {
			if link.Attrs().MasterIndex != master {
				continue
			}
			port, err := handle.LinkGetProtinfo(link)
			Expect(err).NotTo(HaveOccurred())
			list = append(list, port)
		}
	})
	return list
}

func linkOf(space, ifname string) (link netlink.Link) {
	GinkgoHelper()
	kernel(space, func(handle *netlink.Handle) {
		found, err := handle.LinkByName(ifname)
		Expect(err).NotTo(HaveOccurred())
		link = found
	})
	return link
}

// kernelHas says whether the kernel can make a link of this kind.
func (b *bench) kernelHas(link netlink.Link) (has bool) {
	GinkgoHelper()
	space, err := b.NewNamespace()
	Expect(err).NotTo(HaveOccurred())
	kernel(space, func(handle *netlink.Handle) { has = handle.LinkAdd(link) == nil })
	return has
}

// sysctl is the value in a network namespace.
func sysctl(space, name string) (value string) {
	GinkgoHelper()
	Expect(inside(space, func() error {
		text, err := os.ReadFile(filepath.Join("/proc/sys", name))
		value = strings.TrimSpace(string(text))
		return err
	})).To(Succeed())
	return value
}

// pretty is a value as JSON.
func pretty(value any) string {
	GinkgoHelper()
	text, err := json.Marshal(value)
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}
