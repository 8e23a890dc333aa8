package kube

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
)

const secret = "s3cr3t-0123456789"

var _ = Describe("the configuration", func() {
	var dir, path string
	BeforeEach(func() {
		dir = GinkgoT().TempDir()
		path = filepath.Join(dir, "kubeconfig")
	})

	DescribeTable("takes every kind of credential",
		func(ctx SpecContext, option func(*fake.API) fake.KubeconfigOption) {
			api, _ := serve()
			_, err := clientOf(api, option(api)).Pod(ctx, "blue", "web-0")
			Expect(err).NotTo(HaveOccurred())
		},
		Entry("token", func(api *fake.API) fake.KubeconfigOption { return fake.Token(api.Token()) }),
		Entry("token file", func(api *fake.API) fake.KubeconfigOption {
			write(filepath.Join(dir, "token"), api.Token()+"\n")
			return fake.TokenFile(filepath.Join(dir, "token"))
		}),
		Entry("client certificate", (*fake.API).ClientCertificate),
		Entry("token, the server's certificate unchecked", func(*fake.API) fake.KubeconfigOption { return fake.Insecure() }),
	)

	It("has paths relative to the file", func(ctx SpecContext) {
		api, _ := serve()
		Expect(api.Kubeconfig(path, fake.TokenFile("token"))).To(Succeed())
		write(filepath.Join(dir, "token"), api.Token())
		client, err := New(path, nil)
		Expect(err).NotTo(HaveOccurred())
		_, err = client.Pod(ctx, "blue", "web-0")
		Expect(err).NotTo(HaveOccurred())
	})

	It("is a pod's service account without a kubeconfig (E131)", func() {
		write(filepath.Join(dir, "token"), secret)
		environ := []string{"A=B", "KUBERNETES_SERVICE_HOST=2001:db8::1", "KUBERNETES_SERVICE_PORT=443"}
		cfg, err := inCluster(environ, dir)
		Expect(err).NotTo(HaveOccurred())
		Expect(cfg.Host).To(Equal("https://[2001:db8::1]:443"))
		Expect(cfg.BearerTokenFile).To(Equal(filepath.Join(dir, "token")))
		_, _, err = connect(cfg)
		Expect(err).To(MatchError(ContainSubstring(filepath.Join(dir, "ca.crt"))))
	})

	It("is none without a kubeconfig and a service account", func() {
		for _, environ := range [][]string{nil, {"KUBERNETES_SERVICE_HOST=192.0.2.1"}, {"KUBERNETES_SERVICE_PORT=443"}} {
			_, err := New("", environ)
			Expect(err).To(MatchError(ErrNotConfigured))
		}
	})

	DescribeTable("that cannot be used names the file and quotes no secret (SEC-1)",
		func(text string, words ...string) {
			write(path, text)
			_, err := New(path, nil)
			Expect(err).To(MatchError(containAll(append(words, "kubeconfig "+path+": ", "correct or replace the file"))))
			Expect(err.Error()).NotTo(ContainSubstring(secret))
		},
		Entry("empty", "", "current-context: missing"),
		Entry("no YAML", "users: ["+secret, "not YAML or JSON"),
		Entry("another kind", `{"apiVersion":"v1","kind":"Secret","data":{"token":"`+secret+`"}}`, "not YAML or JSON"),
		Entry("wrong types", "apiVersion: v1\nkind: Config\nusers: "+secret, "not YAML or JSON"),
		Entry("a key that is not base64", kubeconfig("https://192.0.2.1", `"client-key-data":"`+secret+`"`), "not YAML or JSON"),
		Entry("a key that is none", kubeconfig("https://192.0.2.1", fmt.Sprintf(`"client-certificate-data":%[1]q,"client-key-data":%[1]q`,
			base64.StdEncoding.EncodeToString([]byte(secret)))), "PEM"),
		Entry("no server", kubeconfig("", `"token":"`+secret+`"`), `cluster "c": server: missing`),
		Entry("no address", kubeconfig("https://%zz", `"token":"`+secret+`"`), "server"),
		Entry("no such token file", kubeconfig("https://192.0.2.1", `"tokenFile":"/nonexistent/token"`), "/nonexistent/token"),
		Entry("no current context", `{"apiVersion":"v1","kind":"Config"}`, "current-context: missing"),
		Entry("no such context", `{"apiVersion":"v1","kind":"Config","current-context":"x"}`, `there is no context "x"`),
		Entry("no such cluster", `{"apiVersion":"v1","kind":"Config","current-context":"x","contexts":[{"name":"x","context":{"cluster":"y"}}]}`,
			`there is no cluster "y"`),
	)

	It("that is missing or no file names the file", func() {
		_, err := New(path, nil)
		Expect(err).To(MatchError(os.ErrNotExist))
		Expect(err).To(MatchError(containAll([]string{path, `correct key "kubeconfig"`})))
		_, err = New(dir, nil)
		Expect(err).To(MatchError(ContainSubstring(dir)))
	})

	It("with a token that has expired says so (NET-14)", func(ctx SpecContext) {
		api, client := serve()
		api.SetToken("another")
		_, err := client.Pod(ctx, "blue", "web-0")
		Expect(err).To(MatchError(containAll([]string{"refused the credential", "expired"})))
		Expect(api.Requests()).To(HaveLen(1))
	})
})

// kubeconfig is a kubeconfig with one user, whose fields are given as JSON.
func kubeconfig(server, user string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"x",
		"contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],
		"clusters":[{"name":"c","cluster":{"server":%q}}],
		"users":[{"name":"u","user":{%s}}]}`, server, user)
}

// FuzzKubeconfig: what is accepted has a server to ask, and nothing panics.
func FuzzKubeconfig(f *testing.F) {
	f.Add([]byte(kubeconfig("https://192.0.2.1:6443", `"token":"t"`)))
	f.Add([]byte("apiVersion: v1\nkind: Config\ncurrent-context: x\ncontexts:\n- name: x\n"))
	f.Add([]byte("users:\n- name: u\n  user: null\nclusters: [null]\n"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, raw []byte) {
		cfg, err := parse(raw, "/nonexistent/kubeconfig")
		if err == nil && cfg.Host == "" {
			t.Errorf("accepted without a server: %q", raw)
		}
	})
}
