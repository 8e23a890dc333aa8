package exec

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

var _ = Describe("auxiliaryCNIChainName", func() {
	var b *bench
	var aux node.Config
	BeforeEach(func() {
		b = newBench()
		b.API.AddNAD(fake.NAD{Namespace: "blue", Name: "n1", Config: `{"cniVersion":"1.0.0","type":"second"}`})
		dir := filepath.Join(b.Dir, "cluster")
		Expect(os.MkdirAll(filepath.Join(dir, "extra"), 0o755)).To(Succeed())
		main := filepath.Join(dir, "10-main.conflist")
		Expect(os.WriteFile(main, []byte(`{"cniVersion":"1.0.0","name":"main","plugins":[{"type":"master"}]}`), 0o600)).To(Succeed())
		aux = node.Config{"delegates": nil, "clusterNetwork": main, "auxiliaryCNIChainName": "extra"}
	})

	It("adds the directory's plugins as the last network, and takes it away", func() {
		for name, plugin := range map[string]string{"10-a.conf": "chain-a", "20-b.conf": "chain-b"} {
			Expect(b.Delegates.Behave(plugin, script.Rule{Command: "ADD", Nothing: true})).To(Succeed())
			Expect(os.WriteFile(filepath.Join(b.Dir, "cluster", "extra", name), []byte(`{"type":"`+plugin+`","key":1}`), 0o600)).To(Succeed())
		}
		box := b.pod("web-0", "n1")
		b.add(box, aux)
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0", "ADD second net1", "ADD chain-a net2", "ADD chain-b net2"}))
		Expect(string(b.call("ADD chain-a net2").Stdin)).To(And(ContainSubstring(`"name":"extra"`), ContainSubstring(`"cniVersion":"1.0.0"`), ContainSubstring(`"key":1`)))
		Expect(b.API.Annotations("blue", "web-0")["k8s.v1.cni.cncf.io/network-status"]).To(ContainSubstring(`"extra"`), "an empty result is accepted")
		b.del(box, aux)
		Expect(b.calls("DEL")[:2]).To(Equal([]string{"DEL chain-b net2", "DEL chain-a net2"}))
		b.expectNoState()
	})

	It("adds nothing where the directory has no plugins", func() {
		b.add(b.pod("web-0", "n1"), aux)
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0", "ADD second net1"}))
	})

	It("refuses ourselves there too (CONF-3)", func() {
		Expect(os.WriteFile(filepath.Join(b.Dir, "cluster", "extra", "10-a.conf"), []byte(`{"type":"multus"}`), 0o600)).To(Succeed())
		b.refused(b.pod("web-0", ""), []string{"network extra", "would call itself"}, aux)
	})
})
