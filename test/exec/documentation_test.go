package exec

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/containernetworking/cni/pkg/types"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// fenced gives the code blocks of a language in a page of the documentation.
func fenced(page, language string) []string {
	GinkgoHelper()
	var blocks []string
	for i, part := range strings.Split(contentOf(filepath.Join("..", "..", "doc", page)), "\n```") {
		if block, ok := strings.CutPrefix(part, language+"\n"); ok && i%2 == 1 {
			blocks = append(blocks, block)
		}
	}
	return blocks
}

var _ = Describe("the documentation", func() {
	var b *bench
	BeforeEach(func() { b = newBench() })

	It("shows networks and pods that work: doc/usage.md", func() {
		var pods []manifest
		for _, one := range manifests(strings.Join(fenced("usage.md", "yaml"), "\n---\n")) {
			switch one.Kind {
			case "Pod":
				pods = append(pods, one)
			case "NetworkAttachmentDefinition":
				b.API.AddNAD(fake.NAD{
					Namespace: one.Metadata.Namespace, Name: one.Metadata.Name, Annotations: one.Metadata.Annotations, Config: one.Spec.Config,
				})
				b.installPluginsOf(one.Spec.Config)
			default:
				Fail("a block of kind " + one.Kind)
			}
		}
		Expect(len(pods)).To(BeNumerically(">=", 4))
		// The bridge's IPAM plugin, host-local, reads the address that one pod asks for from CNI_ARGS.
		Expect(b.Delegates.Behave("bridge", script.Rule{
			Command: "ADD", Interface: "eth0", Result: resultOf("1.0.0", "eth0", "192.0.2.77/24", "2001:db8::4d/64"),
		})).To(Succeed())
		kubelet := b.kubelet()
		for _, pod := range pods {
			box, err := b.AddPodIn(pod.Metadata.Namespace, pod.Metadata.Name, pod.Metadata.Annotations)
			Expect(err).NotTo(HaveOccurred())
			Expect(kubelet.WriteCheckpoint(checkpointOf(box, `["0000:03:02.0","0000:03:02.1"]`))).To(Succeed())
			By(pod.Metadata.Name)
			b.add(box)
			selected, err := nad.ParseNetworkAnnotation(pod.Metadata.Annotations[nad.NetworksAnnotation], pod.Metadata.Namespace)
			if pod.Metadata.Annotations[nad.NetworksAnnotation] != "" {
				Expect(err).NotTo(HaveOccurred())
			}
			Expect(b.status(pod.Metadata.Name)).To(HaveLen(1 + len(selected)))
			b.del(box)
			b.expectNothingAttached()
			b.expectNoState()
		}
	})

	It("shows a configuration that works: doc/configuration.md", func() {
		blocks := fenced("configuration.md", "json")
		Expect(blocks).NotTo(BeEmpty())
		for _, block := range blocks {
			var config node.Config
			Expect(json.Unmarshal([]byte(block), &config)).To(Succeed())
			own := b.Config(config, node.Config{"kubeconfig": b.Kubeconfig}) // paths are the node's
			for _, delegate := range config["delegates"].([]any) {
				b.installPluginsOf(node.Config(delegate.(map[string]any)).String())
			}
			box := b.pod("web-0", "")
			outcome := b.runText("ADD", box, own.String())
			Expect(outcome.Exit).To(Equal(0), outcome.String())
			Expect(outcome.Stderr).NotTo(ContainSubstring("warning"))
			Expect(b.runText("DEL", box, own.String()).Exit).To(Equal(0))
			b.expectNoState()
		}
	})

	It("names keys that there are: doc/configuration.md", func() {
		config := b.Config()
		for row := range strings.Lines(contentOf("../../doc/configuration.md")) {
			if !strings.HasPrefix(row, "| `") || strings.HasPrefix(row, "| `<") {
				continue
			}
			for i, word := range strings.Split(strings.Split(row, "|")[1], "`") {
				if _, given := config[word]; i%2 == 1 && !given {
					config[word] = nil
				}
			}
		}
		Expect(len(config)).To(BeNumerically(">", 20))
		outcome := b.runText("ADD", b.pod("web-0", ""), config.String())
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		Expect(outcome.Stderr).NotTo(ContainSubstring("unknown keys"))
	})
})

// installPluginsOf installs recording delegates for all plugins of a CNI configuration.
func (b *bench) installPluginsOf(config string) {
	GinkgoHelper()
	var network struct {
		Type    string
		Plugins []types.NetConf
	}
	Expect(json.Unmarshal([]byte(config), &network)).To(Succeed(), config)
	for _, plugin := range append(network.Plugins, types.NetConf{Type: network.Type}) {
		if plugin.Type != "" {
			Expect(b.Delegates.Install(plugin.Type)).To(Succeed())
		}
	}
}
