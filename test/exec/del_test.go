package exec

import (
	"fmt"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
	"github.com/seed-2ba21eab/multus-cni/test/fake/recorder"
)

// threeNetworks is a pod with a master and two secondaries, attached.
func (b *bench) threeNetworks() node.Sandbox {
	GinkgoHelper()
	b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
	b.nad("n2", `{"cniVersion":"1.0.0","type":"third"}`)
	Expect(b.Delegates.Install("third")).To(Succeed())
	box := b.pod("web-0", "n1, n2")
	b.add(box)
	return box
}

// allThree are the calls that detach threeNetworks, in order.
func allThree() []string { return []string{"DEL third net2", "DEL second net1", "DEL master eth0"} }

// failedDel is a DEL that must fail; the state is kept.
func (b *bench) failedDel(box node.Sandbox, code int, texts ...string) {
	GinkgoHelper()
	before, err := b.State()
	Expect(err).NotTo(HaveOccurred())
	outcome := b.run("DEL", box)
	Expect(outcome.Exit).To(Equal(1), outcome.String())
	Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
	Expect(outcome.Error().Code).To(BeEquivalentTo(code))
	for _, text := range texts {
		Expect(outcome.Error().Msg).To(ContainSubstring(text))
	}
	Expect(b.planFile(box)).To(BeARegularFile())
	after, err := b.State()
	Expect(err).NotTo(HaveOccurred())
	Expect(len(after)).To(BeNumerically("<=", len(before)), "nothing piles up")
}

var _ = Describe("DEL (DEL-1)", func() {
	It("hands each plugin what it got on ADD, all keys of it, whatever the NAD says by now (E046, CONF-7)", func() {
		b := newBench()
		Expect(b.Delegates.Install("third")).To(Succeed())
		b.nad("n1", `{"cniVersion":"1.0.0","name":"n1","plugins":[
			{"type":"second","kubernetes":{"kubeconfig":"/x"},"big":12345678901234567890,"html":"<&>","capabilities":{"ips":true}},
			{"type":"third","capabilities":{"mac":true},"policy":{"deep":[{"a":null}]}}]}`)
		box := b.pod("web-0", `[{"name":"n1","ips":["192.0.2.4/24"],"mac":"02:00:00:00:00:01","cni-args":{"k":"v"}}]`)
		b.add(box)
		b.nad("n1", `{"cniVersion":"0.3.1","type":"master"}`)
		b.API.AddPod(fake.Pod{Namespace: "blue", Name: "web-0", UID: "another"})

		b.del(box)
		Expect(b.calls("DEL")).To(Equal([]string{"DEL third net1", "DEL second net1", "DEL master eth0"}))
		for _, attachment := range []string{"third net1", "second net1", "master eth0"} {
			added, deleted := b.call("ADD "+attachment), b.call("DEL "+attachment)
			Expect(given(deleted)).To(Equal(given(added)))
			Expect(string(deleted.Stdin)).To(ContainSubstring(`"prevResult":`))
		}
		Expect(given(b.call("DEL second net1"))).To(And(
			HaveKeyWithValue("stdin kubernetes", `{"kubeconfig":"/x"}`), HaveKeyWithValue("stdin big", "12345678901234567890"),
			HaveKeyWithValue("stdin html", `"<&>"`), HaveKeyWithValue("stdin runtimeConfig", `{"ips":["192.0.2.4/24"]}`)))
		Expect(b.API.Count(fake.GetNAD)).To(Equal(1), "on ADD")
	})

	It("searches for plugins where ADD does: binDir, then CNI_PATH (E047)", func() {
		b := newBench()
		private := filepath.Join(b.Dir, "private")
		Expect(os.Mkdir(private, 0o700)).To(Succeed())
		inBinDir := recorder.New(binaries.Delegate, private, filepath.Join(b.Dir, "calls"))
		Expect(inBinDir.Install("tuning", "master")).To(Succeed())
		b.behave("master", script.Rule{Error: full()}) // found second
		b.nad("n1", `{"cniVersion":"1.0.0","name":"n1","plugins":[{"type":"second"},{"type":"tuning"}]}`)
		box := b.pod("web-0", "n1")
		b.add(box, node.Config{"binDir": private})
		b.del(box, node.Config{"binDir": private})
		Expect(b.calls("DEL")).To(Equal([]string{"DEL tuning net1", "DEL second net1", "DEL master eth0"}))
		Expect(b.call("DEL second net1").Path).To(Equal(private + ":" + b.BinDir))
	})

	It("is about state below cniDir alone (E053)", func() {
		b := newBench()
		before := everyFile("/var/lib/cni")
		box := b.threeNetworks()
		Expect(b.State()).To(HaveLen(4), "a plan and three results")
		Expect(everyFile("/var/lib/cni")).To(Equal(before))
		b.del(box)
		b.expectNoState()
	})
})

// everyFile lists what is below a directory that need not exist.
func everyFile(dir string) []string {
	GinkgoHelper()
	if _, err := os.Stat(dir); os.IsNotExist(err) {
		return nil
	}
	var files []string
	Expect(filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		files = append(files, path)
		return err
	})).To(Succeed())
	return files
}

var _ = Describe("a network namespace that is gone (DEL-2)", func() {
	DescribeTable("keeps no delegate from its DEL, and no file in place",
		func(path func(b *bench) string) {
			b := newBench()
			box := b.threeNetworks()
			Expect(b.RemoveNamespace(box.NetNS)).To(Succeed())
			box.NetNS = path(b)
			b.del(box)
			Expect(b.calls("DEL")).To(Equal(allThree()))
			calls, err := b.Delegates.Of("DEL")
			Expect(err).NotTo(HaveOccurred())
			for _, call := range calls {
				Expect(call.NetNS).To(BeEmpty())
			}
			b.expectNoState()
		},
		Entry("not named (E034)", func(*bench) string { return "" }),
		Entry("a path that is not there", func(b *bench) string { return filepath.Join(b.Dir, "gone") }),
		Entry("a regular file (E035)", func(b *bench) string {
			path := filepath.Join(b.Dir, "stale")
			Expect(os.WriteFile(path, nil, 0o600)).To(Succeed())
			return path
		}),
		Entry("a directory", func(b *bench) string { return b.Dir }),
	)

	It("is not what a namespace looks like that is there", func() {
		b := newBench()
		box := b.threeNetworks()
		b.del(box)
		Expect(b.call("DEL master eth0").NetNS).To(Equal(box.NetNS))
	})

	It("is what the runtime says at last: with, without, without", func() {
		b := newBench()
		box := b.threeNetworks()
		b.del(box)
		box.NetNS = ""
		b.del(box)
		b.del(box)
	})
})

var _ = Describe("a delegate whose DEL fails (DEL-3)", func() {
	It("does not keep the others from theirs, at every try, and is named (E055)", func() {
		b := newBench()
		box := b.threeNetworks()
		b.behave("second", script.Rule{Command: "DEL", Error: &script.Error{Code: 999, Msg: "failed to parse netconf", Details: "its own file"}})
		for range 2 {
			Expect(b.Delegates.Forget()).To(Succeed())
			b.failedDel(box, 999, "pod blue/web-0", "network blue/n1", "plugin second", "failed to parse netconf")
			Expect(b.calls("DEL")).To(Equal(allThree()))
		}
	})

	It("is what the runtime is told, with its code (E040)", func() {
		b := newBench()
		box := b.threeNetworks()
		b.behave("master", script.Rule{Command: "DEL", Error: &script.Error{Code: 11, Msg: "try later"}})
		b.failedDel(box, 11, "network main", "plugin master", "try later")
	})

	It("is one of several, and all of their errors come back", func() {
		b := newBench()
		box := b.threeNetworks()
		for _, name := range []string{"master", "second", "third"} {
			b.behave(name, script.Rule{Command: "DEL", Error: &script.Error{Code: 11, Msg: name + " is stuck"}})
		}
		b.failedDel(box, 11, "master is stuck", "second is stuck", "third is stuck")
	})

	DescribeTable("does not keep the rest of its chain from theirs",
		func(broken script.Script, code int, text string) {
			b := newBench()
			Expect(b.Delegates.Install("third", "fourth")).To(Succeed())
			b.nad("n1", `{"cniVersion":"0.3.1","name":"n1","plugins":[{"type":"second"},{"type":"third"},{"type":"fourth"}]}`)
			box := b.pod("web-0", "n1")
			b.add(box)
			Expect(b.Delegates.Script("third", broken)).To(Succeed())
			b.failedDel(box, code, "plugin third: DEL", text)
			Expect(b.calls("DEL")).To(Equal([]string{"DEL fourth net1", "DEL third net1", "DEL second net1", "DEL master eth0"}))
		},
		Entry("a version that does not fit (E085)", script.Script{Versions: []string{"0.4.0"}}, 1, "incompatible CNI versions"),
		Entry("an error", script.Script{Rules: []script.Rule{{Error: &script.Error{Code: 100, Msg: "stuck"}}}}, 100, "stuck"),
		Entry("a crash", script.Script{Rules: []script.Rule{{Die: true}}}, 999, "killed"),
		Entry("a panic", script.Script{Rules: []script.Rule{{Panic: true}}}, 999, "exit status 2"),
	)

	It("does so too where its binary is gone", func() {
		b := newBench()
		box := b.threeNetworks()
		Expect(b.Delegates.Uninstall("second")).To(Succeed())
		b.failedDel(box, 7, "network blue/n1", `"second" not found`)
		Expect(b.calls("DEL")).To(Equal([]string{"DEL third net2", "DEL master eth0"}))
	})
})

var _ = Describe("DEL again (DEL-5)", func() {
	It("repeats what failed, and clears away the plan when all has succeeded (E037)", func() {
		b := newBench()
		box := b.threeNetworks()
		b.behave("second", script.Rule{Command: "DEL", Times: 1, Error: full()})
		b.failedDel(box, 11)
		Expect(b.Delegates.Forget()).To(Succeed())
		b.del(box)
		Expect(b.calls("DEL")).To(ContainElement("DEL second net1"))
		b.expectNoState()
	})

	It("succeeds for a sandbox that is detached", func() {
		b := newBench()
		box := b.threeNetworks()
		for range 3 {
			b.del(box)
			b.expectNoState()
		}
		Expect(b.calls("DEL")).To(Equal(append(allThree(), "DEL master eth0", "DEL master eth0")), "the pod's own are known to be gone")
	})

	It("leaves no file behind, however often delegates fail (E052)", func() {
		b := newBench()
		b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
		b.nad("n2", `{"cniVersion":"1.0.0","type":"third"}`)
		box := b.pod("web-0", "n1, n2")
		for i := range 40 {
			box.ContainerID = fmt.Sprintf("c%d", i)
			rules := []script.Rule{{Command: "DEL", Times: 1, Error: full()}}
			if i%2 == 0 {
				rules = append(rules, script.Rule{Command: "ADD", Error: full()})
			}
			b.behave("third", rules...)
			b.run("ADD", box)
			b.run("DEL", box)
			b.del(box)
		}
		b.expectNoState()
		b.expectNothingAttached()
	})
})
