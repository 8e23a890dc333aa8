package plan

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// pick is a selection of the NAD namespace/name.
func pick(namespace, name string) *nad.NetworkSelectionElement {
	return &nad.NetworkSelectionElement{Namespace: namespace, Name: name}
}

func networksOf(refs []Ref) []string {
	var list []string
	for _, ref := range refs {
		list = append(list, ref.Network())
	}
	return list
}

func inline(name string) *config.Network {
	network, err := config.ParseNetwork([]byte(`{"cniVersion":"1.0.0","name":"`+name+`","type":"fake"}`), "")
	Expect(err).NotTo(HaveOccurred())
	return network
}

var _ = Describe("Wanted", func() {
	It("takes the delegates in order, the first as master (NET-1)", func() {
		cfg := &config.Config{Delegates: []*config.Network{inline("a"), inline("b")}}
		refs, err := Wanted(cfg, "blue", Selections{Networks: []*nad.NetworkSelectionElement{pick("blue", "n1")}})
		Expect(err).NotTo(HaveOccurred())
		Expect(networksOf(refs)).To(Equal([]string{"a", "b", "blue/n1"}))
		Expect(refs[0].Source).To(Equal(Inline))
		Expect(refs[2].Source).To(Equal(Definition))
	})

	cluster := func() *config.Config {
		return &config.Config{
			Delegates:        []*config.Network{inline("ignored")},
			ClusterNetwork:   "main",
			DefaultNetworks:  []string{"extra", "/etc/x.conf"},
			MultusNamespace:  "net-sys",
			SystemNamespaces: []string{"kube-system"},
		}
	}

	It("adds defaultNetworks before the pod's own, and ignores delegates beside clusterNetwork (E022, C3)", func() {
		refs, err := Wanted(cluster(), "blue", Selections{Networks: []*nad.NetworkSelectionElement{pick("blue", "n1")}})
		Expect(err).NotTo(HaveOccurred())
		Expect(networksOf(refs)).To(Equal([]string{"net-sys/main", "net-sys/extra", "/etc/x.conf", "blue/n1"}))
		Expect(refs[2].Source).To(Equal(Path))
	})

	It("gives pods of system namespaces no defaultNetworks", func() {
		refs, err := Wanted(cluster(), "kube-system", Selections{})
		Expect(err).NotTo(HaveOccurred())
		Expect(networksOf(refs)).To(Equal([]string{"net-sys/main"}))
	})

	It("lets default-network replace the master alone (NET-1, C8)", func() {
		refs, err := Wanted(cluster(), "blue", Selections{Default: pick("kube-system", "alt-primary")})
		Expect(err).NotTo(HaveOccurred())
		Expect(networksOf(refs)).To(Equal([]string{"kube-system/alt-primary", "net-sys/extra", "/etc/x.conf"}))
	})

	DescribeTable("namespace isolation (NET-10, E029, E149)",
		func(global []string, selected Selections, forbidden string) {
			cfg := cluster()
			cfg.NamespaceIsolation, cfg.GlobalNamespaces = true, global
			_, err := Wanted(cfg, "blue", selected)
			if forbidden == "" {
				Expect(err).NotTo(HaveOccurred())
				return
			}
			Expect(err).To(MatchError(And(ContainSubstring(forbidden), ContainSubstring("namespaceIsolation"))))
		},
		Entry("own namespace", []string{"default"}, Selections{Networks: []*nad.NetworkSelectionElement{pick("blue", "n")}}, ""),
		Entry("global namespace", []string{"default"}, Selections{Networks: []*nad.NetworkSelectionElement{pick("default", "n")}}, ""),
		Entry("default is not global once the list is set", []string{"a", "b"}, Selections{Networks: []*nad.NetworkSelectionElement{pick("default", "n")}}, "default/n"),
		Entry("one of the list", []string{"a", "b"}, Selections{Networks: []*nad.NetworkSelectionElement{pick("b", "n")}}, ""),
		Entry("another namespace", []string{"default"}, Selections{Networks: []*nad.NetworkSelectionElement{pick("red", "n")}}, "red/n"),
		Entry("default-network", []string{"default"}, Selections{Default: pick("red", "n")}, "red/n"),
		Entry("the node's own configuration is not subject to it", []string{"default"}, Selections{}, ""),
	)

	It("names every forbidden reference at once", func() {
		cfg := cluster()
		cfg.NamespaceIsolation = true
		_, err := Wanted(cfg, "blue", Selections{Networks: []*nad.NetworkSelectionElement{pick("red", "a"), pick("green", "b")}})
		Expect(err).To(MatchError(And(ContainSubstring("red/a"), ContainSubstring("green/b"), ContainSubstring("networks[1]"))))
	})
})
