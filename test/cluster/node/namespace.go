package node

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// NetNS is the path of the node's own.
func (n *Node) NetNS() string {
	return filepath.Join("/run/netns", filepath.Base(n.dir))
}

const (
	nodeLink = "node0"
	// MacvlanMaster is a link in the node's network for networks with macvlan.
	MacvlanMaster = "phys0"
)

// makeNamespace makes the network that the node and its pods live in. One end of a veth pair has the node's address; a
// second pair is for macvlan's master.
func (n *Node) makeNamespace() error {
	name := filepath.Base(n.dir)
	if err := run("ip", "netns", "add", name); err != nil {
		return err
	}
	for _, command := range []string{
		"link set lo up",
		"link add " + nodeLink + " type veth peer name " + nodeLink + "p",
		"link set " + nodeLink + "p up",
		"link set " + nodeLink + " up",
		"addr add " + Address + "/24 dev " + nodeLink,
		"link add " + MacvlanMaster + " type veth peer name " + MacvlanMaster + "p",
		"link set " + MacvlanMaster + "p up",
		"link set " + MacvlanMaster + " up",
	} {
		if err := run("ip", append([]string{"-n", name}, strings.Fields(command)...)...); err != nil {
			return err
		}
	}
	return nil
}

// within calls the function in a network namespace; sockets and processes that it makes are there.
func within(path string, do func() error) error {
	there, err := os.Open(path)
	if err != nil {
		return err
	}
	defer there.Close()
	runtime.LockOSThread()
	here, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer here.Close()
	if err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	err = do()
	if back := unix.Setns(int(here.Fd()), unix.CLONE_NEWNET); back != nil {
		return errors.Join(err, back) // the thread stays locked, so that nobody else gets it
	}
	runtime.UnlockOSThread()
	return err
}

// dial is for a client of the node's components.
func (n *Node) dial(ctx context.Context, _, address string) (net.Conn, error) {
	return Dial(ctx, n.NetNS(), address)
}

// Dial connects from within a network namespace. The address is numeric, so that one thread does it all.
func Dial(ctx context.Context, netns, address string) (connection net.Conn, err error) {
	err = within(netns, func() error {
		connection, err = new(net.Dialer).DialContext(ctx, "tcp", address)
		return err
	})
	return connection, err
}
