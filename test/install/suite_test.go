package install

import (
	"os"
	"os/exec"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var binary string // the multus to install

func TestInstall(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(30 * time.Second) // a safety net; what is waited for takes a second or two
	SetDefaultEventuallyPollingInterval(20 * time.Millisecond)
	RunSpecs(t, "install")
}

var _ = BeforeSuite(func() {
	binary = os.Getenv("MULTUS_TEST_BINARY")
	Expect(binary).NotTo(BeEmpty(), "MULTUS_TEST_BINARY names the binary to install; ./test.sh install sets it")
	Expect(os.Getuid()).To(BeZero(), "PID 1 and mounts need root")
	for _, program := range []string{"busybox", "dash"} {
		_, err := exec.LookPath(program)
		Expect(err).NotTo(HaveOccurred(), "apt-get install busybox-static dash")
	}
})

// inEachShell declares the same specs once for each shell. busybox runs its own applets, dash those of the machine.
func inEachShell(text string, specs func(shell ...string)) bool {
	return Describe(text, func() {
		Context("busybox ash", func() { specs("busybox", "ash") })
		Context("dash", func() { specs("dash") })
	})
}
