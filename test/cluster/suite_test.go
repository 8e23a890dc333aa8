package cluster

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/cluster/node"
	"github.com/seed-2ba21eab/multus-cni/test/cluster/parts"
)

// eachRuntime labels what is worth running on both versions of containerd. MULTUS_TEST_CONTAINERD says which one runs.
var eachRuntime = Label("runtime")

func TestCluster(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(90 * time.Second)
	SetDefaultEventuallyPollingInterval(200 * time.Millisecond)
	RunSpecs(t, "cluster")
}

// theNode is started once; scenarios take turns on it.
var theNode *node.Node

var _ = BeforeSuite(func(ctx SpecContext) {
	Expect(os.Geteuid()).To(Equal(0), "a node needs root: run ./test.sh cluster as root")
	binary := os.Getenv("MULTUS_TEST_BINARY")
	Expect(binary).NotTo(BeEmpty(), "run ./test.sh cluster, or set MULTUS_TEST_BINARY to what ./build made")
	cache, err := parts.DefaultCache()
	Expect(err).NotTo(HaveOccurred())
	made, err := parts.Builder{Tree: ".", Cache: cache, Log: os.Stderr}.All(ctx)
	Expect(err).NotTo(HaveOccurred())

	theNode, err = node.Start(ctx, node.Options{
		Parts:   made,
		Multus:  binary,
		Images:  filepath.Join("..", "..", "images"),
		Runtime: runtime(),
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { Expect(theNode.Stop()).To(Succeed()) })
})

func runtime() node.Runtime {
	if os.Getenv("MULTUS_TEST_CONTAINERD") == "1" {
		return node.Containerd1
	}
	return node.Containerd2
}
