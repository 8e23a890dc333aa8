package device

import (
	"bytes"
	"context"
	"errors"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake/kubelet"
)

var blue = Pod{Namespace: "blue", Name: "web-0", UID: "6e1c5d44-0000-4000-8000-000000000001"}

// allocated is a checkpoint with a device of blue.
var allocated = checkpointOf(`{"PodUID":"` + blue.UID + `","ContainerName":"c","ResourceName":"a/b","DeviceIDs":["x"]}`)

var _ = Describe("the PodResources socket (DEV-2)", func() {
	It("is asked for the one pod, at kubelet.sock (E101)", func(ctx context.Context) {
		k := newKubelet()
		k.serve(map[string][]kubelet.Reply{kubelet.Get: {kubelet.Answer(kubelet.Pod("blue", "web-0",
			kubelet.Container("app", kubelet.Devices("intel.com/sriov", 1, "0000:03:02.0"), kubelet.Devices("nvidia.com/gpu", -1, "GPU-1"))))}})

		Expect(Allocated(ctx, k.Dir, blue)).To(Equal(Pool{"intel.com/sriov": {"0000:03:02.0"}, "nvidia.com/gpu": {"GPU-1"}}))
		Expect(k.Asked()).To(Equal([]string{"/v1.PodResourcesLister/Get"}))
		Expect(k.Messages()[0]).To(Equal([]byte("\x00\x00\x00\x00\x0d\x0a\x05web-0\x12\x04blue")))
	})

	It("goes before a checkpoint that says something else", func(ctx context.Context) {
		k := newKubelet()
		k.serve(map[string][]kubelet.Reply{kubelet.Get: {kubelet.Answer(kubelet.Pod("blue", "web-0", kubelet.Container("app", kubelet.Devices("a/b", -1, "new"))))}})
		k.writeCheckpoint(allocated)
		Expect(Allocated(ctx, k.Dir, blue)).To(Equal(Pool{"a/b": {"new"}}))
	})

	DescribeTable("falls back to List and takes only the pod asked for, where Get is",
		func(ctx context.Context, refusal kubelet.Reply) {
			k := newKubelet()
			other := kubelet.Container("app", kubelet.Devices("a/b", -1, "theirs"))
			k.serve(map[string][]kubelet.Reply{kubelet.Get: {refusal}, kubelet.List: {kubelet.Answer(
				kubelet.Pod("red", "web-0", other),
				kubelet.Pod("blue", "web-0", kubelet.Container("app", kubelet.Devices("a/b", -1, "ours"))),
				kubelet.Pod("blue", "web-1", other),
			)}})
			Expect(Allocated(ctx, k.Dir, blue)).To(Equal(Pool{"a/b": {"ours"}}))
			Expect(k.Asked()).To(Equal([]string{kubelet.Get, kubelet.List}))
		},
		Entry("not known to an old kubelet", kubelet.Reply{Status: "12", Message: "unknown method Get"}),
		Entry("disabled by its feature gate", kubelet.Reply{Status: "2", Message: "PodResources API Get method disabled"}),
	)

	It("answers for a pod without devices, or one that is not listed, with none", func(ctx context.Context) {
		k := newKubelet()
		k.serve(map[string][]kubelet.Reply{kubelet.Get: {{Status: "2", Message: "pod not found"}, kubelet.Answer(kubelet.Pod("blue", "web-0"))},
			kubelet.List: {kubelet.Answer()}})
		Expect(Allocated(ctx, k.Dir, blue)).To(BeEmpty())
		Expect(Allocated(ctx, k.Dir, blue)).To(BeEmpty())
		Expect(k.Asked()).To(Equal([]string{kubelet.Get, kubelet.List, kubelet.Get}))
	})

	It("is asked again while it limits its rate", func(ctx context.Context) {
		k := newKubelet()
		busy := kubelet.Reply{Status: "8", Message: "rejected by rate limit"}
		k.serve(map[string][]kubelet.Reply{kubelet.Get: {busy, busy, kubelet.Answer(kubelet.Pod("blue", "web-0", kubelet.Container("app", kubelet.Devices("a/b", -1, "x"))))}})
		Expect(Allocated(ctx, k.Dir, blue)).To(Equal(Pool{"a/b": {"x"}}))
		Expect(k.Asked()).To(HaveLen(3))
	})

	DescribeTable("gives IDs in stable order, each once (DEV-2)",
		func(ctx context.Context, containers [][]byte, want []string) {
			k := newKubelet()
			k.serve(map[string][]kubelet.Reply{kubelet.Get: {kubelet.Answer(kubelet.Pod("blue", "web-0", containers...))}})
			Expect(Allocated(ctx, k.Dir, blue)).To(Equal(Pool{"a/b": want}))
		},
		Entry("one list keeps its order", [][]byte{kubelet.Container("app", kubelet.Devices("a/b", 0, "b", "a"))}, []string{"b", "a"}),
		Entry("lists go by NUMA node, as numbers",
			[][]byte{kubelet.Container("app", kubelet.Devices("a/b", 10, "c"), kubelet.Devices("a/b", 0, "a"), kubelet.Devices("a/b", 9, "b"))}, []string{"a", "b", "c"}),
		Entry("lists of one node go by their IDs, since the kubelet shuffles them",
			[][]byte{kubelet.Container("app", kubelet.Devices("a/b", 1, "y"), kubelet.Devices("a/b", 1, "x"), kubelet.Devices("a/b", 1, "z"))}, []string{"x", "y", "z"}),
		Entry("containers keep their order", [][]byte{kubelet.Container("z", kubelet.Devices("a/b", 1, "y")), kubelet.Container("a", kubelet.Devices("a/b", 0, "x"))}, []string{"y", "x"}),
		Entry("an ID in two containers is one device", [][]byte{kubelet.Container("z", kubelet.Devices("a/b", 1, "y")), kubelet.Container("a", kubelet.Devices("a/b", 0, "x", "y"))}, []string{"y", "x"}),
	)

	DescribeTable("gives way to the checkpoint after a bad answer, with a warning; without one that is an error which names the socket",
		func(ctx context.Context, bad kubelet.Reply, want string) {
			k := newKubelet()
			k.serve(map[string][]kubelet.Reply{kubelet.Get: {bad}, kubelet.List: {bad}})
			named := And(ContainSubstring(k.Socket()), ContainSubstring(want))
			_, _, err := Allocated(ctx, k.Dir, blue)
			Expect(err).To(MatchError(named))

			k.writeCheckpoint(allocated)
			pool, warnings, err := Allocated(ctx, k.Dir, blue)
			Expect(err).NotTo(HaveOccurred())
			Expect(pool).To(Equal(Pool{"a/b": {"x"}}))
			Expect(warnings).To(ConsistOf(named))
		},
		Entry("refused", kubelet.Reply{Status: "7", Message: "not%20allowed"}, "gRPC status 7: not allowed"),
		Entry("Get and List refused", kubelet.Reply{Status: "12", Message: "100%"}, "gRPC status 12: 100%"),
		Entry("HTTP error", kubelet.Reply{HTTP: 503, Status: "0"}, "HTTP status 503"),
		Entry("no status at all", kubelet.Reply{Body: frame(nil)}, "no gRPC status"),
		Entry("no message", kubelet.Reply{Status: "0"}, "no message"),
		Entry("half a frame header", kubelet.Reply{Body: []byte{0, 0, 0}, Status: "0"}, "no message"),
		Entry("shorter than announced", kubelet.Reply{Body: []byte{0, 0, 0, 0, 9, 1}, Status: "0"}, "message of 1 bytes, announced with 9"),
		Entry("two messages", kubelet.Reply{Body: bytes.Repeat(frame(nil), 2), Status: "0"}, "message of 5 bytes, announced with 0"),
		Entry("compressed", kubelet.Reply{Body: []byte{1, 0, 0, 0, 0}, Status: "0"}, "compressed"),
		Entry("not protobuf", kubelet.Answer([]byte("garbage")), "reading the answer"),
		Entry("truncated protobuf", kubelet.Answer(kubelet.Pod("blue", "web-0")[:4]), "reading the answer"),
		Entry("a device without ID", kubelet.Answer(kubelet.Pod("blue", "web-0", kubelet.Container("app", kubelet.Devices("a/b", -1, "")))), "a/b: device without an ID"),
		Entry("a resource without name", kubelet.Answer(kubelet.Pod("blue", "web-0", kubelet.Container("app", kubelet.Devices("", -1, "x")))), "without a name"),
		Entry("an ID that is not text", kubelet.Answer(kubelet.Pod("blue", "web-0", kubelet.Container("app", kubelet.Devices("a/b", -1, "\xff")))), "not UTF-8"),
		Entry("too much", kubelet.Reply{Body: make([]byte, frameHeader+maxSize+1), Status: "0"}, "more than 16777216 bytes"),
	)
})

var _ = Describe("a kubelet that does not answer (E104)", func() {
	It("is given up when its time is over, and named with its socket", func(ctx context.Context) {
		k := newKubelet()
		k.silent()
		_, _, err := Allocated(ctx, k.Dir, blue)
		Expect(err).To(MatchError(context.DeadlineExceeded))
		Expect(err).To(MatchError(ContainSubstring("kubelet pod-resources %s did not answer", k.Socket())))
	})

	It("is given up when the verb is cancelled, and no checkpoint is read", func(ctx context.Context) {
		k := newKubelet()
		accepted := k.silent()
		k.writeCheckpoint(allocated)
		ctx, cancel := context.WithCancel(ctx)
		go func() {
			<-accepted
			cancel()
		}()
		_, _, err := Allocated(ctx, k.Dir, blue)
		Expect(err).To(MatchError(context.Canceled))
	})

	It("is an error where a dead kubelet's socket is left over, and nothing else", func(ctx context.Context) {
		k := newKubelet()
		Expect(k.Die()).To(Succeed())
		_, _, err := Allocated(ctx, k.Dir, blue)
		Expect(err).To(MatchError(ContainSubstring("%s did not answer", k.Socket())))
		Expect(errors.Is(err, os.ErrNotExist)).To(BeFalse())
	})

	It("gives way to its checkpoint (DEV-2)", func(ctx context.Context) {
		k := newKubelet()
		Expect(k.Die()).To(Succeed())
		k.writeCheckpoint(allocated)
		pool, warnings, err := Allocated(ctx, k.Dir, blue)
		Expect(err).NotTo(HaveOccurred())
		Expect(pool).To(Equal(Pool{"a/b": {"x"}}))
		Expect(warnings).To(ConsistOf(ContainSubstring("%s did not answer", k.Socket())))
	})

	It("is named beside a checkpoint that cannot be read", func(ctx context.Context) {
		k := newKubelet()
		Expect(k.Die()).To(Succeed())
		k.writeCheckpoint("garbage")
		_, _, err := Allocated(ctx, k.Dir, blue)
		Expect(err).To(MatchError(And(ContainSubstring(k.Socket()), ContainSubstring(k.Checkpoint()), ContainSubstring("invalid character"))))
	})
})
