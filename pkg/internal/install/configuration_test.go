package install

import (
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
)

const flannel = `{"cniVersion":"1.0.0","name":"cbr0","plugins":[{"type":"flannel"}]}`

// place writes a file below a new directory and gives its path.
func place(name, text string) string {
	GinkgoHelper()
	return put(GinkgoT().TempDir(), name, text)
}

func put(dir, name, text string) string {
	GinkgoHelper()
	path := filepath.Join(dir, name)
	Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
	Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
	return path
}

// around configures us around a master.
func around(text string, options Options) Configuration {
	GinkgoHelper()
	master, err := Load(place("10-x.conflist", text))
	Expect(err).NotTo(HaveOccurred())
	made, err := Configure(options, master)
	Expect(err).NotTo(HaveOccurred())
	return made
}

// asRun reads a made configuration as it comes on our standard input.
func asRun(made Configuration) *config.Config {
	GinkgoHelper()
	network, err := config.ParseNetwork(made.Text, "")
	Expect(err).NotTo(HaveOccurred())
	Expect(network.Plugins).To(HaveLen(1))
	stdin, err := config.ParseObject(network.Plugins[0].Raw)
	Expect(err).NotTo(HaveOccurred())
	stdin.Set("name", []byte(encode(network.Name)))
	stdin.Set("cniVersion", []byte(encode(network.CNIVersion)))
	read, err := config.Parse(stdin.Bytes(), "multus")
	Expect(err).NotTo(HaveOccurred())
	return read
}

var _ = Describe("the generated configuration", func() {
	DescribeTable("holds the master byte for byte (ENT-1)",
		func(master string) {
			Expect(string(around(master, Options{}).Text)).To(ContainSubstring("[" + master + "]"))
		},
		Entry("big integers", `{"cniVersion":"1.0.0","name":"n1","plugins":[{"type":"a","id":123456789012345678901234567890,"f":1.50}]}`),
		Entry("the order of keys", `{"plugins":[{"z":1,"type":"a","a":2}],"name":"n1","cniVersion":"1.0.0"}`),
		Entry("<, & and >", `{"cniVersion":"1.0.0","name":"n1","plugins":[{"type":"a","text":"<&> \u003c"}]}`),
		Entry("blanks and line breaks", "{\n\t\"cniVersion\": \"1.0.0\", \"name\": \"n1\",\n\t\"plugins\": [ { \"type\" : \"a\" } ]\n}"),
		Entry("a key given twice", `{"cniVersion":"1.0.0","name":"n1","name":"n2","type":"a"}`),
	)

	DescribeTable("takes its version, and by it its name (ENT-5)",
		func(asked, given, version, name string) {
			made := around(`{`+given+`"name":"n1","plugins":[{"type":"a"}]}`, Options{CNIVersion: asked})
			Expect(made.Name).To(Equal(name))
			Expect(asRun(made).CNIVersion).To(Equal(version))
		},
		Entry("from the options first", "1.1.0", `"cniVersion":"0.4.0",`, "1.1.0", "00-multus.conflist"),
		Entry("around an older master, which never stops a node (E082)", "1.1.0", `"cniVersion":"0.3.1",`, "1.1.0", "00-multus.conflist"),
		Entry("around a newer one", "0.3.1", `"cniVersion":"1.1.0",`, "0.3.1", "00-multus.conf"),
		Entry("from the master", "", `"cniVersion":"0.4.0",`, "0.4.0", "00-multus.conf"),
		Entry("from the master, 1.0.0", "", `"cniVersion":"1.0.0",`, "1.0.0", "00-multus.conflist"),
		Entry("from the versions that the master lists", "", `"cniVersions":["0.4.0","1.1.0"],`, "1.1.0", "00-multus.conflist"),
		Entry("1.0.0 otherwise", "", "", "1.0.0", "00-multus.conflist"),
	)

	It("refuses a version that no plugin speaks (ENT-10)", func() {
		master, err := Load(place("10-x.conflist", flannel))
		Expect(err).NotTo(HaveOccurred())
		for _, version := range []string{"9.0.0", "one", "1.0"} {
			_, err = Configure(Options{CNIVersion: version}, master)
			Expect(err).To(MatchError(ContainSubstring("cniVersion")), version)
		}
	})

	It("declares what any plugin of the master declares, and the pod's annotations (ENT-5, E092)", func() {
		made := around(`{"cniVersion":"1.0.0","name":"n1","plugins":[
			{"type":"a","capabilities":{"ips":false,"mac":true}},
			{"type":"portmap","capabilities":{"portMappings":true}},
			{"type":"bandwidth","capabilities":{"bandwidth":true,"mac":false}}]}`, Options{})
		Expect(asRun(made).Capabilities).To(Equal(map[string]bool{
			"mac": true, "portMappings": true, "bandwidth": true, config.PodAnnotationsCapability: true,
		}))
	})

	DescribeTable("records each option (ENT-11)",
		func(version string) {
			read := asRun(around(flannel, Options{
				CNIVersion: version, Kubeconfig: `/a b/"k"\=<&>`, ConfDir: "/conf", BinDir: "/bin", NamespaceIsolation: true,
				GlobalNamespaces: "default, blue", LogFile: "/log", LogLevel: "debug", QuietStderr: true,
				ReadinessIndicatorFile: "/ready", OverrideNetworkName: true,
			}))
			Expect(read.Name).To(Equal("cbr0"))
			Expect(read.Kubeconfig).To(Equal(`/a b/"k"\=<&>`))
			Expect(read.ConfDir).To(Equal("/conf"))
			Expect(read.BinDir).To(Equal("/bin"))
			Expect(read.NamespaceIsolation).To(BeTrue())
			Expect(read.GlobalNamespaces).To(Equal([]string{"default", "blue"}))
			Expect(read.Logging.File).To(Equal("/log"))
			Expect(read.Logging.Level).To(Equal("debug"))
			Expect(read.Logging.Stderr).To(BeFalse())
			Expect(read.ReadinessIndicatorFile).To(Equal("/ready"))
			Expect(read.Warnings).To(BeEmpty())
		},
		Entry("in a list", "1.0.0"),
		Entry("in a single plugin's configuration", "0.4.0"),
	)

	It("leaves out what was not asked for (ENT-11)", func() {
		made := around(flannel, Options{})
		read := asRun(made)
		Expect(read.Name).To(Equal("multus-cni-network"))
		Expect(read.Logging.Stderr).To(BeTrue())
		for _, key := range []string{"kubeconfig", "confDir", "binDir", "globalNamespaces", "log", "readiness", "Isolation"} {
			Expect(string(made.Text)).NotTo(ContainSubstring(key))
		}
	})

	It("writes out the plugins that the master's list pulls in from files (ENT-4)", func() {
		dir := GinkgoT().TempDir()
		put(dir, "cbr0/20-tuning.conf", `{"type":"tuning","big":123456789012345678901,"capabilities":{"mac":true}}`)
		master, err := Load(put(dir, "10-x.conflist", flannel))
		Expect(err).NotTo(HaveOccurred())
		made, err := Configure(Options{}, master)
		Expect(err).NotTo(HaveOccurred())
		read := asRun(made)
		Expect(read.Delegates[0].Plugins).To(HaveLen(2))
		Expect(string(read.Delegates[0].Plugins[1].Raw)).To(ContainSubstring("123456789012345678901"))
		Expect(read.Capabilities).To(HaveKey("mac"))
	})

	It("is the same each time (E112)", func() {
		first := around(flannel, Options{Kubeconfig: "/k"})
		for range 20 {
			Expect(around(flannel, Options{Kubeconfig: "/k"})).To(Equal(first))
		}
	})
})

var _ = Describe("a configuration that was written by hand (ENT-4)", func() {
	DescribeTable("is good",
		func(name, text string) {
			found, err := Read(place(name, text))
			Expect(err).NotTo(HaveOccurred())
			Expect(found).To(Equal(Configuration{Name: name, Text: []byte(text)}))
		},
		Entry("as a single plugin", "70-multus.conf", `{"cniVersion":"0.4.0","name":"n","type":"multus","delegates":[`+flannel+`]}`),
		Entry("as a list", "70-multus.conflist", `{"cniVersion":"1.0.0","name":"n","plugins":[{"type":"multus","clusterNetwork":"/etc/cni/net.d/x.conf"},{"type":"mesh"}]}`),
	)

	DescribeTable("is refused",
		func(name, text, why string) {
			_, err := Read(place(name, text))
			Expect(err).To(MatchError(ContainSubstring(why)))
		},
		Entry("empty", "a.conf", "", "ends at byte 0"),
		Entry("half-written", "a.conf", `{"cniVersion":"1.0.0","na`, "ends at byte 25"),
		Entry("a list called .conf (E113)", "a.conf", flannel, "call it .conflist"),
		Entry("a plugin called .conflist (E113)", "a.conflist", `{"cniVersion":"0.4.0","name":"n","type":"a"}`, "call it .conf"),
		Entry("under a name that no runtime reads", "a.conf.bak", `{"cniVersion":"0.4.0","name":"n","type":"a"}`, ".bak"),
		Entry("with a fault of ours", "a.conf", `{"cniVersion":"0.4.0","name":"n","type":"multus"}`, "delegates"),
		Entry("with us as our own delegate (E112)", "a.conf", `{"cniVersion":"0.4.0","name":"n","type":"multus","delegates":[{"type":"multus"}]}`, "itself"),
	)

	It("is reached by symbolic links (E125)", func() {
		text := `{"cniVersion":"0.4.0","name":"n","type":"a"}`
		dir := filepath.Dir(place("..2026/a.conf", text))
		Expect(os.Symlink(dir, filepath.Join(filepath.Dir(dir), "..data"))).To(Succeed())
		link := filepath.Join(filepath.Dir(dir), "a.conf")
		Expect(os.Symlink("..data/a.conf", link)).To(Succeed())
		found, err := Read(link)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(found.Text)).To(Equal(text))
		Expect(found.Name).To(Equal("a.conf"))
	})
})
