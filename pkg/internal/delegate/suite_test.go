package delegate_test

import (
	"context"
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/delegate"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
)

func TestDelegate(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "delegate")
}

// asMultus has the test binary run a delegate, so that a test can kill it.
const asMultus = "DELEGATE_TEST_BIN"

func TestMain(m *testing.M) {
	if bin := os.Getenv(asMultus); bin != "" {
		runner := delegate.Runner{Path: []string{bin}, CacheDir: bin, Environ: os.Environ()}
		_, _ = runner.Add(context.Background(), sandbox(), attachment(`{"name":"n1","type":"sleeper"}`))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func sandbox() plan.Sandbox {
	return plan.Sandbox{ContainerID: "c1", NetNS: "/run/netns/x", Interface: "eth0"}
}
