package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/recorder"
)

// Node is one node. Close takes it down.
type Node struct {
	Binary     string // the plugin
	Dir        string // holds everything below
	CNIDir     string // the plugin's state
	ConfDir    string // CNI configurations by name
	BinDir     string // delegates
	KubeletDir string
	Kubeconfig string // of API; the file exists
	API        *fake.API
	Delegates  *recorder.Recorder // in BinDir

	namespaces []string
	pods       int
}

// Binaries are the programs that a node runs, built once for all of them.
type Binaries struct {
	Plugin   string
	Delegate string // that recorder.Build made
}

// New makes a node in a directory that exists.
func New(dir string, binaries Binaries) (*Node, error) {
	n := &Node{
		Binary:     binaries.Plugin,
		Dir:        dir,
		CNIDir:     filepath.Join(dir, "cni"),
		ConfDir:    filepath.Join(dir, "net.d"),
		BinDir:     filepath.Join(dir, "bin"),
		KubeletDir: filepath.Join(dir, "kubelet"),
		Kubeconfig: filepath.Join(dir, "kubeconfig"),
	}
	for _, dir := range []string{n.ConfDir, n.BinDir, n.KubeletDir} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	n.Delegates = recorder.New(binaries.Delegate, n.BinDir, filepath.Join(dir, "calls"))
	api, err := fake.NewAPI()
	if err != nil {
		return nil, err
	}
	n.API = api
	return n, api.Kubeconfig(n.Kubeconfig)
}

// Close ends the API server and removes the network namespaces. The directory stays.
func (n *Node) Close() error {
	n.API.Close()
	var faults []error
	for _, name := range n.namespaces {
		faults = append(faults, ip("netns", "del", name))
	}
	n.namespaces = nil
	return errors.Join(faults...)
}

// Config is a network configuration as tests change it.
type Config map[string]any

// Config gives a configuration with one delegate "main" of type "master", which logs all that can be logged. Each
// change is laid over it; nil takes a key out.
func (n *Node) Config(changes ...Config) Config {
	config := Config{
		"cniVersion": "1.0.0",
		"name":       "node-net",
		"type":       "multus",
		"kubeconfig": n.Kubeconfig,
		"cniDir":     n.CNIDir,
		"confDir":    n.ConfDir,
		"binDir":     n.BinDir,
		"kubeletDir": n.KubeletDir,
		"logLevel":   "debug",
		"delegates":  []any{Config{"cniVersion": "1.0.0", "name": "main", "type": "master"}},
	}
	for _, change := range changes {
		for key, value := range change {
			config[key] = value
			if value == nil {
				delete(config, key)
			}
		}
	}
	return config
}

// String is the configuration as the plugin reads it.
func (c Config) String() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // a test put in what JSON cannot hold
	}
	return string(text)
}

// WriteConfig puts a file into ConfDir.
func (n *Node) WriteConfig(name, content string) error {
	return os.WriteFile(filepath.Join(n.ConfDir, name), []byte(content), 0o600)
}

// AddPod stores a pod of the namespace "blue" in the API server, with these annotations, and gives its sandbox, with a
// network namespace of its own.
func (n *Node) AddPod(name string, annotations map[string]string) (Sandbox, error) {
	return n.AddPodIn("blue", name, annotations)
}

// AddPodIn is AddPod in another Kubernetes namespace.
func (n *Node) AddPodIn(namespace, name string, annotations map[string]string) (Sandbox, error) {
	box, err := n.NewSandbox()
	if err != nil {
		return Sandbox{}, err
	}
	uid := fmt.Sprintf("%08x-0000-4000-8000-000000000000", n.pods)
	n.API.AddPod(fake.Pod{Namespace: namespace, Name: name, UID: uid, Annotations: annotations})
	return box.Of(namespace, name, uid), nil
}
