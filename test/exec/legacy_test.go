package exec

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// The configurations that were given to the delegates of the plans below.
const (
	oldMaster = `{"cniVersion":"0.4.0","name":"k8s","plugins":[{"type":"master","kubernetes":{"kubeconfig":"/k"},"ipam":{"type":"host-local"}},
		{"type":"third","capabilities":{"portMappings":true},"snat":true}]}`
	oldNAD   = `{"cniVersion":"0.3.1","name":"n1","type":"second","master":"ens3","capabilities":{"ips":true},"ipam":{"type":"static"}}`
	oldOther = `{"cniVersion":"0.3.1","name":"n2","type":"second","vlan":12345678901234567890}`
)

// inBytes is the key that later releases of Multus v3 and v4 keep a whole configuration under.
func inBytes(config string) string {
	return fmt.Sprintf(`"Bytes":%q`, base64.StdEncoding.EncodeToString([]byte(config)))
}

// fromOlder is a sandbox that Multus v3/v4 attached with this plan.
func (b *bench) fromOlder(elements ...string) node.Sandbox {
	GinkgoHelper()
	Expect(b.Delegates.Install("third")).To(Succeed())
	box := b.pod("web-0", "")
	Expect(os.MkdirAll(b.CNIDir, 0o700)).To(Succeed())
	Expect(os.WriteFile(b.olderFile(box), []byte("["+strings.Join(elements, ",")+"]"), 0o600)).To(Succeed())
	return box
}

func (b *bench) olderFile(box node.Sandbox) string { return filepath.Join(b.CNIDir, box.ContainerID) }

var _ = Describe("a pod that Multus v3/v4 attached (DEL-8)", func() {
	// whole is what v4 writes for a list as master, a network that declares "ips" and one that declares nothing.
	whole := func() []string {
		return []string{
			`{"Conf":{"cniVersion":"0.4.0","name":"k8s","ipam":{},"dns":{}},
			  "ConfList":{"cniVersion":"0.4.0","name":"k8s","plugins":[{"type":"master","ipam":{"type":"host-local"},"dns":{}},{"type":"third","capabilities":{"portMappings":true},"ipam":{},"dns":{}}]},
			  ` + inBytes(oldMaster) + `}`,
			`{"Conf":{"cniVersion":"0.3.1","name":"n1","type":"second","capabilities":{"ips":true},"ipam":{"type":"static"},"dns":{}},"ConfList":{"plugins":null},
			  "name":"blue/n1","ifnameRequest":"data","macRequest":"02:00:00:00:00:01","ipRequest":["192.0.2.4/24","2001:db8::4/64"],
			  ` + inBytes(oldNAD) + `}`,
			`{"Conf":{"cniVersion":"0.3.1","name":"n2","type":"second","ipam":{},"dns":{}},"ConfList":{"plugins":null},"name":"blue/n2",
			  "ipRequest":["192.0.2.5","2001:db8::5"],"cniargs":{"k":"v"},` + inBytes(oldOther) + `}`,
		}
	}

	It("is detached as it was attached, and its file goes", func() {
		b := newBench()
		box := b.fromOlder(whole()...)
		b.del(box)
		Expect(b.calls("DEL")).To(Equal([]string{"DEL second net2", "DEL second data", "DEL third eth0", "DEL master eth0"}))
		b.expectNoState()

		master, chained := b.call("DEL master eth0"), b.call("DEL third eth0")
		Expect(given(master)).To(And(
			HaveKeyWithValue("stdin kubernetes", `{"kubeconfig":"/k"}`), HaveKeyWithValue("stdin cniVersion", `"0.4.0"`),
			HaveKeyWithValue("stdin name", `"k8s"`), HaveKeyWithValue("args", fmt.Sprint(box.Args)), HaveKeyWithValue("netns", box.NetNS)))
		Expect(given(chained)).To(HaveKeyWithValue("stdin snat", "true"))

		data := b.call("DEL second data")
		Expect(given(data)).To(And(
			HaveKeyWithValue("stdin master", `"ens3"`), HaveKeyWithValue("stdin runtimeConfig", `{"ips":["192.0.2.4/24","2001:db8::4/64"]}`)))
		Expect([]string{data.Arg("IP"), data.Arg("MAC")}).To(Equal([]string{"", "02:00:00:00:00:01"}))

		other := b.call("DEL second net2")
		Expect(given(other)).To(And(
			HaveKeyWithValue("stdin vlan", "12345678901234567890"), HaveKeyWithValue("stdin args", `{"cni":{"k":"v"}}`), Not(HaveKey("stdin runtimeConfig"))))
		Expect([]string{other.Arg("IP"), other.Arg("MAC"), other.Arg("K8S_POD_NAME")}).To(Equal([]string{"192.0.2.5,2001:db8::5", "", "web-0"}))
	})

	It("gives its delegates the results that are cached, which then go too", func() {
		b := newBench()
		box := b.fromOlder(whole()...)
		results := filepath.Join(b.CNIDir, "results")
		Expect(os.Mkdir(results, 0o700)).To(Succeed())
		for _, name := range []string{"k8s-%s-eth0", "n1-%s-data", "n2-%s-net2"} {
			Expect(os.WriteFile(filepath.Join(results, fmt.Sprintf(name, box.ContainerID)), []byte(
				`{"kind":"cniCacheV1","containerId":"`+box.ContainerID+`","result":{"cniVersion":"0.4.0","ips":[{"version":"4","address":"192.0.2.9/24"}],"dns":{}}}`), 0o600)).To(Succeed())
		}
		b.del(box)
		Expect(string(b.call("DEL master eth0").Stdin)).To(ContainSubstring("192.0.2.9/24"))
		b.expectNoState()
	})

	It("keeps its file until all delegates have succeeded (DEL-5)", func() {
		b := newBench()
		box := b.fromOlder(whole()...)
		b.behave("master", script.Rule{Command: "DEL", Times: 1, Error: full()})
		Expect(b.run("DEL", box).Error().Msg).To(ContainSubstring("network k8s"))
		Expect(b.olderFile(box)).To(BeARegularFile())
		b.del(box)
		b.expectNoState()
		b.del(box)
	})

	DescribeTable("is understood in what all releases wrote",
		func(calls []string, elements ...string) {
			b := newBench()
			box := b.fromOlder(elements...)
			b.del(box)
			Expect(b.calls("DEL")).To(Equal(calls))
			b.expectNoState()
		},
		Entry("single plugins without their bytes", []string{"DEL second net1", "DEL master eth0"},
			`{"Conf":{"name":"k8s","type":"master"},"MasterPlugin":true}`, `{"Conf":{"name":"n1","type":"second"},"MasterPlugin":false}`),
		Entry("lists without their bytes", []string{"DEL third net1", "DEL second net1", "DEL third eth0", "DEL master eth0"},
			`{"Conf":{"name":"k8s"},"ConfList":{"name":"k8s","plugins":[{"type":"master"},{"type":"third"}]},"ConfListPlugin":true}`,
			`{"Conf":{"name":"n1"},"ConfList":{"name":"n1","plugins":[{"type":"second"},{"type":"third"}]}}`),
		Entry("keys in other letter case", []string{"DEL second x", "DEL master eth0"},
			`{"conf":{"name":"k8s","type":"master"},"masterplugin":true}`, `{"CONF":{"name":"n1","type":"second"},"IfnameRequest":"x"}`),
		Entry("requests that are null or empty", []string{"DEL second net1", "DEL master eth0"},
			`{"Conf":{"name":"k8s","type":"master"},"ipRequest":null,"portMappingsRequest":null,"bandwidthRequest":null,"deviceID":""}`,
			`{"Conf":{"name":"n1","type":"second"},"ifnameRequest":"","macRequest":"","ipRequest":[],"infinibandGUIDRequest":""}`),
		Entry("keys that nobody knows", []string{"DEL master eth0"}, `{"Conf":{"name":"k8s","type":"master"},"isFilterV4Gateway":true,"new":{"a":[]}}`),
		Entry("bytes that cannot be read", []string{"DEL master eth0"}, `{"Conf":{"name":"k8s","type":"master"},`+inBytes(`{"name":`)+`}`),
		Entry("the same network twice (NET-13)", []string{"DEL second net2", "DEL second net1", "DEL master eth0"},
			`{"Conf":{"name":"k8s","type":"master"}}`, `{`+inBytes(oldNAD)+`}`, `{`+inBytes(oldNAD)+`}`),
	)

	DescribeTable("whose file cannot be read is detached as far as the rest is known, and its file goes (E038)",
		func(content string) {
			b := newBench()
			box := b.fromOlder()
			damage(b.olderFile(box), content)
			outcome := b.del(box)
			Expect(outcome.Stderr).To(ContainSubstring(b.olderFile(box)))
			Expect(b.calls("DEL")).To(Equal([]string{"DEL master eth0"}))
			b.expectNoState()
			b.del(box)
		},
		Entry("empty", ""),
		Entry("truncated", `[{"na`),
		Entry("without delegates", `[]`),
		Entry("null", `null`),
		Entry("an element without configuration", `[{"name":"k8s"}]`),
	)

	It("leaves the files of others alone", func() {
		b := newBench()
		box := b.fromOlder(whole()...)
		other := b.olderFile(box) + "0"
		Expect(os.WriteFile(other, []byte("[]"), 0o600)).To(Succeed())
		b.del(box)
		Expect(other).To(BeARegularFile())
	})
})
