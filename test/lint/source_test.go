package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// source is a parsed file of the module.
type source struct {
	name string
	file *ast.File
}

func parse(packages []listed) []source {
	GinkgoHelper()
	var sources []source
	for _, p := range packages {
		for _, name := range p.GoFiles {
			path := filepath.Join(p.Dir, name)
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			Expect(err).NotTo(HaveOccurred())
			sources = append(sources, source{name: filepath.Join(p.path(), name), file: file})
		}
	}
	return sources
}

// mentions lists the qualified names in a part of a file: "os.Setenv".
func mentions(node ast.Node) []string {
	var names []string
	ast.Inspect(node, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if qualifier, ok := selector.X.(*ast.Ident); ok {
				names = append(names, qualifier.Name+"."+selector.Sel.Name)
			}
		}
		return true
	})
	return names
}

var _ = Describe("the source", func() {
	It("says in doc.go what each package is for", func() {
		for _, p := range list("./...") {
			if len(p.GoFiles) == 0 {
				continue
			}
			Expect(p.GoFiles).To(ContainElement("doc.go"), p.ImportPath)
			for _, s := range parse([]listed{p}) {
				documented := s.file.Doc.Text() != ""
				Expect(documented).To(Equal(filepath.Base(s.name) == "doc.go"), "package comment: %s", s.name)
			}
		}
	})

	It("has no init function", func() {
		for _, s := range parse(list("./...")) {
			for _, declaration := range s.file.Decls {
				if function, ok := declaration.(*ast.FuncDecl); ok {
					Expect(function.Recv == nil && function.Name.Name == "init").To(BeFalse(), s.name)
				}
			}
		}
	})

	DescribeTable("never",
		func(names ...string) {
			for _, s := range parse(list("./...")) {
				for _, name := range mentions(s.file) {
					Expect(names).NotTo(ContainElement(name), s.name)
				}
			}
		},
		Entry("changes the process environment (INV-4)", "os.Setenv", "os.Unsetenv", "os.Clearenv", "syscall.Setenv", "syscall.Unsetenv", "unix.Setenv"),
		Entry("changes directory", "os.Chdir", "syscall.Chdir", "unix.Chdir"),
		Entry("has a logger of its own", "slog.Default", "slog.SetDefault", "log.SetOutput"),
	)

	It("does no work at start", func() {
		for _, s := range parse(list("./pkg/...", "./cmd/...")) {
			for _, declaration := range s.file.Decls {
				if variables, ok := declaration.(*ast.GenDecl); ok && variables.Tok == token.VAR {
					slow := slices.DeleteFunc(mentions(variables), func(name string) bool {
						return !strings.HasPrefix(name, "regexp.") && !strings.HasPrefix(name, "template.")
					})
					Expect(slow).To(BeEmpty(), s.name)
				}
			}
		}
	})
})
