package node

import "fmt"

// Help says to a person how to look around in the node.
func (n *Node) Help() string {
	return fmt.Sprintf(`The node is up. Everything of it is in %[1]s, logs in %[1]s/logs.

In another shell:
  alias kubectl='nsenter --net=%[2]s kubectl --kubeconfig=%[1]s/admin.kubeconfig'
  alias ctr='%[3]s/ctr --address=%[4]s --namespace=k8s.io'
  nsenter --net=%[2]s ip address

The plugin's configuration is %[1]s/cni/net.d/00-multus.conflist, its log %[1]s/logs/multus.log.
Pods need nodeName %[5]s, image %[6]s, imagePullPolicy Never, and a service account (made by hand) in their namespace.
An interrupt takes it all down.
`, n.dir, n.NetNS(), n.runtimeDir(), n.containerdSocket(), Name, Image)
}
