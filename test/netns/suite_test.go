package netns

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
	"github.com/seed-2ba21eab/multus-cni/test/fake/recorder"
)

func TestNetns(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(30 * time.Second)
	RunSpecs(t, "netns")
}

var (
	binaries node.Binaries
	plugins  string // directory of the reference plugins and cnitool
)

var _ = BeforeSuite(func(ctx SpecContext) {
	binaries.Plugin = fromEnvironment("MULTUS_TEST_BINARY")
	plugins = fromEnvironment("MULTUS_TEST_PLUGINS")
	binaries.Delegate = filepath.Join(GinkgoT().TempDir(), "delegate")
	Expect(recorder.Build(ctx, binaries.Delegate)).To(Succeed())
})

func fromEnvironment(variable string) string {
	GinkgoHelper()
	path := os.Getenv(variable)
	Expect(path).NotTo(BeEmpty(), "run ./test.sh netns, which sets %s", variable)
	path, err := filepath.Abs(path)
	Expect(err).NotTo(HaveOccurred())
	return path
}
