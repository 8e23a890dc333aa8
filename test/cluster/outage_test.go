package cluster

import (
	. "github.com/onsi/ginkgo/v2"

	"github.com/seed-2ba21eab/multus-cni/test/cluster/node"
)

var _ = Describe("pods that are deleted", func() {
	DescribeTable("are detached whole while the API server is away (DEL-1, DEL-6, E043, E044)", func(ctx SpecContext, leave func(*node.Node) error) {
		b := newBench(ctx)
		b.nad("n1", b.bridge("br-n1", "192.0.2.0/24"))
		b.nad("mac", b.macvlan("198.51.100.0/24"))
		names := []string{"web-0", "web-1", "web-2"}
		for _, name := range names {
			b.pod(name, "n1, mac", stubborn)
		}
		for _, name := range names {
			b.ready(name)
		}
		b.ask(names...)
		for _, name := range names {
			b.event(name, "Killing") // the kubelet knows
		}
		b.must(leave(b.Node))
		b.nothingLeft()
	},
		Entry("refusing connections", func(n *node.Node) error { return n.Kill(node.APIServer) }),
		Entry("accepting them and never answering", (*node.Node).FreezeAPIServer),
	)

	It("are detached by their plan when their NAD and the pod are gone from the API server (DEL-1)", func(ctx SpecContext) {
		b := newBench(ctx)
		b.nad("n1", b.bridge("br-n1", "192.0.2.0/24"))
		b.run("web-0", "n1", stubborn)
		b.must(b.API.Delete(ctx, node.Ref{Kind: "NetworkAttachmentDefinition", Namespace: b.namespace, Name: "n1"}, -1))
		b.forget("web-0")
		b.nothingLeft()
	})
})
