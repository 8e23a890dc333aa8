package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const code = `// Package shelf is a test's.
package shelf

// Kept is exported.
const Kept = "a"
const left = "b"

// Box has columns that depend on the comment.
type Box struct {
	// Width in millimetres.
	Width int ` + "`json:\"w\"`" + `

	Colour string
	hidden int
}

func NewBox() *Box { return &Box{} }
func (b *Box) Open() error { return nil }
func (b *Box) close() {}
func helper() {}
`

const listing = `package shelf // DIR

const Kept = "a"
type Box struct {
	Width int ` + "`json:\"w\"`" + `
	Colour string
	// contains filtered or unexported fields
}
func NewBox() *Box
func (b *Box) Open() error
`

func TestRun(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "shelf.go", code)
	write(t, dir, "shelf_test.go", "package shelf\nfunc InTest() {}\n")
	var twice strings.Builder
	if err := run(&twice, dir, dir); err != nil {
		t.Fatal(err)
	}
	once := strings.ReplaceAll(listing, "DIR", dir)
	if got, want := twice.String(), once+"\n"+once; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRunFails(t *testing.T) {
	if err := run(&strings.Builder{}, filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("no error without a directory")
	}
	dir := t.TempDir()
	write(t, dir, "shelf.go", "package")
	if err := run(&strings.Builder{}, dir); err == nil {
		t.Error("no error for what is not Go")
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
