// Package recorder installs recording delegates into a directory of CNI plugins, tells them what to do and reads back
// what was asked of them. It is for tests, and needs no testing.T.
//
// It touches the directory and log that it is given, and runs "go build" once.
package recorder
