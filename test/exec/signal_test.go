package exec

import (
	"path/filepath"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// cancelled is the end of an ADD that got a signal: an error object, nothing attached, nothing left.
func (b *bench) cancelled(add *running) node.Outcome {
	GinkgoHelper()
	outcome := add.wait()
	Expect(outcome.Exit).To(Equal(1), outcome.String())
	Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
	b.expectNothingAttached()
	b.expectNoState()
	return outcome
}

var _ = Describe("a signal during ADD (INV-6)", func() {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		It("ends the running delegate and rolls back: "+signal.String(), func() {
			b := newBench()
			b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
			b.behave("second", script.Rule{Command: "ADD", Hang: true})
			add := b.start("ADD", b.pod("web-0", "n1"))
			b.began("ADD second net1")
			add.signal(signal)
			outcome := b.cancelled(add)
			Expect(outcome.Error().Msg).To(And(ContainSubstring("pod blue/web-0"), ContainSubstring("network blue/n1"), ContainSubstring("ended before it was done")))
			Expect(b.calls("DEL")).To(Equal([]string{"DEL second net1", "DEL master eth0"}))
			ends(b.call("ADD second net1").PID)
		})
	}

	It("ends a delegate too that is deaf to it", func() {
		b := newBench()
		deaf := filepath.Join(b.Dir, "deaf")
		b.behave("master", script.Rule{Command: "ADD", Deaf: true, Create: deaf, Hang: true})
		add := b.start("ADD", b.pod("web-0", ""))
		Eventually(deaf).Should(BeARegularFile())
		add.signal(syscall.SIGTERM)
		b.cancelled(add)
		ends(b.call("ADD master eth0").PID)
	})

	It("ends the wait for the API server, before anything has run", func() {
		b := newBench()
		b.API.Inject(fake.Fault{Kind: fake.GetPod, Times: fake.Always, Hang: true})
		add := b.start("ADD", b.pod("web-0", ""))
		Eventually(func() int { return b.API.Count(fake.GetPod) }).Should(Equal(1))
		add.signal(syscall.SIGTERM)
		Expect(b.cancelled(add).Error().Msg).To(And(ContainSubstring("pod blue/web-0"), ContainSubstring("interrupted")))
		Expect(b.calls("ADD", "DEL")).To(BeEmpty())
	})

	It("ends the wait between two attempts at the API server", func() {
		b := newBench()
		b.API.Fail(fake.GetPod, fake.Always, 503, "9")
		add := b.start("ADD", b.pod("web-0", ""))
		Eventually(func() int { return b.API.Count(fake.GetPod) }).Should(Equal(1))
		add.signal(syscall.SIGTERM)
		b.cancelled(add)
		Expect(b.API.Count(fake.GetPod)).To(Equal(1))
	})

	It("ends the wait for the default network", func() {
		b := newBench()
		add := b.start("ADD", b.pod("web-0", ""), node.Config{"readinessindicatorfile": filepath.Join(b.Dir, "ready")}, noticed())
		Eventually(add.stderr.Contents).Should(ContainSubstring("noSuchKey"))
		add.signal(syscall.SIGTERM)
		Expect(b.cancelled(add).Error().Msg).To(ContainSubstring(filepath.Join(b.Dir, "ready")))
		Expect(b.API.Count(fake.Any)).To(BeZero())
	})

	DescribeTable("rolls back while the network-status is written",
		func(change node.Config) {
			b := newBench()
			b.API.Inject(fake.Fault{Kind: fake.PatchStatus, Hang: true})
			add := b.start("ADD", b.pod("web-0", ""), change)
			Eventually(func() int { return b.API.Count(fake.PatchStatus) }).Should(Equal(1))
			add.signal(syscall.SIGTERM)
			b.cancelled(add)
			Expect(b.calls("DEL")).To(Equal([]string{"DEL master eth0"}))
		},
		Entry("of a pod that was read", node.Config{}),
		Entry("of one that does not depend on the API server (NET-17)",
			node.Config{"runtimeConfig": node.Config{"io.kubernetes.cri.pod-annotations": node.Config{}}}),
	)
})

var _ = Describe("a signal during DEL (INV-6)", func() {
	It("ends the running delegate, and the plan is kept for the next DEL", func() {
		b := newBench()
		box := b.threeNetworks()
		b.behave("second", script.Rule{Command: "DEL", Times: 1, Hang: true})
		del := b.start("DEL", box)
		b.began("DEL second net1")
		del.signal(syscall.SIGTERM)
		outcome := del.wait()
		Expect(outcome.Exit).To(Equal(1), outcome.String())
		Expect(outcome.Error().Msg).To(ContainSubstring("network blue/n1"))
		Expect(b.planFile(box)).To(BeARegularFile())
		ends(b.call("DEL second net1").PID)
		b.del(box)
		b.expectNoState()
	})
})

var _ = Describe("an ADD that is killed outright (INV-6)", func() {
	It("takes the running delegate with it, and DEL clears up", func() {
		b := newBench()
		b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
		deaf := filepath.Join(b.Dir, "deaf")
		b.behave("second", script.Rule{Command: "ADD", Deaf: true, Create: deaf, Hang: true})
		box := b.pod("web-0", "n1")
		add := b.start("ADD", box)
		Eventually(deaf).Should(BeARegularFile())
		add.signal(syscall.SIGKILL)
		Expect(add.wait().Exit).To(Equal(-1))
		ends(b.call("ADD second net1").PID)

		b.del(box)
		Expect(b.calls("DEL")).To(Equal([]string{"DEL second net1", "DEL master eth0"}))
		b.expectNoState()
	})

	It("is cleared up too where the delegate itself did it, at any place", func() {
		b := newBench()
		b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
		for _, interfaceName := range []string{"eth0", "net1", "net2"} {
			for _, name := range []string{"master", "second"} {
				b.behave(name, script.Rule{Command: "ADD", Interface: interfaceName, KillParent: true})
			}
			box := b.pod("web-0", "n1, n1")
			Expect(b.start("ADD", box).wait().Exit).To(Equal(-1))
			b.del(box)
			b.expectNothingAttached()
			b.expectNoState()
		}
	})

	It("does not keep the same sandbox from being added again", func() {
		b := newBench()
		b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
		b.behave("second", script.Rule{Command: "ADD", Times: 1, KillParent: true})
		box := b.pod("web-0", "n1")
		Expect(b.start("ADD", box).wait().Exit).To(Equal(-1))
		b.add(box)
		Expect(b.calls("DEL")).To(Equal([]string{"DEL second net1", "DEL master eth0"}), "what the first one began")
		b.del(box)
		b.expectNoState()
	})
})
