package cluster

import (
	"fmt"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/cluster/node"
)

var _ = Describe("running pods", func() {
	It("keep their networks while kubelet and containerd start again, and leave nothing afterwards (DEL-1)", eachRuntime, func(ctx SpecContext) {
		b := newBench(ctx)
		b.nad("n1", b.bridge("br-n1", "192.0.2.0/24"))
		b.run("web-0", "n1")
		before, networks := b.sandbox("web-0"), b.links("web-0")

		b.must(b.RestartContainerd(ctx))
		b.must(b.RestartKubelet(ctx))
		b.must(b.Kill(node.Containerd))
		b.must(b.StartContainerd(ctx))
		b.run("web-1", "n1")
		Expect(b.sandbox("web-0")).To(Equal(before))
		Expect(b.links("web-0")).To(Equal(networks))

		b.delete("web-0", "web-1")
		b.nothingLeft()
	})

	It("get new sandboxes after the node was down, and the old ones leave nothing (DEL-2)", func(ctx SpecContext) {
		b := newBench(ctx)
		b.nad("n1", b.bridge("br-n1", "192.0.2.0/24"))
		b.nad("mac", b.macvlan("198.51.100.0/24"))
		b.run("web-0", "n1, mac")
		b.run("gone", "n1, mac")
		before := b.sandbox("web-0")
		b.must(b.Down())
		b.forget("gone")
		b.must(b.Up(ctx))

		Eventually(func() ([]node.Sandbox, error) { return b.Sandboxes(b.namespace, "web-0") }).
			Should(And(HaveLen(1), Not(ContainElement(before))))
		b.ready("web-0")
		Expect(b.networks("web-0")).To(HaveLen(3))
		Eventually(func() ([]node.Sandbox, error) { return b.Sandboxes(b.namespace, "gone") }).Should(BeEmpty())
	})
})

var _ = Describe("containerd killed in the middle of an ADD", eachRuntime, func() {
	DescribeTable("leaves nothing (DEL-4, DEL-5, DEL-9)", func(ctx SpecContext, meanwhile func(*bench)) {
		b := newBench(ctx)
		waiting, open := b.Path("waiting"), b.Path("open")
		b.later(func() { b.must(os.RemoveAll(waiting)) })
		b.later(func() { b.must(os.RemoveAll(open)) })
		b.later(func() { b.must(os.WriteFile(open, nil, 0o600)) })
		b.must(b.AddPlugin("gate", fmt.Sprintf(`
if [ "$CNI_COMMAND" = ADD ]; then
	: >%s
	while [ ! -e %s ]; do sleep 0.1; done
fi
exec "$(dirname "$0")/bridge"
`, waiting, open)))
		b.nad("n1", b.bridge("br-n1", "192.0.2.0/24"))
		b.nad("slow", fmt.Sprintf(`{"cniVersion": "1.0.0", "type": "gate", "bridge": "br-n2", "ipam": %s}`, b.HostLocal("198.51.100.0/24")))
		b.pod("web-0", "n1, slow")
		Eventually(waiting).Should(BeAnExistingFile())

		b.must(b.Kill(node.Containerd))
		b.forget("web-0")
		meanwhile(b)
		b.must(b.StartContainerd(ctx))
		b.nothingLeft()
	},
		Entry("and the plugin with it", func(b *bench) { b.must(b.KillPlugins()) }),
		Entry("while the plugin goes on", func(b *bench) { b.must(os.WriteFile(b.Path("open"), nil, 0o600)) }),
	)
})
