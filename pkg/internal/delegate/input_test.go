package delegate_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/delegate"
)

var _ = Describe("what a plugin is given", func() {
	var exec *recorder
	var runner delegate.Runner
	ctx := context.Background()

	BeforeEach(func() {
		exec = &recorder{}
		runner = delegate.Runner{Path: []string{"/a", "/b"}, CacheDir: GinkgoT().TempDir(), Exec: exec}
	})

	It("is its configuration byte for byte, with name and version put in (CONF-7)", func() {
		_, err := runner.Add(ctx, sandbox(), attachment(
			`{"cniVersion":"0.3.1","name":"n1","plugins":[{"z": 12345678901234567890, "a":{"b" : "<&>"},"type":"one","f":1.0}]}`))
		Expect(err).NotTo(HaveOccurred())
		Expect(exec.turns[0].stdin).To(Equal(
			`{"z":12345678901234567890,"a":{"b" : "<&>"},"type":"one","f":1.0,"name":"n1","cniVersion":"0.3.1"}`))
	})

	It("has the list's name and version, whatever the plugin's own", func() {
		_, err := runner.Add(ctx, sandbox(), attachment(
			`{"cniVersion":"0.4.0","name":"n1","plugins":[{"name":"other","cniVersion":"0.1.0","type":"one"}]}`))
		Expect(err).NotTo(HaveOccurred())
		Expect(exec.turns[0].stdin).To(Equal(`{"name":"n1","cniVersion":"0.4.0","type":"one"}`))
	})

	DescribeTable("has the capability arguments that the plugin declares (NET-6)",
		func(plugin, want string) {
			a := attachment(`{"cniVersion":"1.0.0","name":"n1","plugins":[` + plugin + `]}`)
			a.CapabilityArgs = map[string]json.RawMessage{
				"ips": json.RawMessage(`["192.0.2.4/24"]`), "bandwidth": json.RawMessage(`{"ingressRate":12345678901234567890,"x":"<&>"}`),
			}
			for _, verb := range []func() error{
				func() error { _, err := runner.Add(ctx, sandbox(), a); return err },
				func() error { return runner.Check(ctx, sandbox(), a) },
				func() error { return runner.Del(ctx, sandbox(), a) },
			} {
				Expect(verb()).To(Succeed())
				Expect(exec.turns[len(exec.turns)-1].get("runtimeConfig")).To(Equal(want))
			}
		},
		Entry("one", `{"type":"one","capabilities":{"ips":true}}`, `{"ips":["192.0.2.4/24"]}`),
		Entry("with numbers and signs as they are", `{"type":"one","capabilities":{"bandwidth":true}}`, `{"bandwidth":{"ingressRate":12345678901234567890,"x":"<&>"}}`),
		Entry("not those declared false", `{"type":"one","capabilities":{"ips":false}}`, ``),
		Entry("not those that nobody gave", `{"type":"one","capabilities":{"mac":true}}`, ``),
		Entry("leaving a runtimeConfig of its own", `{"type":"one","runtimeConfig":{"mac":"x"},"capabilities":{"mac":true}}`, `{"mac":"x"}`),
		Entry("in place of a runtimeConfig of its own", `{"type":"one","runtimeConfig":{"mac":"x"},"capabilities":{"ips":true}}`, `{"ips":["192.0.2.4/24"]}`),
	)

	It("has an environment of values, none of this process (INV-4)", func() {
		a := attachment(chain)
		a.Args = [][2]string{{"IgnoreUnknown", "1"}, {"MAC", "02:00:00:00:00:01"}}
		runner.Environ = []string{"PATH=/bin", "CNI_COMMAND=GC", "CNI_ARGS=X=1", "CNI_IFNAME=eth0", "CNI_NETNS_OVERRIDE=1", "ODD"}
		Expect(runner.Del(ctx, sandbox(), a)).To(Succeed())
		Expect(exec.turns[0].environ).To(ConsistOf(
			"CNI_COMMAND=DEL", "CNI_CONTAINERID=c1", "CNI_NETNS=/run/netns/x", "CNI_IFNAME=net1",
			"CNI_ARGS=IgnoreUnknown=1;MAC=02:00:00:00:00:01", "CNI_PATH=/a:/b",
			"PATH=/bin", "CNI_NETNS_OVERRIDE=1", "ODD"))
	})

	It("may be a megabyte", func() {
		processes, bin := scripts(map[string]string{"one": `cat > "$0.stdin"`})
		filler := strings.Repeat("x", 1<<20)
		_, err := processes.Add(ctx, sandbox(), attachment(`{"name":"n1","type":"one","filler":"`+filler+`"}`))
		Expect(err).NotTo(HaveOccurred())
		stdin, err := os.ReadFile(filepath.Join(bin, "one.stdin"))
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Contains(string(stdin), filler)).To(BeTrue())
	})
})
