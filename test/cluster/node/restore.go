package node

import (
	"context"
	"syscall"
)

// RestartContainerd ends the runtime and starts it again. Pods live on.
func (n *Node) RestartContainerd(ctx context.Context) error {
	if err := n.end(Containerd, syscall.SIGTERM); err != nil {
		return err
	}
	return n.StartContainerd(ctx)
}

// Restore undoes what a scenario did to the node: each component runs, and the cluster has our manifests.
func (n *Node) Restore(ctx context.Context) error {
	// The kubelet's watches come back only after a growing pause: it is better started again.
	blind, err := n.restoreAPIServer(ctx)
	if err != nil {
		return err
	}
	if err := n.applyManifests(ctx); err != nil {
		return err
	}
	if !n.alive(Containerd) {
		if err := n.StartContainerd(ctx); err != nil {
			return err
		}
	}
	if !blind && n.alive(Kubelet) {
		return nil
	}
	return n.RestartKubelet(ctx)
}

// restoreAPIServer says whether it was away.
func (n *Node) restoreAPIServer(ctx context.Context) (away bool, err error) {
	if !n.alive(APIServer) {
		return true, n.StartAPIServer(ctx)
	}
	return false, n.ThawAPIServer()
}

func (n *Node) alive(name string) bool {
	p := n.running[name]
	return p != nil && p.alive()
}

// Down does to the node what switching it off does, but for etcd and the API server: nothing runs, and all of the pods'
// network namespaces are gone.
func (n *Node) Down() error {
	for _, name := range []string{Kubelet, Containerd} {
		if err := n.Kill(name); err != nil {
			return err
		}
	}
	if err := n.killEach(n.ofPods); err != nil {
		return err
	}
	return n.unmount()
}

// Up brings the node back after Down.
func (n *Node) Up(ctx context.Context) error {
	if err := n.StartContainerd(ctx); err != nil {
		return err
	}
	return n.StartKubelet(ctx)
}

// KillPlugins ends all CNI plugins that run.
func (n *Node) KillPlugins() error { return n.killEach(n.isPlugin) }
