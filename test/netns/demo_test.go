package netns

import (
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("the demo of the README", func() {
	const here = "/proc/self/ns/net"
	left := func() (files []string) {
		for _, pattern := range []string{"/run/netns/neighbour", "/run/netns/web-0", "/run/multus", "/run/leases", "/run/kubeconfig"} {
			found, err := filepath.Glob(pattern)
			Expect(err).NotTo(HaveOccurred())
			files = append(files, found...)
		}
		return files
	}
	run := func(arguments ...string) (string, error) {
		output, err := exec.Command("../../examples/demo/run", arguments...).CombinedOutput()
		return string(output), err
	}

	It("passes, and leaves nothing", func() {
		before := links(here)
		output, err := run("-multus", binaries.Plugin)
		Expect(err).NotTo(HaveOccurred(), output)
		Expect(output).To(HaveSuffix("# Nothing of the pod is left.\n"))
		Expect(links(here)).To(Equal(before))
		Expect(left()).To(BeEmpty())
	})

	It("fails where the plugin does, and leaves nothing", func() {
		before := links(here)
		output, err := run("-multus", "/bin/false")
		Expect(err).To(HaveOccurred(), output)
		Expect(output).To(ContainSubstring("The demo failed: ADD"))
		Expect(links(here)).To(Equal(before))
		Expect(left()).To(BeEmpty())
	})
})
