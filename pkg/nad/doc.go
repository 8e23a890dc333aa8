// Package nad has the NPWG standard's vocabulary: parse and print selections, results → statuses, device information, a
// NAD's configuration. It needs neither Kubernetes nor a network namespace.
//
// It touches files in file.go only, and there only in the directory that it is given.
package nad
