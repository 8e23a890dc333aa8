// Package lint holds the architecture: which package may know which, what is linked into the binary, and what no code
// does at all. It reads the module's source and "go list".
package lint

import (
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

func TestLint(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "lint")
}
