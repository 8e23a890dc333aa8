package exec

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

const (
	// staticUID is what the kubelet calls a pod that it has from a file.
	staticUID = "0123456789abcdef0123456789abcdef"
	// sourceAnnotation says where the kubelet has a pod from.
	sourceAnnotation = "kubernetes.io/config.source"
)

// onFile is a configuration of a cluster network and a default network that are files, and of a default network that
// is a NAD.
func (b *bench) onFile() node.Config {
	GinkgoHelper()
	b.define("kube-system/as-nad")
	b.write("net.d", map[string]string{
		"cluster.conf": `{"cniVersion":"1.0.0","name":"cluster","type":"master"}`,
		"as-file.conf": `{"cniVersion":"1.0.0","name":"as-file","type":"second"}`,
	})
	return node.Config{"delegates": nil, "clusterNetwork": b.ConfDir + "/cluster.conf", "defaultNetworks": list("as-nad", "as-file")}
}

// unmirrored is a static pod that the API server does not know.
func (b *bench) unmirrored() node.Sandbox {
	GinkgoHelper()
	return b.sandbox().Of("blue", "web-0", staticUID)
}

var _ = Describe("a static pod (NET-15)", func() {
	DescribeTable("has an API object of another UID, which is no reason to fail and is annotated",
		func(source, uid string) {
			b := newBench()
			b.define("blue/n1")
			mirror := b.podWith("web-0", map[string]string{nad.NetworksAnnotation: "n1", sourceAnnotation: source})
			b.add(withUID(mirror, uid))
			Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0", "ADD second net1"}))
			Expect(b.requests()).To(Equal([]string{podRead, nadRead("blue/n1"), statusSent}))
			Expect(b.API.Requests()[2].Body).To(ContainSubstring(`"uid":"` + uidOf(mirror) + `"`))
			Expect(b.status("web-0")).To(HaveLen(2))
		},
		Entry("known by its annotation: a file", "file", anotherUID),
		Entry("known by its annotation: a URL", "http", anotherUID),
		Entry("known by its UID", "", staticUID),
		Entry("known by both", "file", staticUID),
	)

	It("is none whose annotation names the API server as its source", func() {
		b := newBench()
		pod := b.podWith("web-0", map[string]string{sourceAnnotation: "api"})
		b.untouched(withUID(pod, anotherUID), []string{"replaced by a new one"})
	})

	It("without an API object gets the networks that need no API server, with a warning", func() {
		b := newBench()
		outcome := b.add(b.unmirrored(), b.onFile())
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0", "ADD second net1"}))
		Expect(b.stdin("ADD second net1", "name")).To(Equal(`"as-file"`))
		Expect(outcome.Stderr).To(And(
			ContainSubstring("warning: a static pod without an API object"),
			ContainSubstring("warning: the pod does without a network that needs the API server"), ContainSubstring("kube-system/as-nad")))
		Expect(b.requests()).To(Equal([]string{podRead, podRead, podRead}))
	})

	It("without an API object is detached as it was attached", func() {
		b := newBench()
		box, config := b.unmirrored(), b.onFile()
		b.add(box, config)
		b.del(box, config)
		Expect(b.calls("DEL")).To(Equal([]string{"DEL second net1", "DEL master eth0"}))
		b.expectNoState()
	})

	It("is not left without its master", func() {
		b := newBench()
		b.define("kube-system/n1")
		b.untouched(b.unmirrored(), []string{"pod blue/web-0", "network kube-system/n1"}, node.Config{"delegates": nil, "clusterNetwork": "n1"})
	})

	It("is not left without a network whose file is broken", func() {
		b := newBench()
		box, config := b.unmirrored(), b.onFile()
		b.write("net.d", map[string]string{"as-file.conf": `{"cniVersion":"1.0.0","name":"as-file","type":"../second"}`})
		b.untouched(box, []string{"pod blue/web-0", "as-file.conf"}, config)
	})

	DescribeTable("waits for an API server that answers otherwise",
		func(code int, text string) {
			b := newBench()
			box, config := b.unmirrored(), b.onFile()
			b.API.Fail(fake.GetPod, fake.Always, code, "")
			b.untouched(box, []string{"pod blue/web-0", text}, config)
		},
		Entry(nil, 401, "refused the credential"),
		Entry(nil, 403, "forbidden"),
	)
})

var _ = It("an ordinary pod that is not found fails, never on the node's networks alone (NET-15)", func() {
	b := newBench()
	b.untouched(b.sandbox().Of("blue", "web-0", anotherUID), []string{"pod blue/web-0", "not found"}, b.onFile())
	Expect(b.requests()).To(Equal([]string{podRead, podRead, podRead}))
})

var _ = It("the control plane boots: a static pod starts while the API server is not there (NET-15)", func() {
	atOnce(map[string]func(*bench){
		"down":                (*bench).refuse,
		"silent":              (*bench).silence,
		"never answering":     always(fake.Fault{Hang: true}),
		"behind a proxy: 502": always(fake.Fault{Code: 502}),
		"behind a proxy: 503": always(fake.Fault{Code: 503}),
	}, func(b *bench, absent func(*bench)) *running {
		box, config := b.unmirrored(), b.onFile()
		absent(b)
		return b.start("ADD", box, config)
	}, func(b *bench, _ func(*bench), outcome node.Outcome) {
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0", "ADD second net1"}))
		Expect(b.API.Count(fake.GetNAD)).To(BeZero())
		Expect(b.API.Count(fake.PatchStatus)).To(BeZero())
		Expect(outcome.Stderr).To(ContainSubstring("warning: a static pod without an API object"))
	})
})
