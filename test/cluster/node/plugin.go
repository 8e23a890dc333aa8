package node

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// PluginUser is who our plugin is to the API server.
const PluginUser = "system:serviceaccount:kube-system:multus"

// Config is the plugin's configuration on the node, or changes to it: a nil value takes a key away.
type Config map[string]any

// installBinaries copies our plugin and links the reference plugins.
func (n *Node) installBinaries() error {
	if err := run("cp", n.Multus, n.Path("cni", "bin", "multus")); err != nil {
		return err
	}
	plugins, err := os.ReadDir(n.Parts.Plugins)
	if err != nil {
		return err
	}
	for _, plugin := range plugins {
		if err := os.Symlink(filepath.Join(n.Parts.Plugins, plugin.Name()), n.Path("cni", "bin", plugin.Name())); err != nil {
			return err
		}
	}
	return nil
}

// AddPlugin adds a CNI plugin that is a shell script.
func (n *Node) AddPlugin(name, script string) error {
	return os.WriteFile(n.Path("cni", "bin", name), []byte("#!/bin/sh\n"+script), 0o755)
}

// installManifests gives the cluster our custom resource and rights, and the plugin its kubeconfig and configuration.
func (n *Node) installManifests(ctx context.Context) error {
	if err := n.AddNamespace(ctx, "default"); err != nil {
		return err
	}
	if err := n.applyManifests(ctx); err != nil {
		return err
	}
	if err := until(ctx, "the custom resource is served", n.served); err != nil {
		return err
	}
	if err := n.WriteToken(ctx); err != nil {
		return err
	}
	return n.Configure(nil)
}

// applyManifests applies ours that need no image, as they are in the tree.
func (n *Node) applyManifests(ctx context.Context) error {
	for _, name := range []string{"crd.yml", "rbac.yml"} {
		manifest, err := os.ReadFile(filepath.Join(n.Images, name))
		if err != nil {
			return err
		}
		if err := n.API.Apply(ctx, string(manifest)); err != nil {
			return err
		}
	}
	return nil
}

// served fails while the server does not list the new kind yet.
func (n *Node) served(ctx context.Context) error {
	return n.API.Get(ctx, Ref{Kind: "NetworkAttachmentDefinition", Namespace: "default"}, nil)
}

// WriteToken writes the plugin's kubeconfig, with a token that has the rights of our manifests.
func (n *Node) WriteToken(ctx context.Context) error {
	token, err := n.API.Token(ctx, "kube-system", "multus")
	if err != nil {
		return err
	}
	return n.write(n.kubeconfig("token: "+token), "cni", "multus.d", "multus.kubeconfig")
}

// Configure writes the plugin's configuration, the default one with changes. containerd takes it up by itself;
// what it calls the plugin with from then on is up to it.
func (n *Node) Configure(changes Config) error {
	config := n.defaultConfig()
	for key, value := range changes {
		if config[key] = value; value == nil {
			delete(config, key)
		}
	}
	list, err := json.MarshalIndent(map[string]any{
		"cniVersion": "1.0.0", "name": "node-net", "plugins": []any{config},
	}, "", "  ")
	if err != nil {
		return err
	}
	// containerd does not notice a file that comes from another directory.
	if err := n.write(string(list), "cni", "net.d", "new"); err != nil {
		return err
	}
	return os.Rename(n.Path("cni", "net.d", "new"), n.Path("cni", "net.d", "00-multus.conflist"))
}

func (n *Node) defaultConfig() Config {
	return Config{
		"type":         "multus",
		"kubeconfig":   n.Path("cni", "multus.d", "multus.kubeconfig"),
		"confDir":      n.Path("cni", "conf"),
		"cniDir":       n.StateDir(),
		"binDir":       n.Path("cni", "bin"),
		"kubeletDir":   n.Path("kubelet"),
		"logLevel":     "debug",
		"logFile":      n.Path("logs", "multus.log"),
		"logToStderr":  false,
		"capabilities": Config{"portMappings": true, "io.kubernetes.cri.pod-annotations": true},
		"delegates":    []any{json.RawMessage(n.Master("cni0", "10.244.0.0/24"))},
	}
}

// Master is the configuration of a network that can be the pods' default one.
func (n *Node) Master(name, subnet string) string {
	return fmt.Sprintf(`{"cniVersion": "1.0.0", "name": %[1]q, "plugins": [
		{"type": "bridge", "bridge": %[1]q, "isGateway": true, "isDefaultGateway": true, "ipam": %[2]s},
		{"type": "portmap", "capabilities": {"portMappings": true}}]}`, name, n.HostLocal(subnet))
}

// HostLocal is an "ipam" value whose leases Leftovers counts.
func (n *Node) HostLocal(subnet string) string {
	return fmt.Sprintf(`{"type": "host-local", "dataDir": %q, "ranges": [[{"subnet": %q}]]}`, n.Path("leases"), subnet)
}

// StateDir is the plugin's cniDir.
func (n *Node) StateDir() string { return n.Path("multus") }
