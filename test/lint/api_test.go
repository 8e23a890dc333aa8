package lint

import (
	"os"
	"os/exec"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("the exported API", func() {
	It("is as doc/api.txt has it", func() {
		command := exec.Command("go", "run", "./test/tools/api")
		command.Dir = "../.."
		command.Stderr = GinkgoWriter
		now, err := command.Output()
		Expect(err).NotTo(HaveOccurred())
		before, err := os.ReadFile("../../doc/api.txt")
		Expect(err).NotTo(HaveOccurred())
		Expect(string(now)).To(Equal(string(before)),
			"the API that others import has changed. Where something is gone or different, find a way that breaks nobody; then: go run ./test/tools/api > doc/api.txt")
	})
})
