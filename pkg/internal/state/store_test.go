package state_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/state"
)

func network(text string) *config.Network {
	parsed, err := config.ParseNetwork([]byte(text), "")
	if err != nil {
		panic(err)
	}
	return parsed
}

func sandbox() plan.Sandbox {
	return plan.Sandbox{
		ContainerID: "c1",
		NetNS:       "/run/netns/x",
		Interface:   "eth0",
		Args:        [][2]string{{"K8S_POD_NAMESPACE", "blue"}, {"IP", "192.0.2.1"}},
		Pod:         &plan.Pod{Namespace: "blue", Name: "web-0", UID: "u1"},
	}
}

// sample is a plan that uses all that a plan can hold.
func sample() *plan.Plan {
	return &plan.Plan{
		Sandbox: sandbox(),
		Attachments: []plan.Attachment{
			{Network: "main", Interface: "eth0", Config: network(`{"cniVersion":"1.0.0","name":"main","plugins":[{"type":"bridge"},{"type":"portmap"}]}`)},
			{
				Network:   "blue/n1",
				Interface: "net1",
				Config:    network(`{"cniVersion":"0.3.1","name":"n1","plugins":[{"z": 12345678901234567890 , "a":"<&>","type":"macvlan"}],"k":[ 1 ]}`),
				Args:      [][2]string{{"B", "<2>"}, {"A", "1"}},
				CapabilityArgs: map[string]json.RawMessage{
					"mac":       json.RawMessage(`"02:00:00:00:00:01"`),
					"bandwidth": json.RawMessage(`{"ingressRate": 12345678901234567890}`),
				},
				DefaultRoute: &plan.RouteWish{Gateways: []net.IP{net.ParseIP("192.0.2.254")}},
			},
		},
	}
}

// configs are the plan's configurations as text.
func configs(p *plan.Plan) []string {
	var texts []string
	for _, attachment := range p.Attachments {
		text, err := attachment.Config.MarshalJSON()
		Expect(err).NotTo(HaveOccurred())
		texts = append(texts, string(text))
	}
	return texts
}

// bare is the plan without its configurations, which do not compare.
func bare(p *plan.Plan) plan.Plan {
	copied := *p
	copied.Attachments = nil
	for _, attachment := range p.Attachments {
		attachment.Config = nil
		copied.Attachments = append(copied.Attachments, attachment)
	}
	return copied
}

// tree lists what is below a directory, with modes.
func tree(dir string) []string {
	var found []string
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && path != dir {
			found = append(found, fmt.Sprintf("%s %o", strings.TrimPrefix(path, dir+"/"), info.Mode().Perm()))
		}
		return err
	})
	Expect(err).NotTo(HaveOccurred())
	return found
}

var _ = Describe("a plan", func() {
	var store state.Store

	BeforeEach(func() { store = state.Store{Dir: filepath.Join(GinkgoT().TempDir(), "multus")} })

	plant := func(name, text string) {
		file := filepath.Join(store.Dir, name)
		Expect(os.MkdirAll(filepath.Dir(file), 0o700)).To(Succeed())
		Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
	}

	saved := func() string {
		Expect(store.Save(sample())).To(Succeed())
		text, err := os.ReadFile(filepath.Join(store.Dir, "plans", "c1:eth0"))
		Expect(err).NotTo(HaveOccurred())
		return string(text)
	}

	It("comes back as it was saved, configurations and capability arguments byte for byte (DEL-1)", func() {
		Expect(store.Save(sample())).To(Succeed())
		loaded, err := store.Load(sandbox())
		Expect(err).NotTo(HaveOccurred())
		Expect(bare(loaded)).To(Equal(bare(sample())))
		Expect(configs(loaded)).To(Equal(configs(sample())))
	})

	It("is an object with a version", func() {
		text := saved()
		Expect(text).To(HavePrefix(`{"version":1,`))
		Expect(text).To(SatisfyAll(ContainSubstring(`"<2>"`), ContainSubstring(`"a":"<&>"`)))
	})

	It("is for root alone, and so are its directories (ADD-3, SEC-2, E130)", func() {
		old := syscall.Umask(0)
		DeferCleanup(syscall.Umask, old)
		Expect(store.Save(sample())).To(Succeed())
		Expect(tree(filepath.Dir(store.Dir))).To(Equal([]string{"multus 700", "multus/plans 700", "multus/plans/c1:eth0 600"}))
	})

	It("takes the place of an earlier one", func() {
		Expect(store.Save(sample())).To(Succeed())
		changed := sample()
		changed.Attachments = changed.Attachments[:1]
		Expect(store.Save(changed)).To(Succeed())
		loaded, err := store.Load(sandbox())
		Expect(err).NotTo(HaveOccurred())
		Expect(loaded.Attachments).To(HaveLen(1))
	})

	It("of another interface is another plan", func() {
		Expect(store.Save(sample())).To(Succeed())
		other := sandbox()
		other.Interface = "eth1"
		_, err := store.Load(other)
		Expect(err).To(MatchError(state.ErrNotFound))
	})

	It("may be missing (DEL-4)", func() {
		_, err := store.Load(sandbox())
		Expect(err).To(MatchError(state.ErrNotFound))
	})

	DescribeTable("that cannot be read is an error of its own kind (DEL-4, E038)",
		func(file, text string) {
			plant(file, text)
			_, err := store.Load(sandbox())
			var unreadable *state.Unreadable
			Expect(errors.As(err, &unreadable)).To(BeTrue(), "%v", err)
			Expect(unreadable.Path).To(Equal(filepath.Join(store.Dir, file)))
		},
		Entry("empty", "plans/c1:eth0", ""),
		Entry("zeros", "plans/c1:eth0", "\x00\x00\x00"),
		Entry("null", "plans/c1:eth0", "null"),
		Entry("a list", "plans/c1:eth0", "[]"),
		Entry("without version", "plans/c1:eth0", `{"sandbox":{"containerID":"c1","interface":"eth0"}}`),
		Entry("of a version to come", "plans/c1:eth0", `{"version":2}`),
		Entry("without attachments", "plans/c1:eth0", `{"version":1,"sandbox":{"containerID":"c1","interface":"eth0"},"attachments":[]}`),
		Entry("without a configuration", "plans/c1:eth0", `{"version":1,"sandbox":{"containerID":"c1","interface":"eth0"},"attachments":[{"interface":"net1","config":null}]}`),
		Entry("with a bad interface", "plans/c1:eth0", `{"version":1,"sandbox":{"containerID":"c1","interface":"eth0"},"attachments":[{"interface":"../x","config":{"name":"n","plugins":[{"type":"t"}]}}]}`),
		Entry("with a bad container", "plans/c1:eth0", `{"version":1,"sandbox":{"containerID":"../x","interface":"eth0"},"attachments":[{"interface":"x","config":{"name":"n","plugins":[{"type":"t"}]}}]}`),
		Entry("of Multus, empty", "c1", ""),
		Entry("of Multus, cut off", "c1", `[{"na`),
	)

	It("that is cut off anywhere cannot be read (E038)", func() {
		text := saved()
		for end := range len(text) {
			plant("plans/c1:eth0", text[:end])
			_, err := store.Load(sandbox())
			var unreadable *state.Unreadable
			Expect(errors.As(err, &unreadable)).To(BeTrue(), "cut at %d: %v", end, err)
		}
	})

	It("is removed with all that belongs to it, twice if need be (DEL-5)", func() {
		Expect(store.Save(sample())).To(Succeed())
		plant("plans/.c1:eth0", "left by a killed ADD")
		plant("c1", "[]")
		plant("c2", "[]")
		Expect(store.Remove(sandbox())).To(Succeed())
		Expect(tree(store.Dir)).To(Equal([]string{"c2 600", "plans 700"}))
		Expect(store.Remove(sandbox())).To(Succeed())
	})

	It("never means our own directories", func() {
		box := sandbox()
		box.ContainerID = "plans"
		Expect(os.MkdirAll(filepath.Join(store.Dir, "plans"), 0o700)).To(Succeed())
		_, err := store.Load(box)
		Expect(err).To(MatchError(state.ErrNotFound))
		Expect(store.Remove(box)).To(Succeed())
		Expect(tree(store.Dir)).To(Equal([]string{"plans 700"}))
	})

	DescribeTable("has a name that stays in its directory (SEC-2)",
		func(id, ifname string) {
			p := sample()
			p.Sandbox.ContainerID, p.Sandbox.Interface = id, ifname
			Expect(store.Save(p)).NotTo(Succeed())
			Expect(store.Dir).NotTo(BeADirectory())
		},
		Entry("container ID up", "../c1", "eth0"),
		Entry("container ID with a colon", "c1:x", "eth0"),
		Entry("no container ID", "", "eth0"),
		Entry("interface up", "c1", "../eth0"),
		Entry("no interface", "c1", ""),
	)

	It("refuses a container ID that is a path on every way (SEC-2)", func() {
		box := plan.Sandbox{ContainerID: "../c1", Interface: "eth0"}
		_, err := store.Load(box)
		Expect(err).To(MatchError(ContainSubstring("container ID")))
		Expect(store.Remove(box)).To(MatchError(ContainSubstring("container ID")))
	})

	It("is listed by its key, those of Multus too (GC-1)", func() {
		Expect(store.Keys()).To(BeEmpty())
		Expect(store.Save(sample())).To(Succeed())
		plant("plans/.c9:eth0", "")
		plant("plans/c3:eth1", "cannot be read, but is there")
		plant("c2", "[]")
		plant(".hidden", "")
		plant("results/n1-c1-eth0", "")
		Expect(store.Keys()).To(Equal([]state.Key{
			{ContainerID: "c1", Interface: "eth0"}, {ContainerID: "c3", Interface: "eth1"}, {ContainerID: "c2"},
		}))
	})

	It("knows the interfaces of the container's other plans", func() {
		Expect(store.OtherInterfaces(sandbox())).To(BeEmpty())
		Expect(store.Save(sample())).To(Succeed())
		other := sample()
		other.Sandbox.Interface = "eth1"
		other.Attachments[1].Interface = "net7"
		Expect(store.Save(other)).To(Succeed())
		plant("plans/c1:eth2", "cannot be read")
		plant("plans/c2:eth3", "another container's")
		Expect(store.OtherInterfaces(sandbox())).To(Equal([]string{"eth0", "eth1", "eth2", "net7"}))
	})

	It("that cannot be written leaves the earlier one, and nothing else", func() {
		Expect(store.Save(sample())).To(Succeed())
		before := tree(store.Dir)
		Expect(os.Mkdir(filepath.Join(store.Dir, "plans", ".c1:eth0"), 0o700)).To(Succeed()) // in the draft's place
		Expect(store.Save(sample())).NotTo(Succeed())
		Expect(tree(store.Dir)).To(Equal(before))
		_, err := store.Load(sandbox())
		Expect(err).NotTo(HaveOccurred())
	})

	It("that finds the disk full leaves the earlier one, and nothing else (ADD-3)", func() {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), role+"=full disk", "STATE_TEST_DIR="+GinkgoT().TempDir())
		// In namespaces of its own it may mount without root, and the mount goes with it.
		child.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
		output, err := child.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), "%s", output)
	})
})

// fillDisk saves a plan on a small disk, fills that up and saves a larger one.
func fillDisk(dir string) error {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		return fmt.Errorf("mounting a small tmpfs: %w", err)
	}
	store := state.Store{Dir: dir}
	if err := store.Save(sample()); err != nil {
		return err
	}
	larger := sample()
	larger.Attachments[0].Config = network(`{"name":"main","type":"bridge","filler":"` + strings.Repeat("x", 1<<20) + `"}`)
	if err := store.Save(larger); !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("a disk that is too small: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "filler"), bytes.Repeat([]byte("x"), 1<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("filling the disk: %v", err)
	}
	if err := store.Save(sample()); !errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("a disk that is full: %v", err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "plans"))
	if err != nil || len(entries) != 1 {
		return fmt.Errorf("left in the directory: %v, %v", entries, err)
	}
	loaded, err := store.Load(sandbox())
	if err != nil {
		return err
	}
	if n := len(loaded.Attachments); n != 2 {
		return fmt.Errorf("the earlier plan has %d attachments now", n)
	}
	return store.Remove(sandbox())
}
