package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/seed-2ba21eab/multus-cni/pkg/multus"
)

const help = `multus gives a Kubernetes pod more than one network.

It is a CNI plugin: the container runtime (containerd, CRI-O, podman, cnitool) runs it for each pod sandbox, with the
verb in the environment variable CNI_COMMAND and the network configuration on standard input. It reads the pod's
annotations and NetworkAttachmentDefinitions, runs the CNI plugins that they name, and writes the pod's
network-status annotation. There is nothing to run by hand, except:

  multus --version, -v                print version, commit and date
  multus --help, -h                   print this text
  multus generate-config OPTION…      print a network configuration around that of a primary network
  multus generate-kubeconfig OPTION…  print a kubeconfig for a service account
  multus COMMAND --help               print the options of a command

To install it, apply images/multus-daemonset.yml (doc/install.md); or copy it to the directory of the CNI plugins
(/opt/cni/bin) and write a network configuration of type "multus" to the runtime's configuration directory
(/etc/cni/net.d); doc/configuration.md lists every key.
`

// Exit statuses, besides 0.
const (
	exitFailure  = 1
	exitUsage    = 2
	exitNoMaster = 3 // there may be one later
)

// errUsage is the error of arguments that mean nothing.
var errUsage = errors.New("usage")

// command is a sub-command. An error that is not errUsage is printed by Run.
type command func(args []string, stdout, stderr io.Writer) error

func commands() map[string]command {
	return map[string]command{
		"generate-config":     generateConfig,
		"generate-kubeconfig": generateKubeconfig,
	}
}

// Run does what the arguments ask for and returns the exit status: 0, 1 for a failure, 2 for arguments that mean
// nothing, 3 where generate-config finds no primary network yet.
func Run(build multus.Build, args []string, stdout, stderr io.Writer) int {
	switch args[0] {
	case "--version", "-version", "-v":
		fmt.Fprintln(stdout, build)
		return 0
	case "--help", "-help", "-h", "help":
		fmt.Fprint(stdout, help)
		return 0
	}
	run, ok := commands()[args[0]]
	if !ok {
		fmt.Fprintf(stderr, "multus: unknown argument %q; see multus --help\n", args[0])
		return exitUsage
	}
	err := run(args[1:], stdout, stderr)
	if err != nil && !errors.Is(err, errUsage) {
		fmt.Fprintf(stderr, "multus %s: %v\n", args[0], err)
	}
	return status(err)
}
