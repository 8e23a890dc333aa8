package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
	"github.com/seed-2ba21eab/multus-cni/test/fake"
)

// Paths on a file system that is only ours.
const (
	podNetNS   = "/run/netns/web-0"
	kubeconfig = "/run/kubeconfig"
	stateDir   = "/run/multus"
	leaseDir   = "/run/leases"
)

// world is a node with one pod, and what is around it.
type world struct {
	multus  string // the binary
	plugins string // directory
	api     *fake.API
}

// network is one network of the pod: how it is configured, and what shows that it works.
type network struct {
	name   string // in the pod's network-status
	config string
	ifname string   // in the pod
	shows  []string // in "ip address"
	peer   string   // address to ping
}

// networks are the pod's in order: the cluster's own, then those that the pod selects.
func networks() []network {
	return []network{{
		"pods", `{
  "cniVersion": "1.0.0", "name": "pods", "type": "bridge", "bridge": "cni0", "isDefaultGateway": true,
  "ipam": {"type": "host-local", "subnet": "10.244.0.0/24", "dataDir": "` + leaseDir + `"}
}`,
		"eth0", []string{"inet 10.244.0.2/24"}, "10.244.0.1",
	}, {
		"blue/storage", `{
  "cniVersion": "1.0.0", "type": "bridge", "bridge": "storage0", "isGateway": true,
  "ipam": {"type": "host-local", "subnet": "192.0.2.0/24", "dataDir": "` + leaseDir + `"}
}`,
		"net1", []string{"inet 192.0.2.2/24"}, "192.0.2.1",
	}, {
		"blue/lab", `{
  "cniVersion": "1.0.0", "type": "macvlan", "master": "eth1", "capabilities": {"ips": true, "mac": true},
  "ipam": {"type": "static"}
}`,
		"net2", []string{"inet 198.51.100.5/24", "link/ether 02:00:00:00:00:05"}, "198.51.100.1",
	}, {
		"blue/tuned", `{
  "cniVersion": "1.0.0", "plugins": [
    {"type": "bridge", "bridge": "tuned0", "isGateway": true,
     "ipam": {"type": "host-local", "subnet": "203.0.113.0/24", "dataDir": "` + leaseDir + `"}},
    {"type": "tuning", "mtu": 1400}
  ]
}`,
		"net3", []string{"inet 203.0.113.2/24", "mtu 1400"}, "203.0.113.1",
	}}
}

// selections is the pod's annotation k8s.v1.cni.cncf.io/networks.
const selections = `[
  {"name": "storage"},
  {"name": "lab", "ips": ["198.51.100.5/24"], "mac": "02:00:00:00:00:05"},
  {"name": "tuned"}
]`

// config is what the container runtime finds in /etc/cni/net.d.
func (w *world) config() string {
	return fmt.Sprintf(`{"cniVersion": "1.0.0", "name": "node-net", "type": "multus", "kubeconfig": %q,
"cniDir": %q, "binDir": %q, "delegates": [%s]}`, kubeconfig, stateDir, w.plugins, networks()[0].config)
}

// build makes the networks. Our own network namespace is the node's.
func (w *world) build(ctx context.Context) error {
	say("A node. The cable of its card eth1 leads to a neighbour with the address 198.51.100.1.")
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("making the mounts private: %w", err)
	}
	if err := unix.Mount("tmpfs", "/run", "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("mounting /run: %w", err)
	}
	for _, command := range []string{
		"link set lo up",
		"netns add neighbour",
		"link add eth1 type veth peer name eth0 netns neighbour",
		"link set eth1 up",
		"-n neighbour link set eth0 up",
		"-n neighbour address add 198.51.100.1/24 dev eth0",
		"netns add web-0",
	} {
		if _, err := ip(ctx, command); err != nil {
			return err
		}
	}
	return nil
}

// serve starts the API server, with the pod and the NetworkAttachmentDefinitions that it selects.
func (w *world) serve(context.Context) (err error) {
	if w.api, err = fake.NewAPI(); err != nil {
		return err
	}
	for _, network := range networks()[1:] {
		namespace, name, _ := strings.Cut(network.name, "/")
		w.api.AddNAD(fake.NAD{Namespace: namespace, Name: name, Config: network.config})
		say("NetworkAttachmentDefinition %s:", network.name)
		fmt.Println(network.config)
	}
	w.api.AddPod(fake.Pod{Namespace: "blue", Name: "web-0", UID: "5f0c2f3e-7c1b-4d6e-9a58-0d3c1f6b2a47",
		Annotations: map[string]string{nad.NetworksAnnotation: selections}})
	say("Pod blue/web-0, with the annotation %s:", nad.NetworksAnnotation)
	fmt.Println(selections)
	return w.api.Kubeconfig(kubeconfig)
}

// ip runs iproute2.
func ip(ctx context.Context, arguments string) (string, error) {
	output, err := exec.CommandContext(ctx, "ip", strings.Fields(arguments)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("ip %s: %w: %s", arguments, err, output)
	}
	return string(output), nil
}
