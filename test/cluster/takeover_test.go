package cluster

import (
	"encoding/json"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/cluster/node"
)

var _ = Describe("a pod that was started under Multus v4", func() {
	It("is detached whole by its plan, and by nothing else (DEL-8)", func(ctx SpecContext) {
		b := newBench(ctx)
		config := b.bridge("br-n1", "192.0.2.0/24")
		b.nad("n1", config)
		b.run("web-0", "n1", stubborn)

		b.must(os.RemoveAll(b.StateDir()))
		b.must(os.MkdirAll(b.StateDir(), 0o700))
		plan, err := json.Marshal([]any{
			object{
				"ConfList": json.RawMessage(b.Master("cni0", "10.244.0.0/24")), "Bytes": []byte(b.Master("cni0", "10.244.0.0/24")),
				"Name": "cni0", "ConfListPlugin": true, "MasterPlugin": true,
			},
			object{
				"Conf": json.RawMessage(config), "Bytes": named(config, "n1"),
				"Name": b.namespace + "/n1", "ifnameRequest": "net1", "ConfListPlugin": false, "MasterPlugin": false,
			},
		})
		b.must(err)
		b.must(os.WriteFile(b.StateDir()+"/"+b.sandbox("web-0").ID, plan, 0o600))
		b.must(b.API.Delete(ctx, node.Ref{Kind: "NetworkAttachmentDefinition", Namespace: b.namespace, Name: "n1"}, -1))
		b.delete("web-0")
		b.nothingLeft()
	})
})

// named is a configuration with a name.
func named(config, name string) []byte {
	GinkgoHelper()
	var decoded object
	Expect(json.Unmarshal([]byte(config), &decoded)).To(Succeed())
	decoded["name"] = name
	text, err := json.Marshal(decoded)
	Expect(err).NotTo(HaveOccurred())
	return text
}
