package device

import (
	"context"
	"io/fs"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// checkpointOf is a checkpoint file with those entries.
func checkpointOf(entries string) string {
	return `{"Data":{"PodDeviceEntries":[` + entries + `],"RegisteredDevices":{"a/b":["x"]}},"Checksum":1}`
}

var _ = Describe("the kubelet's checkpoint, where there is no socket (DEV-2)", func() {
	DescribeTable("is read in both layouts of DeviceIDs, in stable order (E100)",
		func(ctx context.Context, entries string, want Pool) {
			k := newKubelet()
			k.writeCheckpoint(checkpointOf(entries))
			Expect(Allocated(ctx, k.Dir, Pod{UID: "u1"})).To(Equal(want))
		},
		Entry("a list", `{"PodUID":"u1","ContainerName":"c","ResourceName":"a/b","DeviceIDs":["y","x"],"AllocResp":"AA=="}`,
			Pool{"a/b": {"y", "x"}}),
		Entry("a map of NUMA node to list", `{"PodUID":"u1","ContainerName":"c","ResourceName":"a/b","DeviceIDs":{"0":["a"],"1":["b"]}}`,
			Pool{"a/b": {"a", "b"}}),
		Entry("nodes go by number, devices without one first",
			`{"PodUID":"u1","ContainerName":"c","ResourceName":"a/b","DeviceIDs":{"10":["e"],"9":["d","c"],"-1":["z"]}}`, Pool{"a/b": {"z", "d", "c", "e"}}),
		Entry("both layouts in one file", `{"PodUID":"u1","ContainerName":"c","ResourceName":"a/b","DeviceIDs":{"0":["a"]}},
			{"PodUID":"u1","ContainerName":"d","ResourceName":"a/b","DeviceIDs":["b"]}`, Pool{"a/b": {"a", "b"}}),
		Entry("containers in whatever order the kubelet wrote them", `{"PodUID":"u1","ContainerName":"d","ResourceName":"a/b","DeviceIDs":["b"]},
			{"PodUID":"u1","ContainerName":"c","ResourceName":"a/b","DeviceIDs":["a"]}`, Pool{"a/b": {"a", "b"}}),
		Entry("a device in two containers is one", `{"PodUID":"u1","ContainerName":"c","ResourceName":"a/b","DeviceIDs":["a"]},
			{"PodUID":"u1","ContainerName":"d","ResourceName":"a/b","DeviceIDs":["b","a"]}`, Pool{"a/b": {"a", "b"}}),
		Entry("several resources", `{"PodUID":"u1","ContainerName":"c","ResourceName":"a/b","DeviceIDs":["a"]},
			{"PodUID":"u1","ContainerName":"c","ResourceName":"a/c","DeviceIDs":["a"]}`, Pool{"a/b": {"a"}, "a/c": {"a"}}),
		Entry("other pods' devices are not ours", `{"PodUID":"u2","ContainerName":"c","ResourceName":"a/b","DeviceIDs":["a"]}`, Pool{}),
		Entry("no list", `{"PodUID":"u1","ContainerName":"c","ResourceName":"a/b","DeviceIDs":null}`, Pool{}),
		Entry("no entries", ``, Pool{}),
	)

	DescribeTable("must not take garbage for 'no devices'; the error names the file (E100)",
		func(ctx context.Context, content, want string) {
			k := newKubelet()
			k.writeCheckpoint(content)
			_, _, err := Allocated(ctx, k.Dir, Pod{UID: "u1"})
			Expect(err).To(MatchError(And(ContainSubstring(k.Checkpoint()), ContainSubstring(want))))
		},
		Entry("empty file", "", "unexpected end"),
		Entry("truncated", `{"Data":{"PodDeviceEntries":[{"PodUID":"u1"`, "unexpected end"),
		Entry("other text", "garbage", "invalid character"),
		Entry("no data", `{"Checksum":1}`, "it has no Data"),
		Entry("null", `null`, "it has no Data"),
		Entry("entries of a wrong type", `{"Data":{"PodDeviceEntries":{}}}`, "PodDeviceEntries"),
		Entry("IDs of a wrong type", checkpointOf(`{"PodUID":"u1","ResourceName":"a/b","DeviceIDs":"a"}`), "cannot unmarshal"),
		Entry("a node that is no number", checkpointOf(`{"PodUID":"u1","ResourceName":"a/b","DeviceIDs":{"x":["a"]}}`), "cannot unmarshal"),
		Entry("a node without a list", checkpointOf(`{"PodUID":"u1","ResourceName":"a/b","DeviceIDs":{"0":"a"}}`), "cannot unmarshal"),
		Entry("a device without ID", checkpointOf(`{"PodUID":"u1","ContainerName":"c","ResourceName":"a/b","DeviceIDs":[""]}`), "container c: resource a/b: device without an ID"),
		Entry("a resource without name", checkpointOf(`{"PodUID":"u1","ContainerName":"c","DeviceIDs":["a"]}`), "container c: devices of a resource without a name"),
	)

	It("is refused where it is larger than any real one", func(ctx context.Context) {
		k := newKubelet()
		k.writeCheckpoint("")
		Expect(os.Truncate(k.Checkpoint(), maxSize+1)).To(Succeed())
		_, _, err := Allocated(ctx, k.Dir, Pod{UID: "u1"})
		Expect(err).To(MatchError(ContainSubstring("%s: larger than 16777216 bytes", k.Checkpoint())))
	})

	It("cannot be searched without the pod's UID", func(ctx context.Context) {
		k := newKubelet()
		k.writeCheckpoint(checkpointOf(`{"PodUID":"","ContainerName":"c","ResourceName":"a/b","DeviceIDs":["a"]}`))
		_, _, err := Allocated(ctx, k.Dir, Pod{Namespace: "blue", Name: "web-0"})
		Expect(err).To(MatchError(ContainSubstring("the UID of this pod is not known")))
	})

	It("says where it looked when there is neither", func(ctx context.Context) {
		k := newKubelet()
		_, _, err := Allocated(ctx, k.Dir, Pod{UID: "u1"})
		Expect(err).To(MatchError(fs.ErrNotExist))
		Expect(err).To(MatchError(And(ContainSubstring(k.Socket()), ContainSubstring(k.Checkpoint()))))
	})
})
