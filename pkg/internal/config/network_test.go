package config_test

import (
	"bytes"
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
)

// tricky has what a detour over Go values would change: order, blanks, a large number, an escape, characters of HTML.
const tricky = `{"type":"fake","z":1,"a":12345678901234567890,"f":1.10, "html":"<&>","e":"\u00e9","kubernetes":{"kubeconfig":"/x"}}`

var _ = Describe("Network", func() {
	DescribeTable("reading",
		func(text, name, version string, plugins int) {
			network := parseNetwork(text)
			Expect(network.Name).To(Equal(name))
			Expect(network.CNIVersion).To(Equal(version))
			Expect(network.Plugins).To(HaveLen(plugins))
		},
		Entry("a list", `{"cniVersion":"1.0.0","name":"n","plugins":[{"type":"a"},{"type":"b"}]}`, "n", "1.0.0", 2),
		Entry("a single plugin", `{"cniVersion":"0.3.1","name":"n","type":"a"}`, "n", "0.3.1", 1),
		Entry("a plugin in any letter case, as libcni does", `{"CNIVersion":"0.3.1","Name":"n","Type":"a"}`, "n", "0.3.1", 1),
		Entry("without a name (NET-11)", `{"cniVersion":"0.3.1","type":"a"}`, "unnamed", "0.3.1", 1),
		Entry("with an empty name (CONF-1)", `{"name":"","Name":"","plugins":[{"type":"a","name":"p"}]}`, "unnamed", "0.1.0", 1),
		Entry("without a version", `{"name":"n","type":"a"}`, "n", "0.1.0", 1),
		Entry("of several versions, the newest that is known", `{"name":"n","cniVersion":"0.3.1","cniVersions":["1.0.0","0.4.0","9.0.0"],"type":"x","plugins":[{"type":"a"}]}`, "n", "1.0.0", 1),
		Entry("of several versions, its own", `{"name":"n","cniVersion":"1.1.0","cniVersions":["1.0.0"],"plugins":[{"type":"a"}]}`, "n", "1.1.0", 1),
		Entry("a key given twice", `{"name":"m","name":"n","plugins":[],"plugins":[{"type":"a"}]}`, "n", "0.1.0", 1),
	)

	It("reads what libcni reads of a list", func() {
		network := parseNetwork(`{"name":"n","disableCheck":true,"disableGC":"True","plugins":[
			{"type":"a","capabilities":{"ips":true,"mac":false},"ipam":{"type":"static"}},
			{"type":"b","capabilities":{"bandwidth":true}}]}`)
		Expect(network.DisableCheck).To(BeTrue())
		Expect(network.DisableGC).To(BeTrue())
		Expect(network.Plugins[0].Type).To(Equal("a"))
		Expect(network.Plugins[0].IPAM).To(Equal("static"))
		Expect(network.Capabilities()).To(Equal([]string{"bandwidth", "ips"}))
		Expect(network.Declares("ips")).To(BeTrue())
		Expect(network.Declares("mac")).To(BeFalse())
	})

	DescribeTable("faults with their JSON path (CONF-2, CONF-4)",
		func(text string, want ...string) {
			_, err := config.ParseNetwork([]byte(text), "")
			var faults config.Faults
			Expect(err).To(BeAssignableToTypeOf(faults))
			Expect(strings.Split(err.Error(), "; ")).To(HaveExactElements(want))
		},
		Entry("nothing given", `{}`, "name: missing", `type: missing, and so is a list "plugins"`),
		Entry("no object", `[null]`, "must be an object, is a list"),
		Entry("plugins null", `{"name":"n","plugins":null}`, "plugins: must be a list, is null"),
		Entry("plugins no list", `{"name":"n","type":"a","plugins":{}}`, "plugins: must be a list, is an object"),
		Entry("plugins no list any more", `{"name":"n","plugins":[{"type":"a"}],"plugins":7}`, "plugins: must be a list, is a number"),
		Entry("plugins empty", `{"name":"n","plugins":[]}`, "plugins: must not be empty"),
		Entry("plugins of null", `{"name":"n","plugins":[null]}`, "plugins[0]: must be an object, is null"),
		Entry("a plugin without type", `{"name":"n","plugins":[{"type":"a"},{}]}`, "plugins[1].type: missing"),
		Entry("a type of the wrong type", `{"name":"n","type":7}`, "type: must be a string, is a number", "type: missing"),
		Entry("several", `{"name":"n/m","cniVersion":7,"plugins":[{"type":"a","capabilities":{"ips":"yes"}},{"type":"b","args":[]}]}`,
			"plugins[0].capabilities.ips: must be true or false, is a string",
			"plugins[1].args: must be an object, is a list",
			`name: "n/m": invalid characters found in network name`,
			"cniVersion: must be a string, is a number"),
		Entry("args.cni no object", `{"name":"n","type":"a","args":{"cni":"x"}}`, "args.cni: must be an object, is a string"),
		Entry("ipam no object", `{"name":"n","type":"a","ipam":"static"}`, "ipam: must be an object, is a string"),
		Entry("prevResult no object", `{"name":"n","type":"a","prevResult":[]}`, "prevResult: must be an object, is a list"),
		Entry("a version that nobody speaks", `{"name":"n","cniVersion":"1.2.0","type":"a"}`,
			`cniVersion: "1.2.0" is not one of 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0`),
		Entry("a flag that is none", `{"name":"n","disableGC":"perhaps","plugins":[{"type":"a"}]}`, "disableGC: must be true or false, is a string"),
		Entry("too large", `{"name":"n","x":"`+strings.Repeat(" ", 16<<20)+`"}`, "16777235 bytes long, the limit is 8388608"),
	)

	It("names the key of a wrong dns", func() {
		_, err := config.ParseNetwork([]byte(`{"name":"n","type":"a","dns":{"nameservers":"192.0.2.1"}}`), "")
		Expect(err).To(MatchError(HavePrefix("dns: ")))
	})

	DescribeTable("plugins outside of the plugin directories (SEC-2, E143)",
		func(text, path string) {
			_, err := config.ParseNetwork([]byte(text), "n")
			Expect(err).To(MatchError(HavePrefix(path + ": ")))
		},
		Entry("relative", `{"type":"../../bin/sh"}`, "type"),
		Entry("absolute", `{"type":"/bin/sh"}`, "type"),
		Entry("parent", `{"type":".."}`, "type"),
		Entry("itself", `{"plugins":[{"type":"."}]}`, "plugins[0].type"),
		Entry("NUL", `{"type":"a\u0000b"}`, "type"),
		Entry("IPAM", `{"plugins":[{"type":"a","ipam":{"type":"../sh"}}]}`, "plugins[0].ipam.type"),
		Entry("IPAM in capitals", `{"type":"a","IPAM":{"TYPE":"/sh"}}`, "ipam.type"),
		Entry("in capitals", `{"Type":"../sh"}`, "type"),
		Entry("in a second spelling", `{"type":"a","Type":"b"}`, "Type"),
	)

	Describe("as JSON (CONF-7)", func() {
		DescribeTable("keeps every byte of a plugin",
			func(text string) {
				encoded, err := parseNetwork(text).MarshalJSON()
				Expect(err).NotTo(HaveOccurred())
				Expect(string(encoded)).To(ContainSubstring(tricky))
			},
			Entry("in a list", `{"name":"n","plugins":[`+tricky+`]}`),
			Entry("alone", tricky),
		)

		It("keeps the list's own keys and their order", func() {
			text := `{"name":"n","z":12345678901234567890,"plugins":[{"type":"a"}],"a":"<&>"}`
			encoded, err := parseNetwork(text).MarshalJSON()
			Expect(err).NotTo(HaveOccurred())
			Expect(string(encoded)).To(Equal(text))
		})

		It("survives a plan file", func() {
			type file struct{ Config *config.Network }
			var buffer bytes.Buffer
			encoder := json.NewEncoder(&buffer)
			encoder.SetEscapeHTML(false)
			before := file{parseNetwork(tricky)}
			Expect(encoder.Encode(before)).To(Succeed())

			var after file
			Expect(json.Unmarshal(buffer.Bytes(), &after)).To(Succeed())
			Expect(after.Config.Name).To(Equal("unnamed"))
			Expect(string(after.Config.Plugins[0].Raw)).To(Equal(strings.Replace(tricky, ` "html"`, `"html"`, 1)))
		})

		It("refuses garbage", func() {
			Expect(new(config.Network).UnmarshalJSON([]byte(`{"name":"n"}`))).NotTo(Succeed())
			Expect(new(config.Network).UnmarshalJSON([]byte(`{"na`))).NotTo(Succeed())
		})
	})

	Describe("changing", func() {
		It("injects into every plugin (NET-11)", func() {
			network := parseNetwork(`{"name":"n","plugins":[` + tricky + `,{"type":"b","deviceID":"old"}]}`)
			Expect(network.Inject("deviceID", "0000:03:00.<1>")).To(Succeed())
			Expect(string(network.Plugins[0].Raw)).To(Equal(strings.TrimSuffix(strings.Replace(tricky, ` "html"`, `"html"`, 1), "}") + `,"deviceID":"0000:03:00.<1>"}`))
			Expect(string(network.Plugins[1].Raw)).To(Equal(`{"type":"b","deviceID":"0000:03:00.<1>"}`))
		})

		It("merges cni-args into args.cni of every plugin, and the selection wins (NET-8, E013)", func() {
			network := parseNetwork(`{"name":"n","plugins":[{"type":"a","args":{"x":1,"cni":{"k":"old","l":2}}},{"type":"b","args":null}]}`)
			Expect(network.MergeCNIArgs(map[string]any{"k": "<v>", "n": map[string]any{"x": json.Number("12345678901234567890")}})).To(Succeed())
			Expect(string(network.Plugins[0].Raw)).To(Equal(`{"type":"a","args":{"x":1,"cni":{"k":"<v>","l":2,"n":{"x":12345678901234567890}}}}`))
			Expect(string(network.Plugins[1].Raw)).To(Equal(`{"type":"b","args":{"cni":{"k":"<v>","n":{"x":12345678901234567890}}}}`))
		})

		It("leaves the original of a clone alone", func() {
			network := parseNetwork(`{"name":"n","plugins":[{"type":"a"}]}`)
			Expect(network.Clone().Inject("k", 1)).To(Succeed())
			Expect(string(network.Plugins[0].Raw)).To(Equal(`{"type":"a"}`))
		})

		It("refuses what could not be read again, and changes nothing", func() {
			network := parseNetwork(`{"name":"n","plugins":[{"type":"a"},{"type":"b"}]}`)
			deep := any("x")
			for range 1000 {
				deep = []any{deep}
			}
			Expect(network.MergeCNIArgs(map[string]any{"deep": deep})).To(MatchError(ContainSubstring("deep: nested deeper")))
			Expect(network.Inject("f", func() {})).NotTo(Succeed())
			Expect(string(network.Plugins[0].Raw)).To(Equal(`{"type":"a"}`))
		})

		It("can still be read when it was nested as deep as allowed", func() {
			network := parseNetwork(`{"type":"a","x":` + strings.Repeat("[", 999) + strings.Repeat("]", 999) + `}`)
			Expect(network.Inject("k", 1)).To(Succeed())
			encoded, err := network.MarshalJSON()
			Expect(err).NotTo(HaveOccurred())
			Expect(json.Unmarshal(encoded, &network)).To(Succeed())
			Expect(network.Inject("k", 2)).To(Succeed())
		})
	})

	DescribeTable("self-delegation (CONF-3, E058)",
		func(text, path string) {
			err := parseNetwork(text).CallsItself("my-multus")
			if path == "" {
				Expect(err).NotTo(HaveOccurred())
			} else {
				Expect(err).To(MatchError(HavePrefix(path + ": ")))
			}
		},
		Entry("another plugin", `{"type":"multus2","delegates":[{"type":"multus"}]}`, ""),
		Entry("by its usual name", `{"type":"multus"}`, "type"),
		Entry("by the name of our executable", `{"type":"my-multus"}`, "type"),
		Entry("in a list", `{"plugins":[{"type":"a"},{"type":"multus"}]}`, "plugins[1].type"),
		Entry("deeper", `{"plugins":[{"type":"a","plugins":[7,{"plugins":[{"x":1},{"type":"multus"}]}]}]}`, "plugins[0].plugins[1].plugins[1].type"),
		Entry("deeper, in capitals", `{"plugins":[{"Type":"a","Plugins":[{"TYPE":"multus"}]}]}`, "plugins[0].plugins[0].type"),
		Entry("a nested list of something else", `{"plugins":[{"type":"a","plugins":["multus",{"type":7},{"plugins":{"type":"multus"}}]}]}`, ""),
	)
})

func parseNetwork(text string) *config.Network {
	GinkgoHelper()
	network, err := config.ParseNetwork([]byte(text), "unnamed")
	Expect(err).NotTo(HaveOccurred())
	return network
}
