package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-2ba21eab/multus-cni/test/cluster/parts"
)

// What is the same in each node, since each has a network namespace of its own.
const (
	Name    = "node" // of the Node object
	Address = "10.200.0.1"

	// Wait bounds each single wait for a component.
	Wait = time.Minute
)

// Options are what a node is made of.
type Options struct {
	Parts   parts.Parts
	Multus  string // the plugin's binary
	Images  string // the directory of our manifests
	Runtime Runtime
}

// Node is a running node.
type Node struct {
	Options
	API *API // as a cluster administrator

	dir     string
	release func() error // of the lock that says that the directory is in use
	running map[string]*process
}

// Start brings a node up, with nothing in it but our plugin. If it fails, its logs are kept in the directory that the
// error names.
func Start(ctx context.Context, options Options) (*Node, error) {
	if err := Sweep(); err != nil {
		return nil, err
	}
	n, err := newNode(options)
	if err != nil {
		return nil, err
	}
	if err := n.start(ctx); err != nil {
		kept, keepErr := n.KeepLogs()
		return nil, errors.Join(fmt.Errorf("%w\nlogs: %s", err, kept), keepErr, n.Stop())
	}
	return n, nil
}

func newNode(options Options) (*Node, error) {
	dir, release, err := claimDirectory()
	if err != nil {
		return nil, err
	}
	n := &Node{Options: options, dir: dir, release: release, running: map[string]*process{}}
	return n, nil
}

func (n *Node) start(ctx context.Context) error {
	if err := n.prepare(); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{
		n.spawnControlPlane, // takes the longest to be ready
		n.StartContainerd,
		n.importImage,
		n.waitForControlPlane,
		n.installManifests,
		n.startKubelet,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// prepare makes all that the components find on disk and in the network.
func (n *Node) prepare() error {
	for _, dir := range []string{
		"logs/pods", "pki", "etcd", "kubelet/device-plugins", "manifests", "containerd", "cni/net.d", "cni/multus.d", "cni/bin", "cni/conf", "volumes",
	} {
		if err := os.MkdirAll(n.Path(dir), 0o755); err != nil {
			return err
		}
	}
	if err := n.makeNamespace(); err != nil {
		return err
	}
	if err := n.makePKI(); err != nil {
		return err
	}
	return n.installBinaries()
}

// Path is a file or directory of the node's state.
func (n *Node) Path(elements ...string) string {
	return filepath.Join(append([]string{n.dir}, elements...)...)
}

func (n *Node) write(content string, elements ...string) error {
	return os.WriteFile(n.Path(elements...), []byte(content), 0o600)
}
