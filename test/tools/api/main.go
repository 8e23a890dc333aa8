package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/printer"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(os.Stdout, "pkg/nad", "pkg/nad/v1"); err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		os.Exit(1)
	}
}

// run prints the API of the packages in these directories.
func run(w io.Writer, dirs ...string) error {
	for i, dir := range dirs {
		listing, err := list(dir)
		if err != nil {
			return err
		}
		if i > 0 {
			listing = "\n" + listing
		}
		if _, err := io.WriteString(w, listing); err != nil {
			return err
		}
	}
	return nil
}

// list is the API of one package.
func list(dir string) (string, error) {
	files := token.NewFileSet()
	parsed, err := parse(files, dir)
	if err != nil {
		return "", err
	}
	p, err := doc.NewFromFiles(files, parsed, dir)
	if err != nil {
		return "", err
	}
	l := lister{files: files}
	l.values(p.Consts)
	l.values(p.Vars)
	l.functions(p.Funcs)
	for _, t := range p.Types {
		l.declaration(t.Decl)
		l.values(t.Consts)
		l.values(t.Vars)
		l.functions(t.Funcs)
		l.functions(t.Methods)
	}
	return "package " + p.Name + " // " + dir + "\n\n" + l.text.String(), l.err
}

// parse reads the files of a package without comments, but not its tests.
func parse(files *token.FileSet, dir string) ([]*ast.File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	entries = slices.DeleteFunc(entries, func(entry fs.DirEntry) bool {
		return !strings.HasSuffix(entry.Name(), ".go") || strings.HasSuffix(entry.Name(), "_test.go")
	})
	var parsed []*ast.File
	for _, entry := range entries {
		file, err := parser.ParseFile(files, filepath.Join(dir, entry.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, file)
	}
	return parsed, nil
}

// lister collects declarations; go/doc has left the private ones out.
type lister struct {
	files *token.FileSet
	text  strings.Builder
	err   error
}

func (l *lister) values(groups []*doc.Value) {
	for _, group := range groups {
		l.declaration(group.Decl)
	}
}

func (l *lister) functions(functions []*doc.Func) {
	for _, function := range functions {
		l.declaration(function.Decl)
	}
}

// declaration is one of them, on lines of its own. The printer's blank lines and columns depend on the comments that were
// there, and are left out.
func (l *lister) declaration(node any) {
	var printed bytes.Buffer
	if err := printer.Fprint(&printed, l.files, node); err != nil && l.err == nil {
		l.err = err
	}
	for line := range strings.Lines(printed.String()) {
		text := strings.Join(strings.Fields(line), " ")
		if text == "" {
			continue
		}
		if strings.HasPrefix(line, "\t") {
			text = "\t" + text
		}
		l.text.WriteString(text + "\n")
	}
}
