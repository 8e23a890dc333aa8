package cluster

import (
	"context"
	"fmt"
	"io"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/cluster/node"
)

// bench is the node with a namespace for one scenario, and the short words that scenarios are made of.
type bench struct {
	*node.Node
	ctx       context.Context
	namespace string
	reported  bool
}

// benches counts them, for names.
var benches int

// newBench makes a namespace of its own. When the scenario is over, it must leave nothing on the node.
func newBench(ctx SpecContext) *bench {
	GinkgoHelper()
	benches++
	b := &bench{Node: theNode, ctx: ctx}
	b.namespace = b.addNamespace("blue")
	b.later(b.report) // what the following found
	b.later(b.nothingLeft)
	b.later(func() { b.delete(b.names()...) })
	b.later(func() { b.must(b.Restore(b.ctx)) })
	b.later(b.report)
	return b
}

// later does something after the scenario: the last asked for is done first, each also where another fails.
func (b *bench) later(do func()) {
	DeferCleanup(func(ctx SpecContext) {
		b.ctx = ctx
		do()
	})
}

// addNamespace makes a namespace with a name like the given one, and gives the name.
func (b *bench) addNamespace(name string) string {
	GinkgoHelper()
	name = fmt.Sprintf("%s-%d", name, benches)
	b.must(b.AddNamespace(b.ctx, name))
	return name
}

func (b *bench) must(err error) {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
}

// apply makes or changes objects, in YAML.
func (b *bench) apply(documents string) {
	GinkgoHelper()
	b.must(b.API.Apply(b.ctx, documents))
}

// nad makes a NAD in the scenario's namespace.
func (b *bench) nad(name, config string) {
	GinkgoHelper()
	b.nadIn(b.namespace, name, config)
}

func (b *bench) nadIn(namespace, name, config string) {
	GinkgoHelper()
	b.apply(fmt.Sprintf(`
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {namespace: %s, name: %s}
spec: {config: %q}
`, namespace, name, config))
}

// bridge is the configuration of a network with a bridge and leases.
func (b *bench) bridge(name, subnet string) string {
	return fmt.Sprintf(`{"cniVersion": "1.0.0", "type": "bridge", "bridge": %q, "ipam": %s}`, name, b.HostLocal(subnet))
}

// macvlan is the configuration of a network on a link of the node.
func (b *bench) macvlan(subnet string) string {
	return fmt.Sprintf(`{"cniVersion": "1.0.0", "type": "macvlan", "master": %q, "mode": "bridge", "ipam": %s}`,
		node.MacvlanMaster, b.HostLocal(subnet))
}

// run makes a pod and waits until it is ready.
func (b *bench) run(name, networks string, changes ...change) node.Pod {
	GinkgoHelper()
	b.pod(name, networks, changes...)
	return b.ready(name)
}

// ready waits until a pod is ready.
func (b *bench) ready(name string) node.Pod {
	GinkgoHelper()
	var pod node.Pod
	Eventually(func(g Gomega) {
		var err error
		pod, err = b.Pod(b.ctx, b.namespace, name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(pod.Ready()).To(BeTrue(), "pod %s/%s is not ready", b.namespace, name)
	}).Should(Succeed())
	return pod
}

// names are those of the scenario's pods.
func (b *bench) names() []string {
	GinkgoHelper()
	var list struct{ Items []node.Pod }
	b.must(b.API.Get(b.ctx, node.Ref{Kind: "Pod", Namespace: b.namespace}, &list))
	var names []string
	for _, pod := range list.Items {
		names = append(names, pod.Metadata.Name)
	}
	return names
}

// ask asks for the deletion of pods. What is gone already is fine.
func (b *bench) ask(names ...string) {
	GinkgoHelper()
	for _, name := range names {
		err := b.API.Delete(b.ctx, b.ref(name), -1)
		Expect(node.NotFound(err) || err == nil).To(BeTrue(), "%v", err)
	}
}

// forget takes a pod from the API server at once; the kubelet sees to the rest.
func (b *bench) forget(name string) {
	GinkgoHelper()
	b.must(b.API.Delete(b.ctx, b.ref(name), 0))
}

// delete deletes pods, and waits until they are gone.
func (b *bench) delete(names ...string) {
	GinkgoHelper()
	b.ask(names...)
	for _, name := range names {
		Eventually(func() bool {
			_, err := b.Pod(b.ctx, b.namespace, name)
			return node.NotFound(err)
		}).Should(BeTrue(), "pod %s is still there", name)
	}
}

func (b *bench) ref(pod string) node.Ref {
	return node.Ref{Kind: "Pod", Namespace: b.namespace, Name: pod}
}

// nothingLeft waits until no pod has anything on the node.
func (b *bench) nothingLeft() {
	GinkgoHelper()
	Eventually(b.Leftovers).Should(BeEmpty())
}

// sandbox is the one sandbox of a pod.
func (b *bench) sandbox(pod string) node.Sandbox {
	GinkgoHelper()
	sandboxes, err := b.Sandboxes(b.namespace, pod)
	b.must(err)
	Expect(sandboxes).To(HaveLen(1))
	return sandboxes[0]
}

// links are the interfaces of a pod in the kernel.
func (b *bench) links(pod string) map[string]node.Link {
	GinkgoHelper()
	links, err := node.Links(b.sandbox(pod).NetNS)
	b.must(err)
	return links
}

// status is a pod's network-status, which must be what the kernel has.
func (b *bench) status(pod string) []node.NetworkStatus {
	GinkgoHelper()
	found, err := b.Pod(b.ctx, b.namespace, pod)
	b.must(err)
	statuses, err := found.NetworkStatus()
	b.must(err)
	links := b.links(pod)
	for _, status := range statuses {
		Expect(links).To(HaveKey(status.Interface))
		Expect(status.IPs).To(Equal(links[status.Interface].Addresses()), status.Interface)
		Expect(status.MAC).To(Equal(links[status.Interface].Address), status.Interface)
	}
	return statuses
}

// networks lists a pod's network-status as "network interface", which must be what the kernel has.
func (b *bench) networks(pod string) []string {
	GinkgoHelper()
	var list []string
	for _, status := range b.status(pod) {
		list = append(list, status.Name+" "+status.Interface)
	}
	return list
}

// answers says who answers at an address, as seen from a network namespace.
func (b *bench) answers(netns, address string) (string, error) {
	connection, err := node.Dial(b.ctx, netns, address)
	if err != nil {
		return "", err
	}
	defer connection.Close()
	name, err := io.ReadAll(connection)
	return string(name), err
}

// event waits for an event of a pod whose message has all of these texts.
func (b *bench) event(pod string, texts ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		events, err := b.Events(b.ctx, b.namespace, pod)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(events).To(ContainElement(haveTexts(texts...)))
	}).Should(Succeed())
}

// configure changes the plugin's configuration for the rest of the scenario.
func (b *bench) configure(changes node.Config) {
	GinkgoHelper()
	b.later(func() { b.reconfigure(nil) })
	b.reconfigure(changes)
}

// reconfigure restarts containerd, which then has read the new configuration for sure.
func (b *bench) reconfigure(changes node.Config) {
	GinkgoHelper()
	b.must(b.Configure(changes))
	b.must(b.RestartContainerd(b.ctx))
}
