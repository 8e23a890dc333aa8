package exec

import (
	"encoding/json"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// mega is a text of 16 MiB.
func mega(part string) string { return strings.Repeat(part, 16<<20/len(part)) }

// nest is a value in a list in a list …
func nest(depth int, value string) string {
	return strings.Repeat("[", depth) + value + strings.Repeat("]", depth)
}

// hostileNetworks makes an entry of each thing that may stand where a delegate's configuration belongs.
func hostileNetworks() []any {
	var entries []any
	add := func(name, raw string) { entries = append(entries, Entry(name, raw)) }
	add("null", `null`)
	add("a list", `[{"name":"a","type":"second"}]`)
	add("a string", `"second"`)
	add("a number", `1e400`)
	add("an empty object", `{}`)
	add("plugins: []", `{"name":"a","plugins":[]}`)
	add("plugins: null", `{"name":"a","plugins":null}`)
	add("plugins: {}", `{"name":"a","plugins":{}}`)
	add("plugins: a string", `{"name":"a","plugins":"second"}`)
	add("plugins: [null]", `{"name":"a","plugins":[null]}`)
	add("plugins: [[]]", `{"name":"a","plugins":[[{"type":"second"}]]}`)
	add("plugins: [{}, null, 1]", `{"name":"a","plugins":[{},null,1]}`)
	add("type: null", `{"name":"a","type":null}`)
	add("type: a list", `{"name":"a","type":["second"]}`)
	add("args: a list", `{"name":"a","type":"second","args":[]}`)
	add("args: a string", `{"name":"a","type":"second","args":"x"}`)
	add("args.cni: a list", `{"name":"a","type":"second","args":{"cni":[1]}}`)
	add("ipam: a string", `{"name":"a","type":"second","ipam":"host-local"}`)
	add("dns: a list", `{"name":"a","type":"second","dns":[]}`)
	add("capabilities: a list", `{"name":"a","type":"second","capabilities":["ips"]}`)
	add("capabilities: of strings", `{"name":"a","type":"second","capabilities":{"ips":"yes"}}`)
	add("cniVersion: a number", `{"name":"a","type":"second","cniVersion":1}`)
	add("cniVersions: a string", `{"name":"a","plugins":[{"type":"second"}],"cniVersions":"1.0.0"}`)
	add("name: a path", `{"name":"../a","type":"second"}`)
	add("disableCheck: a number", `{"name":"a","plugins":[{"type":"second"}],"disableCheck":1}`)
	add("depth 5000", `{"name":"a","type":"second","x":`+nest(5000, "1")+`}`)
	add("depth 100000", `{"name":"a","type":"second","x":`+nest(100000, "1")+`}`)
	add("plugins in plugins, depth 5000", `{"name":"a","plugins":[{"type":"second","plugins":`+strings.Repeat(`[{"plugins":`, 5000)+`1`+strings.Repeat(`}]`, 5000)+`}]}`)
	add("16 MiB in one string", `{"name":"a","type":"second","x":"`+mega("x")+`"}`)
	add("16 MiB of plugins", `{"name":"a","plugins":[null`+mega(",null")+`]}`)
	return entries
}

var _ = Describe("hostile input (CONF-4)", func() {
	var b *bench
	BeforeEach(func() { b = newBench() })

	// configured is a configuration with one key more, which Go's JSON library has not touched. Its paths are the node's.
	configured := func(key, raw string) string {
		config, err := json.Marshal(b.Config(node.Config{key: nil}))
		Expect(err).NotTo(HaveOccurred())
		return fmt.Sprintf(`%s,%q:%s}`, strings.TrimSuffix(string(config), "}"), key, raw)
	}

	// survives calls a verb and finds no panic: a CNI error object, or for DEL success without a word.
	survives := func(verb string, box node.Sandbox, stdin string) node.Outcome {
		GinkgoHelper()
		outcome := b.runText(verb, box, stdin)
		Expect(outcome.Stderr).NotTo(Or(ContainSubstring("goroutine "), ContainSubstring("panic:")))
		if outcome.Exit == 0 {
			Expect(outcome.Stdout).To(BeEmpty())
			return outcome
		}
		Expect(outcome.Exit).To(Equal(1), outcome.String())
		Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
		Expect(outcome.Error().Msg).NotTo(BeEmpty())
		return outcome
	}

	DescribeTable("that is no configuration is an error for every verb",
		func(stdin string) {
			box := b.pod("web-0", "")
			for _, verb := range []string{"ADD", "CHECK", "DEL", "GC", "STATUS"} {
				Expect(survives(verb, box, stdin).Exit).To(Equal(1), verb)
			}
			Expect(b.calls("ADD", "CHECK", "DEL", "GC", "STATUS")).To(BeEmpty())
			Expect(b.API.Count(fake.Any)).To(BeZero())
		},
		Entry("nothing", ""),
		Entry("blanks", " \n\t "),
		Entry("no JSON", "apiVersion: v1\nkind: Config"),
		Entry("bytes", "\x00\xff\xfe\x80"),
		Entry("null", `null`),
		Entry("a list", `[]`),
		Entry("a list of null", `[null]`),
		Entry("a string", `"x"`),
		Entry("a number", `5`),
		Entry("an empty object", `{}`),
		Entry("half an object", `{"cniVersion":"1.0.0","name":"m`),
		Entry("a trailing comma", `{"cniVersion":"1.0.0","name":"m",}`),
		Entry("text after it", `{"cniVersion":"1.0.0","name":"m"} {}`),
		Entry("a byte order mark", "\ufeff"+`{"cniVersion":"1.0.0","name":"m"}`),
		Entry("open lists", strings.Repeat("[", 1<<20)),
		Entry("open objects", strings.Repeat(`{"a":`, 1<<20)),
		Entry("16 MiB of blanks", mega(" ")),
		Entry("16 MiB of nothing in particular", mega("\x01")),
	)

	DescribeTable("in place of a delegate's configuration", append([]any{
		func(raw string) {
			box := b.pod("web-0", "")
			failed := survives("ADD", box, configured("delegates", `[`+raw+`]`))
			Expect(failed.Exit).To(Equal(1))
			survives("DEL", box, configured("delegates", `[`+raw+`]`))
			Expect(b.calls("ADD", "DEL")).To(BeEmpty())
			b.expectNoState()
		},
	}, hostileNetworks()...)...)

	DescribeTable("in place of a NAD's configuration", append([]any{
		func(raw string) {
			b.nad("n1", raw)
			b.refused(b.pod("web-0", "n1"), []string{"pod blue/web-0", "network blue/n1"})
			Expect(b.calls("ADD", "DEL")).To(BeEmpty())
		},
	}, hostileNetworks()...)...)

	DescribeTable("in place of a value of our own",
		func(key, raw string) {
			box := b.pod("web-0", "")
			Expect(survives("ADD", box, configured(key, raw)).Exit).To(Equal(1))
			survives("DEL", box, configured(key, raw))
			Expect(b.calls("ADD")).To(BeEmpty())
			b.expectNothingAttached()
			b.expectNoState()
		},
		Entry(nil, "prevResult", `{"cniVersion":"1.0.0","ips":5}`),
		Entry(nil, "prevResult", `{"cniVersion":"1.0.0","interfaces":[null],"ips":[{"interface":7,"address":"x"}]}`),
		Entry(nil, "prevResult", `{"cniVersion":"1.0.0","interfaces":[null]}`),
		Entry(nil, "prevResult", `{"cniVersion":"1.0.0","routes":[{}]}`),
		Entry(nil, "runtimeConfig", `{"io.kubernetes.cri.pod-annotations":[]}`),
		Entry(nil, "runtimeConfig", `{"io.kubernetes.cri.pod-annotations":{"a":1}}`),
		Entry(nil, "delegates", nest(2000, "{}")),
		Entry(nil, "logOptions", `{"maxSize":1e400}`),
		Entry("16 MiB in a key that nobody knows", "x", `"`+mega("x")+`"`),
		Entry("depth in a key that nobody knows", "x", nest(100000, "null")),
	)

	It("in a key that is given twice: the last one counts", func() {
		stdin := strings.TrimSuffix(configured("delegates", `[{"name":"a","type":"second"}]`), "}") + `,"delegates":[{"name":"b","type":"master"}]}`
		outcome := b.runText("ADD", b.pod("web-0", ""), stdin)
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0"}))
	})
})
