// Command multus is a CNI meta-plugin: it gives a Kubernetes pod more than one network. The container runtime runs it
// for each pod sandbox; by hand it has a few options, see --help.
package main
