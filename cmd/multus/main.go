package main

import (
	"os"
	"path/filepath"

	"github.com/containernetworking/cni/pkg/skel"
	cniversion "github.com/containernetworking/cni/pkg/version"

	"github.com/seed-2ba21eab/multus-cni/pkg/cli"
	"github.com/seed-2ba21eab/multus-cni/pkg/multus"
)

// Set at link time, see the script build.
var (
	version = "unknown"
	commit  = "unknown"
	date    = "unknown"
)

func main() {
	build := multus.Build{Version: version, Commit: commit, Date: date}
	if os.Getenv("CNI_COMMAND") == "" && len(os.Args) > 1 {
		os.Exit(cli.Run(build, os.Args[1:], os.Stdout, os.Stderr))
	}
	plugin := multus.New(multus.Environment{
		Self:    filepath.Base(os.Args[0]),
		Environ: os.Environ(),
		Stdout:  os.Stdout,
		Stderr:  os.Stderr,
	})
	skel.PluginMainFuncs(plugin.Funcs(), cniversion.All, build.About())
}
