package exec

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// uidOf is the UID of the pod of a sandbox.
func uidOf(box node.Sandbox) string {
	for _, arg := range box.Args {
		if arg[0] == "K8S_POD_UID" {
			return arg[1]
		}
	}
	return ""
}

// statusText is the network-status of the pod blue/web-0 as it is written.
func (b *bench) statusText() string { return b.API.Annotations("blue", "web-0")[nad.StatusAnnotation] }

var _ = Describe("the network-status on DEL (DEL-7)", func() {
	It("is removed by one JSON Patch that tests UID and value first", func() {
		b := newBench()
		box := b.threeNetworks()
		status := b.statusText()
		b.API.Forget()
		b.del(box)
		Expect(b.API.Requests()).To(HaveLen(1))
		request := b.API.Requests()[0]
		Expect(request.Kind).To(Equal(fake.PatchStatus))
		Expect(request.ContentType).To(Equal("application/json-patch+json"))
		path := "/metadata/annotations/k8s.v1.cni.cncf.io~1network-status"
		patch, err := json.Marshal([]map[string]string{
			{"op": "test", "path": "/metadata/uid", "value": uidOf(box)},
			{"op": "test", "path": path, "value": status},
			{"op": "remove", "path": path},
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(request.Body).To(MatchJSON(patch))
		Expect(b.API.Annotations("blue", "web-0")).NotTo(HaveKey(nad.StatusAnnotation))
	})

	DescribeTable("of a newer sandbox is never touched",
		func(replace func(b *bench, uid, status string) string) {
			b := newBench()
			box := b.threeNetworks()
			newer := replace(b, uidOf(box), b.statusText())
			b.API.Forget()
			b.del(box)
			Expect(b.calls("DEL")).To(Equal(allThree()))
			Expect(b.statusText()).To(Equal(newer))
			Expect(b.API.Count(fake.Any)).To(Equal(1))
			Expect(b.planFile(box)).NotTo(BeAnExistingFile())
		},
		Entry("a new pod of the same name, even with the same addresses", func(b *bench, _, status string) string {
			b.API.AddPod(fake.Pod{Namespace: "blue", Name: "web-0", UID: "another", Annotations: map[string]string{nad.StatusAnnotation: status}})
			return status
		}),
		Entry("a new sandbox of the same pod", func(b *bench, uid, _ string) string {
			again := b.sandbox().Of("blue", "web-0", uid)
			b.add(again)
			return b.statusText()
		}),
	)

	DescribeTable("may fail to be removed: that is logged, tried once, and no more than that",
		func(code int) {
			b := newBench()
			box := b.threeNetworks()
			b.API.Forget()
			b.API.Fail(fake.Any, fake.Always, code, "")
			outcome := b.del(box)
			Expect(outcome.Stderr).To(ContainSubstring("the network-status is not removed"))
			Expect(b.calls("DEL")).To(Equal(allThree()))
			Expect(b.API.Count(fake.Any)).To(Equal(1))
			b.expectNoState()
		},
		Entry("forbidden", 403), Entry("gone", 404), Entry("conflict", 409), Entry("busy", 429), Entry("broken", 500),
	)

	It("is none of a pod in a system namespace (STAT-4)", func() {
		b := newBench()
		box, err := b.AddPodIn("kube-system", "web-0", nil)
		Expect(err).NotTo(HaveOccurred())
		b.add(box)
		b.API.Forget()
		b.del(box)
		Expect(b.API.Count(fake.Any)).To(BeZero())
	})

	It("is none without a pod (INV-7)", func() {
		b := newBench()
		box := b.sandbox()
		b.add(box)
		b.del(box)
		Expect(b.API.Count(fake.Any)).To(BeZero())
	})
})

// delLimit is the bound of DEL-6 with some room for a slow machine, but not so much that the ten seconds of an ADD's
// requests would pass.
const delLimit = 8 * time.Second

// boundedDel is a DEL that does not wait for an API server that is dead.
func (b *bench) boundedDel(box node.Sandbox) node.Outcome {
	GinkgoHelper()
	del := b.start("DEL", box)
	Eventually(del.done).WithTimeout(delLimit).Should(BeClosed())
	return del.wait()
}

// deadAPI lists the ways for an API server not to be there.
func deadAPI() []TableEntry {
	return []TableEntry{
		Entry("connection refused", func(b *bench) { b.API.Refuse() }),
		Entry("a black hole", func(b *bench) { b.blackHole() }),
		Entry("no TLS handshake", func(b *bench) { Expect(b.API.Silence()).To(Succeed()) }),
		Entry("no answer", func(b *bench) { b.API.Inject(fake.Fault{Times: fake.Always, Hang: true}) }),
		Entry("no kubeconfig", func(b *bench) { Expect(os.Remove(b.Kubeconfig)).To(Succeed()) }),
	}
}

// blackHole makes the API server's address one that answers no request for a connection.
func (b *bench) blackHole() {
	GinkgoHelper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(syscall.Close, socket)
	Expect(syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})).To(Succeed())
	Expect(syscall.Listen(socket, 0)).To(Succeed())
	name, err := syscall.Getsockname(socket)
	Expect(err).NotTo(HaveOccurred())
	address := fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	first, err := net.Dial("tcp", address) // fills the queue, which nobody ever empties
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(first.Close)
	Expect(b.API.Kubeconfig(b.Kubeconfig, fake.Server("https://"+address))).To(Succeed())
}

var _ = Describe("DEL while the API server is dead (DEL-6, E044)", func() {
	DescribeTable("detaches what the plan says (DEL-1, E043)",
		func(kill func(b *bench)) {
			b := newBench()
			box := b.threeNetworks()
			b.API.Forget()
			kill(b)
			outcome := b.boundedDel(box)
			Expect(outcome.Exit).To(BeZero(), outcome.String())
			Expect(outcome.Stderr).To(ContainSubstring("the network-status is not removed"))
			Expect(b.calls("DEL")).To(Equal(allThree()))
			Expect(b.API.Count(fake.Any)).To(BeNumerically("<=", 1))
			b.expectNoState()
		}, deadAPI())

	DescribeTable("detaches the node's own networks where there is no plan, and says that others may be left (DEL-4, E041)",
		func(kill func(b *bench)) {
			b := newBench()
			box := b.threeNetworks()
			Expect(os.RemoveAll(b.CNIDir)).To(Succeed())
			b.API.Forget()
			kill(b)
			outcome := b.boundedDel(box)
			Expect(outcome.Exit).To(BeZero(), outcome.String())
			Expect(outcome.Stderr).To(ContainSubstring("networks that it selected itself are not released"))
			Expect(b.calls("DEL")).To(Equal([]string{"DEL master eth0"}))
			Expect(b.API.Count(fake.Any)).To(BeNumerically("<=", 1), "no write after a read that failed (E050)")
			b.expectNoState()
		}, deadAPI())

	It("keeps no delegate waiting", func() {
		b := newBench()
		box := b.threeNetworks()
		b.API.Inject(fake.Fault{Times: fake.Always, Hang: true})
		log := b.del(box).Stderr
		Expect(strings.Index(log, "the network-status is not removed")).To(BeNumerically(">", strings.LastIndex(log, "] detached")))
	})
})
