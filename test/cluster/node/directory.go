package node

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A node's directory is also its name. It is short, since sockets below it may have 107 bytes.
const directoryPrefix = "multus-node-"

// claimDirectory makes a node's directory, and locks it for as long as this process lives.
func claimDirectory() (dir string, release func() error, err error) {
	unlocked, err := os.MkdirTemp("", "new-"+directoryPrefix) // which Sweep does not look at
	if err != nil {
		return "", nil, err
	}
	if release, err = lock(unlocked); err != nil {
		return "", nil, err
	}
	dir = filepath.Join(os.TempDir(), strings.TrimPrefix(filepath.Base(unlocked), "new-"))
	return dir, release, os.Rename(unlocked, dir)
}

func lock(dir string) (release func() error, err error) {
	file, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file.Close, nil
}

// Sweep takes down nodes whose process was killed before it could.
func Sweep() error {
	found, err := filepath.Glob(filepath.Join(os.TempDir(), directoryPrefix+"*"))
	if err != nil {
		return err
	}
	for _, dir := range found {
		release, err := lock(dir)
		if errors.Is(err, unix.EWOULDBLOCK) {
			continue // it runs
		}
		if err != nil {
			return err
		}
		n := &Node{dir: dir, release: release}
		if err := n.Stop(); err != nil {
			return err
		}
	}
	return nil
}

// KeepLogs copies the logs out of the node's directory.
func (n *Node) KeepLogs() (dir string, err error) {
	dir, err = os.MkdirTemp("", "multus-cluster-logs-")
	if err != nil {
		return "", err
	}
	return dir, run("cp", "-r", n.Path("logs")+"/.", dir)
}

// run runs a command to its end; what it printed is part of the error.
func run(name string, arguments ...string) error {
	_, err := output(name, arguments...)
	return err
}

// output gives what a command prints on stdout.
func output(name string, arguments ...string) (string, error) {
	command := exec.Command(name, arguments...)
	var stderr strings.Builder
	command.Stderr = &stderr
	printed, err := command.Output()
	if err != nil {
		return "", &commandError{command.String(), err, stderr.String()}
	}
	return string(printed), nil
}

type commandError struct {
	command string
	err     error
	stderr  string
}

func (e *commandError) Error() string {
	return e.command + ": " + e.err.Error() + ": " + strings.TrimSpace(e.stderr)
}

func (e *commandError) Unwrap() error { return e.err }
