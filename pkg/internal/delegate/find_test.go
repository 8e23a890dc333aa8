package delegate_test

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/delegate"
)

var _ = Describe("finding a plugin", func() {
	var first, second string
	var runner delegate.Runner

	BeforeEach(func() {
		first, second = GinkgoT().TempDir(), GinkgoT().TempDir()
		runner = delegate.Runner{Path: []string{first, second}}
		Expect(os.WriteFile(filepath.Join(second, "one"), nil, 0o755)).To(Succeed())
	})

	It("searches the directories in order", func() {
		Expect(runner.Find("one")).To(Equal(filepath.Join(second, "one")))
		Expect(os.WriteFile(filepath.Join(first, "one"), nil, 0o755)).To(Succeed())
		Expect(runner.Find("one")).To(Equal(filepath.Join(first, "one")))
	})

	It("passes over what is no file, and follows links", func() {
		Expect(os.Mkdir(filepath.Join(first, "one"), 0o755)).To(Succeed())
		Expect(os.Symlink(filepath.Join(second, "one"), filepath.Join(second, "two"))).To(Succeed())
		Expect(runner.Find("one")).To(Equal(filepath.Join(second, "one")))
		Expect(runner.Find("two")).To(Equal(filepath.Join(second, "two")))
	})

	It("says where it looked (E134)", func() {
		_, err := runner.Find("custom")
		Expect(err).To(MatchError(`"custom" not found in ` + first + ", " + second))
		_, err = runner.Find("macvlan")
		Expect(err).To(MatchError(ContainSubstring("install the reference plugins (containernetworking/plugins)")))
		_, err = delegate.Runner{}.Find("custom")
		Expect(err).To(MatchError(ContainSubstring("no directory to search")))
	})

	DescribeTable("refuses a type that is a path (SEC-2, E143)",
		func(plugin string) {
			_, err := runner.Find(plugin)
			Expect(err).To(MatchError(ContainSubstring("plugin type")))
		},
		Entry("up", "../one"), Entry("absolute", "/bin/sh"), Entry("none", ""), Entry("dot", "."), Entry("dots", ".."),
		Entry("NUL", "one\x00"),
	)
})
