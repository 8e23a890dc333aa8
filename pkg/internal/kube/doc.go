// Package kube makes our few requests to the API server, with retry and budget: get a pod, get a
// NetworkAttachmentDefinition, write and clear a pod's network-status; where devices come by Dynamic Resource
// Allocation, get a ResourceClaim and list ResourceSlices.
//
// It touches the API server, and the kubeconfig with the files that it names. All of client-go is behind config.go.
package kube
