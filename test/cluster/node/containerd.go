package node

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Runtime names a version of containerd.
type Runtime string

// The two versions: the one that Debian has, and the current one.
const (
	Containerd1 Runtime = "1"
	Containerd2 Runtime = "2"
)

// containerdConfig is in version 2, which both versions read.
const containerdConfig = `
version = 2
root = "%[1]s/root"
state = "%[1]s/state"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.nri.v1.nri", "io.containerd.tracing.processor.v1.otlp"]

[grpc]
  address = "%[1]s/sock"

[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "` + Image + `"
  disable_apparmor = true
  netns_mounts_under_state_dir = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "%[2]s/bin"
    conf_dir = "%[2]s/net.d"
    max_conf_num = 1
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
      SystemdCgroup = false
`

// StartContainerd starts the runtime, and waits until it answers.
func (n *Node) StartContainerd(ctx context.Context) error {
	config := fmt.Sprintf(containerdConfig, n.Path("containerd"), n.Path("cni"))
	if err := n.write(config, "containerd.toml"); err != nil {
		return err
	}
	// A shim of the other version, first in the path, would be taken.
	programs := strings.Join([]string{n.runtimeDir(), n.Parts.Debian + "/usr/sbin", os.Getenv("PATH")}, ":")
	err := n.spawn(Containerd, []string{"PATH=" + programs}, n.runtimeDir()+"/containerd", "--config", n.Path("containerd.toml"))
	if err != nil {
		return err
	}
	return until(ctx, "containerd answers", func(context.Context) error {
		_, err := n.ctr("containers", "list", "-q")
		return err
	})
}

func (n *Node) runtimeDir() string {
	if n.Runtime == Containerd1 {
		return n.Parts.Debian + "/usr/bin"
	}
	return n.Parts.Containerd
}

// ctr is containerd's own client, for the kubelet's containers.
func (n *Node) ctr(arguments ...string) (string, error) {
	common := []string{"--address", n.containerdSocket(), "--connect-timeout", "3s", "--namespace", "k8s.io"}
	return output(n.runtimeDir()+"/ctr", append(common, arguments...)...)
}

func (n *Node) containerdSocket() string { return n.Path("containerd", "sock") }

// Image is the one image that the node has: for sandboxes and for containers.
const Image = "node.test/pause:1"

// importImage makes the image in the form that "docker save" has, and gives it to the runtime.
func (n *Node) importImage(context.Context) error {
	program, err := os.ReadFile(filepath.Join(n.Parts.Pause, "pause"))
	if err != nil {
		return err
	}
	layer, err := archive(file{"pause", 0o755, program})
	if err != nil {
		return err
	}
	config, err := json.Marshal(map[string]any{
		"architecture": runtime.GOARCH, "os": "linux",
		"config": map[string]any{"Entrypoint": []string{"/pause"}},
		"rootfs": map[string]any{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))}},
	})
	if err != nil {
		return err
	}
	manifest := fmt.Sprintf(`[{"Config":"config.json","RepoTags":[%q],"Layers":["layer.tar"]}]`, Image)
	image, err := archive(
		file{"manifest.json", 0o644, []byte(manifest)}, file{"config.json", 0o644, config}, file{"layer.tar", 0o644, layer})
	if err != nil {
		return err
	}
	if err := n.write(string(image), "pause.tar"); err != nil {
		return err
	}
	_, err = n.ctr("images", "import", n.Path("pause.tar"))
	return err
}

type file struct {
	name    string
	mode    int64
	content []byte
}

func archive(files ...file) ([]byte, error) {
	var buffer bytes.Buffer
	writer := tar.NewWriter(&buffer)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.content))}
		if err := writer.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := writer.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := writer.Close()
	return buffer.Bytes(), err
}
