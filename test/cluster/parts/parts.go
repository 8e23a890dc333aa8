package parts

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Parts are the directories that hold a node's programs.
type Parts struct {
	Kubernetes string // kube-apiserver, kubelet
	Containerd string // containerd 2 with its shim and ctr
	Debian     string // root of Debian's etcd-server, runc and containerd
	Plugins    string // the reference plugins
	Pause      string // pause
}

// Builder makes the parts.
type Builder struct {
	Tree  string    // the directory of this module
	Cache string    // where the parts are kept
	Log   io.Writer // says what is being built, since that takes long
}

// DefaultCache is where all suites keep what they build.
func DefaultCache() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "multus-test"), err
}

// All makes what is missing. A cancelled or failed call leaves finished programs, which the next one takes up.
func (b Builder) All(ctx context.Context) (Parts, error) {
	var parts Parts
	for _, step := range []struct {
		target *string
		make   func(context.Context) (string, error)
	}{
		{&parts.Debian, b.debian},
		{&parts.Kubernetes, b.kubernetes},
		{&parts.Containerd, b.containerd},
		{&parts.Plugins, b.plugins},
		{&parts.Pause, b.pause},
	} {
		dir, err := step.make(ctx)
		if err != nil {
			return Parts{}, err
		}
		*step.target = dir
	}
	return parts, nil
}

// run runs a command to its end, and gives what it printed.
func run(ctx context.Context, name string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, name, arguments...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	var stderr strings.Builder
	command.Stderr = &stderr
	output, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", command, err, stderr.String())
	}
	return strings.TrimSpace(string(output)), nil
}
