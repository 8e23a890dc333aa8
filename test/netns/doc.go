// Package netns is the suite "netns": the real binary with the reference plugins and cnitool, in network namespaces,
// for every rule that the kernel has a part in.
package netns
