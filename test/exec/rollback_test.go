package exec

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
	"github.com/seed-2ba21eab/multus-cni/test/fake/recorder"
)

// nad is a NAD of the namespace "blue".
func (b *bench) nad(name, config string) {
	b.API.AddNAD(fake.NAD{Namespace: "blue", Name: name, Config: config})
}

// planFile is where the plan of a sandbox is kept.
func (b *bench) planFile(box node.Sandbox) string {
	return filepath.Join(b.CNIDir, "plans", box.ContainerID+":"+box.IfName)
}

// full is what a delegate says that has no address left.
func full() *script.Error {
	return &script.Error{Code: 11, Msg: "no address left", Details: "192.0.2.0/24"}
}

// given are the parameters and the configuration that a call got, without what only ADD's result adds.
func given(call recorder.Call) map[string]string {
	GinkgoHelper()
	var config map[string]json.RawMessage
	Expect(json.Unmarshal(call.Stdin, &config)).To(Succeed())
	delete(config, "prevResult")
	all := map[string]string{
		"container": call.ContainerID, "netns": call.NetNS, "interface": call.IfName, "args": fmt.Sprint(call.Args), "path": call.Path,
	}
	for key, value := range config {
		all["stdin "+key] = string(value)
	}
	return all
}

var _ = Describe("an attachment that fails (ADD-4)", func() {
	DescribeTable("takes itself and those before it down again, in reverse (E056)",
		func(interfaces []string) {
			b := newBench()
			b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
			failing := interfaces[len(interfaces)-1]
			for _, name := range []string{"master", "second"} {
				b.behave(name, script.Rule{Command: "ADD", Interface: failing, Error: full()})
			}
			outcome := b.refused(b.pod("web-0", "n1, n1, n1"), []string{"pod blue/web-0", failing, "no address left"})
			Expect(outcome.Error().Code).To(BeEquivalentTo(11))
			Expect(outcome.Error().Details).To(Equal("192.0.2.0/24"))
			Expect(b.interfaces("ADD")).To(Equal(interfaces))
			slices.Reverse(interfaces)
			Expect(b.interfaces("DEL")).To(Equal(interfaces))
			Expect(b.API.Count(fake.PatchStatus)).To(BeZero())
		},
		Entry("the master", []string{"eth0"}),
		Entry("the first of the secondaries", []string{"eth0", "net1"}),
		Entry("one between others", []string{"eth0", "net1", "net2"}),
		Entry("the last", []string{"eth0", "net1", "net2", "net3"}),
	)

	It("is detached with the parameters that it was attached with", func() {
		b := newBench()
		b.nad("n1", `{"cniVersion":"1.0.0","type":"second","capabilities":{"mac":true},"big":12345678901234567890,"html":"<&>"}`)
		b.behave("second", script.Rule{Command: "ADD", Error: full()})
		b.refused(b.pod("web-0", `[{"name":"n1","mac":"02:00:00:00:00:01","ips":["192.0.2.4/24"],"cni-args":{"a":1}}]`), []string{"no address left"})
		for _, attachment := range []string{"master eth0", "second net1"} {
			Expect(given(b.call("DEL " + attachment))).To(Equal(given(b.call("ADD " + attachment))))
		}
		Expect(b.call("DEL second net1").Arg("IP")).To(Equal("192.0.2.4/24"))
	})

	It("rolls back the plugins of its own list too (E091)", func() {
		b := newBench()
		b.nad("n1", `{"cniVersion":"1.0.0","name":"n1","plugins":[{"type":"second"},{"type":"third"}]}`)
		b.behave("third", script.Rule{Command: "ADD", Error: full()})
		b.refused(b.pod("web-0", "n1"), []string{"network blue/n1", "plugin third", "no address left"})
		Expect(b.calls("ADD", "DEL")).To(Equal([]string{
			"ADD master eth0", "ADD second net1", "ADD third net1", "DEL third net1", "DEL second net1", "DEL master eth0",
		}))
		Expect(string(b.call("ADD second net1").Stdin)).NotTo(ContainSubstring("prevResult"))
		Expect(string(b.call("ADD third net1").Stdin)).To(ContainSubstring(`"prevResult":`))
	})

	It("keeps the plan where detaching fails too, returns the first error, and leaves the rest to DEL", func() {
		b := newBench()
		b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
		b.behave("second",
			script.Rule{Command: "ADD", Error: full()},
			script.Rule{Command: "DEL", Times: 1, Error: &script.Error{Code: 5, Msg: "cannot detach"}})
		box := b.pod("web-0", "n1")
		outcome := b.run("ADD", box)
		Expect(outcome.Error().Code).To(BeEquivalentTo(11))
		Expect(outcome.Error().Msg).To(And(ContainSubstring("no address left"), Not(ContainSubstring("cannot detach"))))
		Expect(outcome.Stderr).To(ContainSubstring("cannot detach"), "it is logged")
		Expect(b.calls("DEL")).To(Equal([]string{"DEL second net1", "DEL master eth0"}))
		Expect(b.planFile(box)).To(BeARegularFile())

		Expect(b.Delegates.Forget()).To(Succeed())
		b.del(box)
		Expect(b.calls("DEL")).To(Equal([]string{"DEL second net1", "DEL master eth0"}))
		b.expectNoState()
	})

	It("does not wait for ever for a delegate that hangs while it detaches", func() {
		b := newBench()
		b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
		b.behave("second", script.Rule{Command: "ADD", Error: full()}, script.Rule{Command: "DEL", Times: 1, Deaf: true, Hang: true})
		box := b.pod("web-0", "n1")
		outcome := b.start("ADD", box).wait()
		Expect(outcome.Error().Msg).To(ContainSubstring("no address left"))
		Expect(b.calls("DEL")).To(Equal([]string{"DEL second net1", "DEL master eth0"}))
		Expect(b.planFile(box)).To(BeARegularFile())
		b.del(box)
		b.expectNoState()
	})

	It("does not speak the version of its network: the error says so, and all others are detached (E085)", func() {
		b := newBench()
		b.nad("n1", `{"cniVersion":"0.3.1","name":"n1","plugins":[{"type":"second"},{"type":"third"}]}`)
		Expect(b.Delegates.Script("third", script.Script{Versions: []string{"0.4.0"}})).To(Succeed())
		outcome := b.refused(b.pod("web-0", "n1"), []string{"network blue/n1", "plugin third: ADD", "incompatible CNI versions"})
		Expect(outcome.Error().Code).To(BeEquivalentTo(1))
		Expect(outcome.Error().Msg).NotTo(ContainSubstring("DEL"))
		Expect(b.calls("DEL")).To(Equal([]string{"DEL third net1", "DEL second net1", "DEL master eth0"}))
	})
})

// interfaces lists those of the calls with a command.
func (b *bench) interfaces(command string) []string {
	GinkgoHelper()
	calls, err := b.Delegates.Of(command)
	Expect(err).NotTo(HaveOccurred())
	var list []string
	for _, call := range calls {
		list = append(list, call.IfName)
	}
	return list
}

var _ = Describe("what is asked for through CNI_ARGS alone (NET-7)", func() {
	DescribeTable("must be in the result, else it is rolled back",
		func(selection, fault string) {
			b := newBench()
			b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
			b.behave("second", script.Rule{Command: "ADD", Result: json.RawMessage(`{"cniVersion":"1.0.0",
				"interfaces":[{"name":"net1","mac":"02:00:00:00:00:07","sandbox":"/ns"}],"ips":[{"address":"192.0.2.4/24","interface":0}]}`)})
			b.refused(b.pod("web-0", "["+selection+"]"), []string{"pod blue/web-0", "network blue/n1", fault})
			Expect(b.calls("ADD", "DEL")).To(Equal([]string{"ADD master eth0", "ADD second net1", "DEL second net1", "DEL master eth0"}))
		},
		Entry("addresses", `{"name":"n1","ips":["192.0.2.5/24"]}`, "capabilities.ips"),
		Entry("one of two addresses", `{"name":"n1","ips":["192.0.2.4/24","2001:db8::4/64"]}`, "capabilities.ips"),
		Entry("MAC", `{"name":"n1","mac":"02:00:00:00:00:01"}`, "capabilities.mac"),
	)

	It("stays where the result shows it", func() {
		b := newBench()
		b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
		b.behave("second", script.Rule{Command: "ADD", Result: json.RawMessage(`{"cniVersion":"1.0.0",
			"interfaces":[{"name":"net1","mac":"02:00:00:00:00:0A","sandbox":"/ns"}],"ips":[{"address":"2001:db8::4/64","interface":0}]}`)})
		b.add(b.pod("web-0", `[{"name":"n1","ips":["2001:DB8:0::4"],"mac":"02:00:00:00:00:0a"}]`))
		Expect(b.calls("DEL")).To(BeEmpty())
	})
})

var _ = Describe("a plan that is not valid as a whole (ADD-2)", func() {
	DescribeTable("runs nothing",
		func(networks string, texts ...string) {
			b := newBench()
			b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
			b.nad("missing", `{"cniVersion":"1.0.0","name":"missing","plugins":[{"type":"second"},{"type":"no-such-plugin"}]}`)
			b.nad("known", `{"cniVersion":"1.0.0","type":"macvlan"}`)
			b.refused(b.pod("web-0", networks), append(texts, "pod blue/web-0"))
			Expect(b.calls("ADD", "DEL")).To(BeEmpty())
		},
		Entry("a NAD that is not there", "n1, absent", "blue/absent"),
		Entry("a name that is taken", `[{"name":"n1"},{"name":"n1","interface":"eth0"}]`, "network blue/n1", `"eth0"`),
		Entry("a name that the namespace has already", `n1, n1@lo`, "network blue/n1", `"lo"`),
		Entry("a capability that nobody declares", `[{"name":"n1","bandwidth":{"ingressRate":1000}}]`, "network blue/n1", "capabilities.bandwidth"),
		Entry("a binary that is not there (E134)", "n1, missing", "network blue/missing", `plugins[1].type: "no-such-plugin" not found in `, "/bin"),
		Entry("a reference plugin that is not there (E134)", "n1, known", "network blue/known", `"macvlan" not found in `, "containernetworking/plugins"),
	)

	It("names every directory that was searched (E134)", func() {
		b := newBench()
		b.nad("n1", `{"cniVersion":"1.0.0","type":"no-such-plugin"}`)
		b.refused(b.pod("web-0", "n1"), []string{"/opt/private, " + b.BinDir}, node.Config{"binDir": "/opt/private"})
	})
})

var _ = Describe("the plan (ADD-3)", func() {
	It("is on the disk before the first delegate runs, for root alone", func() {
		b := newBench()
		b.nad("n1", `{"cniVersion":"1.0.0","type":"second"}`)
		goOn := filepath.Join(b.Dir, "go-on")
		b.behave("master", script.Rule{Command: "ADD", WaitFor: goOn})
		box := b.pod("web-0", "n1@data")
		add := b.start("ADD", box)
		b.began("ADD master eth0")

		Expect(mode(b.planFile(box))).To(Equal(os.FileMode(0o600)))
		Expect(mode(filepath.Dir(b.planFile(box)))).To(Equal(os.ModeDir | 0o700))
		Expect(mode(b.CNIDir)).To(Equal(os.ModeDir | 0o700))
		text, err := os.ReadFile(b.planFile(box))
		Expect(err).NotTo(HaveOccurred())
		Expect(json.Valid(text)).To(BeTrue())
		Expect(string(text)).To(And(ContainSubstring(`"interface":"eth0"`), ContainSubstring(`"interface":"data"`), ContainSubstring(`"network":"blue/n1"`)))

		Expect(os.WriteFile(goOn, nil, 0o600)).To(Succeed())
		Expect(add.wait().Exit).To(BeZero())
		Expect(os.ReadFile(b.planFile(box))).To(Equal(text))
	})

	DescribeTable("that finds the disk full fails cleanly",
		func(pages int, planned string, attached []string) {
			b := newBench()
			b.smallDisk(pages)
			b.nad("n1", `{"cniVersion":"1.0.0","type":"second","text":"`+planned+`"}`)
			b.refused(b.pod("web-0", "n1"), []string{"pod blue/web-0", "no space left on device"})
			Expect(b.calls("ADD")).To(Equal(attached))
		},
		Entry("for the plan", 1, text(2*os.Getpagesize()), []string{}),
		Entry("for the first result (E052)", 1, "", []string{"ADD master eth0"}),
		Entry("for the second result (E052)", 2, "", []string{"ADD master eth0", "ADD second net1"}),
	)
})

func mode(path string) os.FileMode {
	GinkgoHelper()
	info, err := os.Stat(path)
	Expect(err).NotTo(HaveOccurred())
	return info.Mode()
}

// text is one of that length.
func text(length int) string { return fmt.Sprintf("%0*d", length, 0) }

// smallDisk gives cniDir a file system with room for so many pages of files.
func (b *bench) smallDisk(pages int) {
	GinkgoHelper()
	Expect(os.Mkdir(b.CNIDir, 0o700)).To(Succeed())
	Expect(syscall.Mount("tmpfs", b.CNIDir, "tmpfs", 0, fmt.Sprintf("mode=0700,size=%d", pages*os.Getpagesize()))).To(Succeed())
	DeferCleanup(func() { Expect(syscall.Unmount(b.CNIDir, 0)).To(Succeed()) })
}
