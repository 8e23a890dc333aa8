package exec

import (
	"os"
	"path/filepath"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// noticed is what every call logs of this configuration before it comes to the lock.
func noticed() node.Config { return node.Config{"noSuchKey": true} }

var _ = Describe("verbs on one sandbox (DEL-9)", func() {
	It("wait for each other: DEL for an ADD that hangs, until that is killed", func() {
		b := newBench()
		b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
		b.behave("second", script.Rule{Command: "ADD", Hang: true})
		box := b.pod("web-0", "n1")
		add := b.start("ADD", box)
		b.began("ADD second net1")
		del := b.start("DEL", box, noticed())
		Eventually(del.stderr.Contents).Should(ContainSubstring("noSuchKey"))
		Consistently(func() []string { return b.calls("DEL") }).Should(BeEmpty())

		add.signal(syscall.SIGKILL)
		outcome := del.wait()
		Expect(outcome.Exit).To(BeZero(), outcome.String())
		Expect(outcome.Stderr).NotTo(ContainSubstring("going on although"))
		Expect(b.calls("DEL")).To(Equal([]string{"DEL second net1", "DEL master eth0"}))
		b.expectNoState()
	})

	It("wait for each other: ADD for a DEL", func() {
		b := newBench()
		goOn := filepath.Join(b.Dir, "go-on")
		b.behave("master", script.Rule{Command: "DEL", WaitFor: goOn})
		box := b.pod("web-0", "")
		b.add(box)
		del := b.start("DEL", box)
		b.began("DEL master eth0")
		Expect(b.Delegates.Forget()).To(Succeed())
		add := b.start("ADD", box, noticed())
		Eventually(add.stderr.Contents).Should(ContainSubstring("noSuchKey"))
		Consistently(func() []string { return b.calls("ADD", "DEL") }).Should(BeEmpty())

		Expect(os.WriteFile(goOn, nil, 0o600)).To(Succeed())
		Expect(del.wait().Exit).To(BeZero())
		Expect(add.wait().Exit).To(BeZero())
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0"}))
		Expect(b.planFile(box)).To(BeARegularFile())
		Expect(filepath.Join(b.CNIDir, "locks", box.ContainerID)).NotTo(BeAnExistingFile())
	})

	It("do not wait for ever: DEL goes on with a warning, ADD gives up", func() {
		b := newBench()
		box := b.pod("web-0", "")
		b.add(box)
		lock := b.holdLock(box)
		add, del := b.start("ADD", box), b.start("DEL", box)
		outcome := del.wait()
		Expect(outcome.Exit).To(BeZero(), outcome.String())
		Expect(outcome.Stderr).To(ContainSubstring("going on although another verb still works on this sandbox"))
		Expect(b.calls("DEL")).To(Equal([]string{"DEL master eth0"}))
		outcome = add.wait()
		Expect(outcome.Error().Code).To(BeEquivalentTo(11), outcome.String())
		Expect(outcome.Error().Msg).To(ContainSubstring("still being worked on"))
		Expect(b.calls("ADD")).To(HaveLen(1))
		Expect(os.Remove(lock)).To(Succeed())
		b.expectNoState()
	})
})

// holdLock takes the lock of a sandbox as a verb would that works on it, and gives the lock's path.
func (b *bench) holdLock(box node.Sandbox) string {
	GinkgoHelper()
	path := filepath.Join(b.CNIDir, "locks", box.ContainerID)
	file, err := os.Create(path)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(file.Close)
	Expect(syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)).To(Succeed())
	return path
}

var _ = Describe("verbs on two sandboxes (DEL-9)", func() {
	It("do not wait for each other", func() {
		b := newBench()
		first, second := b.pod("web-0", ""), b.pod("web-1", "")
		b.behave("master", script.Rule{ContainerID: first.ContainerID, Command: "ADD", Hang: true})
		add := b.start("ADD", first)
		b.began("ADD master eth0")
		b.add(second)
		b.del(second)
		Expect(add.ended()).To(BeFalse())
		add.signal(syscall.SIGKILL)
		add.wait()
		b.del(first)
		b.expectNoState()
	})
})
