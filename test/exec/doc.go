// Package exec is the suite "exec": the real binary with recording delegates and an API server of our own making, for
// every rule that needs no kernel but for an empty network namespace.
package exec
