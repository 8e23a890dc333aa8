// Package config reads our configuration on stdin, and the configurations of delegates, each as a list. It reads files
// only where one of them is named: a network given by path or by name, and the plugins that a list pulls in.
package config
