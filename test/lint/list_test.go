package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const module = "github.com/seed-2ba21eab/multus-cni"

// listed is a package as "go list -json" shows it.
type listed struct {
	ImportPath, Name, Dir string
	GoFiles               []string // without tests
	Imports               []string
	Standard              bool
	Module                struct{ Path string }
}

// path is the import path in the module, as the architecture writes it: "pkg/nad".
func (l listed) path() string {
	return strings.TrimPrefix(strings.TrimPrefix(l.ImportPath, module), "/")
}

// list runs "go list -json" at the module's root.
func list(arguments ...string) []listed {
	GinkgoHelper()
	command := exec.Command("go", append([]string{"list", "-json=ImportPath,Name,Dir,GoFiles,Imports,Standard,Module"}, arguments...)...)
	command.Dir = "../.."
	command.Env = append(os.Environ(), "CGO_ENABLED=0") // as ./build
	var failure bytes.Buffer
	command.Stderr = &failure
	output, err := command.Output()
	Expect(err).NotTo(HaveOccurred(), failure.String())
	var packages []listed
	decoder := json.NewDecoder(bytes.NewReader(output))
	for {
		var next listed
		err := decoder.Decode(&next)
		if errors.Is(err, io.EOF) {
			return packages
		}
		Expect(err).NotTo(HaveOccurred())
		packages = append(packages, next)
	}
}

// under reports whether the import path is one of the prefixes or below it.
func under(path string, prefixes ...string) bool {
	for _, prefix := range prefixes {
		if path == prefix || strings.HasPrefix(path, prefix+"/") {
			return true
		}
	}
	return false
}

// standard reports whether the import path is of the standard library: its first element has no dot.
func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}
