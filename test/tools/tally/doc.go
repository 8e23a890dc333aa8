// Command tally runs "go test" with the arguments after its first, shows what failed, and appends one line to the file
// that the first names: how many cases ran and how many of them failed. A case is a Ginkgo spec, or a Go test without
// sub-tests. Failed tests are no failure of tally's own.
package main
