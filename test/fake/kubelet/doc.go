// Package kubelet stands for a kubelet as far as devices go: its checkpoint file and its PodResources socket, which
// speaks the real protocol. It is for tests, and needs no testing.T.
//
// It touches the root directory that it is given.
package kubelet
