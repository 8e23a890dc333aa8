// Package node is a cluster of one node on this machine: etcd, kube-apiserver, containerd and kubelet, our plugin as
// their CNI, and the words that scenarios are made of.
//
// It touches one directory under TMPDIR that holds all state, a network namespace, control groups below "k8s.io", entries of
// ours in /var/lib/cni/results, and the processes that it starts. Stop leaves nothing of these.
package node
