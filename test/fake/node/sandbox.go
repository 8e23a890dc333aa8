package node

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Sandbox is what a runtime says of a pod sandbox. Tests change copies of it.
type Sandbox struct {
	ContainerID string
	NetNS       string // path
	IfName      string
	Args        [][2]string // CNI_ARGS
}

// NewSandbox makes a network namespace for a container without a pod.
func (n *Node) NewSandbox() (Sandbox, error) {
	n.pods++
	id := fmt.Sprintf("c%d-%d", os.Getpid(), n.pods)
	netns, err := n.NewNamespace()
	if err != nil {
		return Sandbox{}, err
	}
	return Sandbox{ContainerID: id, NetNS: netns, IfName: "eth0", Args: [][2]string{{"IgnoreUnknown", "1"}}}, nil
}

// Of is the sandbox as that of a pod. An empty uid is left out.
func (s Sandbox) Of(namespace, name, uid string) Sandbox {
	s.Args = append(s.Args[:len(s.Args):len(s.Args)],
		[2]string{"K8S_POD_NAMESPACE", namespace}, [2]string{"K8S_POD_NAME", name},
		[2]string{"K8S_POD_INFRA_CONTAINER_ID", s.ContainerID})
	if uid != "" {
		s.Args = append(s.Args, [2]string{"K8S_POD_UID", uid})
	}
	return s
}

// NewNamespace makes a network namespace and gives its path. Close removes it.
func (n *Node) NewNamespace() (string, error) {
	name := fmt.Sprintf("multus-test-%d-%s", os.Getpid(), rand.Text())
	if err := ip("netns", "add", name); err != nil {
		return "", err
	}
	n.namespaces = append(n.namespaces, name)
	return "/var/run/netns/" + name, nil
}

// RemoveNamespace takes a network namespace away before Close does.
func (n *Node) RemoveNamespace(path string) error {
	name := strings.TrimPrefix(path, "/var/run/netns/")
	for i, known := range n.namespaces {
		if known == name {
			n.namespaces = append(n.namespaces[:i], n.namespaces[i+1:]...)
			break
		}
	}
	return ip("netns", "del", name)
}

func ip(arguments ...string) error {
	if output, err := exec.Command("ip", arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(arguments, " "), err, output)
	}
	return nil
}

// environ is how a runtime calls a plugin (CNI specification, section 2).
func (s Sandbox) environ(verb string, path []string) []string {
	var args []string
	for _, arg := range s.Args {
		args = append(args, arg[0]+"="+arg[1])
	}
	return []string{
		"CNI_COMMAND=" + verb,
		"CNI_CONTAINERID=" + s.ContainerID,
		"CNI_NETNS=" + s.NetNS,
		"CNI_IFNAME=" + s.IfName,
		"CNI_ARGS=" + strings.Join(args, ";"),
		"CNI_PATH=" + strings.Join(path, ":"),
	}
}
