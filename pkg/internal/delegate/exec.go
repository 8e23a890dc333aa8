package delegate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"github.com/containernetworking/cni/pkg/version"
)

const (
	grace        = 2 * time.Second        // from SIGTERM to SIGKILL, and for pipes that stay open
	busyPause    = 50 * time.Millisecond  // before a binary that is being written is tried again, doubled each time
	busyPauseMax = 800 * time.Millisecond // the last such pause
	maxOutput    = 8 << 20                // of a plugin's stdout, as much as of a configuration
	maxStderr    = 4 << 10                // kept of a plugin's stderr for the error text
)

// processes runs plugins as processes. It is an invoke.Exec.
type processes struct {
	version.PluginDecoder
	stderr io.Writer // nil: nobody listens
}

// ExecPlugin gives what the plugin printed. The error is a *types.Error if the plugin ran and failed.
func (p *processes) ExecPlugin(ctx context.Context, path string, stdin []byte, environ []string) ([]byte, error) {
	// The parent-death signal comes when the thread ends that started the child, not when the process does (INV-6).
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for pause := busyPause; ; pause *= 2 {
		output, err := p.runOnce(ctx, path, stdin, environ)
		if !errors.Is(err, syscall.ETXTBSY) || pause > busyPauseMax {
			return output, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, fmt.Errorf("%w, and then: %w", err, ctx.Err())
		}
	}
}

func (p *processes) runOnce(ctx context.Context, path string, stdin []byte, environ []string) ([]byte, error) {
	stdout, stderr := &head{}, &tail{out: p.stderr}
	ended := false
	cmd := exec.CommandContext(ctx, path)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = environ, bytes.NewReader(stdin), stdout, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = grace
	cmd.Cancel = func() error {
		ended = true
		return signalGroup(cmd, syscall.SIGTERM)
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	err := cmd.Wait()
	if ended {
		_ = signalGroup(cmd, syscall.SIGKILL) // what the plugin started itself and left behind
		return nil, fmt.Errorf("ended before it was done: %w", ctx.Err())
	}
	// A child of the plugin that keeps its stdout open is no failure.
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, failure(err, stdout.kept, stderr.kept)
	}
	return stdout.kept, nil
}

func signalGroup(cmd *exec.Cmd, signal syscall.Signal) error {
	err := syscall.Kill(-cmd.Process.Pid, signal)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// head keeps the start of what is written, up to maxOutput.
type head struct{ kept []byte }

func (w *head) Write(text []byte) (int, error) {
	w.kept = append(w.kept, text[:min(len(text), maxOutput-len(w.kept))]...)
	return len(text), nil
}

// tail passes on what is written and keeps the end of it, up to maxStderr. Trouble with our own stderr is none of the
// plugin's.
type tail struct {
	out  io.Writer
	kept []byte
}

func (w *tail) Write(text []byte) (int, error) {
	if w.out != nil {
		_, _ = w.out.Write(text)
	}
	w.kept = append(w.kept, text...)
	w.kept = w.kept[max(0, len(w.kept)-maxStderr):]
	return len(text), nil
}
