package parts

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// module is one whose programs are built.
type module struct {
	dir     string // of the go.mod that requires it, below Tree
	path    string
	tags    string
	ldflags func(version string) string
}

func (b Builder) kubernetes(ctx context.Context) (string, error) {
	return b.programs(ctx, module{
		dir:  "kubernetes",
		path: "k8s.io/kubernetes",
		tags: "grpcnotrace",
		// Without these the node says that its version is "v0.0.0-master+$Format:%H$".
		ldflags: func(version string) string {
			const variable = " -X k8s.io/component-base/version."
			numbers := strings.Split(strings.TrimPrefix(version, "v"), ".")
			return variable + "gitVersion=" + version + variable + "gitMajor=" + numbers[0] + variable + "gitMinor=" + numbers[1]
		},
	})
}

func (b Builder) containerd(ctx context.Context) (string, error) {
	return b.programs(ctx, module{
		dir:  "containerd",
		path: "github.com/containerd/containerd/v2",
		tags: "no_btrfs no_devmapper no_zfs no_tracing no_rdt no_systemd grpcnotrace",
		ldflags: func(version string) string {
			return " -X github.com/containerd/containerd/v2/version.Version=" + version
		},
	})
}

func (b Builder) plugins(ctx context.Context) (string, error) {
	if dir := os.Getenv("MULTUS_TEST_PLUGINS"); dir != "" {
		return dir, nil
	}
	return b.programs(ctx, module{
		dir:     filepath.Join("..", "plugins"),
		path:    "github.com/containernetworking/plugins",
		ldflags: func(string) string { return "" },
	})
}

// pause is built each time, as it is ours and small.
func (b Builder) pause(ctx context.Context) (string, error) {
	dir := filepath.Join(b.Cache, "pause")
	return dir, b.build(ctx, b.Tree, "./pause", filepath.Join(dir, "pause"))
}

// programs builds the commands that the "tool" lines of the module's go.mod name.
func (b Builder) programs(ctx context.Context, m module) (string, error) {
	source := filepath.Join(b.Tree, m.dir)
	version, err := run(ctx, "go", "-C", source, "list", "-m", "-f", "{{.Version}}", m.path)
	if err != nil {
		return "", err
	}
	tools, err := run(ctx, "go", "-C", source, "list", "tool")
	if err != nil {
		return "", err
	}
	flags := []string{"-tags", m.tags, "-ldflags", "-s -w" + m.ldflags(version)}
	key, err := key(filepath.Join(source, "go.mod"), append(flags, runtime.Version()))
	if err != nil {
		return "", err
	}
	dir := filepath.Join(b.Cache, fmt.Sprintf("%s@%s-%s", filepath.Base(m.dir), version, key))
	for tool := range strings.FieldsSeq(tools) {
		target := filepath.Join(dir, path.Base(tool))
		if _, err := os.Stat(target); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		fmt.Fprintf(b.Log, "building %s %s\n", tool, version)
		if err := b.build(ctx, source, tool, target, flags...); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// build leaves the whole program or none.
func (b Builder) build(ctx context.Context, source, command, target string, flags ...string) error {
	part := fmt.Sprintf("%s.new.%d", target, os.Getpid())
	defer os.Remove(part)
	arguments := append([]string{"-C", source, "build", "-trimpath", "-buildvcs=false", "-o", part}, flags...)
	if _, err := run(ctx, "go", append(arguments, command)...); err != nil {
		return err
	}
	return os.Rename(part, target)
}

// key tells builds apart that differ in what they are made from, or how.
func key(goMod string, flags []string) (string, error) {
	text, err := os.ReadFile(goMod)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(text, "%q", flags))
	return fmt.Sprintf("%x", sum[:6]), nil
}
