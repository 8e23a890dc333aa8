package exec

import (
	"context"
	"os/exec"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"

	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// patience keeps a plugin that never ends from holding up the suite. No rule depends on it.
const patience = 2 * time.Minute

// running is a call of the plugin on its way.
type running struct {
	cmd            *exec.Cmd
	stdout, stderr *gbytes.Buffer
	done           chan struct{} // closed when it has ended
}

// start begins a call and does not wait for it.
func (b *bench) start(verb string, box node.Sandbox, changes ...node.Config) *running {
	GinkgoHelper()
	return b.begin(func(ctx context.Context) *exec.Cmd { return b.Command(ctx, verb, box, b.Config(changes...).String()) })
}

// begin is start for a call that needs more than a sandbox and a configuration.
func (b *bench) begin(command func(context.Context) *exec.Cmd) *running {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	r := &running{cmd: command(ctx), stdout: gbytes.NewBuffer(), stderr: gbytes.NewBuffer(), done: make(chan struct{})}
	r.cmd.Stdout, r.cmd.Stderr = r.stdout, r.stderr
	Expect(r.cmd.Start()).To(Succeed())
	go func() {
		_ = r.cmd.Wait() // outcome has what it says
		close(r.done)
	}()
	DeferCleanup(func() {
		cancel()
		<-r.done
	})
	return r
}

// wait gives the outcome when the call has ended.
func (r *running) wait() node.Outcome {
	GinkgoHelper()
	Eventually(r.done).WithTimeout(patience).Should(BeClosed())
	return node.Outcome{
		Stdout: string(r.stdout.Contents()), Stderr: string(r.stderr.Contents()), Exit: r.cmd.ProcessState.ExitCode(),
	}
}

// ended says whether the call has ended.
func (r *running) ended() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

func (r *running) signal(signal syscall.Signal) {
	GinkgoHelper()
	Expect(r.cmd.Process.Signal(signal)).To(Succeed())
}

// behave gives a delegate rules, and installs it if need be.
func (b *bench) behave(name string, rules ...script.Rule) {
	GinkgoHelper()
	Expect(b.Delegates.Behave(name, rules...)).To(Succeed())
}

// began waits until a delegate's call has begun.
func (b *bench) began(call string) {
	GinkgoHelper()
	Eventually(func() []string { return b.calls("ADD", "DEL") }).Should(ContainElement(call))
}

// ends waits until a process is gone.
func ends(pid int) {
	GinkgoHelper()
	Eventually(func() error { return syscall.Kill(pid, 0) }).Should(MatchError(syscall.ESRCH))
}
