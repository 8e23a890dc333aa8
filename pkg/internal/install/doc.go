// Package install makes what is installed on a node beside the binary: the configuration around a primary network's
// own, and the kubeconfig. It reads the runtime's configuration directory to find that primary network, in master.go
// only, and writes nothing.
package install
