// Package fake stands for the world around the plugin: an API server that can be made to fail in every way, served over
// real TLS on a port of this machine. It is for tests, and needs no testing.T.
//
// It touches a TCP port of 127.0.0.1, and the kubeconfig files that it is told to write.
package fake
