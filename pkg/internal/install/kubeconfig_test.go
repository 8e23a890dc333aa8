package install

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/clientcmd"
)

const certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"

func cluster() Cluster {
	return Cluster{Host: "192.0.2.1", Port: "443", CA: []byte(certificate), Token: []byte("secret\n"), Namespace: "kube-system"}
}

var _ = Describe("the kubeconfig (ENT-6)", func() {
	DescribeTable("names the server",
		func(protocol, host, port, want string) {
			c := cluster()
			c.Protocol, c.Host, c.Port = protocol, host, port
			text, err := Kubeconfig(c)
			Expect(err).NotTo(HaveOccurred())
			read, err := clientcmd.Load(text)
			Expect(err).NotTo(HaveOccurred())
			Expect(read.Clusters[read.Contexts[read.CurrentContext].Cluster].Server).To(Equal(want))
		},
		Entry("by IPv4 address", "", "192.0.2.1", "443", "https://192.0.2.1:443"),
		Entry("by IPv6 address, in brackets (E131)", "https", "2001:db8::1", "443", "https://[2001:db8::1]:443"),
		Entry("by IPv6 address that has them (E131)", "", "[2001:db8::1]", "6443", "https://[2001:db8::1]:6443"),
		Entry("by name", "", "api.example.com", "6443", "https://api.example.com:6443"),
		Entry("with its protocol", "http", "192.0.2.1", "8080", "http://192.0.2.1:8080"),
	)

	It("holds token, CA and namespace", func() {
		text, err := Kubeconfig(cluster())
		Expect(err).NotTo(HaveOccurred())
		read, err := clientcmd.NewClientConfigFromBytes(text)
		Expect(err).NotTo(HaveOccurred())
		client, err := read.ClientConfig()
		Expect(err).NotTo(HaveOccurred())
		Expect(client.BearerToken).To(Equal("secret"))
		Expect(string(client.CAData)).To(Equal(certificate))
		Expect(client.Insecure).To(BeFalse())
		namespace, _, err := read.Namespace()
		Expect(err).NotTo(HaveOccurred())
		Expect(namespace).To(Equal("kube-system"))
	})

	It("trusts any server where that is asked for (ENT-11)", func() {
		c := cluster()
		c.CA, c.SkipTLSVerify = nil, true
		text, err := Kubeconfig(c)
		Expect(err).NotTo(HaveOccurred())
		read, err := clientcmd.Load(text)
		Expect(err).NotTo(HaveOccurred())
		Expect(read.Clusters["local"].InsecureSkipTLSVerify).To(BeTrue())
	})

	DescribeTable("is not made of what is incomplete (E124)",
		func(change func(*Cluster), why string) {
			c := cluster()
			change(&c)
			text, err := Kubeconfig(c)
			Expect(err).To(MatchError(ContainSubstring(why)))
			Expect(err.Error()).NotTo(ContainSubstring("secret"))
			Expect(text).To(BeNil())
		},
		Entry("no host", func(c *Cluster) { c.Host = "" }, "KUBERNETES_SERVICE_HOST"),
		Entry("a path for a host", func(c *Cluster) { c.Host = "x/y" }, "KUBERNETES_SERVICE_HOST"),
		Entry("no port", func(c *Cluster) { c.Port = "" }, "KUBERNETES_SERVICE_PORT"),
		Entry("an address for a port", func(c *Cluster) { c.Port = "tcp://192.0.2.1:443" }, "KUBERNETES_SERVICE_PORT"),
		Entry("another protocol", func(c *Cluster) { c.Protocol = "tcp" }, "KUBERNETES_SERVICE_PROTOCOL"),
		Entry("an empty token", func(c *Cluster) { c.Token = []byte("\n") }, "token is empty"),
		Entry("a token of two lines", func(c *Cluster) { c.Token = []byte("secret\nsecret") }, "token has a character"),
		Entry("no CA", func(c *Cluster) { c.CA = nil }, "CA bundle"),
		Entry("half a CA", func(c *Cluster) { c.CA = c.CA[:30] }, "CA bundle"),
	)

	It("tells all that is missing at once (E124)", func() {
		_, err := Kubeconfig(Cluster{})
		Expect(err).To(MatchError(And(ContainSubstring("address"), ContainSubstring("token"), ContainSubstring("CA bundle"))))
	})
})
