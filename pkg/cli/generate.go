package cli

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/install"
)

const configHelp = `usage: multus generate-config OPTION…

Prints the network configuration that gives a node's pods their primary network, and further ones, by way of multus.
The primary network's own configuration, the master, is embedded byte for byte; capabilities are taken over from it.

  --multus-autoconfig-dir DIR           directory of the runtime's configurations; the master is the first .conf or
                                        .conflist in lexical order that is valid and not of multus itself;
                                        default /etc/cni/net.d
  --multus-master-cni-file-name NAME    the master is this file of that directory
  --renamed FILE                        file that lists names which may be found with the ending ".old", one a line
  --keep DIR                            do not step over a faulty file while DIR has a valid 00-multus.conf or .conflist
  --multus-conf-file FILE               only check this configuration and print it as it is
  --header                              print two lines before it: the file name that suits it, the master's path
                                        (with --multus-conf-file: that path)

What goes into the configuration:

  --cni-version VERSION                 default: the master's, else 1.0.0
  --kubeconfig FILE                     as the node sees it
  --multus-cni-conf-dir DIR             confDir
  --additional-bin-dir DIR              binDir
  --namespace-isolation                 pods use networks of their own namespace only
  --global-namespaces LIST              and of these
  --multus-log-level LEVEL              panic, error, verbose or debug
  --multus-log-file FILE                as the node sees it
  --multus-log-to-stderr=false          no log on standard error
  --readiness-indicator-file FILE       as the node sees it
  --override-network-name               take the master's name

Exit status: 1 for a fault, 2 for wrong arguments, 3 if there is no master now.
`

const kubeconfigHelp = `usage: multus generate-kubeconfig OPTION…

Prints a kubeconfig for the service account whose token is in a file. It needs no other file afterwards.

  --host HOST          name or address of the API server
  --port PORT          its port
  --protocol PROTOCOL  default https
  --token-file FILE    the service account's token
  --ca-file FILE       the API server's CA certificates
  --namespace NAME     default kube-system
  --skip-tls-verify    trust any server; no CA file is needed

Exit status: 1 if something is missing, 2 for wrong arguments.
`

// status is the exit status for the error of a sub-command.
func status(err error) int {
	var none *install.NoMaster
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errUsage):
		return exitUsage
	case errors.As(err, &none):
		return exitNoMaster
	default:
		return exitFailure
	}
}

// parse reads the options of a sub-command. It is done where help was asked for.
func parse(flags *flag.FlagSet, args []string, help string, stdout, stderr io.Writer) (done bool, err error) {
	flags.SetOutput(stderr)
	flags.Usage = func() {}
	err = flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stdout, help)
		return true, nil
	}
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
		fmt.Fprintln(stderr, err)
	}
	if err != nil {
		fmt.Fprintf(stderr, "see multus %s --help\n", flags.Name())
		return false, errUsage
	}
	return false, nil
}

// configCommand is generate-config with its options read.
type configCommand struct {
	options install.Options
	search  install.Search
	file    string
	renamed string
	keep    string
	loud    bool // log to standard error
	header  bool
}

func generateConfig(args []string, stdout, stderr io.Writer) error {
	var c configCommand
	if done, err := parse(c.flags(), args, configHelp, stdout, stderr); done || err != nil {
		return err
	}
	c.options.QuietStderr = !c.loud
	made, source, err := c.configuration()
	if err != nil {
		return err
	}
	if c.header {
		fmt.Fprintf(stdout, "%s\n%s\n", made.Name, source)
	}
	_, err = fmt.Fprintf(stdout, "%s\n", bytes.TrimSpace(made.Text))
	return err
}

func (c *configCommand) flags() *flag.FlagSet {
	flags := flag.NewFlagSet("generate-config", flag.ContinueOnError)
	for name, text := range map[string]*string{
		"multus-autoconfig-dir":       &c.search.Dir,
		"multus-master-cni-file-name": &c.search.Name,
		"renamed":                     &c.renamed,
		"keep":                        &c.keep,
		"multus-conf-file":            &c.file,
		"cni-version":                 &c.options.CNIVersion,
		"kubeconfig":                  &c.options.Kubeconfig,
		"multus-cni-conf-dir":         &c.options.ConfDir,
		"additional-bin-dir":          &c.options.BinDir,
		"global-namespaces":           &c.options.GlobalNamespaces,
		"multus-log-level":            &c.options.LogLevel,
		"multus-log-file":             &c.options.LogFile,
		"readiness-indicator-file":    &c.options.ReadinessIndicatorFile,
	} {
		flags.StringVar(text, name, "", "")
	}
	flags.BoolVar(&c.options.NamespaceIsolation, "namespace-isolation", false, "")
	flags.BoolVar(&c.options.OverrideNetworkName, "override-network-name", false, "")
	flags.BoolVar(&c.loud, "multus-log-to-stderr", true, "")
	flags.BoolVar(&c.header, "header", false, "")
	return flags
}

// configuration gives what to print, and the path of the file that it was made of.
func (c *configCommand) configuration() (install.Configuration, string, error) {
	if c.file != "" {
		found, err := install.Read(c.file)
		return found, c.file, err
	}
	if c.search.Dir == "" {
		c.search.Dir = "/etc/cni/net.d"
	}
	renamed, err := lines(c.renamed)
	if err != nil {
		return install.Configuration{}, "", err
	}
	c.search.Renamed = renamed
	c.search.Strict = c.keep != "" && install.Installed(c.keep)
	master, err := install.Find(c.search)
	if err != nil {
		return install.Configuration{}, "", err
	}
	made, err := install.Configure(c.options, master)
	return made, master.Path, err
}

func generateKubeconfig(args []string, stdout, stderr io.Writer) error {
	var cluster install.Cluster
	var token, ca string
	flags := flag.NewFlagSet("generate-kubeconfig", flag.ContinueOnError)
	flags.StringVar(&cluster.Host, "host", "", "")
	flags.StringVar(&cluster.Port, "port", "", "")
	flags.StringVar(&cluster.Protocol, "protocol", "", "")
	flags.StringVar(&cluster.Namespace, "namespace", "kube-system", "")
	flags.BoolVar(&cluster.SkipTLSVerify, "skip-tls-verify", false, "")
	flags.StringVar(&token, "token-file", "", "")
	flags.StringVar(&ca, "ca-file", "", "")
	if done, err := parse(flags, args, kubeconfigHelp, stdout, stderr); done || err != nil {
		return err
	}
	if err := readSecrets(&cluster, token, ca); err != nil {
		return err
	}
	text, err := install.Kubeconfig(cluster)
	if err != nil {
		return err
	}
	_, err = stdout.Write(text)
	return err
}

func readSecrets(cluster *install.Cluster, token, ca string) (err error) {
	if cluster.Token, err = os.ReadFile(token); err != nil {
		return fmt.Errorf("the service account's token: %w", err)
	}
	if cluster.SkipTLSVerify {
		return nil
	}
	if cluster.CA, err = os.ReadFile(ca); err != nil {
		return fmt.Errorf("the CA bundle of the API server: %w", err)
	}
	return nil
}

// lines reads a list of names; a file that is not there is an empty one.
func lines(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if path == "" || errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' }), err
}
