package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/multus"
)

type answer struct {
	status         int
	stdout, stderr string
}

func run(args ...string) answer {
	var stdout, stderr bytes.Buffer
	status := Run(multus.Build{Version: "v1", Commit: "c1", Date: "d1"}, args, &stdout, &stderr)
	return answer{status, stdout.String(), stderr.String()}
}

// node is a directory with these files, names and contents in turn.
func node(files ...string) string {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	for i := 0; i < len(files); i += 2 {
		Expect(os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600)).To(Succeed())
	}
	return dir
}

const (
	master = `{"cniVersion":"1.0.0","name":"cbr0","plugins":[{"type":"flannel","vni":12345678901234567890},` +
		`{"type":"portmap","capabilities":{"portMappings":true}}]}`
	certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
)

var _ = Describe("the command line", func() {
	DescribeTable("explains itself (INV-3, ENT-10)",
		func(golden string, args ...string) {
			got := run(args...)
			Expect(got.status).To(Equal(0))
			Expect(got.stderr).To(BeEmpty())
			expectGolden(golden, got.stdout)
		},
		Entry(nil, "help.txt", "--help"),
		Entry(nil, "version.txt", "--version"),
		Entry(nil, "generate-config.txt", "generate-config", "--help"),
		Entry(nil, "generate-kubeconfig.txt", "generate-kubeconfig", "-h"),
	)

	It("names every option of a sub-command in its help (ENT-10)", func() {
		options := regexp.MustCompile(`(?m)^  --([a-z-]+)`)
		var c configCommand
		for _, found := range options.FindAllStringSubmatch(configHelp, -1) {
			Expect(c.flags().Lookup(found[1])).NotTo(BeNil(), found[1])
		}
		Expect(options.FindAllString(configHelp, -1)).To(HaveLen(17))
	})

	DescribeTable("refuses arguments that mean nothing (INV-3)",
		func(hint string, args ...string) {
			got := run(args...)
			Expect(got.status).To(Equal(2))
			Expect(got.stdout).To(BeEmpty())
			Expect(got.stderr).To(ContainSubstring(hint))
		},
		Entry("an unknown command", "multus --help", "generate"),
		Entry("an unknown option", "multus generate-config --help", "generate-config", "--master"),
		Entry("what is no option", `"x"`, "generate-config", "x"),
		Entry("a value of the wrong kind", "namespace-isolation", "generate-config", "--namespace-isolation=maybe"),
	)
})

var _ = Describe("generate-config", func() {
	It("prints a list (ENT-4, ENT-5)", func() {
		got := run("generate-config", "--multus-autoconfig-dir", node("10-flannel.conflist", master, "20-b.conf", "{}"),
			"--kubeconfig=/etc/cni/net.d/multus.d/multus.kubeconfig", "--multus-log-level=verbose")
		Expect(got.status).To(Equal(0), got.stderr)
		expectGolden("00-multus.conflist", got.stdout)
	})

	It("prints a single plugin's configuration with every option (ENT-5, ENT-11)", func() {
		got := run("generate-config", "--multus-autoconfig-dir="+node("10-flannel.conflist", master),
			"--multus-master-cni-file-name=10-flannel.conflist", "--cni-version=0.4.0", "--kubeconfig=/k", "--multus-cni-conf-dir=/c",
			"--additional-bin-dir=/b", "--namespace-isolation", "--global-namespaces=default, blue", "--multus-log-level=debug",
			"--multus-log-file=/l", "--multus-log-to-stderr=false", "--readiness-indicator-file=/r", "--override-network-name")
		Expect(got.status).To(Equal(0), got.stderr)
		expectGolden("00-multus.conf", got.stdout)
	})

	It("says where it comes from and goes to, before the configuration (ENT-5)", func() {
		dir := node("10-flannel.conflist", master)
		plain := run("generate-config", "--multus-autoconfig-dir="+dir)
		headed := run("generate-config", "--multus-autoconfig-dir="+dir, "--header")
		Expect(headed.stdout).To(Equal("00-multus.conflist\n" + filepath.Join(dir, "10-flannel.conflist") + "\n" + plain.stdout))
	})

	It("tells a node without a primary network yet from a fault (ENT-4)", func() {
		got := run("generate-config", "--multus-autoconfig-dir="+node("10-a.conf", "{"))
		Expect(got.status).To(Equal(3))
		Expect(got.stdout).To(BeEmpty())
		Expect(got.stderr).To(ContainSubstring("10-a.conf"))
		Expect(run("generate-config", "--multus-autoconfig-dir=/nowhere").status).To(Equal(1))
		Expect(run("generate-config", "--cni-version=7", "--multus-autoconfig-dir="+node("10-f.conflist", master)).status).To(Equal(1))
	})

	It("keeps what is there while the first master is half-written (ENT-7)", func() {
		dir := node("05-a.conf", "{", "10-flannel.conflist", master)
		first := run("generate-config", "--multus-autoconfig-dir="+dir, "--keep="+dir)
		Expect(first.status).To(Equal(0), first.stderr)
		Expect(os.WriteFile(filepath.Join(dir, "00-multus.conflist"), []byte(first.stdout), 0o600)).To(Succeed())
		Expect(run("generate-config", "--multus-autoconfig-dir="+dir, "--keep="+dir).status).To(Equal(3))
	})

	It("finds a master that was renamed (ENT-9)", func() {
		dir := node("10-f f.conflist.old", master, "renamed", "10-f f.conflist\n")
		got := run("generate-config", "--multus-autoconfig-dir="+dir, "--renamed="+filepath.Join(dir, "renamed"), "--header")
		Expect(got.stdout).To(ContainSubstring("10-f f.conflist.old\n"), got.stderr)
		Expect(run("generate-config", "--multus-autoconfig-dir="+dir, "--renamed="+filepath.Join(dir, "none")).status).To(Equal(3))
	})

	It("passes on a configuration that was written by hand, if it is valid (ENT-4)", func() {
		dir := node("70-multus.conflist", master, "71-multus.conf", master)
		got := run("generate-config", "--multus-conf-file", filepath.Join(dir, "70-multus.conflist"), "--header")
		Expect(got.stdout).To(Equal("70-multus.conflist\n" + filepath.Join(dir, "70-multus.conflist") + "\n" + master + "\n"))
		Expect(run("generate-config", "--multus-conf-file", filepath.Join(dir, "71-multus.conf")).status).To(Equal(1))
	})
})

var _ = Describe("generate-kubeconfig", func() {
	It("prints a kubeconfig (ENT-6)", func() {
		dir := node("token", "secret", "ca.crt", certificate)
		got := run("generate-kubeconfig", "--host=2001:db8::1", "--port=443", "--token-file="+dir+"/token", "--ca-file="+dir+"/ca.crt", "--namespace=blue")
		Expect(got.status).To(Equal(0), got.stderr)
		expectGolden("multus.kubeconfig", got.stdout)
	})

	It("prints none without token or CA, and never the token in an error (ENT-6, ENT-12)", func() {
		dir := node("token", "secret")
		for _, args := range [][]string{{"--token-file=" + dir + "/none"}, {"--token-file=" + dir + "/token", "--ca-file=" + dir + "/none"}, {"--token-file=" + dir + "/token"}} {
			got := run(append([]string{"generate-kubeconfig", "--host=h", "--port=1"}, args...)...)
			Expect(got.status).To(Equal(1))
			Expect(got.stdout).To(BeEmpty())
			Expect(got.stderr).NotTo(ContainSubstring("secret"))
		}
	})
})
