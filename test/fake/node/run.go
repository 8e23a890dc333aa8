package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/types"
)

// Outcome is what a call of the plugin gave.
type Outcome struct {
	Stdout, Stderr string
	Exit           int // -1 if a signal ended it
}

// Error is the CNI error object on stdout; nil if there is none.
func (o Outcome) Error() *types.Error {
	object := &types.Error{}
	if o.Exit == 0 || json.Unmarshal([]byte(o.Stdout), object) != nil {
		return nil
	}
	return object
}

// String shows all of it, for a test that fails.
func (o Outcome) String() string {
	return fmt.Sprintf("exit %d\nstdout: %s\nstderr: %s", o.Exit, o.Stdout, o.Stderr)
}

// Command prepares a call of the plugin with PATH, the CNI variables and no other environment. CNI_PATH is BinDir.
func (n *Node) Command(ctx context.Context, verb string, box Sandbox, stdin string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, n.Binary)
	cmd.Env = append(box.environ(verb, []string{n.BinDir}), "PATH="+os.Getenv("PATH"))
	cmd.Stdin = strings.NewReader(stdin)
	return cmd
}

// Run calls the plugin and waits for it.
func (n *Node) Run(ctx context.Context, verb string, box Sandbox, config Config) (Outcome, error) {
	return Wait(n.Command(ctx, verb, box, config.String()))
}

// Wait runs a prepared call.
func Wait(cmd *exec.Cmd) (Outcome, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Outcome{}, err
	}
	return Outcome{Stdout: stdout.String(), Stderr: stderr.String(), Exit: cmd.ProcessState.ExitCode()}, nil
}

// State lists the files below CNIDir, relative to it, in order: what the plugin has not cleared away.
func (n *Node) State() ([]string, error) {
	var files []string
	err := filepath.WalkDir(n.CNIDir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && !entry.IsDir() {
			name, _ := filepath.Rel(n.CNIDir, path)
			files = append(files, name)
		}
		return err
	})
	slices.Sort(files)
	return files, err
}
