// Command networks shows which pods sit on which network, with their addresses: a small controller made with pkg/nad/v1.
//
//	go run ./examples/networks -kubeconfig ~/.kube/config [-once]
//
// It prints the table, and again whenever it changes, until it is interrupted. It needs the rights to list and watch pods.
package main
