// Command up starts the node of the cluster suite, says how to look at it, and takes it down on an interrupt.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/seed-2ba21eab/multus-cni/test/cluster/node"
	"github.com/seed-2ba21eab/multus-cni/test/cluster/parts"
)

func main() {
	runtime := flag.String("containerd", string(node.Containerd2), "`version` of containerd: 1 (Debian's) or 2")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := up(ctx, node.Runtime(*runtime)); err != nil {
		fmt.Fprintln(os.Stderr, "up:", err)
		os.Exit(1)
	}
}

// up expects to run in this module's directory.
func up(ctx context.Context, runtime node.Runtime) error {
	cache, err := parts.DefaultCache()
	if err != nil {
		return err
	}
	made, err := parts.Builder{Tree: ".", Cache: cache, Log: os.Stderr}.All(ctx)
	if err != nil {
		return err
	}
	n, err := node.Start(ctx, node.Options{
		Parts:   made,
		Multus:  cmp.Or(os.Getenv("MULTUS_TEST_BINARY"), filepath.Join("..", "..", "bin", "multus")),
		Images:  filepath.Join("..", "..", "images"),
		Runtime: runtime,
	})
	if err != nil {
		return err
	}
	fmt.Print(n.Help())
	<-ctx.Done()
	return n.Stop()
}
