package state_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/state"
)

func base64Of(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// legacyPlan is a plan as Multus v4 writes it: Conf and ConfList hold only the keys that it knows, Bytes hold all.
func legacyPlan() string {
	return fmt.Sprintf(`[
	{"Conf":{"cniVersion":"0.3.1","name":"k8s","ipam":{},"dns":{}},
	 "ConfList":{"cniVersion":"0.3.1","name":"k8s","plugins":[{"type":"calico","ipam":{"type":"host-local"},"dns":{}},{"type":"portmap","capabilities":{"portMappings":true},"ipam":{},"dns":{}}]},
	 "name":"k8s","ipRequest":null,"macRequest":"","ifnameRequest":"","portMappingsRequest":null,"bandwidthRequest":null,
	 "MasterPlugin":true,"ConfListPlugin":true,"Bytes":%q},
	{"Conf":{"cniVersion":"0.3.1","name":"vlan7","type":"macvlan","capabilities":{"ips":true},"ipam":{"type":"static"},"dns":{}},
	 "ConfList":{"plugins":null},"name":"blue/vlan7","ifnameRequest":"data0","ipRequest":["192.0.2.4/24","2001:db8::4/64"],
	 "macRequest":"02:00:00:00:00:01","infinibandGUIDRequest":"","bandwidthRequest":{"ingressRate":12345678901234567890},
	 "deviceID":"0000:03:02.3","resourceName":"vendor.com/vf","cniargs":{"x":12345678901234567890},"unheardOf":{"a":1},
	 "MasterPlugin":false,"Bytes":%q}]`,
		base64Of(`{"cniVersion":"0.3.1","name":"k8s","plugins":[{"type":"calico","kubernetes":{"kubeconfig":"/k"},"ipam":{"type":"host-local"}},{"type":"portmap","capabilities":{"portMappings":true},"snat":true}]}`),
		base64Of(`{"cniVersion":"0.3.1","name":"vlan7","type":"macvlan","master":"ens3","capabilities":{"ips":true},"ipam":{"type":"static"}}`))
}

var _ = Describe("a plan of Multus v3/v4 (DEL-8)", func() {
	var store state.Store

	BeforeEach(func() { store = state.Store{Dir: GinkgoT().TempDir()} })

	plant := func(text string) {
		Expect(os.WriteFile(filepath.Join(store.Dir, "c1"), []byte(text), 0o600)).To(Succeed())
	}

	load := func(text string) *plan.Plan {
		plant(text)
		loaded, err := store.Load(sandbox())
		Expect(err).NotTo(HaveOccurred())
		return loaded
	}

	It("has the configurations that the delegates were given, all keys of them", func() {
		Expect(configs(load(legacyPlan()))).To(Equal([]string{
			`{"cniVersion":"0.3.1","name":"k8s","plugins":[{"type":"calico","kubernetes":{"kubeconfig":"/k"},"ipam":{"type":"host-local"}},{"type":"portmap","capabilities":{"portMappings":true},"snat":true}]}`,
			`{"cniVersion":"0.3.1","name":"vlan7","plugins":[{"cniVersion":"0.3.1","name":"vlan7","type":"macvlan","master":"ens3","capabilities":{"ips":true},"ipam":{"type":"static"},"args":{"cni":{"x":12345678901234567890}}}]}`,
		}))
	})

	It("has the requests of each delegate, as they would be handed on today (NET-6, NET-9)", func() {
		loaded := load(legacyPlan())
		Expect(loaded.Sandbox).To(Equal(sandbox()))
		master, second := loaded.Attachments[0], loaded.Attachments[1]
		Expect(master.Network).To(Equal("k8s"))
		Expect(master.Interface).To(Equal("eth0"))
		Expect(master.Args).To(Equal(sandbox().Args))
		Expect(master.CapabilityArgs).To(BeEmpty())
		Expect(second.Network).To(Equal("blue/vlan7"))
		Expect(second.Interface).To(Equal("data0"))
		Expect(second.Args).To(Equal([][2]string{
			{"K8S_POD_NAMESPACE", "blue"}, {"MAC", "02:00:00:00:00:01"}, {"IgnoreUnknown", "1"},
		}))
		Expect(second.CapabilityArgs).To(Equal(map[string]json.RawMessage{
			"ips":       json.RawMessage(`["192.0.2.4/24","2001:db8::4/64"]`),
			"bandwidth": json.RawMessage(`{"ingressRate":12345678901234567890}`),
			"deviceID":  json.RawMessage(`"0000:03:02.3"`),
		}))
	})

	It("does not change the sandbox that it is loaded for", func() {
		plant(legacyPlan())
		box := sandbox()
		_, err := store.Load(box)
		Expect(err).NotTo(HaveOccurred())
		Expect(box).To(Equal(sandbox()))
	})

	DescribeTable("is understood in the forms of all releases:",
		func(element, wantConfig string) {
			Expect(configs(load("[" + element + "]"))).To(Equal([]string{wantConfig}))
		},
		Entry("a single plugin", `{"Conf":{"name":"n","type":"t"}}`, `{"name":"n","plugins":[{"name":"n","type":"t"}]}`),
		Entry("a list", `{"Conf":{"name":"n"},"ConfList":{"name":"n","plugins":[{"type":"t"}]}}`, `{"name":"n","plugins":[{"type":"t"}]}`),
		Entry("other letter case", `{"CONF":{"name":"n","type":"t"},"masterplugin":true}`, `{"name":"n","plugins":[{"name":"n","type":"t"}]}`),
		Entry("bytes that are null", `{"Bytes":null,"Conf":{"name":"n","type":"t"}}`, `{"name":"n","plugins":[{"name":"n","type":"t"}]}`),
		Entry("bytes that are cut off", `{"Bytes":"`+base64Of(`{"name":`)+`","Conf":{"name":"n","type":"t"}}`, `{"name":"n","plugins":[{"name":"n","type":"t"}]}`),
		Entry("a name beside a configuration without", `{"name":"blue/n","Conf":{"type":"t"}}`, `{"name":"n","plugins":[{"type":"t"}]}`),
	)

	DescribeTable("names interfaces as Multus did",
		func(elements string, want ...string) {
			var got []string
			for _, attachment := range load("[" + elements + "]").Attachments {
				got = append(got, attachment.Interface)
			}
			Expect(got).To(Equal(want))
		},
		Entry("by position",
			`{"masterPlugin":true,"conf":{"name":"n","type":"t"}},{"conf":{"name":"n","type":"t"}},{"conf":{"name":"n","type":"t"}}`, "eth0", "net1", "net2"),
		Entry("by request", `{"masterPlugin":true,"conf":{"name":"n","type":"t"}},{"ifnameRequest":"x","conf":{"name":"n","type":"t"}},{"IfnameRequest":"y","conf":{"name":"n","type":"t"}}`,
			"eth0", "x", "y"),
		Entry("with the first as master if none is marked", `{"conf":{"name":"n","type":"t"}},{"conf":{"name":"n","type":"t"}}`, "eth0", "net1"),
	)

	It("takes a single address as text", func() {
		loaded := load(`[{"conf":{"name":"n","type":"t"},"ipRequest":"192.0.2.9"}]`)
		Expect(loaded.Attachments[0].Args).To(Equal([][2]string{
			{"K8S_POD_NAMESPACE", "blue"}, {"IP", "192.0.2.9"}, {"IgnoreUnknown", "1"},
		}))
	})

	It("is called eth0 where the runtime does not say (GC-1)", func() {
		plant(`[{"conf":{"name":"n","type":"t"}}]`)
		loaded, err := store.Load(plan.Sandbox{ContainerID: "c1"})
		Expect(err).NotTo(HaveOccurred())
		Expect(loaded.Attachments[0].Interface).To(Equal("eth0"))
		Expect(loaded.Sandbox.Interface).To(Equal("eth0"))
	})

	It("counts only where there is none of ours", func() {
		plant(legacyPlan())
		ours := sample()
		ours.Attachments = ours.Attachments[:1]
		Expect(store.Save(ours)).To(Succeed())
		loaded, err := store.Load(sandbox())
		Expect(err).NotTo(HaveOccurred())
		Expect(loaded.Attachments).To(HaveLen(1))
	})

	DescribeTable("that holds an element which cannot be read is an error that names it",
		func(text, want string) {
			plant(text)
			_, err := store.Load(sandbox())
			Expect(err).To(MatchError(ContainSubstring(want)))
		},
		Entry("null", `[{"conf":{"name":"n","type":"t"}},null]`, "[1]: is null"),
		Entry("no configuration", `[{"name":"n"}]`, "[0]: there is no configuration"),
		Entry("a plugin that is a path (SEC-2)", `[{"conf":{"name":"n","type":"../sh"}}]`, "[0]: configuration"),
		Entry("a bad interface", `[{"ifnameRequest":"a/b","conf":{"name":"n","type":"t"}}]`, "attachments[0]"),
		Entry("no element", `[]`, "there are none"),
		Entry("no list", `{}`, "cannot unmarshal"),
	)
})
