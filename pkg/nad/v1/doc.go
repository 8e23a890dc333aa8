// Package v1 has the NPWG standard's vocabulary for Kubernetes clients: CRD types, scheme, deep copies, pod helpers. Names,
// parameters and JSON are those of the established network-attachment-definition-client, both of its types and of its
// functions, so that one import path takes the place of two; doc/library.md lists what behaves otherwise.
//
// It asks the API server in SetNetworkStatus, through the clientset that it is given, and touches nothing else. It is not
// linked into the plugin. A program without a Kubernetes client needs pkg/nad only.
package v1
