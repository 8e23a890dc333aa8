package exec

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/containernetworking/cni/pkg/types"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
	"github.com/seed-2ba21eab/multus-cni/test/fake/recorder"
)

// write puts files into a directory of the node, by name and content, and gives its path.
func (b *bench) write(dir string, files map[string]string) string {
	GinkgoHelper()
	path := filepath.Join(b.Dir, dir)
	Expect(os.MkdirAll(path, 0o755)).To(Succeed())
	for name, content := range files {
		Expect(os.WriteFile(filepath.Join(path, name), []byte(content), 0o600)).To(Succeed())
	}
	return path
}

// from is the key "from" in a delegate's configuration, by which tests tell configurations apart.
func (b *bench) from(call string) any {
	GinkgoHelper()
	config, err := b.call(call).Config()
	Expect(err).NotTo(HaveOccurred())
	return config["from"]
}

var _ = Describe("networks by name and by path (CONF-5)", func() {
	const inFile = `{"cniVersion":"1.0.0","name":"cluster","type":"master","from":"a file"}`
	var b *bench
	var box node.Sandbox
	byName := node.Config{"delegates": nil, "clusterNetwork": "cluster"}
	BeforeEach(func() {
		b = newBench()
		box = b.pod("web-0", "")
		Expect(b.WriteConfig("50-cluster.conf", inFile)).To(Succeed())
	})

	It("a name is the NAD of that name", func() {
		b.API.AddNAD(fake.NAD{Namespace: "kube-system", Name: "cluster", Config: `{"cniVersion":"1.0.0","type":"master","from":"a NAD"}`})
		b.add(box, byName)
		Expect(b.from("ADD master eth0")).To(Equal("a NAD"))
		Expect(b.status("web-0")[0].Name).To(Equal("kube-system/cluster"))
	})

	It("a name without a NAD is the file of that name", func() {
		b.add(box, byName)
		Expect(b.from("ADD master eth0")).To(Equal("a file"))
		Expect(b.status("web-0")[0].Name).To(Equal("cluster"))
	})

	It("a name is the file where there is no API server to ask", func() {
		b.add(b.sandbox(), byName, node.Config{"kubeconfig": nil})
		Expect(b.from("ADD master eth0")).To(Equal("a file"))
	})

	It("any other failure than \"not found\" is no reason to take the file", func() {
		b.API.Fail(fake.GetNAD, fake.Always, 403, "")
		b.refused(box, []string{"pod blue/web-0", "kube-system/cluster", "forbidden", fake.User}, byName)
		Expect(b.calls("ADD")).To(BeEmpty())
	})

	DescribeTable("what is found nowhere fails and says where it was looked for",
		func(change node.Config, texts ...string) {
			b.refused(box, append(texts, "pod blue/web-0", "kube-system/absent", b.ConfDir), change)
			Expect(b.calls("ADD")).To(BeEmpty())
		},
		Entry(nil, node.Config{"delegates": nil, "clusterNetwork": "absent"}, "clusterNetwork"),
		Entry(nil, node.Config{"delegates": nil, "clusterNetwork": "cluster", "defaultNetworks": list("absent")}, "defaultNetworks[0]"),
	)

	It("a value with a slash is a file, or a directory's first in lexical order", func() {
		dir := b.write("cluster.d", map[string]string{
			"20-b.conf":     `{"cniVersion":"1.0.0","name":"b","type":"master","from":"b"}`,
			"10-a.json":     `{"cniVersion":"1.0.0","name":"a","type":"master","from":"a"}`,
			"00-not.txt":    `not a configuration`,
			"30-c.conflist": `{"cniVersion":"1.0.0","name":"c","plugins":[{"type":"second","from":"c"}]}`,
		})
		b.add(box, node.Config{"delegates": nil, "clusterNetwork": dir, "defaultNetworks": list(dir + "/30-c.conflist")})
		Expect(b.from("ADD master eth0")).To(Equal("a"))
		Expect(b.from("ADD second net1")).To(Equal("c"))
		Expect(b.API.Count(fake.GetNAD)).To(BeZero())
	})

	DescribeTable("a path without a configuration fails and names it",
		func(path string, texts ...string) {
			b.write("empty", nil)
			b.refused(box, append(texts, "pod blue/web-0", "clusterNetwork"), node.Config{"delegates": nil, "clusterNetwork": filepath.Join(b.Dir, path)})
		},
		Entry("no such file", "absent/10-a.conf", "absent/10-a.conf"),
		Entry("an empty directory", "empty", "/empty", ".conflist"),
	)
})

var _ = Describe("a configuration file by network name (CONF-6)", func() {
	var b *bench
	BeforeEach(func() {
		b = newBench()
		b.API.AddNAD(fake.NAD{Namespace: "blue", Name: "n1"})
	})

	It("is looked for among lists first, past files that cannot be read, with a warning (NET-11)", func() {
		b.write("net.d", map[string]string{
			"00-broken.conflist": `{"name":"n1","plugins":[`,
			"05-n1.conf":         `{"cniVersion":"1.0.0","name":"n1","type":"second","from":"single"}`,
			"10-other.conflist":  `{"cniVersion":"1.0.0","name":"n10","plugins":[{"type":"second","from":"other"}]}`,
			"90-n1.conflist":     `{"cniVersion":"1.0.0","name":"n1","plugins":[{"type":"second","from":"list"}]}`,
		})
		Expect(os.Mkdir(filepath.Join(b.ConfDir, "01-directory.conf"), 0o755)).To(Succeed())
		Expect(syscall.Mkfifo(filepath.Join(b.ConfDir, "02-fifo.conflist"), 0o600)).To(Succeed())
		outcome := b.add(b.pod("web-0", "n1"))
		Expect(b.from("ADD second net1")).To(Equal("list"))
		Expect(outcome.Stderr).To(And(
			ContainSubstring("00-broken.conflist: passed over"), ContainSubstring("02-fifo.conflist: passed over")))
	})

	It("must be there if the NAD has no configuration (NET-11)", func() {
		b.refused(b.pod("web-0", "n1"), []string{"pod blue/web-0", "network blue/n1", "spec.config is empty", b.ConfDir})
	})

	DescribeTable("may be a list or a single plugin, whatever its name says (E113)",
		func(name, content string) {
			path := filepath.Join(b.write("cluster.d", map[string]string{name: content}), name)
			b.add(b.pod("web-0", ""), node.Config{"delegates": nil, "clusterNetwork": path})
			Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0"}))
		},
		Entry(nil, "10-x.conflist", `{"cniVersion":"1.0.0","name":"x","type":"master"}`),
		Entry(nil, "10-x.conf", `{"cniVersion":"1.0.0","name":"x","plugins":[{"type":"master"}]}`),
	)

	It("must be a network: what is missing is named with the file (E113)", func() {
		dir := b.write("cluster.d", map[string]string{"10-x.conflist": `{"type":"fake"}`})
		b.refused(b.pod("web-0", ""), []string{"10-x.conflist", "name: missing"}, node.Config{"delegates": nil, "clusterNetwork": dir})
	})
})

// exotic has keys that a plugin alone understands, and values that decoding and encoding would change.
const exotic = `"big":12345678901234567890123,"html":"<&>","ratio":1.0,"kubernetes":{"kubeconfig":"/x","nested":[{"a":null}]},"empty":{}`

var _ = Describe("what a delegate gets (CONF-7)", func() {
	const network = `{"cniVersion":"1.0.0","name":"n1","plugins":[{"type":"second",` + exotic + `},{"type":"third",` + exotic + `,"ipam":{"type":"x","range":9007199254740993}}]}`
	var b *bench
	BeforeEach(func() {
		b = newBench()
		for _, name := range []string{"master", "second", "third"} {
			b.behave(name, script.Rule{Command: "ADD", Result: hostOnly})
		}
	})

	// own is a delegate's configuration without what each verb adds.
	own := func(call recorder.Call) map[string]any {
		GinkgoHelper()
		decoder := json.NewDecoder(bytes.NewReader(call.Stdin))
		decoder.UseNumber()
		var config map[string]any
		Expect(decoder.Decode(&config)).To(Succeed())
		delete(config, "prevResult")
		return config
	}

	DescribeTable("on ADD it gets on CHECK and DEL, byte for byte (E046)",
		func(networks, ifname string, configure func() node.Config) {
			stdin := strings.Replace(b.Config(configure()).String(), `"NETWORK"`, network, 1)
			box := b.pod("web-0", networks)
			for _, verb := range []string{"ADD", "CHECK", "DEL"} {
				outcome := b.runText(verb, box, stdin)
				Expect(outcome.Exit).To(Equal(0), outcome.String())
				for _, plugin := range []string{"second", "third"} {
					call := b.call(verb + " " + plugin + " " + ifname)
					Expect(string(call.Stdin)).To(ContainSubstring(exotic))
					Expect(own(call)).To(Equal(own(b.call("ADD " + plugin + " " + ifname))))
				}
			}
			b.expectNoState()
		},
		Entry("from our own configuration", "", "eth0", func() node.Config {
			return node.Config{"delegates": list("NETWORK")}
		}),
		Entry("from a NAD", "n1", "net1", func() node.Config {
			b.nad("n1", network)
			return nil
		}),
		Entry("from a file that stands in for a NAD's configuration", "n1", "net1", func() node.Config {
			b.API.AddNAD(fake.NAD{Namespace: "blue", Name: "n1"})
			b.write("net.d", map[string]string{"n1.conflist": network})
			return nil
		}),
		Entry("from a file by path", "", "eth0", func() node.Config {
			return node.Config{"delegates": nil, "clusterNetwork": b.write("cluster.d", map[string]string{"n1.conflist": network})}
		}),
		Entry("from a file and a directory of further plugins", "", "eth0", func() node.Config {
			b.write("cluster.d/n1", map[string]string{"10-third.conf": `{"type":"third",` + exotic + `}`})
			dir := b.write("cluster.d", map[string]string{"n1.conflist": `{"cniVersion":"1.0.0","name":"n1","plugins":[{"type":"second",` + exotic + `}]}`})
			return node.Config{"delegates": nil, "clusterNetwork": dir + "/n1.conflist"}
		}),
	)

	DescribeTable("plugins in <dir>/<list name>/*.conf join a list that was loaded from a file, unless it says not to",
		func(key string, want ...string) {
			b.write("cluster.d/main", map[string]string{
				"20-b.conf": `{"type":"third"}`, "10-a.conf": `{"type":"second"}`, "00-c.json": `{"type":"absent"}`,
			})
			dir := b.write("cluster.d", map[string]string{"main.conflist": `{"cniVersion":"1.0.0","name":"main",` + key + `"plugins":[{"type":"master"}]}`})
			b.add(b.pod("web-0", ""), node.Config{"delegates": nil, "clusterNetwork": dir + "/main.conflist"})
			Expect(b.calls("ADD")).To(Equal(want))
		},
		Entry("by default", ``, "ADD master eth0", "ADD second eth0", "ADD third eth0"),
		Entry("asked to", `"loadOnlyInlinedPlugins":false,`, "ADD master eth0", "ADD second eth0", "ADD third eth0"),
		Entry("asked not to", `"loadOnlyInlinedPlugins":true,`, "ADD master eth0"),
	)

	It("in a list is the result of the plugin before it; DEL goes in reverse (E091)", func() {
		b.behave("second", script.Rule{Command: "ADD", Result: resultOf("1.0.0", "net1", "192.0.2.7/24", "2001:db8::7/64")})
		Expect(b.Delegates.Install("third")).To(Succeed())
		b.nad("n1", network)
		box := b.pod("web-0", "n1")
		b.add(box)
		Expect(string(b.call("ADD second net1").Stdin)).NotTo(ContainSubstring("prevResult"))
		config, err := b.call("ADD third net1").Config()
		Expect(err).NotTo(HaveOccurred())
		previous, err := json.Marshal(config["prevResult"])
		Expect(err).NotTo(HaveOccurred())
		Expect(addresses(previous)).To(Equal([]string{"192.0.2.7/24", "2001:db8::7/64"}))
		Expect(b.status("web-0")[1].IPs).To(Equal([]string{"192.0.2.7", "2001:db8::7"}))
		b.del(box)
		Expect(b.calls("DEL")).To(Equal([]string{"DEL third net1", "DEL second net1", "DEL master eth0"}))
	})

	It("is rolled back where a later plugin of its list fails (E091)", func() {
		b.behave("third", script.Rule{Command: "ADD", Error: &script.Error{Code: 100, Msg: "must be called as chained plugin"}})
		b.nad("n1", network)
		b.refused(b.pod("web-0", "n1"), []string{"pod blue/web-0", "network blue/n1", "plugin third", "must be called as chained plugin"})
		Expect(b.calls("DEL")).To(Equal([]string{"DEL third net1", "DEL second net1", "DEL master eth0"}))
	})
})

var _ = Describe("a plugin's binary", func() {
	var b *bench
	BeforeEach(func() { b = newBench() })

	It("that is missing is named before anything runs, with the directories searched and what to install (ADD-2, E134)", func() {
		b.nad("n1", `{"cniVersion":"1.0.0","type":"macvlan"}`)
		outcome := b.refused(b.pod("web-0", "n1"), []string{
			"pod blue/web-0", "network blue/n1", "plugins[0].type", `"macvlan" not found in`, b.BinDir, "containernetworking/plugins",
		})
		Expect(outcome.Error().Code).To(BeEquivalentTo(types.ErrInvalidNetworkConfig))
		Expect(b.calls("ADD")).To(BeEmpty())
	})

	DescribeTable("cannot be chosen by a path (SEC-2, E143)",
		func(plugin, field string) {
			b.write("bin/deeper", nil)
			Expect(os.Symlink(b.BinDir+"/second", b.BinDir+"/deeper/second")).To(Succeed())
			texts := []string{"pod blue/web-0", field}
			b.nad("n1", plugin)
			b.refused(b.pod("web-0", "n1"), append(texts, "network blue/n1"))
			b.refused(b.pod("web-1", ""), []string{"delegates[0]." + field}, node.Config{"delegates": list(json.RawMessage(plugin))})
			dir := b.write("cluster.d", map[string]string{"10-a.conf": plugin})
			b.refused(b.pod("web-2", ""), []string{"10-a.conf", field}, node.Config{"delegates": nil, "clusterNetwork": dir})
			Expect(b.calls("ADD", "DEL")).To(BeEmpty())
		},
		Entry(nil, `{"name":"n1","type":"../../bin/sh"}`, "type"),
		Entry(nil, `{"name":"n1","type":"/bin/sh"}`, "type"),
		Entry(nil, `{"name":"n1","type":"deeper/second"}`, "type"),
		Entry(nil, `{"name":"n1","type":"second/"}`, "type"),
		Entry(nil, `{"name":"n1","type":".."}`, "type"),
		Entry(nil, `{"name":"n1","type":"."}`, "type"),
		Entry(nil, `{"name":"n1","type":""}`, "type"),
		Entry(nil, `{"name":"n1","type":"second\u0000x"}`, "type"),
		Entry(nil, `{"name":"n1","plugins":[{"type":"second"},{"type":"../second"}]}`, "plugins[1].type"),
		Entry(nil, `{"name":"n1","type":"second","ipam":{"type":"../../bin/sh"}}`, "ipam.type"),
		Entry(nil, `{"name":"n1","type":"second","ipam":{"type":"/bin/sh"}}`, "ipam.type"),
		Entry(nil, `{"name":"n1","plugins":[{"type":"second","ipam":{"type":".."}}]}`, "plugins[0].ipam.type"),
		Entry(nil, `{"name":"n1","type":"second","ipam":{"type":"second\u0000x"}}`, "ipam.type"),
		Entry("in a second spelling of the key", `{"name":"n1","type":"second","Type":"/bin/sh"}`, "Type"),
	)
})
