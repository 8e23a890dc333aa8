// Package nad has the NPWG standard's vocabulary: parse and print selections, results → statuses, device information, a
// NAD's configuration. It needs neither Kubernetes nor a network namespace.
//
// It touches files in file.go and devicefile.go only: in the directory that it is given, and the node's device
// information files.
package nad
