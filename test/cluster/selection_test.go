package cluster

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/cluster/node"
)

var _ = Describe("what a pod selects", func() {
	It("may be in the short form, in any namespace, twice, under any name (NET-2, NET-12, NET-13)", func(ctx SpecContext) {
		b := newBench(ctx)
		other := b.addNamespace("green")
		b.nad("n1", b.bridge("br-n1", "192.0.2.0/24"))
		b.nadIn(other, "n2", b.macvlan("198.51.100.0/24"))
		b.run("web-0", fmt.Sprintf("n1,\n  %s/n2@data, n1,", other))
		Expect(b.networks("web-0")).To(Equal([]string{
			"cni0 eth0", b.namespace + "/n1 net1", other + "/n2 data", b.namespace + "/n1 net3",
		}))
	})

	It("may be JSON with addresses, MAC, arguments and the default route (NET-2, NET-4, NET-6, NET-8, ADD-7)", func(ctx SpecContext) {
		b := newBench(ctx)
		b.nad("n1", `{"cniVersion": "1.0.0", "plugins": [
			{"type": "bridge", "bridge": "br-n1", "capabilities": {"ips": true}, "ipam": {"type": "static"}},
			{"type": "tuning", "capabilities": {"mac": true}}]}`)
		b.nad("n2", `{"cniVersion": "1.0.0", "type": "macvlan", "master": "`+node.MacvlanMaster+`", "ipam": {"type": "static"}}`)
		b.run("web-0", `[
			{"name": "n1", "interface": "data", "ips": ["192.0.2.7/24", "2001:db8::7/64"], "mac": "02:00:00:00:00:07", "default-route": ["192.0.2.1"]},
			{"name": "`+b.namespace+`/n2", "cni-args": {"ips": ["198.51.100.7/24"]}}]`)

		status := b.status("web-0")
		Expect(b.networks("web-0")).To(Equal([]string{"cni0 eth0", b.namespace + "/n1 data", b.namespace + "/n2 net2"}))
		Expect(status[1].IPs).To(Equal([]string{"192.0.2.7", "2001:db8::7"}))
		Expect(status[1].MAC).To(Equal("02:00:00:00:00:07"))
		Expect(status[1].Gateway).To(Equal([]string{"192.0.2.1"}))
		Expect(status[2].IPs).To(Equal([]string{"198.51.100.7"}))
		Expect(node.Exec(b.sandbox("web-0").NetNS, "ip", "route", "show", "default")).To(HavePrefix("default via 192.0.2.1 dev data"))
	})

	It("stays within its own and global namespaces under isolation (NET-10, E010, E029)", func(ctx SpecContext) {
		b := newBench(ctx)
		other, global := b.addNamespace("green"), b.addNamespace("global")
		b.configure(node.Config{"namespaceIsolation": true, "globalNamespaces": "default, " + global})
		for _, namespace := range []string{b.namespace, other, global} {
			b.nadIn(namespace, "n1", b.bridge("br-n1", "192.0.2.0/24"))
		}
		b.run("web-0", "n1, "+global+"/n1")
		Expect(b.networks("web-0")).To(HaveLen(3))
		b.run("web-3", `[{"name": "`+global+`/n1"}, {"name": "n1", "namespace": "`+global+`"}]`)
		Expect(b.networks("web-3")).To(Equal([]string{"cni0 eth0", global + "/n1 net1", global + "/n1 net2"}))
		b.pod("web-1", other+"/n1")
		b.event("web-1", "FailedCreatePodSandBox", other+"/n1", "namespaceIsolation")
		b.pod("web-2", `[{"name": "`+other+`/n1"}]`)
		b.event("web-2", "FailedCreatePodSandBox", other+"/n1", "namespaceIsolation")
	})

	It("may replace the default network (NET-1)", func(ctx SpecContext) {
		b := newBench(ctx)
		b.configure(node.Config{"multusNamespace": b.namespace})
		b.nad("n1", b.bridge("br-n1", "192.0.2.0/24"))
		b.nad("mine", b.Master("br-mine", "10.245.0.0/24"))
		pod := b.run("web-0", "n1", annotated("v1.multus-cni.io/default-network", "mine"))
		Expect(b.networks("web-0")).To(Equal([]string{b.namespace + "/mine eth0", b.namespace + "/n1 net1"}))
		Expect(pod.Status.PodIP).To(HavePrefix("10.245.0."))
	})
})

var _ = Describe("the node's own networks", func() {
	It("are the pods', but for system namespaces, which are not annotated either (CONF-5, STAT-4)", func(ctx SpecContext) {
		b := newBench(ctx)
		system := b.addNamespace("system")
		b.configure(node.Config{
			"delegates": nil, "clusterNetwork": "main", "defaultNetworks": []string{"extra"},
			"cniVersion": "1.0.0", "multusNamespace": b.namespace, "systemNamespaces": []string{system},
		})
		b.nad("main", b.Master("cni0", "10.244.0.0/24"))
		b.nad("extra", b.bridge("br-n1", "192.0.2.0/24"))
		b.nad("n2", b.macvlan("198.51.100.0/24"))
		b.run("web-0", "n2")
		Expect(b.networks("web-0")).To(Equal([]string{b.namespace + "/main eth0", b.namespace + "/extra net1", b.namespace + "/n2 net2"}))

		blue := b.namespace
		b.namespace = system
		b.run("agent", "")
		Expect(b.links("agent")).To(And(HaveKey("eth0"), Not(HaveKey("net1"))))
		Expect(b.networks("agent")).To(BeEmpty())
		b.delete("agent")
		b.namespace = blue
	})
})
