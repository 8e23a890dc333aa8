package kube

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
)

func TestKube(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "kube")
}

const (
	uid   = "0b6f3a52-3c1e-4b0e-9d0e-3d7a1c2b4f60"
	other = "7d1c9b1e-86f4-4f4c-8b53-0f4a6e3d2c11"
)

// serve starts an API server with pod blue/web-0 and NAD blue/vlan7, and a client of it.
func serve(options ...fake.Option) (*fake.API, *Client) {
	GinkgoHelper()
	api, err := fake.NewAPI(options...)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(api.Close)
	api.AddPod(fake.Pod{Namespace: "blue", Name: "web-0", UID: uid, Annotations: map[string]string{"a": "<1>"}})
	api.AddNAD(fake.NAD{Namespace: "blue", Name: "vlan7", Config: `{"type":"macvlan"}`})
	return api, clientOf(api)
}

func clientOf(api *fake.API, options ...fake.KubeconfigOption) *Client {
	GinkgoHelper()
	path := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	Expect(api.Kubeconfig(path, options...)).To(Succeed())
	client, err := New(path, nil)
	Expect(err).NotTo(HaveOccurred())
	return client
}

func write(path, text string) {
	GinkgoHelper()
	Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
}
