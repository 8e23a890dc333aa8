// Package cli is what the program does when a person or a script runs it with arguments instead of a container
// runtime: its options and sub-commands. It parses, calls a package and prints; it decides nothing itself.
package cli
