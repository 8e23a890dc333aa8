package exec

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/types"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// list and object make JSON values that read like them.
func list(elements ...any) []any { return append([]any{}, elements...) }

type object = node.Config

// wrongTypes makes an entry of each key with a value that is none for it.
func wrongTypes() []any {
	var entries []any
	add := func(wanted string, value any, keys ...string) {
		for _, key := range keys {
			entries = append(entries, Entry(fmt.Sprintf("%s: %v", key, value), key, value, key+": must be "+wanted))
		}
	}
	texts := []string{
		"confDir", "cniDir", "binDir", "kubeconfig", "clusterNetwork", "multusNamespace", "globalNamespaces",
		"readinessindicatorfile", "logLevel", "logFile", "kubeletDir", "auxiliaryCNIChainName",
	}
	add("a string", 5, texts...)
	add("a string", list("x"), texts...)
	add("a list", "n1", "delegates", "defaultNetworks", "systemNamespaces")
	add("a list", object{"type": "master"}, "delegates", "defaultNetworks", "systemNamespaces")
	add("true or false", "true", "namespaceIsolation", "logToStderr", "retryDeleteOnError", "allowTryDeleteOnErr")
	add("true or false", 1, "namespaceIsolation", "logToStderr", "retryDeleteOnError", "allowTryDeleteOnErr")
	add("an object", list(), "logOptions", "runtimeConfig", "capabilities", "prevResult", "args")
	add("an object", "x", "logOptions", "runtimeConfig", "capabilities", "prevResult", "args")
	return entries
}

var _ = Describe("values of the wrong type", func() {
	refused := func(change node.Config, text string) {
		GinkgoHelper()
		b := newBench()
		outcome := b.refused(b.pod("web-0", ""), []string{text}, change)
		Expect(outcome.Error().Code).To(BeEquivalentTo(types.ErrInvalidNetworkConfig))
		Expect(b.calls("ADD")).To(BeEmpty())
	}

	DescribeTable("are refused with their JSON path (CONF-2, CONF-4)", append([]any{
		func(key string, value any, text string) { refused(node.Config{key: value}, text) },
	}, wrongTypes()...)...)

	DescribeTable("are refused with their JSON path deeper down, too (CONF-2, CONF-4)",
		func(change node.Config, text string) { refused(change, text) },
		Entry(nil, node.Config{"logOptions": object{"maxAge": "5"}}, "logOptions.maxAge: must be a number"),
		Entry(nil, node.Config{"logOptions": object{"maxSize": -1}}, "logOptions.maxSize: must be a whole number"),
		Entry(nil, node.Config{"logOptions": object{"maxBackups": 1.5}}, "logOptions.maxBackups: must be a whole number"),
		Entry(nil, node.Config{"logOptions": object{"compress": "yes"}}, "logOptions.compress: must be true or false"),
		Entry(nil, node.Config{"capabilities": object{"portMappings": "yes"}}, "capabilities.portMappings: must be true or false"),
		Entry(nil, node.Config{"args": object{"cni": list()}}, "args.cni: must be an object"),
		Entry(nil, node.Config{"systemNamespaces": list("a", 1)}, "systemNamespaces[1]: must be a string"),
		Entry(nil, node.Config{"defaultNetworks": list(object{}, "n1"), "clusterNetwork": "n1"}, "defaultNetworks[0]: must be a string"),
		Entry(nil, node.Config{"logLevel": "loud"}, `logLevel: "loud" is not one of panic, error, verbose, debug`),
		Entry(nil, node.Config{"multusNamespace": "../kube-system"}, "multusNamespace: "),
		Entry(nil, node.Config{"auxiliaryCNIChainName": "../x"}, "auxiliaryCNIChainName: "),
	)

	DescribeTable("are refused by the CNI library where it looks first (CONF-4)",
		func(key string, value any) {
			b := newBench()
			b.refused(b.pod("web-0", ""), nil, node.Config{key: value})
		},
		Entry(nil, "cniVersion", 1),
		Entry(nil, "cniVersion", "one"),
		Entry(nil, "name", 5),
		Entry(nil, "name", ""),
		Entry(nil, "name", "../x"),
	)
})

var _ = Describe("faults of a configuration (CONF-2)", func() {
	var b *bench
	BeforeEach(func() { b = newBench() })

	DescribeTable("one of delegates and clusterNetwork is needed",
		func(change node.Config) {
			b.refused(b.pod("web-0", ""), []string{"delegates: missing", "clusterNetwork"}, change)
		},
		Entry("neither", node.Config{"delegates": nil}),
		Entry("an empty list", node.Config{"delegates": list()}),
		Entry("an empty name", node.Config{"delegates": nil, "clusterNetwork": ""}),
	)

	It("are reported all at once, each with its JSON path", func() {
		outcome := b.refused(b.pod("web-0", ""), []string{
			"delegates[1].plugins[0].type: missing", "delegates[1].plugins[1].ipam: ", "delegates[2].type: ",
			"logLevel: ", "binDir: ", "namespaceIsolation: ",
		}, node.Config{
			"delegates": list(
				object{"cniVersion": "1.0.0", "name": "main", "type": "master"},
				object{"cniVersion": "1.0.0", "name": "a", "plugins": list(object{"mtu": 1}, object{"type": "second", "ipam": "x"})},
				object{"cniVersion": "1.0.0", "name": "b", "type": "a/b"},
			),
			"logLevel": "loud", "binDir": 1, "namespaceIsolation": "yes",
		})
		Expect(outcome.Error().Code).To(BeEquivalentTo(types.ErrInvalidNetworkConfig))
	})

	It("include a missing version of our own where clusterNetwork hides the others' (E023)", func() {
		path := filepath.Join(b.Dir, "10-x.conflist")
		Expect(os.WriteFile(path, []byte(`{"cniVersion":"1.0.0","name":"x","plugins":[{"type":"master"}]}`), 0o600)).To(Succeed())
		outcome := b.refused(b.pod("web-0", ""), []string{"cniVersion: missing"}, node.Config{"delegates": nil, "clusterNetwork": path, "cniVersion": nil})
		Expect(outcome.Error().Msg).NotTo(ContainSubstring("not found"))
	})

	DescribeTable("do not include unknown keys, which the verbose log names (E142)",
		func(change node.Config, named string) {
			outcome := b.add(b.pod("web-0", ""), change, node.Config{"logLevel": "verbose"})
			Expect(outcome.Stderr).To(MatchRegexp(`(?m)\[verbose\] warning: unknown keys are ignored: .*` + named))
		},
		Entry("of a daemon", node.Config{"metricsPort": "9091"}, "metricsPort"),
		Entry("misspelled", node.Config{"kubeConfigPath": 1}, "kubeConfigPath"),
		Entry("inside of an object", node.Config{"logOptions": object{"maxLines": 1}}, "logOptions.maxLines"),
	)
})

var _ = Describe("what means the same (CONF-1)", func() {
	var b *bench
	BeforeEach(func() {
		b = newBench()
		b.nad("n1", secondary)
	})

	It("keys in any letter case", func() {
		for name, spell := range map[string]func(string) string{"upper": strings.ToUpper, "lower": strings.ToLower} {
			respelled := node.Config{"LogFile": filepath.Join(b.Dir, "log")}
			for key, value := range b.Config(node.Config{"systemNamespaces": list("blue")}) {
				respelled[spell(key)] = value
			}
			box := b.pod(name, "n1")
			outcome := b.runText("ADD", box, respelled.String())
			Expect(outcome.Exit).To(Equal(0), outcome.String())
			Expect(outcome.Stderr).NotTo(ContainSubstring("unknown keys"))
			Expect(b.status(name)).To(BeEmpty(), "its namespace is a system namespace")
			Expect(b.State()).To(ContainElement("plans/" + box.ContainerID + ":eth0"))
		}
		Expect(filepath.Join(b.Dir, "log")).To(BeARegularFile())
	})

	// Each default shows in what the plugin says or asks for; none of them exists on a machine that runs tests.
	DescribeTable("an empty string and the default, where it is a path",
		func(change node.Config, prepare func(), shown string) {
			prepare()
			b.refused(b.pod("web-0", "n1"), []string{shown}, change)
		},
		Entry("confDir", node.Config{"confDir": ""},
			func() { b.API.AddNAD(fake.NAD{Namespace: "blue", Name: "n1"}) }, "/etc/cni/multus/net.d"),
		Entry("binDir", node.Config{"binDir": ""},
			func() { b.nad("n1", `{"type":"absent"}`) }, "/opt/cni/bin"),
		Entry("kubeletDir", node.Config{"kubeletDir": ""}, func() {
			b.API.AddNAD(fake.NAD{Namespace: "blue", Name: "n1", Config: secondary, Annotations: map[string]string{"k8s.v1.cni.cncf.io/resourceName": "example.com/vf"}})
		}, "/var/lib/kubelet"),
	)

	DescribeTable("an empty value and none",
		func(key string, empty any) {
			box := b.pod("web-0", "n1")
			outcome := b.add(box, node.Config{key: empty})
			Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0", "ADD second net1"}))
			Expect(b.status("web-0")).To(HaveLen(2))
			Expect(outcome.Stderr).NotTo(ContainSubstring("waiting"))
			b.del(box, node.Config{key: empty})
		},
		Entry(nil, "clusterNetwork", ""),
		Entry(nil, "defaultNetworks", list()),
		Entry(nil, "multusNamespace", ""),
		Entry(nil, "systemNamespaces", list()),
		Entry(nil, "globalNamespaces", ""),
		Entry(nil, "readinessindicatorfile", ""),
		Entry(nil, "logLevel", ""),
		Entry(nil, "logFile", ""),
		Entry(nil, "logOptions", object{}),
		Entry(nil, "runtimeConfig", object{}),
		Entry(nil, "auxiliaryCNIChainName", ""),
	)

	It("an empty kubeconfig and no Kubernetes", func() {
		b.add(b.pod("web-0", ""), node.Config{"kubeconfig": ""})
		Expect(b.API.Count(fake.Any)).To(BeZero())
	})

	It("an empty list of system namespaces and kube-system alone (STAT-4)", func() {
		box, err := b.AddPodIn("kube-system", "dns-0", nil)
		Expect(err).NotTo(HaveOccurred())
		b.add(box, node.Config{"systemNamespaces": list()})
		Expect(b.API.Count(fake.PatchStatus)).To(BeZero())
	})
})

var _ = Describe("what keys do (CONF)", func() {
	var b *bench
	cluster := node.Config{"delegates": nil, "clusterNetwork": "cluster", "defaultNetworks": list("d1")}
	BeforeEach(func() {
		b = newBench()
		b.API.AddNAD(fake.NAD{Namespace: "kube-system", Name: "cluster", Config: `{"cniVersion":"1.0.0","type":"master"}`})
		b.API.AddNAD(fake.NAD{Namespace: "kube-system", Name: "d1", Config: `{"cniVersion":"1.0.0","type":"second","from":"kube-system"}`})
		b.nad("n1", secondary)
	})

	It("delegates: all of them, for every pod; a single plugin or a list", func() {
		several := node.Config{"delegates": list(
			object{"cniVersion": "1.0.0", "name": "main", "plugins": list(object{"type": "master"}, object{"type": "second"})},
			object{"cniVersion": "0.4.0", "name": "more", "type": "second"},
		)}
		b.add(b.pod("web-0", "n1"), several)
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0", "ADD second eth0", "ADD second net1", "ADD second net2"}))
	})

	It("clusterNetwork: delegates is ignored then, whatever is in it", func() {
		outcome := b.add(b.pod("web-0", ""), cluster, node.Config{"defaultNetworks": nil, "delegates": list(object{"type": "multus"})})
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0"}))
		Expect(outcome.Stderr).To(ContainSubstring("delegates is ignored"))
	})

	It("defaultNetworks: between the master and what the pod selects (E022)", func() {
		b.add(b.pod("web-0", "n1"), cluster)
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0", "ADD second net1", "ADD second net2"}))
		Expect(string(b.call("ADD second net1").Stdin)).To(ContainSubstring("kube-system"))
		Expect(b.status("web-0")).To(HaveLen(3))
	})

	It("defaultNetworks: of no effect without clusterNetwork", func() {
		outcome := b.add(b.pod("web-0", ""), node.Config{"defaultNetworks": list("d1")})
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0"}))
		Expect(outcome.Stderr).To(ContainSubstring("defaultNetworks is ignored"))
	})

	It("systemNamespaces: pods there get no defaultNetworks and no status, but what they select", func() {
		system := node.Config{"systemNamespaces": list("red", "blue")}
		b.add(b.pod("web-0", "n1"), cluster, system)
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0", "ADD second net1"}))
		Expect(string(b.call("ADD second net1").Stdin)).NotTo(ContainSubstring("kube-system"))
		Expect(b.status("web-0")).To(BeEmpty())
	})

	It("systemNamespaces: replaces the default list", func() {
		box, err := b.AddPodIn("kube-system", "dns-0", nil)
		Expect(err).NotTo(HaveOccurred())
		b.add(box, cluster, node.Config{"systemNamespaces": list("red")})
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0", "ADD second net1"}))
		Expect(b.API.Annotations("kube-system", "dns-0")).To(HaveKey("k8s.v1.cni.cncf.io/network-status"))
	})

	It("multusNamespace: where clusterNetwork, defaultNetworks and the default-network annotation look (E019)", func() {
		for _, name := range []string{"cluster", "d1", "n1"} {
			b.API.AddNAD(fake.NAD{Namespace: "net-sys", Name: name, Config: `{"cniVersion":"1.0.0","type":"second","from":"net-sys"}`})
		}
		there := node.Config{"multusNamespace": "net-sys"}
		b.add(b.pod("web-0", ""), cluster, there)
		b.add(b.podWith("web-1", map[string]string{"v1.multus-cni.io/default-network": "n1"}), cluster, there)
		calls, err := b.Delegates.Of("ADD")
		Expect(err).NotTo(HaveOccurred())
		Expect(calls).To(HaveLen(4))
		for _, call := range calls {
			Expect(string(call.Stdin)).To(ContainSubstring("net-sys"), call.String())
		}
	})

	DescribeTable("namespaceIsolation and globalNamespaces: which namespaces a pod may use (NET-10, E029)",
		func(global any, allowed ...string) {
			change := node.Config{"namespaceIsolation": true, "globalNamespaces": global}
			for i, namespace := range []string{"blue", "default", "a", "c"} {
				b.API.AddNAD(fake.NAD{Namespace: namespace, Name: "n1", Config: secondary})
				box := b.pod(fmt.Sprintf("web-%d", i), namespace+"/n1")
				if slices.Contains(allowed, namespace) {
					b.add(box, change)
					b.del(box, change)
					continue
				}
				b.refused(box, []string{"pod blue/web-", "network " + namespace + "/n1", "namespaceIsolation"}, change)
			}
		},
		Entry("no list", nil, "blue", "default"),
		Entry("an empty list", "", "blue", "default"),
		Entry("a list", "a,b", "blue", "a"),
		Entry("a list with blanks", " a , b ", "blue", "a"),
	)

	It("cniDir: all state is below it", func() {
		other := filepath.Join(b.Dir, "other", "state")
		box := b.pod("web-0", "n1")
		b.add(box, node.Config{"cniDir": other})
		Expect(filepath.Join(other, "plans", box.ContainerID+":eth0")).To(BeARegularFile())
		b.expectNoState()
	})

	It("runtimeConfig: goes to the master alone, with every key that its plugins declare (NET-9)", func() {
		declares := object{"portMappings": true, "dns": true}
		b.nad("n1", `{"cniVersion":"1.0.0","type":"second","capabilities":{"portMappings":true}}`)
		b.add(b.pod("web-0", "n1"), node.Config{
			"delegates":     list(object{"cniVersion": "1.0.0", "name": "main", "type": "master", "capabilities": declares}),
			"runtimeConfig": object{"portMappings": list(object{"hostPort": 8080}), "dns": object{"searches": list("a")}, "other": 1},
		})
		config, err := b.call("ADD master eth0").Config()
		Expect(err).NotTo(HaveOccurred())
		Expect(config["runtimeConfig"]).To(And(HaveLen(2), HaveKey("portMappings"), HaveKey("dns")))
		Expect(string(b.call("ADD second net1").Stdin)).NotTo(ContainSubstring("runtimeConfig"))
	})

	DescribeTable("retryDeleteOnError, allowTryDeleteOnErr: accepted, and of no effect",
		func(value bool) {
			outcome := b.add(b.pod("web-0", ""), node.Config{"retryDeleteOnError": value, "allowTryDeleteOnErr": value})
			Expect(outcome.Stderr).NotTo(ContainSubstring("unknown keys"))
		},
		Entry(nil, true),
		Entry(nil, false),
	)
})

var _ = Describe("a delegate that is this plugin (CONF-3, E058)", func() {
	var b *bench
	BeforeEach(func() { b = newBench() })

	DescribeTable("is refused with that reason, wherever it hides",
		func(delegate object, path string) {
			b.refused(b.pod("web-0", ""), []string{path, "call itself"}, node.Config{"delegates": list(delegate)})
			Expect(b.calls("ADD")).To(BeEmpty())
		},
		Entry(nil, object{"name": "x", "type": "multus"}, "delegates[0].type"),
		Entry(nil, object{"name": "x", "plugins": list(object{"type": "master"}, object{"type": "multus"})}, "delegates[0].plugins[1].type"),
		Entry(nil, object{"name": "x", "plugins": list(object{"type": "master", "plugins": list(object{"type": "multus"})})}, "delegates[0].plugins[0].plugins[0].type"),
	)

	It("is refused in a NAD", func() {
		b.nad("n1", `{"plugins":[{"type":"second"},{"type":"multus"}]}`)
		b.refused(b.pod("web-0", "n1"), []string{"pod blue/web-0", "network blue/n1", "plugins[1].type", "call itself"})
		Expect(b.calls("ADD")).To(BeEmpty())
	})

	It("is refused in a file that clusterNetwork names", func() {
		Expect(b.WriteConfig("10-a.conf", `{"cniVersion":"1.0.0","name":"a","type":"multus"}`)).To(Succeed())
		b.refused(b.pod("web-0", ""), []string{"type", "call itself"}, node.Config{"delegates": nil, "clusterNetwork": b.ConfDir + "/10-a.conf"})
	})

	It("is known by the name of the executable, too", func() {
		ours := filepath.Join(b.BinDir, "node-meta")
		Expect(os.Symlink(b.Binary, ours)).To(Succeed())
		b.Binary = ours
		b.refused(b.pod("web-0", ""), []string{"delegates[0].type", "node-meta", "call itself"},
			node.Config{"delegates": list(object{"name": "x", "type": "node-meta"})})
	})
})
