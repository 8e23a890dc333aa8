// Package delegate runs one attachment's verb, plugin by plugin over the CNI library, and keeps its result cache in
// libcni's format.
//
// It starts processes, and writes below the cache directory only. It does not log: what a plugin prints to its stderr
// goes to the Runner's Stderr, what it fails with is an Error.
package delegate
