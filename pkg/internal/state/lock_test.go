package state_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/state"
)

// patience is longer than any wait of a test that passes.
const patience = time.Minute

// contend takes the lock of one container many times, and each time makes sure that nobody else is inside.
func contend(dir string) error {
	store := state.Store{Dir: dir}
	for range 50 {
		lock, err := store.Lock(context.Background(), "c1", patience)
		if err != nil {
			return err
		}
		if err := beAlone(filepath.Join(dir, "inside")); err != nil {
			return err
		}
		lock.Release()
	}
	return nil
}

func beAlone(file string) error {
	inside, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("somebody else is inside: %w", err)
	}
	return errors.Join(inside.Close(), os.Remove(file))
}

// hold takes the lock, says so by a file, and waits to be killed.
func hold(dir string) error {
	if _, err := (state.Store{Dir: dir}).Lock(context.Background(), "c1", patience); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "held"), nil, 0o600); err != nil {
		return err
	}
	select {}
}

var _ = Describe("a container's lock (DEL-9)", func() {
	var store state.Store
	ctx := context.Background()

	BeforeEach(func() { store = state.Store{Dir: filepath.Join(GinkgoT().TempDir(), "multus")} })

	inProcess := func(what string) *exec.Cmd {
		Expect(os.MkdirAll(store.Dir, 0o700)).To(Succeed())
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), role+"="+what, "STATE_TEST_DIR="+store.Dir)
		child.Stderr = GinkgoWriter
		Expect(child.Start()).To(Succeed())
		return child
	}

	It("leaves no file behind, and has a directory for root alone", func() {
		lock, err := store.Lock(ctx, "c1", patience)
		Expect(err).NotTo(HaveOccurred())
		Expect(tree(store.Dir)).To(Equal([]string{"locks 700", "locks/c1 600"}))
		lock.Release()
		Expect(tree(store.Dir)).To(Equal([]string{"locks 700"}))
	})

	It("is one container's", func() {
		first, err := store.Lock(ctx, "c1", patience)
		Expect(err).NotTo(HaveOccurred())
		second, err := store.Lock(ctx, "c2", patience)
		Expect(err).NotTo(HaveOccurred())
		first.Release()
		second.Release()
	})

	It("is not given while another has it", func() {
		lock, err := store.Lock(ctx, "c1", patience)
		Expect(err).NotTo(HaveOccurred())
		none, err := store.Lock(ctx, "c1", 0)
		Expect(err).To(MatchError(state.ErrBusy))
		none.Release() // of nothing
		lock.Release()
		again, err := store.Lock(ctx, "c1", 0)
		Expect(err).NotTo(HaveOccurred())
		again.Release()
	})

	It("is waited for no longer than the verb runs (INV-6)", func() {
		lock, err := store.Lock(ctx, "c1", patience)
		Expect(err).NotTo(HaveOccurred())
		defer lock.Release()
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		_, err = store.Lock(cancelled, "c1", patience)
		Expect(err).To(MatchError(context.Canceled))
	})

	It("comes free when its holder dies, and the file that it left is cleared away", func() {
		holder := inProcess("hold")
		Eventually(filepath.Join(store.Dir, "held")).WithTimeout(patience).Should(BeAnExistingFile())
		_, err := store.Lock(ctx, "c1", 0)
		Expect(err).To(MatchError(state.ErrBusy))
		Expect(holder.Process.Kill()).To(Succeed())
		_ = holder.Wait()
		lock, err := store.Lock(ctx, "c1", patience)
		Expect(err).NotTo(HaveOccurred())
		lock.Release()
		Expect(filepath.Join(store.Dir, "locks", "c1")).NotTo(BeAnExistingFile())
	})

	It("is never held by two, in many goroutines and processes at once", func() {
		children := []*exec.Cmd{inProcess("contend"), inProcess("contend"), inProcess("contend")}
		var group sync.WaitGroup
		faults := make([]error, 8)
		for i := range faults {
			group.Go(func() { faults[i] = contend(store.Dir) })
		}
		group.Wait()
		Expect(errors.Join(faults...)).To(Succeed())
		for _, child := range children {
			Expect(child.Wait()).To(Succeed())
		}
		Expect(tree(store.Dir)).To(Equal([]string{"locks 700"}))
	})

	It("is refused for an ID that is a path (SEC-2)", func() {
		_, err := store.Lock(ctx, "../c1", patience)
		Expect(err).To(MatchError(ContainSubstring("container ID")))
	})

	It("is an error at once where it cannot be made", func() {
		Expect(os.WriteFile(store.Dir, nil, 0o600)).To(Succeed())
		_, err := store.Lock(ctx, "c1", patience)
		Expect(err).To(HaveOccurred())
		Expect(err).NotTo(MatchError(state.ErrBusy))
	})
})
