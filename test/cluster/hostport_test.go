package cluster

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/cluster/node"
)

var _ = Describe("a host port", eachRuntime, func() {
	It("leads to the pod by its default network, as the runtime asks (NET-9)", func(ctx SpecContext) {
		b := newBench(ctx)
		b.nad("n1", fmt.Sprintf(`{"cniVersion": "1.0.0", "plugins": [
			{"type": "bridge", "bridge": "br-n1", "ipam": %s}, {"type": "portmap", "capabilities": {"portMappings": true}}]}`, b.HostLocal("192.0.2.0/24")))
		b.run("web-0", "n1", func(_, _, container object) {
			container["ports"] = []any{object{"containerPort": 8080, "hostPort": 30080}}
		})
		status := b.status("web-0")
		Expect(b.answers(b.NetNS(), node.Address+":30080")).To(Equal("web-0"))
		rules, err := node.Exec(b.NetNS(), "iptables-save", "-t", "nat")
		b.must(err)
		Expect(rules).To(ContainSubstring("--to-destination " + status[0].IPs[0] + ":8080"))
		Expect(rules).NotTo(ContainSubstring("--to-destination " + status[1].IPs[0]))

		b.delete("web-0")
		Eventually(func() (string, error) { return node.Exec(b.NetNS(), "iptables-save", "-t", "nat") }).
			ShouldNot(ContainSubstring("30080"))
	})
})
