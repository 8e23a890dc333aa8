// Command api lists the exported API of the public packages, pkg/nad and pkg/nad/v1: each constant, variable, type and
// function as it is declared, without comments and private parts, in a fixed order. doc/api.txt has the listing of the
// last commit, and test/lint compares, so that nobody breaks those who import them unawares:
//
//	go run ./test/tools/api > doc/api.txt
package main
