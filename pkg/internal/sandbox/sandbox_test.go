package sandbox_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/containernetworking/plugins/pkg/ns"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/sandbox"
)

// namespace makes an empty network namespace that lasts for the spec, and returns it with a path of the kind that a
// runtime hands out.
func namespace() (ns.NetNS, string) {
	GinkgoHelper()
	space, err := ns.TempNetNS()
	Expect(err).NotTo(HaveOccurred(), "network namespaces need root")
	DeferCleanup(space.Close)
	path := filepath.Join(GinkgoT().TempDir(), "net")
	Expect(os.WriteFile(path, nil, 0o600)).To(Succeed())
	Expect(unix.Mount(processPath(space), path, "", unix.MS_BIND, "")).To(Succeed())
	DeferCleanup(unix.Unmount, path, unix.MNT_DETACH)
	return space, path
}

func processPath(space ns.NetNS) string {
	return fmt.Sprintf("/proc/self/fd/%d", space.Fd())
}

// places lists the network namespaces that the threads of this process are in.
func places() []uint64 {
	GinkgoHelper()
	threads, err := filepath.Glob("/proc/self/task/*/ns/net")
	Expect(err).NotTo(HaveOccurred())
	var inodes []uint64
	for _, thread := range threads {
		var stat unix.Stat_t
		if unix.Stat(thread, &stat) == nil { // a thread may have ended meanwhile
			inodes = append(inodes, stat.Ino)
		}
	}
	slices.Sort(inodes)
	return slices.Compact(inodes)
}

var _ = Describe("a network namespace", func() {
	It("lists every interface in it, and only those (NET-12)", func() {
		space, path := namespace()
		Expect(space.Do(func(ns.NetNS) error {
			return netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "net1"}, PeerName: "net7"})
		})).To(Succeed())

		open, err := sandbox.Open(path)
		Expect(err).NotTo(HaveOccurred())
		defer open.Close()
		Expect(open.Interfaces()).To(ConsistOf("lo", "net1", "net7"))
	})

	It("lists alternative names too (NET-12)", func() {
		space, path := namespace()
		Expect(space.Do(func(ns.NetNS) error {
			lo, err := netlink.LinkByName("lo")
			if err != nil {
				return err
			}
			return netlink.LinkAddAltName(lo, "net1")
		})).To(Succeed())

		open, err := sandbox.Open(path)
		Expect(err).NotTo(HaveOccurred())
		defer open.Close()
		Expect(open.Interfaces()).To(ConsistOf("lo", "net1"))
	})

	It("sees what changes after it was opened, and leaves the process where it was", func() {
		space, path := namespace()
		before := places()
		Expect(before).To(HaveLen(1))
		open, err := sandbox.Open(path)
		Expect(err).NotTo(HaveOccurred())
		defer open.Close()
		Expect(open.Interfaces()).To(ConsistOf("lo"))

		Expect(space.Do(func(ns.NetNS) error {
			return netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "net1"}, PeerName: "net2"})
		})).To(Succeed())
		Expect(open.Interfaces()).To(ContainElement("net1"))
		Expect(places()).To(Equal(before))
	})

	It("is told from the one that this process runs in", func() {
		_, path := namespace()
		for at, ours := range map[string]bool{path: false, "/proc/self/ns/net": true} {
			open, err := sandbox.Open(at)
			Expect(err).NotTo(HaveOccurred())
			defer open.Close()
			Expect(open.IsOurs()).To(Equal(ours), at)
		}
	})

	It("can be closed twice", func() {
		_, path := namespace()
		open, err := sandbox.Open(path)
		Expect(err).NotTo(HaveOccurred())
		open.Close()
		open.Close()
	})
})

var _ = Describe("what is no network namespace (DEL-2)", func() {
	file := func() string {
		path := filepath.Join(GinkgoT().TempDir(), "net")
		Expect(os.WriteFile(path, nil, 0o600)).To(Succeed())
		return path
	}
	fifo := func() string {
		path := filepath.Join(GinkgoT().TempDir(), "net")
		Expect(unix.Mkfifo(path, 0o600)).To(Succeed())
		return path
	}
	constant := func(path string) func() string { return func() string { return path } }

	DescribeTable("is refused with the path in the error",
		func(path func() string, want error) {
			at := path()
			Expect(sandbox.IsNamespace(at)).To(BeFalse())
			_, err := sandbox.Open(at)
			Expect(err).To(MatchError(want))
			Expect(err).To(MatchError(ContainSubstring("network namespace %s: ", at)))
		},
		Entry("nothing", constant("/run/netns/of-nobody"), fs.ErrNotExist),
		Entry("a plain file, as a namespace's mount point is after a reboot", file, sandbox.ErrNotNamespace),
		Entry("a pipe that nobody writes to", fifo, sandbox.ErrNotNamespace),
		Entry("a file of /proc", constant("/proc/self/status"), sandbox.ErrNotNamespace),
		Entry("a namespace of another kind", constant("/proc/self/ns/mnt"), sandbox.ErrNotNamespace),
		Entry("a directory", constant(os.TempDir()), sandbox.ErrNotNamespace),
	)

	It("knows one that is", func() {
		_, path := namespace()
		Expect(sandbox.IsNamespace(path)).To(BeTrue())
		Expect(sandbox.IsNamespace("/proc/self/ns/net")).To(BeTrue())
	})
})
