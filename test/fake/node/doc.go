// Package node is a node of a cluster in one directory: the plugin's binary with its configuration, recording
// delegates, an API server and network namespaces. Tests call the binary on it as a container runtime does.
//
// It touches the directory, named network namespaces of this machine, and the processes that it starts.
package node
