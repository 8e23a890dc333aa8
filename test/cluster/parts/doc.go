// Package parts fetches and builds the programs of a cluster's node, each once, into a cache that is keyed by their versions.
//
// It touches the cache, Go's own caches, and Debian's package lists. The first time takes some 18 minutes of CPU time.
package parts
