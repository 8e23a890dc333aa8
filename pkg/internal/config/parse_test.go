package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/logging"
)

const delegates = `"delegates":[{"type":"fake"}]`

var _ = Describe("Parse", func() {
	DescribeTable("what is not set (CONF-1)",
		func(settings string) {
			cfg := parse(`{"name":"m","type":"multus",` + settings + delegates + `}`)
			Expect(cfg.CNIVersion).To(Equal("0.1.0"))
			Expect(cfg.ConfDir).To(Equal("/etc/cni/multus/net.d"))
			Expect(cfg.CNIDir).To(Equal("/var/lib/cni/multus"))
			Expect(cfg.BinDir).To(Equal("/opt/cni/bin"))
			Expect(cfg.KubeletDir).To(Equal("/var/lib/kubelet"))
			Expect(cfg.Kubeconfig).To(BeEmpty())
			Expect(cfg.DefaultNetworks).To(BeEmpty())
			Expect(cfg.MultusNamespace).To(Equal("kube-system"))
			Expect(cfg.SystemNamespaces).To(Equal([]string{"kube-system"}))
			Expect(cfg.GlobalNamespaces).To(Equal([]string{"default"}))
			Expect(cfg.NamespaceIsolation).To(BeFalse())
			Expect(cfg.Logging).To(Equal(logging.Options{
				Level:    "panic",
				Stderr:   true,
				Rotation: logging.Rotation{MaxAge: 5, MaxSize: 100, MaxBackups: 5, Compress: true},
			}))
			Expect(cfg.PrevResult).To(BeNil())
			Expect(cfg.Warnings).To(BeEmpty())
		},
		Entry("because it is not there", ``),
		Entry("because it is null", `"confDir":null,"systemNamespaces":null,"logOptions":null,"logToStderr":null,"prevResult":null,"runtimeConfig":null,`),
		Entry("because it is empty", `"cniVersion":"","confDir":"","cniDir":"","binDir":"","kubeletDir":"","kubeconfig":"","clusterNetwork":"","defaultNetworks":[],
			"multusNamespace":"","systemNamespaces":[""],"globalNamespaces":" , ","logLevel":"","logOptions":{},`),
	)

	It("reads every key of the table", func() {
		cfg := parse(`{"cniVersion":"1.1.0","name":"m","type":"multus","capabilities":{"ips":true,"mac":false},"prevResult":{"a": 1},
			"confDir":"/c","cniDir":"/s","binDir":"/b","kubeconfig":"/k","kubeletDir":"/l","clusterNetwork":"main","defaultNetworks":["one","/two"],
			"multusNamespace":"net-sys","systemNamespaces":["a","b"],"namespaceIsolation":true,"globalNamespaces":"a, b","readinessindicatorfile":"/r",
			"logLevel":"Verbose","logFile":"/f","logToStderr":false,"logOptions":{"maxAge":1,"maxSize":2,"maxBackups":0,"compress":false},
			"runtimeConfig":{"x":[1, 2]},"retryDeleteOnError":true,"allowTryDeleteOnErr":true,"auxiliaryCNIChainName":"aux"}`)
		Expect(cfg).To(Equal(&config.Config{
			CNIVersion:             "1.1.0",
			Name:                   "m",
			Capabilities:           map[string]bool{"ips": true, "mac": false},
			PrevResult:             json.RawMessage(`{"a": 1}`),
			ConfDir:                "/c",
			CNIDir:                 "/s",
			BinDir:                 "/b",
			Kubeconfig:             "/k",
			KubeletDir:             "/l",
			ClusterNetwork:         "main",
			DefaultNetworks:        []string{"one", "/two"},
			MultusNamespace:        "net-sys",
			SystemNamespaces:       []string{"a", "b"},
			NamespaceIsolation:     true,
			GlobalNamespaces:       []string{"a", "b"},
			AuxiliaryCNIChainName:  "aux",
			ReadinessIndicatorFile: "/r",
			Logging:                logging.Options{Level: "verbose", File: "/f", Rotation: logging.Rotation{MaxAge: 1, MaxSize: 2}},
			RuntimeConfig:          map[string]json.RawMessage{"x": json.RawMessage(`[1, 2]`)},
		}))
	})

	It("does not care for the letter case of keys (CONF-1)", func() {
		cfg := parse(`{"cniversion":"1.0.0","NAME":"m","LogLevel":"DEBUG","LogFile":"/f","BINDIR":"/b","Delegates":[{"type":"fake"}]}`)
		Expect(cfg.Logging.Level).To(Equal("debug"))
		Expect(cfg.Logging.File).To(Equal("/f"))
		Expect(cfg.BinDir).To(Equal("/b"))
		Expect(cfg.Delegates).To(HaveLen(1))
		Expect(cfg.Warnings).To(BeEmpty())
	})

	It("reads delegates, lists and single plugins, the master first", func() {
		cfg := parse(`{"name":"m","delegates":[{"name":"net-a","cniVersion":"0.3.1","plugins":[{"type":"a"},{"type":"b"}]},{"type":"c"}]}`)
		Expect(cfg.Delegates).To(HaveLen(2))
		Expect(cfg.Delegates[0].Name).To(Equal("net-a"))
		Expect(cfg.Delegates[0].Plugins).To(HaveLen(2))
		Expect(cfg.Delegates[1].Name).To(Equal("m"), "one without a name gets ours")
	})

	It("ignores delegates beside clusterNetwork, whatever they are", func() {
		cfg := parse(`{"cniVersion":"1.0.0","clusterNetwork":"main","delegates":[null]}`)
		Expect(cfg.Delegates).To(BeEmpty())
		Expect(cfg.Warnings).To(HaveExactElements(HavePrefix("delegates is ignored")))
	})

	It("warns of keys without effect (CONF-2, E142)", func() {
		cfg := parse(`{"metricsPort":"9091","cniVersion":"1.0.0","Foo":1,"ipam":{},"defaultNetworks":["x"],"auxiliaryCNIChainName":"aux","logOptions":{"maxBackup":1},` + delegates + `,"name":"m"}`)
		Expect(cfg.Warnings).To(HaveExactElements(
			HavePrefix("defaultNetworks is ignored"),
			HavePrefix("auxiliaryCNIChainName is ignored"),
			"unknown keys are ignored: Foo, metricsPort, logOptions.maxBackup",
		))
	})

	DescribeTable("faults with their JSON path (CONF-2, CONF-4)",
		func(text string, want ...string) {
			cfg, err := config.Parse([]byte(text), "multus")
			var faults config.Faults
			Expect(err).To(BeAssignableToTypeOf(faults))
			Expect(strings.Split(err.Error(), "; ")).To(HaveExactElements(want))
			Expect(cfg).NotTo(BeNil())
		},
		Entry("neither delegates nor clusterNetwork", `{}`, "delegates: missing", "one of delegates, clusterNetwork is needed"),
		Entry("no delegates", `{"delegates":[ ]}`, "delegates: missing", "one of delegates, clusterNetwork is needed"),
		Entry("delegates no list", `{"delegates":{}}`, "delegates: must be a list, is an object"),
		Entry("delegates of null", `{"delegates":[null]}`, "delegates[0]: must be an object, is null"),
		Entry("no name anywhere", `{"delegates":[{"type":"a"}]}`, "delegates[0].name: missing"),
		Entry("all at once", `{"name":"m","binDir":7,"logOptions":{"maxSize":"1","maxAge":-1,"maxBackups":1.5,"compress":1},"logToStderr":"yes","namespaceIsolation":"true",
			"systemNamespaces":"a","defaultNetworks":["a",1],"globalNamespaces":["a"],"runtimeConfig":[],"prevResult":"x","capabilities":{"a":1},"args":"x",
			"delegates":[{"type":"a"},{"plugins":[{"name":"x"}]},{"plugins":[]},7]}`,
			"capabilities.a: must be true or false, is a number",
			"prevResult: must be an object, is a string",
			"binDir: must be a string, is a number",
			"defaultNetworks[1]: must be a string, is a number",
			"systemNamespaces: must be a list, is a string",
			"namespaceIsolation: must be true or false, is a string",
			"globalNamespaces: must be a string, is a list",
			"runtimeConfig: must be an object, is a list",
			"logToStderr: must be true or false, is a string",
			"logOptions.maxAge: must be a whole number from 0 to 2147483647, is -1",
			"logOptions.maxSize: must be a number, is a string",
			"logOptions.maxBackups: must be a whole number from 0 to 2147483647, is 1.5",
			"logOptions.compress: must be true or false, is a number",
			"delegates[1].plugins[0].type: missing",
			"delegates[2].plugins: must not be empty",
			"delegates[3]: must be an object, is a number",
			"args: must be an object, is a string"),
		Entry("a log level that there is not", `{"logLevel":"loud","name":"m",`+delegates+`}`, `logLevel: "loud" is not one of panic, error, verbose, debug`),
		Entry("clusterNetwork without our own version (E023)", `{"name":"m","type":"multus","clusterNetwork":"/tmp/c/10-x.conflist"}`,
			"cniVersion: missing", "with clusterNetwork the configuration itself has to name one"),
		Entry("a version that is no version", `{"cniVersion":"new","name":"m",`+delegates+`}`,
			`cniVersion: "new" is not one of 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0`),
		Entry("a chain outside of its directory (SEC-2)", `{"cniVersion":"1.0.0","clusterNetwork":"n","auxiliaryCNIChainName":"../x"}`,
			`auxiliaryCNIChainName: "../x": invalid characters found in network name`),
	)

	It("checks the namespace that becomes part of a request", func() {
		cfg, err := config.Parse([]byte(`{"multusNamespace":"Bad_Ns","name":"m",`+delegates+`}`), "multus")
		Expect(err).To(MatchError(HavePrefix("multusNamespace: ")))
		Expect(cfg.MultusNamespace).To(Equal("kube-system"))
	})

	It("gives what a DEL needs in spite of faults", func() {
		cfg, err := config.Parse([]byte(`{"name":"m","cniDir":"/s","binDir":"/b","delegates":[{"name":"good","type":"a"},{"type":7}]}`), "multus")
		Expect(err).To(MatchError(ContainSubstring("delegates[1].type")))
		Expect(cfg.CNIDir).To(Equal("/s"))
		Expect(cfg.BinDir).To(Equal("/b"))
		Expect(cfg.Delegates).To(HaveExactElements(HaveField("Name", "good")))
	})

	It("has the code of an invalid network configuration", func() {
		_, err := config.Parse([]byte(`{}`), "multus")
		var faults config.Faults
		Expect(errors.As(err, &faults)).To(BeTrue())
		Expect(faults.CNICode()).To(BeEquivalentTo(7))
	})

	DescribeTable("what is no configuration at all (CONF-4)",
		func(text, want string) {
			cfg, err := config.Parse([]byte(text), "multus")
			Expect(cfg).To(BeNil())
			Expect(err).To(MatchError(HavePrefix("configuration: " + want)))
		},
		Entry("nothing", ``, "not valid JSON: ends at byte 0"),
		Entry("a list", `[null]`, "must be an object, is a list"),
		Entry("half of it", `{"name":"m"`, "not valid JSON: ends at byte 11"),
		Entry("a bomb", `{"delegates":`+strings.Repeat("[", 1<<20), "not valid JSON: nested deeper than"),
		Entry("a large one", strings.Repeat(" ", 16<<20), "16777216 bytes long"),
	)

	DescribeTable("self-delegation (CONF-3, E058)",
		func(delegates, path string) {
			cfg, err := config.Parse([]byte(`{"name":"m","delegates":[`+delegates+`]}`), "my-multus")
			Expect(err).To(MatchError(HavePrefix(path + ": ")))
			Expect(err).To(MatchError(ContainSubstring("call itself")))
			Expect(cfg.Delegates).To(BeEmpty())
		},
		Entry("plain", `{"type":"multus"}`, "delegates[0].type"),
		Entry("by our own name", `{"type":"my-multus"}`, "delegates[0].type"),
		Entry("in a list (C2)", `{"plugins":[{"type":"multus"}]}`, "delegates[0].plugins[0].type"),
		Entry("deeper", `{"plugins":[{"type":"a","plugins":[{"type":"multus"}]}]}`, "delegates[0].plugins[0].plugins[0].type"),
	)

	DescribeTable("annotations from the runtime (NET-17)",
		func(runtimeConfig string, want map[string]string, known bool) {
			annotations, found, err := parse(`{"name":"m","runtimeConfig":{` + runtimeConfig + `},` + delegates + `}`).PodAnnotations()
			Expect(err).NotTo(HaveOccurred())
			Expect(found).To(Equal(known))
			Expect(annotations).To(Equal(want))
		},
		Entry("none handed over", `"ips":[]`, nil, false),
		Entry("null", `"io.kubernetes.cri.pod-annotations":null`, nil, false),
		Entry("a pod without any", `"io.kubernetes.cri.pod-annotations":{}`, map[string]string{}, true),
		Entry("some", `"io.kubernetes.cri.pod-annotations":{"a":"b"}`, map[string]string{"a": "b"}, true),
	)

	It("refuses annotations that are none (NET-17)", func() {
		_, _, err := parse(`{"name":"m","runtimeConfig":{"io.kubernetes.cri.pod-annotations":["a"]},` + delegates + `}`).PodAnnotations()
		Expect(err).To(MatchError(HavePrefix("runtimeConfig.io.kubernetes.cri.pod-annotations: ")))
	})

	DescribeTable("real configurations run unchanged",
		func(file string, check func(*config.Config)) {
			text, err := os.ReadFile(filepath.Join("testdata", file))
			Expect(err).NotTo(HaveOccurred())
			cfg := parse(string(element(text)))
			Expect(cfg.Warnings).To(BeEmpty())
			check(cfg)
		},
		Entry("C1: flannel's list inside", "c1.conf", func(cfg *config.Config) {
			Expect(cfg.Capabilities).To(HaveKeyWithValue("portMappings", true))
			Expect(cfg.Kubeconfig).To(Equal("/etc/cni/net.d/multus.d/multus.kubeconfig"))
			Expect(cfg.Delegates[0].CNIVersion).To(Equal("1.0.0"))
			Expect(cfg.Delegates[0].Declares("portMappings")).To(BeTrue())
			Expect(string(cfg.Delegates[0].Plugins[0].Raw)).To(Equal(`{"type":"flannel","delegate":{"hairpinMode":true,"isDefaultGateway":true}}`))
		}),
		Entry("C2: inside a list", "c2.conflist", func(cfg *config.Config) {
			Expect(cfg.Name).To(Equal("multus-cni-network"))
			Expect(cfg.Logging.Level).To(Equal("verbose"))
			Expect(cfg.Delegates[0].Plugins).To(HaveLen(2))
		}),
		Entry("C3: all options", "c3.conf", func(cfg *config.Config) {
			Expect(cfg.ClusterNetwork).To(Equal("/etc/cni/net.d/10-primary.conflist"))
			Expect(cfg.DefaultNetworks).To(Equal([]string{"sidecar"}))
			Expect(cfg.Logging.File).To(Equal("/var/log/multus.log"))
		}),
		Entry("C4: isolation, chained", "c4.conflist", func(cfg *config.Config) {
			Expect(cfg.NamespaceIsolation).To(BeTrue())
			Expect(cfg.GlobalNamespaces).To(Equal([]string{"default", "net-shared"}))
			Expect(cfg.ReadinessIndicatorFile).To(Equal("/run/example/cni/80-primary.conf"))
			Expect(cfg.Delegates[0].Plugins[0].Type).To(Equal("primary-cni"))
		}),
	)
})

func parse(text string) *config.Config {
	GinkgoHelper()
	cfg, err := config.Parse([]byte(text), "multus")
	Expect(err).NotTo(HaveOccurred())
	return cfg
}

// element gives what a runtime hands to us of a configuration file: of a list our own element, with the list's name
// and version.
func element(file []byte) []byte {
	GinkgoHelper()
	list, err := config.ParseObject(file)
	Expect(err).NotTo(HaveOccurred())
	plugins, isList := list.Get("plugins")
	if !isList {
		return file
	}
	var elements []json.RawMessage
	Expect(json.Unmarshal(plugins, &elements)).To(Succeed())
	plugin, err := config.ParseObject(elements[0])
	Expect(err).NotTo(HaveOccurred())
	for _, key := range []string{"name", "cniVersion"} {
		value, _ := list.Get(key)
		plugin.Set(key, value)
	}
	return plugin.Bytes()
}
