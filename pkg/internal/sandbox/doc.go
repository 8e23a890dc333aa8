// Package sandbox is the kernel's view of one network namespace.
//
// It reads over a netlink socket that was opened at the namespace; no thread stays in it, so skel finds the process
// where it was. It touches the kernel and writes nothing.
package sandbox
