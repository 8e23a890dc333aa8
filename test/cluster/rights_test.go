package cluster

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/cluster/node"
)

var _ = Describe("the plugin's rights", func() {
	// role is the ClusterRole of the manifests without one of its rules.
	role := func(without string) string {
		text := `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: multus}
rules:
`
		for _, rule := range []string{
			`{apiGroups: [k8s.cni.cncf.io], resources: [network-attachment-definitions], verbs: [get]}`,
			`{apiGroups: [""], resources: [pods], verbs: [get]}`,
			`{apiGroups: [""], resources: [pods/status], verbs: [patch]}`,
		} {
			if !strings.Contains(rule, "["+without+"]") {
				text += "  - " + rule + "\n"
			}
		}
		return text
	}

	DescribeTable("each of them is missed by name (NET-14, SEC-3, E028)", func(ctx SpecContext, resource string, right node.Right) {
		b := newBench(ctx)
		b.configure(node.Config{"capabilities": nil}) // else the pod is not read
		b.nad("n1", b.bridge("br-n1", "192.0.2.0/24"))
		b.apply(role(resource))
		Eventually(func() (bool, error) { return b.API.May(ctx, node.PluginUser, right) }).Should(BeFalse())

		b.pod("web-0", "n1")
		b.event("web-0", "FailedCreatePodSandBox", right.Verb+" ", resource, node.PluginUser)
		b.nothingLeft()

		b.must(b.Restore(ctx))
		b.ready("web-0")
		Expect(b.networks("web-0")).To(HaveLen(2))
	},
		Entry("get network-attachment-definitions", "network-attachment-definitions",
			node.Right{Verb: "get", Group: "k8s.cni.cncf.io", Resource: "network-attachment-definitions"}),
		Entry("get pods", "pods", node.Right{Verb: "get", Resource: "pods"}),
		Entry("patch pods/status", "pods/status", node.Right{Verb: "patch", Resource: "pods", Subresource: "status"}),
	)

	It("are not needed by a pod that selects nothing (NET-17)", func(ctx SpecContext) {
		b := newBench(ctx)
		b.must(b.API.Delete(ctx, node.Ref{Kind: "ClusterRoleBinding", Name: "multus"}, -1))
		right := node.Right{Verb: "patch", Resource: "pods", Subresource: "status"}
		Eventually(func() (bool, error) { return b.API.May(ctx, node.PluginUser, right) }).Should(BeFalse())
		b.run("web-0", "")
		Expect(b.links("web-0")).To(HaveLen(2))
		Expect(b.status("web-0")).To(BeEmpty())
	})
})
