// Command demo shows what multus does, on one machine and without Kubernetes: it is the container runtime and the rest
// of the world. ./run builds it, with the plugins that it needs, and starts it.
//
// It makes itself a network namespace and a mount namespace and touches nothing outside of them. The kernel takes both
// away when the process ends, even if it is killed.
package main
