package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// inside is the argument of the process that is in its own namespaces.
const inside = "inside"

func main() {
	multus := flag.String("multus", "bin/multus", "`file`: the plugin to show")
	plugins := flag.String("plugins", "bin/demo/plugins", "`directory` of the reference plugins")
	flag.Parse()
	if flag.Arg(0) != inside {
		exit(moveIn())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	exit(run(ctx, world{multus: *multus, plugins: *plugins}))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "\nThe demo failed:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// moveIn starts this program anew, in the same process but in namespaces of its own.
func moveIn() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	runtime.LockOSThread() // the thread that moves is the one that goes on
	if err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("making namespaces, which needs root: %w", err)
	}
	return unix.Exec(self, append(os.Args, inside), os.Environ())
}

func run(ctx context.Context, w world) error {
	steps := []func(context.Context) error{w.build, w.serve, w.attach, w.look, w.ping, w.status, w.detach, w.nothingLeft}
	for _, step := range steps {
		err := step(ctx)
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		if err != nil {
			return err
		}
	}
	say("Nothing of the pod is left.")
	return nil
}

func say(format string, arguments ...any) {
	fmt.Printf("\n# "+format+"\n", arguments...)
}
