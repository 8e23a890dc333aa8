package delegate_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/containernetworking/cni/pkg/types"
	types100 "github.com/containernetworking/cni/pkg/types/100"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/delegate"
)

func add(cniVersion, output string) (types.Result, error) {
	exec := &recorder{answer: func(turn) ([]byte, error) { return []byte(output), nil }}
	runner := delegate.Runner{CacheDir: GinkgoT().TempDir(), Exec: exec}
	return runner.Add(context.Background(), sandbox(), attachment(fmt.Sprintf(`{"cniVersion":%q,"name":"n1","type":"one"}`, cniVersion)))
}

var _ = Describe("a plugin's result", func() {
	for _, cniVersion := range versions() {
		DescribeTable("may be nothing in version "+cniVersion+" (ADD-5)",
			func(output string) {
				result, err := add(cniVersion, output)
				Expect(err).NotTo(HaveOccurred())
				Expect(result.Version()).To(Equal(cniVersion))
				newest, err := types100.GetResult(result)
				Expect(err).NotTo(HaveOccurred())
				Expect(newest.Interfaces).To(BeEmpty())
				Expect(newest.IPs).To(BeEmpty())
			},
			Entry("no output", ""),
			Entry("blank", " \n"),
			Entry("null", "null\n"),
			Entry("an empty object", "{}"),
		)
	}

	It("has the configuration's version if it names none", func() {
		result, err := add("0.4.0", `{"ips":[{"version":"4","address":"192.0.2.3/24"}]}`)
		Expect(err).NotTo(HaveOccurred())
		Expect(json.Marshal(result)).To(ContainSubstring("192.0.2.3/24"))
		Expect(result.Version()).To(Equal("0.4.0"))
	})

	DescribeTable("may be of another version than was asked for (INV-2, E086)",
		func(asked, output string) {
			result, err := add(asked, output)
			Expect(err).NotTo(HaveOccurred())
			newest, err := types100.GetResult(result)
			Expect(err).NotTo(HaveOccurred())
			Expect(newest.IPs[0].Address.String()).To(Equal("192.0.2.3/24"))
		},
		Entry("older", "1.1.0", `{"cniVersion":"0.2.0","ip4":{"ip":"192.0.2.3/24"}}`),
		Entry("newer (E079)", "0.3.1", `{"cniVersion":"1.0.0","ips":[{"address":"192.0.2.3/24"}]}`),
		Entry("much newer", "0.1.0", `{"cniVersion":"1.1.0","ips":[{"address":"192.0.2.3/24"}]}`),
	)

	DescribeTable("is refused, with the plugin's name,",
		func(output, want string) {
			_, err := add("1.0.0", output)
			Expect(err).To(MatchError(SatisfyAll(ContainSubstring("plugin one: ADD: "), ContainSubstring(want))))
		},
		Entry("if its version is unknown (E079)", `{"cniVersion":"9.9.9"}`, `"9.9.9"`),
		Entry("if it is no JSON", "panic: oops", `its output is no JSON object`),
		Entry("if text follows it", "{} {}", `its output is no JSON object`),
		Entry("if it is a list", "[]", `its output is no JSON object`),
		Entry("if it is cut off", `{"ips":[`, `its output is no JSON object`),
		Entry("if its version is a number", `{"cniVersion":1}`, `cannot be read`),
		Entry("if an address is none", `{"ips":[{"address":"x"}]}`, `cannot be read`),
		Entry("if an interface is null", `{"interfaces":[{"name":"a"},null]}`, `interfaces[1]: is null`),
		Entry("if an address is null", `{"ips":[null]}`, `ips[0]: is null`),
		Entry("if a route is null", `{"routes":[null]}`, `routes[0]: is null`),
		Entry("if an address is missing", `{"ips":[{}]}`, `ips[0]: address is missing`),
		Entry("if a destination is missing", `{"routes":[{"gw":"192.0.2.1"}]}`, `routes[0]: dst is missing`),
		Entry("if an interface is null in 0.4.0", `{"cniVersion":"0.4.0","interfaces":[null]}`, `interfaces[0]: is null`),
		Entry("if an address is null in 0.4.0", `{"cniVersion":"0.4.0","ips":[null]}`, `ips[0]: is null`),
		Entry("if a route is null in 0.2.0", `{"cniVersion":"0.2.0","ip4":{"ip":"192.0.2.3/24","routes":[null]}}`, `ip4: routes[0]: dst is missing`),
		Entry("if an address is missing in 0.2.0", `{"cniVersion":"0.2.0","ip6":{}}`, `ip6: ip is missing`),
	)

	It("is quoted only in part if it is garbage", func() {
		_, err := add("1.0.0", string(make([]byte, 1<<20)))
		Expect(len(err.Error())).To(BeNumerically("<", 4096))
	})
})
