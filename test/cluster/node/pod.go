package node

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// StatusAnnotation is where a pod's network-status is.
const StatusAnnotation = "k8s.v1.cni.cncf.io/network-status"

// Pod is a pod as the API server has it.
type Pod struct {
	Metadata struct {
		Namespace, Name, UID string
		Annotations          map[string]string
	}
	Status struct {
		Phase, PodIP string
		Conditions   []condition
	}
}

// Ref is the pod's.
func (p Pod) Ref() Ref { return Ref{"Pod", p.Metadata.Namespace, p.Metadata.Name} }

// Ready is what kubectl shows.
func (p Pod) Ready() bool { return holds(p.Status.Conditions, "Ready") }

// NetworkStatus is one element of the annotation, as far as scenarios look at it.
type NetworkStatus struct {
	Name      string
	Interface string
	IPs       []string
	MAC       string
	Default   bool
	Gateway   []string
}

// NetworkStatus is what the annotation holds; nil without it.
func (p Pod) NetworkStatus() (statuses []NetworkStatus, err error) {
	value, there := p.Metadata.Annotations[StatusAnnotation]
	if !there {
		return nil, nil
	}
	return statuses, json.Unmarshal([]byte(value), &statuses)
}

// Pod reads a pod.
func (n *Node) Pod(ctx context.Context, namespace, name string) (Pod, error) {
	var pod Pod
	err := n.API.Get(ctx, Ref{"Pod", namespace, name}, &pod)
	return pod, err
}

// AddNamespace makes a namespace that pods can be made in: no controller is there to add the service account.
func (n *Node) AddNamespace(ctx context.Context, name string) error {
	return n.API.Apply(ctx, fmt.Sprintf(`
apiVersion: v1
kind: Namespace
metadata: {name: %[1]s}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: default, namespace: %[1]s}
automountServiceAccountToken: false
`, name))
}

// Events are a pod's, or those of a whole namespace, in no order, as "reason: message".
func (n *Node) Events(ctx context.Context, namespace, pod string) ([]string, error) {
	var list struct {
		Items []struct {
			Reason, Message string
			InvolvedObject  struct{ Name string }
		}
	}
	if err := n.API.Get(ctx, Ref{Kind: "Event", Namespace: namespace}, &list); err != nil {
		return nil, err
	}
	var messages []string
	for _, event := range list.Items {
		if pod == "" || event.InvolvedObject.Name == pod {
			messages = append(messages, event.Reason+": "+event.Message)
		}
	}
	return messages, nil
}

// Sandbox is a pod's sandbox as the runtime has it.
type Sandbox struct {
	ID    string
	NetNS string // path of its network namespace
}

// Sandboxes are those of a pod that have a network, also where the API server does not know the pod any more.
func (n *Node) Sandboxes(namespace, pod string) ([]Sandbox, error) {
	ids, err := n.ctr("containers", "list", "-q", fmt.Sprintf(
		`labels."io.cri-containerd.kind"==sandbox,labels."io.kubernetes.pod.namespace"==%s,labels."io.kubernetes.pod.name"==%s`, namespace, pod))
	if err != nil {
		return nil, err
	}
	var sandboxes []Sandbox
	for id := range strings.FieldsSeq(ids) {
		netns, err := n.netnsOf(id)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(netns); err == nil {
			sandboxes = append(sandboxes, Sandbox{id, netns})
		}
	}
	return sandboxes, nil
}

func (n *Node) netnsOf(container string) (string, error) {
	info, err := n.ctr("containers", "info", container)
	if err != nil {
		return "", err
	}
	var decoded struct {
		Spec struct {
			Linux struct{ Namespaces []struct{ Type, Path string } }
		}
	}
	if err := json.Unmarshal([]byte(info), &decoded); err != nil {
		return "", err
	}
	for _, namespace := range decoded.Spec.Linux.Namespaces {
		if namespace.Type == "network" {
			return namespace.Path, nil
		}
	}
	return "", fmt.Errorf("container %s has no network namespace", container)
}

// Link is an interface as "ip -json addr" shows it.
type Link struct {
	IfName   string
	Address  string // MAC
	MTU      int
	AddrInfo []struct {
		Family, Local string
		PrefixLen     int
	} `json:"addr_info"`
}

// Addresses are the interface's without those of the link itself.
func (l Link) Addresses() []string {
	var addresses []string
	for _, a := range l.AddrInfo {
		if !strings.HasPrefix(a.Local, "fe80:") {
			addresses = append(addresses, a.Local)
		}
	}
	return addresses
}

// Links are the interfaces of a network namespace, by name.
func Links(netns string) (map[string]Link, error) {
	printed, err := Exec(netns, "ip", "-json", "addr")
	if err != nil {
		return nil, err
	}
	var list []Link
	if err := json.Unmarshal([]byte(printed), &list); err != nil {
		return nil, err
	}
	links := map[string]Link{}
	for _, link := range list {
		links[link.IfName] = link
	}
	return links, nil
}

// Exec runs a program of this machine in a network namespace, and gives what it printed.
func Exec(netns string, argv ...string) (string, error) {
	return output("nsenter", append([]string{"--net=" + netns}, argv...)...)
}

// KillSandbox ends the process that holds a sandbox, as if it had crashed.
func (n *Node) KillSandbox(id string) error {
	_, err := n.ctr("tasks", "kill", "--signal", "SIGKILL", id)
	return err
}
