// Package multus is the verbs of the plugin, one file each, and their steps. Each verb is a straight line: what it
// needs is read first, decided by package plan, and then done. It reaches the API server, the kernel, processes and
// the disk only through the packages that touch them.
package multus
