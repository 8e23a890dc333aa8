package device

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var blue = Pod{Namespace: "blue", Name: "web-0", UID: "6e1c5d44-0000-4000-8000-000000000001"}

var _ = Describe("the PodResources socket (DEV-2)", func() {
	It("is asked for the one pod, at kubelet.sock (E101)", func(ctx context.Context) {
		k := newKubelet()
		k.serve(map[string][]reply{methodGet: {answer(podResources("blue", "web-0",
			container("app", devices("intel.com/sriov", 1, "0000:03:02.0"), devices("nvidia.com/gpu", -1, "GPU-1"))))}})

		Expect(Allocated(ctx, k.dir, blue)).To(Equal(Pool{"intel.com/sriov": {"0000:03:02.0"}, "nvidia.com/gpu": {"GPU-1"}}))
		Expect(k.asked).To(Equal([]string{"/v1.PodResourcesLister/Get"}))
		Expect(k.got[0]).To(Equal([]byte("\x00\x00\x00\x00\x0d\x0a\x05web-0\x12\x04blue")))
	})

	It("goes before a checkpoint that says something else", func(ctx context.Context) {
		k := newKubelet()
		k.serve(map[string][]reply{methodGet: {answer(podResources("blue", "web-0", container("app", devices("a/b", -1, "new"))))}})
		k.writeCheckpoint(checkpointOf(`{"PodUID":"` + blue.UID + `","ResourceName":"a/b","DeviceIDs":["old"]}`))
		Expect(Allocated(ctx, k.dir, blue)).To(Equal(Pool{"a/b": {"new"}}))
	})

	DescribeTable("falls back to List and takes only the pod asked for, where Get is",
		func(ctx context.Context, refusal reply) {
			k := newKubelet()
			other := container("app", devices("a/b", -1, "theirs"))
			k.serve(map[string][]reply{methodGet: {refusal}, methodList: {answer(
				podResources("red", "web-0", other),
				podResources("blue", "web-0", container("app", devices("a/b", -1, "ours"))),
				podResources("blue", "web-1", other),
			)}})
			Expect(Allocated(ctx, k.dir, blue)).To(Equal(Pool{"a/b": {"ours"}}))
			Expect(k.asked).To(Equal([]string{methodGet, methodList}))
		},
		Entry("not known to an old kubelet", reply{status: "12", message: "unknown method Get"}),
		Entry("disabled by its feature gate", reply{status: "2", message: "PodResources API Get method disabled"}),
	)

	It("answers for a pod without devices, or one that is not listed, with none", func(ctx context.Context) {
		k := newKubelet()
		k.serve(map[string][]reply{methodGet: {{status: "2", message: "pod not found"}, answer(podResources("blue", "web-0"))},
			methodList: {answer()}})
		Expect(Allocated(ctx, k.dir, blue)).To(BeEmpty())
		Expect(Allocated(ctx, k.dir, blue)).To(BeEmpty())
		Expect(k.asked).To(Equal([]string{methodGet, methodList, methodGet}))
	})

	It("is asked again while it limits its rate", func(ctx context.Context) {
		k := newKubelet()
		busy := reply{status: "8", message: "rejected by rate limit"}
		k.serve(map[string][]reply{methodGet: {busy, busy, answer(podResources("blue", "web-0", container("app", devices("a/b", -1, "x"))))}})
		Expect(Allocated(ctx, k.dir, blue)).To(Equal(Pool{"a/b": {"x"}}))
		Expect(k.asked).To(HaveLen(3))
	})

	DescribeTable("gives IDs in stable order, each once (DEV-2)",
		func(ctx context.Context, containers [][]byte, want []string) {
			k := newKubelet()
			k.serve(map[string][]reply{methodGet: {answer(podResources("blue", "web-0", containers...))}})
			Expect(Allocated(ctx, k.dir, blue)).To(Equal(Pool{"a/b": want}))
		},
		Entry("one list keeps its order", [][]byte{container("app", devices("a/b", 0, "b", "a"))}, []string{"b", "a"}),
		Entry("lists go by NUMA node, as numbers",
			[][]byte{container("app", devices("a/b", 10, "c"), devices("a/b", 0, "a"), devices("a/b", 9, "b"))}, []string{"a", "b", "c"}),
		Entry("lists of one node go by their IDs, since the kubelet shuffles them",
			[][]byte{container("app", devices("a/b", 1, "y"), devices("a/b", 1, "x"), devices("a/b", 1, "z"))}, []string{"x", "y", "z"}),
		Entry("containers keep their order", [][]byte{container("z", devices("a/b", 1, "y")), container("a", devices("a/b", 0, "x"))}, []string{"y", "x"}),
		Entry("an ID in two containers is one device", [][]byte{container("z", devices("a/b", 1, "y")), container("a", devices("a/b", 0, "x", "y"))}, []string{"y", "x"}),
	)

	DescribeTable("must not take a bad answer for 'no devices'; the error names the socket",
		func(ctx context.Context, bad reply, want string) {
			k := newKubelet()
			k.serve(map[string][]reply{methodGet: {bad}, methodList: {bad}})
			k.writeCheckpoint(checkpointOf(""))
			_, err := Allocated(ctx, k.dir, blue)
			Expect(err).To(MatchError(And(ContainSubstring(k.socket()), ContainSubstring(want))))
		},
		Entry("refused", reply{status: "7", message: "not%20allowed"}, "gRPC status 7: not allowed"),
		Entry("Get and List refused", reply{status: "12", message: "100%"}, "gRPC status 12: 100%"),
		Entry("HTTP error", reply{http: 503, status: "0"}, "HTTP status 503"),
		Entry("no status at all", reply{body: frame(nil)}, "no gRPC status"),
		Entry("no message", reply{status: "0"}, "no message"),
		Entry("half a frame header", reply{body: []byte{0, 0, 0}, status: "0"}, "no message"),
		Entry("shorter than announced", reply{body: []byte{0, 0, 0, 0, 9, 1}, status: "0"}, "message of 1 bytes, announced with 9"),
		Entry("two messages", reply{body: bytes.Repeat(frame(nil), 2), status: "0"}, "message of 5 bytes, announced with 0"),
		Entry("compressed", reply{body: []byte{1, 0, 0, 0, 0}, status: "0"}, "compressed"),
		Entry("not protobuf", answer([]byte("garbage")), "reading the answer"),
		Entry("truncated protobuf", answer(podResources("blue", "web-0")[:4]), "reading the answer"),
		Entry("a device without ID", answer(podResources("blue", "web-0", container("app", devices("a/b", -1, "")))), "a/b: device without an ID"),
		Entry("a resource without name", answer(podResources("blue", "web-0", container("app", devices("", -1, "x")))), "without a name"),
		Entry("an ID that is not text", answer(podResources("blue", "web-0", container("app", devices("a/b", -1, "\xff")))), "not UTF-8"),
		Entry("too much", reply{body: make([]byte, frameHeader+maxSize+1), status: "0"}, "more than 16777216 bytes"),
	)
})

var _ = Describe("a kubelet that does not answer (E104)", func() {
	// silent accepts connections and keeps them open.
	silent := func(k *kubelet) <-chan net.Conn {
		listener := k.listen()
		accepted := make(chan net.Conn, 1)
		go func() {
			if conn, err := listener.Accept(); err == nil {
				accepted <- conn
			}
		}()
		return accepted
	}

	It("is given up when its time is over, and named with its socket", func(ctx context.Context) {
		k := newKubelet()
		silent(k)
		k.writeCheckpoint(checkpointOf(""))
		_, err := Allocated(ctx, k.dir, blue)
		Expect(err).To(MatchError(context.DeadlineExceeded))
		Expect(err).To(MatchError(ContainSubstring("kubelet pod-resources %s did not answer", k.socket())))
	})

	It("is given up when the verb is cancelled", func(ctx context.Context) {
		k := newKubelet()
		accepted := silent(k)
		ctx, cancel := context.WithCancel(ctx)
		go func() {
			<-accepted
			cancel()
		}()
		_, err := Allocated(ctx, k.dir, blue)
		Expect(err).To(MatchError(context.Canceled))
	})

	It("is an error too where a dead kubelet's socket is left over", func(ctx context.Context) {
		k := newKubelet()
		listener := k.listen()
		listener.(*net.UnixListener).SetUnlinkOnClose(false)
		Expect(listener.Close()).To(Succeed())
		k.writeCheckpoint(checkpointOf(""))
		_, err := Allocated(ctx, k.dir, blue)
		Expect(err).To(MatchError(ContainSubstring("%s did not answer", k.socket())))
		Expect(errors.Is(err, os.ErrNotExist)).To(BeFalse())
	})
})
