package sandbox

import (
	"errors"
	"fmt"
	"os"

	"github.com/containernetworking/plugins/pkg/ns"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// dumpAttempts is how often a dump is asked for that the kernel says changed while it was read.
const dumpAttempts = 5

// ErrNotNamespace says that a path exists but is no network namespace.
var ErrNotNamespace = errors.New("not a network namespace")

// Namespace is an open network namespace. Its methods see the links of that namespace, from any thread.
type Namespace struct {
	path   string
	handle *netlink.Handle
}

// Open opens the network namespace bound at path. The error is fs.ErrNotExist where the path is gone and
// ErrNotNamespace where something else stands there. The caller closes the Namespace.
func Open(path string) (*Namespace, error) {
	file, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("network namespace %s: %w", path, err)
	}
	defer file.Close()
	handle, err := netlink.NewHandleAt(netns.NsHandle(file.Fd()), unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("network namespace %s: opening a netlink socket: %w", path, err)
	}
	return &Namespace{path: path, handle: handle}, nil
}

// IsNamespace reports whether path is a network namespace now (DEL-2).
func IsNamespace(path string) bool {
	file, err := open(path)
	if err != nil {
		return false
	}
	return file.Close() == nil
}

// IsOurs reports whether it is the network namespace that this process runs in.
func (n *Namespace) IsOurs() (bool, error) {
	theirs, err := os.Stat(n.path)
	if err != nil {
		return false, fmt.Errorf("network namespace %s: %w", n.path, err)
	}
	ours, err := os.Stat("/proc/thread-self/ns/net")
	if err != nil {
		return false, fmt.Errorf("network namespace of this process: %w", err)
	}
	return os.SameFile(ours, theirs), nil
}

// Interfaces lists the names taken in the namespace, in the kernel's order. Alternative names are among them: the
// kernel refuses a new interface of such a name just the same.
func (n *Namespace) Interfaces() ([]string, error) {
	links, err := n.links()
	if err != nil {
		return nil, fmt.Errorf("network namespace %s: listing interfaces: %w", n.path, err)
	}
	var names []string
	for _, link := range links {
		names = append(names, link.Attrs().Name)
		names = append(names, link.Attrs().AltNames...)
	}
	return names, nil
}

// Close releases the netlink socket. It may be called twice.
func (n *Namespace) Close() {
	n.handle.Close()
}

func (n *Namespace) links() ([]netlink.Link, error) {
	for attempt := 1; ; attempt++ {
		links, err := n.handle.LinkList()
		if attempt == dumpAttempts || !errors.Is(err, netlink.ErrDumpInterrupted) {
			return links, err
		}
	}
}

// open asks the kernel for the kind of namespace: the file system alone cannot tell, since /proc and a namespace of
// another kind pass that check too.
func open(path string) (ns.NetNS, error) {
	if err := unix.Access(path, unix.F_OK); err != nil {
		return nil, err
	}
	file, err := ns.GetNS(path)
	if wrong := (ns.NSPathNotNSErr{}); errors.As(err, &wrong) {
		return nil, ErrNotNamespace
	}
	if err != nil {
		return nil, err
	}
	kind, err := unix.IoctlRetInt(int(file.Fd()), unix.NS_GET_NSTYPE)
	if err != nil || kind != unix.CLONE_NEWNET {
		file.Close()
		return nil, ErrNotNamespace
	}
	return file, nil
}
