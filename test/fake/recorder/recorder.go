package recorder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
)

// delegate is the package that Build builds.
const delegate = "github.com/seed-2ba21eab/multus-cni/test/fake/delegate"

// Build compiles the recording delegate to the given path, static and stripped. The working directory is inside the
// module.
func Build(ctx context.Context, path string) error {
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path, delegate)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the recording delegate: %w\n%s", err, output)
	}
	return nil
}

// Recorder is a directory of recording delegates that share a log.
type Recorder struct {
	binary, dir, log string
}

// New takes a binary that Build made, the directory to install it in ("binDir"), and the log's path. The directory
// exists.
func New(binary, dir, log string) *Recorder {
	return &Recorder{binary: binary, dir: dir, log: log}
}

// Dir is the directory of the delegates.
func (r *Recorder) Dir() string { return r.dir }

// Install installs well-behaved delegates of those names.
func (r *Recorder) Install(names ...string) error {
	for _, name := range names {
		if err := r.Behave(name); err != nil {
			return err
		}
	}
	return nil
}

// Behave installs a delegate with those rules. Called again it replaces them and starts their counts anew.
func (r *Recorder) Behave(name string, rules ...script.Rule) error {
	return r.Script(name, script.Script{Rules: rules})
}

// Script is Behave for whoever wants more than rules. An empty Record is filled with our log.
func (r *Recorder) Script(name string, s script.Script) error {
	if s.Record == "" {
		s.Record = r.log
	}
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false) // a Result is printed as it was given
	if err := encoder.Encode(s); err != nil {
		return fmt.Errorf("script of %s: %w", name, err)
	}
	path := filepath.Join(r.dir, name)
	counts, err := filepath.Glob(path + ".rule*")
	if err != nil {
		return err
	}
	for _, count := range counts {
		if err := os.Remove(count); err != nil {
			return err
		}
	}
	if err := replace(path+".json", raw.Bytes()); err != nil {
		return err
	}
	return r.place(path)
}

// replace never shows half a script to a delegate that runs meanwhile.
func replace(path string, content []byte) error {
	temporary := path + ".new"
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// place links the binary: a copy that is run while another goroutine forks can fail with "text file busy".
func (r *Recorder) place(path string) error {
	err := os.Link(r.binary, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	return copyFile(r.binary, path) // another file system
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// Uninstall removes a delegate and all that belongs to it.
func (r *Recorder) Uninstall(name string) error {
	files, err := filepath.Glob(filepath.Join(r.dir, name+".*"))
	if err != nil {
		return err
	}
	for _, file := range append(files, filepath.Join(r.dir, name)) {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

// Forget empties the log.
func (r *Recorder) Forget() error {
	err := os.Remove(r.log)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// args reads CNI_ARGS, in order.
func args(value string) [][2]string {
	var pairs [][2]string
	for pair := range strings.SplitSeq(value, ";") {
		if key, value, found := strings.Cut(pair, "="); found {
			pairs = append(pairs, [2]string{key, value})
		}
	}
	return pairs
}
