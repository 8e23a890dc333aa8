package cli

import (
	"fmt"
	"io"

	"github.com/seed-2ba21eab/multus-cni/pkg/multus"
)

const help = `multus gives a Kubernetes pod more than one network.

It is a CNI plugin: the container runtime (containerd, CRI-O, podman, cnitool) runs it for each pod sandbox, with the
verb in the environment variable CNI_COMMAND and the network configuration on standard input. It reads the pod's
annotations and NetworkAttachmentDefinitions, runs the CNI plugins that they name, and writes the pod's
network-status annotation. There is nothing to run by hand, except:

  multus --version, -v    print version, commit and date
  multus --help, -h       print this text

To install it, copy it to the directory of the CNI plugins (/opt/cni/bin) and write a network configuration of type
"multus" to the runtime's configuration directory (/etc/cni/net.d); doc/configuration.md lists every key.
`

// Run does what the arguments ask for and returns the exit status: 0, or 2 for arguments that mean nothing.
func Run(build multus.Build, args []string, stdout, stderr io.Writer) int {
	switch args[0] {
	case "--version", "-version", "-v":
		fmt.Fprintln(stdout, build)
		return 0
	case "--help", "-help", "-h", "help":
		fmt.Fprint(stdout, help)
		return 0
	default:
		fmt.Fprintf(stderr, "multus: unknown argument %q; see multus --help\n", args[0])
		return 2
	}
}
