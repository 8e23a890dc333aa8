package delegate_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/delegate"
)

const single = `{"cniVersion":"1.0.0","name":"n1","type":"one"}`

// broken is a stderr that nobody reads any more.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// pidIn reads a process ID that a plugin writes to a file, 0 until it does.
func pidIn(file string) func() int {
	return func() int {
		text, _ := os.ReadFile(file)
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		return pid
	}
}

// alive tells whether a process runs; one that only waits to be reaped does not.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	return !strings.Contains(string(stat), ") Z ")
}

var _ = Describe("a plugin's process", func() {
	ctx := context.Background()

	failing := func(body string) *delegate.Error {
		runner, _ := scripts(map[string]string{"one": body})
		_, err := runner.Add(ctx, sandbox(), attachment(single))
		var failed *delegate.Error
		Expect(errors.As(err, &failed)).To(BeTrue(), "%v", err)
		return failed
	}

	It("has its own error object kept (INV-5)", func() {
		failed := failing(`echo '{"code":101,"msg":"no lease","details":"pool empty"}'; echo noise >&2; exit 1`)
		Expect(failed.Code).To(BeEquivalentTo(101))
		Expect(failed.Msg).To(Equal("no lease"))
		Expect(failed.Details).To(Equal("pool empty"))
	})

	DescribeTable("fails without an error object",
		func(body string, want ...string) {
			failed := failing(body)
			Expect(failed.Code).To(BeEquivalentTo(999))
			for _, text := range want {
				Expect(failed.Msg).To(ContainSubstring(text))
			}
		},
		Entry("by its exit status", `exit 3`, "exit status 3"),
		Entry("by a signal", `kill -KILL $$`, "signal: killed"),
		Entry("with what it wrote to stderr (INV-5)", `echo 'panic: oops' >&2; exit 2`, "exit status 2", "panic: oops"),
		Entry("with output that is no error object", `echo 'usage: one'; exit 1`, "exit status 1", "usage: one"),
		Entry("with an error object that says nothing", `echo '{}'; exit 1`, "exit status 1"),
		Entry("with an error object without code", `echo '{"msg":"no lease"}'; exit 1`, "no lease"),
	)

	It("keeps only the end of a long stderr", func() {
		failed := failing(`i=0; while [ $i -lt 2000 ]; do echo "line $i of the trace" >&2; i=$((i+1)); done; exit 2`)
		Expect(failed.Msg).To(SatisfyAll(ContainSubstring("line 1999 "), Not(ContainSubstring("line 100 "))))
	})

	It("cannot be started if it is not executable", func() {
		runner, bin := scripts(map[string]string{"one": ""})
		Expect(os.Chmod(filepath.Join(bin, "one"), 0o644)).To(Succeed())
		_, err := runner.Add(ctx, sandbox(), attachment(single))
		Expect(err).To(MatchError(SatisfyAll(ContainSubstring("plugin one"), ContainSubstring("permission denied"))))
		Expect(err).To(MatchError(os.ErrPermission))
	})

	It("is an error of ADD and DEL if it is missing, and keeps no other plugin from its DEL (DEL-3)", func() {
		runner, bin := scripts(map[string]string{"one": `echo "$CNI_COMMAND" >> "$0.log"`, "three": `echo "$CNI_COMMAND" >> "$0.log"`})
		err := runner.Del(ctx, sandbox(), attachment(chain))
		Expect(err).To(MatchError(ContainSubstring(`plugin two: DEL: "two" not found in ` + bin)))
		Expect(os.ReadFile(filepath.Join(bin, "one.log"))).To(BeEquivalentTo("DEL\n"))
		Expect(os.ReadFile(filepath.Join(bin, "three.log"))).To(BeEquivalentTo("DEL\n"))
	})

	It("writes to our stderr, success or not (INV-5)", func() {
		runner, _ := scripts(map[string]string{"one": `echo attaching >&2`})
		var stderr bytes.Buffer
		runner.Stderr = &stderr
		_, err := runner.Add(ctx, sandbox(), attachment(single))
		Expect(err).NotTo(HaveOccurred())
		Expect(stderr.String()).To(Equal("attaching\n"))
	})

	It("does not fail because our stderr is broken", func() {
		runner, _ := scripts(map[string]string{"one": `echo attaching >&2`})
		runner.Stderr = broken{}
		_, err := runner.Add(ctx, sandbox(), attachment(single))
		Expect(err).NotTo(HaveOccurred())
	})

	It("has no environment but the one given (INV-4)", func() {
		GinkgoT().Setenv("DELEGATE_TEST_SECRET", "x")
		runner, bin := scripts(map[string]string{"one": `env > "$0.env"`})
		_, err := runner.Add(ctx, sandbox(), attachment(single))
		Expect(err).NotTo(HaveOccurred())
		Expect(os.ReadFile(filepath.Join(bin, "one.env"))).To(SatisfyAll(
			ContainSubstring("CNI_COMMAND=ADD"), Not(ContainSubstring("DELEGATE_TEST_SECRET"))))
	})

	It("may leave a child that holds its stdout open", func() {
		runner, bin := scripts(map[string]string{"one": `sleep 1000 & echo $! > "$0.pid"; echo '{"cniVersion":"1.0.0"}'`})
		_, err := runner.Add(ctx, sandbox(), attachment(single))
		Expect(err).NotTo(HaveOccurred())
		pid := pidIn(filepath.Join(bin, "one.pid"))()
		Expect(alive(pid)).To(BeTrue())
		Expect(syscall.Kill(pid, syscall.SIGKILL)).To(Succeed())
	})

	DescribeTable("is ended with all of its children when the verb is cancelled (INV-6)",
		func(body string) {
			runner, bin := scripts(map[string]string{"one": body})
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			done := make(chan error, 1)
			go func() {
				_, err := runner.Add(ctx, sandbox(), attachment(single))
				done <- err
			}()
			plugin, child := pidIn(filepath.Join(bin, "one.pid")), pidIn(filepath.Join(bin, "one.child"))
			Eventually(plugin).WithTimeout(patience).ShouldNot(BeZero())
			cancel()
			var err error
			Eventually(done).WithTimeout(patience).Should(Receive(&err))
			Expect(err).To(MatchError(context.Canceled))
			Expect(err).To(MatchError(ContainSubstring("plugin one: ADD: ended before it was done")))
			Eventually(alive).WithArguments(plugin()).WithTimeout(patience).Should(BeFalse())
			Eventually(alive).WithArguments(child()).WithTimeout(patience).Should(BeFalse())
		},
		Entry("at once", `sleep 1000 & echo $! > "$0.child"; echo $$ > "$0.pid"; wait`),
		Entry("even if it does not want to", `trap '' TERM; sleep 1000 & echo $! > "$0.child"; echo $$ > "$0.pid"; while :; do sleep 1000; done`),
	)

	It("is not started after the verb was cancelled", func() {
		runner, bin := scripts(map[string]string{"one": `touch "$0.ran"`})
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		Expect(runner.Del(ctx, sandbox(), attachment(single))).To(MatchError(context.Canceled))
		Expect(filepath.Join(bin, "one.ran")).NotTo(BeAnExistingFile())
	})

	It("dies with us if we are killed (INV-6)", func() {
		_, bin := scripts(map[string]string{"sleeper": `echo $$ > "$0.pid"; exec sleep 1000`})
		us := exec.Command(os.Args[0])
		us.Env = append(os.Environ(), asMultus+"="+bin)
		Expect(us.Start()).To(Succeed())
		plugin := pidIn(filepath.Join(bin, "sleeper.pid"))
		Eventually(plugin).WithTimeout(patience).ShouldNot(BeZero())
		Expect(us.Process.Kill()).To(Succeed())
		_ = us.Wait()
		Eventually(alive).WithArguments(plugin()).WithTimeout(patience).Should(BeFalse())
	})
})

// patience bounds the waits of tests that wait for a process.
const patience = 30 * time.Second

// A binary that is being replaced is tried again (E122): time stands still until the first attempt has failed.
func TestTextFileBusy(t *testing.T) {
	bin := t.TempDir()
	plugin := filepath.Join(bin, "one")
	program, err := os.ReadFile("/bin/true")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		writer, err := os.OpenFile(plugin, os.O_CREATE|os.O_WRONLY, 0o755)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := writer.Write(program); err != nil {
			t.Fatal(err)
		}
		runner := delegate.Runner{Path: []string{bin}, CacheDir: t.TempDir()}
		done := make(chan error, 1)
		go func() {
			_, err := runner.Add(t.Context(), sandbox(), attachment(single))
			done <- err
		}()
		synctest.Wait()
		if len(done) > 0 {
			t.Fatalf("not tried again: %v", <-done)
		}
		writer.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// One that stays busy is given up.
func TestTextFileStaysBusy(t *testing.T) {
	bin := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		writer, err := os.OpenFile(filepath.Join(bin, "one"), os.O_CREATE|os.O_WRONLY, 0o755)
		if err != nil {
			t.Fatal(err)
		}
		defer writer.Close()
		runner := delegate.Runner{Path: []string{bin}, CacheDir: t.TempDir()}
		_, err = runner.Add(t.Context(), sandbox(), attachment(single))
		if !errors.Is(err, syscall.ETXTBSY) {
			t.Errorf("error is %v", err)
		}
	})
}
