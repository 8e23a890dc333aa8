package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// programs gives the Go code in a page of the documentation.
func programs(page string) []string {
	GinkgoHelper()
	text, err := os.ReadFile(page)
	Expect(err).NotTo(HaveOccurred())
	var found []string
	for i, part := range strings.Split(string(text), "\n```") {
		if code, ok := strings.CutPrefix(part, "go\n"); ok && i%2 == 1 {
			found = append(found, code)
		}
	}
	return found
}

var _ = It("builds what doc/library.md shows", func(ctx SpecContext) {
	found := programs("../../doc/library.md")
	Expect(found).To(HaveLen(3))
	for _, code := range found {
		name := "main.go"
		if strings.HasPrefix(code, "package example_test\n") {
			name = "example_test.go"
		}
		path := filepath.Join(GinkgoT().TempDir(), name)
		Expect(os.WriteFile(path, []byte(code), 0o600)).To(Succeed())
		command := exec.CommandContext(ctx, "go", "vet", path)
		command.Dir = "../.."
		output, err := command.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), "%s\n%s", output, code)
	}
})
