package netns

import (
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// cnitool runs the CNI project's tool with our configuration in a directory, as an administrator does.
func (b *bench) cnitool(verb string, box node.Sandbox, env ...string) node.Outcome {
	GinkgoHelper()
	cmd := exec.Command(filepath.Join(plugins, "cnitool"), verb, "node-net", box.NetNS)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "NETCONFPATH=" + filepath.Join(b.Dir, "etc"), "CNI_PATH=" + filepath.Join(b.Dir, "opt") + ":" + plugins}
	cmd.Env = append(cmd.Env, env...)
	return b.wait(cmd)
}

// install puts the plugin and a configuration of it where cnitool looks.
func (b *bench) install(file, content string) {
	GinkgoHelper()
	for _, dir := range []string{"etc", "opt"} {
		Expect(os.MkdirAll(filepath.Join(b.Dir, dir), 0o755)).To(Succeed())
	}
	Expect(os.Symlink(b.Binary, filepath.Join(b.Dir, "opt", "multus"))).To(Succeed())
	Expect(os.WriteFile(filepath.Join(b.Dir, "etc", file), []byte(content), 0o600)).To(Succeed())
}

var _ = Describe("without Kubernetes (INV-7)", func() {
	DescribeTable("cnitool attaches and detaches the configured networks, and no API server is asked (E158)",
		func(file string, content func(own node.Config) node.Config) {
			b := newBench()
			box := b.pod("unknown", "")
			own := b.Config(node.Config{"delegates": []any{raw(master), raw(named("second", leased))}, "binDir": plugins})
			b.install(file, content(own).String())

			outcome := b.cnitool("add", box)
			Expect(outcome.Exit).To(Equal(0), outcome.String())
			Expect(links(box.NetNS)).To(Equal([]string{"eth0", "lo", "net1"}))
			Expect(addresses(box.NetNS, "net1")).To(Equal([]string{"192.0.2.100/24"}))
			Expect(outcome.Stdout).To(And(ContainSubstring("10.1.0.2/24"), Not(ContainSubstring("192.0.2.100"))))

			outcome = b.cnitool("del", box)
			Expect(outcome.Exit).To(Equal(0), outcome.String())
			b.nothingLeft(box)
			Expect(b.API.Count(fake.Any)).To(BeZero())
		},
		Entry("from a configuration", "10-multus.conf", func(own node.Config) node.Config { return own }),
		Entry("from a configuration list", "10-multus.conflist", func(own node.Config) node.Config {
			return node.Config{"cniVersion": "1.0.0", "name": "node-net", "plugins": []any{own}}
		}),
	)

	It("nothing is kept outside of cniDir (E053)", func() {
		b := newBench()
		box, err := b.NewSandbox()
		Expect(err).NotTo(HaveOccurred())
		alone := node.Config{"delegates": []any{raw(`{"cniVersion": "1.0.0", "name": "main", "type": "macvlan", "master": "eth1"}`)}}
		b.add(box, alone)
		Expect(os.ReadDir(b.varLib)).To(BeEmpty())
		b.del(box, alone)
	})
})
