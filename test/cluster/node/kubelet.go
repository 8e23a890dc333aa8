package node

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"syscall"
	"time"
)

const kubeletConfig = `
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
localStorageCapacityIsolation: false
failSwapOn: false
makeIPTablesUtilChains: false
containerRuntimeEndpoint: unix://%[2]s
staticPodPath: %[1]s/manifests
podLogsDir: %[1]s/logs/pods
volumePluginDir: %[1]s/volumes
fileCheckFrequency: 1s
readOnlyPort: 0
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
resolvConf: ""
evictionHard: {memory.available: "0%%", nodefs.available: "0%%", nodefs.inodesFree: "0%%", imagefs.available: "0%%"}
imageGCHighThresholdPercent: 100
serializeImagePulls: false
kubeAPIQPS: 200
kubeAPIBurst: 400
eventRecordQPS: 0
`

// withOwnDirectories starts a program with places of its own for what the kubelet has at fixed paths: in a mount namespace,
// the socket and checkpoint of device plugins are in the node's directory, and links to containers' logs nowhere.
const withOwnDirectories = `
mount -t tmpfs none /var/log
mount -t tmpfs none /var/lib
mkdir -p /var/lib/kubelet/device-plugins
mount --bind "$0" /var/lib/kubelet/device-plugins
exec "$@"`

// startKubelet starts the kubelet for the first time.
func (n *Node) startKubelet(ctx context.Context) error {
	if err := n.write(fmt.Sprintf(kubeletConfig, n.dir, n.containerdSocket()), "kubelet.yml"); err != nil {
		return err
	}
	return n.StartKubelet(ctx)
}

// StartKubelet starts the kubelet, and waits until the node is ready.
func (n *Node) StartKubelet(ctx context.Context) error {
	if err := n.SpawnKubelet(); err != nil {
		return err
	}
	if err := until(ctx, "the kubelet is healthy", n.kubeletHealthy); err != nil {
		return err
	}
	return until(ctx, "the node is ready", n.ready)
}

// kubeletHealthy asks the kubelet itself: after a restart, the node still is what the one before said.
func (n *Node) kubeletHealthy(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:10248/healthz", nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DialContext: n.dial, DisableKeepAlives: true}, Timeout: 10 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// SpawnKubelet starts the kubelet without waiting: it works without an API server too.
func (n *Node) SpawnKubelet() error {
	return n.spawn(Kubelet, nil, "unshare", "--mount", "sh", "-ec", withOwnDirectories, n.Path("kubelet", "device-plugins"),
		n.Parts.Kubernetes+"/kubelet",
		"--config="+n.Path("kubelet.yml"), "--kubeconfig="+n.Path("kubelet.kubeconfig"),
		"--root-dir="+n.Path("kubelet"), "--cert-dir="+n.Path("kubelet", "pki"),
		"--hostname-override="+Name, "--node-ip="+Address)
}

// RestartKubelet ends the kubelet and starts it again.
func (n *Node) RestartKubelet(ctx context.Context) error {
	if err := n.end(Kubelet, syscall.SIGTERM); err != nil {
		return err
	}
	return n.StartKubelet(ctx)
}

func (n *Node) ready(ctx context.Context) error {
	var node struct {
		Status struct{ Conditions []condition }
	}
	err := n.API.Get(ctx, Ref{Kind: "Node", Name: Name}, &node)
	if err == nil && !holds(node.Status.Conditions, "Ready") {
		return fmt.Errorf("conditions of the node: %v", node.Status.Conditions)
	}
	return err
}

// condition is one of an object's status.
type condition struct{ Type, Status, Message string }

func holds(conditions []condition, name string) bool {
	for _, c := range conditions {
		if c.Type == name {
			return c.Status == "True"
		}
	}
	return false
}

// Allocatable is how much of a resource the node offers to pods; empty: it does not know it.
func (n *Node) Allocatable(ctx context.Context, resource string) (string, error) {
	var node struct {
		Status struct{ Allocatable map[string]string }
	}
	err := n.API.Get(ctx, Ref{Kind: "Node", Name: Name}, &node)
	return node.Status.Allocatable[resource], err
}
