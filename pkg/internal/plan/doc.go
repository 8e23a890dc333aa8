// Package plan decides what one sandbox gets, in order: which networks are wanted, and the attachment that each of
// them becomes, with its configuration, interface name, CNI_ARGS and capability arguments. It is pure: it reads
// nothing and runs nothing, so that every decision can be seen from its input.
package plan
