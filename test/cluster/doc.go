// Package cluster runs pods on a real node: etcd, kube-apiserver, kubelet, containerd and runc, with the plugin installed by the
// project's own manifests. What is checked is what a user sees with kubectl, and what is in the kernel.
//
// It needs root, MULTUS_TEST_BINARY, and some minutes; the first time, also those to build Kubernetes.
package cluster
