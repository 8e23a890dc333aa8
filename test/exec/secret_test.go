package exec

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// secret stands for a token, a password or a key.
const secret = "do-not-show-me-7c0ffee7"

var _ = Describe("secrets (SEC-1)", func() {
	var b *bench
	var box node.Sandbox
	var change node.Config
	BeforeEach(func() {
		b = newBench()
		b.API.SetToken(secret)
		b.nad("n1", secondary)
		box = b.pod("web-0", "n1")
		change = node.Config{"logFile": filepath.Join(b.Dir, "log", "multus.log")} // at level debug
	})

	kubeconfig := func(options ...fake.KubeconfigOption) {
		GinkgoHelper()
		Expect(b.API.Kubeconfig(b.Kubeconfig, options...)).To(Succeed())
	}
	text := func(content string) {
		GinkgoHelper()
		Expect(os.WriteFile(b.Kubeconfig, []byte(content), 0o600)).To(Succeed())
	}
	user := func(keys object) fake.KubeconfigOption {
		return func(_, user map[string]any) {
			for key, value := range keys {
				user[key] = value
			}
		}
	}
	cluster := func(key, value string) fake.KubeconfigOption {
		return func(cluster, _ map[string]any) { cluster[key] = value }
	}

	// unseen searches all that is left of a call, on disk and elsewhere.
	unseen := func(outcome node.Outcome) {
		GinkgoHelper()
		shown := []string{outcome.Stdout, outcome.Stderr}
		for _, value := range b.API.Annotations("blue", "web-0") {
			shown = append(shown, value)
		}
		files, err := b.State()
		Expect(err).NotTo(HaveOccurred())
		for _, file := range files {
			shown = append(shown, contentOf(filepath.Join(b.CNIDir, file)))
		}
		for _, pattern := range []string{"log/*", "calls"} { // "calls" has what the delegates were given
			found, err := filepath.Glob(filepath.Join(b.Dir, pattern))
			Expect(err).NotTo(HaveOccurred())
			for _, file := range found {
				shown = append(shown, contentOf(file))
			}
		}
		all := strings.Join(shown, "\n")
		Expect(all).NotTo(ContainSubstring(secret))
		Expect(all).NotTo(ContainSubstring(base64.RawStdEncoding.EncodeToString([]byte(secret))))
	}

	It("are nowhere to be seen where all is well", func() {
		kubeconfig()
		outcome := b.add(box, change)
		Expect(b.State()).NotTo(BeEmpty())
		unseen(outcome)
		unseen(b.del(box, change))
	})

	DescribeTable("are nowhere to be seen where the credential or the kubeconfig is no good",
		func(spoil func()) {
			spoil()
			outcome := b.run("ADD", box, change)
			Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
			Expect(contentOf(change["logFile"].(string))).To(ContainSubstring("[error] ADD failed"))
			unseen(outcome)
			unseen(b.run("DEL", box, change))
		},
		Entry("a token that the server refuses", func() { kubeconfig(); b.API.SetToken("another") }),
		Entry("a token of the wrong type", func() { kubeconfig(user(object{"token": list(secret)})) }),
		Entry("a password that the server refuses", func() { kubeconfig(user(object{"token": "", "username": "u", "password": secret})) }),
		Entry("a token and a password", func() { kubeconfig(user(object{"username": "u", "password": secret})) }),
		Entry("a key that is none", func() {
			kubeconfig(b.API.ClientCertificate(), user(object{"client-key-data": base64.StdEncoding.EncodeToString([]byte(secret))}))
		}),
		Entry("a key that is not in base64", func() { kubeconfig(b.API.ClientCertificate(), user(object{"client-key-data": secret + "!"})) }),
		Entry("a file cut short", func() {
			kubeconfig()
			whole := contentOf(b.Kubeconfig)
			text(whole[:strings.Index(whole, secret)+len(secret)])
		}),
		Entry("a file of another kind", func() { text("apiVersion: v1\nkind: Secret\nstringData: {token: " + secret + "}\n") }),
		Entry("a token where an object belongs", func() { text("apiVersion: v1\nkind: Config\nusers: " + secret + "\n") }),
		Entry("a token where another object belongs", func() {
			text("apiVersion: v1\nkind: Config\nusers:\n- name: u\n  user: " + secret + "\n")
		}),
		Entry("a line that is no YAML", func() { text("apiVersion: v1\nkind: Config\nusers:\n\ttoken: " + secret + "\n") }),
		Entry("an unknown key", func() { text("apiVersion: v1\nkind: Config\n" + secret + ": 1\n") }),
		Entry("a token as name of the context", func() { text("apiVersion: v1\nkind: Config\ncurrent-context: none\n# " + secret + "\n") }),
		Entry("a password in an address that is none", func() { kubeconfig(fake.Server("https://u:" + secret + "@exa mple")) }),
		Entry("a password in the proxy's address, of no known scheme", func() { kubeconfig(cluster("proxy-url", "ftp://u:"+secret+"@127.0.0.1:1")) }),
		Entry("a password in the proxy's address that is none", func() { kubeconfig(cluster("proxy-url", "http://u:"+secret+"@exa mple")) }),
	)

	DescribeTable("are nowhere to be seen where no request can be made",
		func(spoil func()) {
			change["runtimeConfig"] = object{"io.kubernetes.cri.pod-annotations": object{}} // so that ADD does not insist (NET-17)
			spoil()
			outcome := b.add(box, change)
			Expect(outcome.Stderr).To(ContainSubstring("the network-status is not written"))
			unseen(outcome)
			unseen(b.del(box, change))
		},
		Entry("a token that no header can hold", func() { kubeconfig(fake.Token(secret + "\x01\n")) }),
		Entry("a password in its address", func() {
			kubeconfig(fake.Server(strings.Replace(b.API.URL(), "//", "//u:"+secret+"@", 1)))
			b.API.Refuse()
		}),
		Entry("a password in its proxy's address", func() { kubeconfig(cluster("proxy-url", "http://u:"+secret+"@127.0.0.1:1")) }),
	)
})
