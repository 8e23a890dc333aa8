package node

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// process is a component of the node.
type process struct {
	name string
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// spawn starts a component in the node's network namespace. Its output is added to logs/<name>.log. It gets a session of
// its own, so that an interrupt of the tests does not reach it.
func (n *Node) spawn(name string, environ []string, argv ...string) error {
	if old := n.running[name]; old != nil && old.alive() {
		return fmt.Errorf("%s runs already", name)
	}
	log, err := os.OpenFile(n.Path("logs", name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = n.dir
	cmd.Env = append(os.Environ(), environ...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := within(n.NetNS(), cmd.Start); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	p := &process{name: name, cmd: cmd, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		close(p.done)
	}()
	n.running[name] = p
	return n.write(fmt.Sprint(cmd.Process.Pid), name+".pid")
}

func (p *process) alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Signal sends a signal to a component.
func (n *Node) Signal(name string, signal syscall.Signal) error {
	p := n.running[name]
	if p == nil || !p.alive() {
		return fmt.Errorf("%s does not run", name)
	}
	return p.cmd.Process.Signal(signal)
}

// Kill ends a component at once, if it runs, also when it is stopped.
func (n *Node) Kill(name string) error {
	return n.end(name, syscall.SIGKILL)
}

// end ends a component, by force if it takes too long, and waits until it has ended.
func (n *Node) end(name string, signal syscall.Signal) error {
	p := n.running[name]
	if p == nil || !p.alive() {
		return nil
	}
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(Wait / 4):
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.done
	return nil
}
