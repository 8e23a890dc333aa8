package netns

import (
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

const (
	bridged = `{"type": "bridge", "bridge": "br-main", "isGateway": true, "ipam": {"type": "host-local", "subnet": "10.1.0.0/24", "routes": [{"dst": "0.0.0.0/0"}]}}`
	tuned   = `{"type": "tuning", "mac": "` + chosenMAC + `"}`
)

// outer is a node with an administrator's list: plugins in front of us, ourselves with this master, plugins behind us.
func outer(front []any, main string, behind ...any) *bench {
	GinkgoHelper()
	b := newBench()
	own := b.Config(node.Config{"binDir": plugins, "capabilities": node.Config{"portMappings": true}, "delegates": []any{
		raw(main), raw(`{"cniVersion": "1.0.0", "name": "second", "type": "macvlan", "master": "eth0.50"}`)}})
	all := append(append(front, own), behind...)
	b.install("10-outer.conflist", node.Config{"cniVersion": "1.1.0", "name": "node-net", "plugins": all}.String())
	return b
}

// life is ADD, CHECK and DEL of a container by cnitool, and what must be true between them.
func (b *bench) life(between func(box node.Sandbox, added node.Outcome), env ...string) {
	GinkgoHelper()
	box := b.pod("web-0", "")
	added := b.cnitool("add", box, env...)
	Expect(added.Exit).To(Equal(0), added.String())
	Expect(links(box.NetNS)).To(Equal([]string{"eth0", "lo", "net1"}))
	between(box, added)
	for _, verb := range []string{"check", "del"} {
		outcome := b.cnitool(verb, box, env...)
		Expect(outcome.Exit).To(Equal(0), outcome.String())
	}
	b.nothingLeft(box)
	Expect(b.API.Count(fake.Any)).To(BeZero())
}

var _ = Describe("in a list of an administrator, called by libcni (ADD-6)", func() {
	It("behind a bridge: a master that works on the interface that is there (C2)", func() {
		b := outer([]any{raw(bridged)}, named("main", list(tuned)))
		b.life(func(box node.Sandbox, added node.Outcome) {
			Expect(mac(box.NetNS, "eth0")).To(Equal(chosenMAC))
			result := read(added.Stdout)
			Expect(result.Interfaces).To(HaveExactElements(HaveField("Name", "br-main"), HaveField("Name", HavePrefix("veth")),
				And(HaveField("Name", "eth0"), HaveField("Mac", chosenMAC), HaveField("Sandbox", box.NetNS))))
			Expect(result.IPs).To(HaveExactElements(HaveField("Address.String()", "10.1.0.2/24")))
			Expect(result.Routes).To(HaveLen(1))
		})
	})

	It("behind a bridge: a master that makes no interface, of an older version", func() {
		b := outer([]any{raw(bridged)}, `{"cniVersion": "0.4.0", "name": "main", "plugins": [{"type": "firewall", "backend": "iptables"}, {"type": "bandwidth", "ingressRate": 8000000, "ingressBurst": 800000}]}`)
		b.life(func(box node.Sandbox, added node.Outcome) {
			Expect(b.rates()).To(ConsistOf("veth 1000000"))
			Expect(b.rules("iptables")).To(ContainSubstring("10.1.0.2"))
			Expect(read(added.Stdout).IPs).To(HaveLen(1))
		})
		Expect(b.rules("iptables")).NotTo(ContainSubstring("10.1.0.2"))
	})

	It("behind a bridge: a master that would make the same interface again is an error", func() {
		b := outer([]any{raw(bridged)}, named("main", `{"cniVersion": "1.0.0", "type": "macvlan", "master": "eth1"}`))
		box := b.pod("web-0", "")
		outcome := b.cnitool("add", box)
		Expect(outcome.Exit).NotTo(Equal(0))
		Expect(outcome.Stderr).To(And(ContainSubstring("network main, interface eth0"), ContainSubstring("exist")))
		outcome = b.cnitool("del", box)
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		b.nothingLeft(box)
	})

	It("in front of tuning, which works on what our master made (C4)", func() {
		b := outer(nil, named("main", list(bridged)), raw(tuned))
		b.life(func(box node.Sandbox, added node.Outcome) {
			Expect(mac(box.NetNS, "eth0")).To(Equal(chosenMAC))
			Expect(read(added.Stdout).Interfaces).To(ContainElement(And(HaveField("Name", "eth0"), HaveField("Mac", chosenMAC), HaveField("Sandbox", box.NetNS))))
		})
	})

	It("in front of portmap, which leads host ports to our master's address (C2, C4)", func() {
		b := outer(nil, named("main", list(bridged)), raw(mapped))
		b.life(func(box node.Sandbox, _ node.Outcome) {
			Expect(b.mappings()).To(ConsistOf("8080 10.1.0.2:80"))
			b.serves(box, "web")
			Expect(b.visit("192.0.2.10:8080")).To(Equal("web"))
		}, `CAP_ARGS={"portMappings": [{"hostPort": 8080, "containerPort": 80, "protocol": "tcp"}]}`)
		Expect(b.mappings()).To(BeEmpty())
	})

	It("between a bridge and portmap", func() {
		b := outer([]any{raw(bridged)}, named("main", list(tuned)), raw(mapped))
		b.life(func(box node.Sandbox, _ node.Outcome) {
			Expect(b.mappings()).To(ConsistOf("8080 10.1.0.2:80"))
		}, `CAP_ARGS={"portMappings": [{"hostPort": 8080, "containerPort": 80, "protocol": "tcp"}]}`)
	})
})

var _ = Describe("without Kubernetes, each verb by cnitool (INV-7)", func() {
	It("add, check, gc, status, del", func() {
		b := outer(nil, named("main", list(bridged)))
		b.life(func(box node.Sandbox, _ node.Outcome) {
			status := b.cnitool("status", box)
			Expect(status.Exit).To(Equal(0), status.String())
			ip("-n", filepath.Base(box.NetNS), "link", "del", "net1")
			broken := b.cnitool("check", box)
			Expect(broken.Exit).NotTo(Equal(0))
			Expect(broken.Stderr).To(ContainSubstring("net1"))
			Expect(b.leases()).NotTo(BeEmpty())

			// cnitool gives no list of what is alive: libcni itself releases all that it knows of, we nothing.
			collected := b.cnitool("gc", box)
			Expect(collected.Stderr).To(ContainSubstring("cni.dev/valid-attachments: missing"))
			b.nothingOnNode()
			Expect(b.cnitool("add", box).Exit).To(Equal(0))
		})
	})

	It("status says what is missing (STS-1)", func() {
		b := outer(nil, named("main", list(`{"type": "no-such-plugin"}`)))
		outcome := b.cnitool("status", b.pod("web-0", ""))
		Expect(outcome.Exit).NotTo(Equal(0))
		Expect(outcome.Stderr).To(ContainSubstring("no-such-plugin"))
	})
})
