package delegate_test

import (
	"encoding/json"
	"fmt"

	"github.com/containernetworking/cni/pkg/types"
	types020 "github.com/containernetworking/cni/pkg/types/020"
	types040 "github.com/containernetworking/cni/pkg/types/040"
	types100 "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/cni/pkg/types/create"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/delegate"
)

func versions() []string {
	return []string{"0.1.0", "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"}
}

func isOld(cniVersion string) bool { return cniVersion < "0.3.0" }

// result makes a result of a version, with or without what it can hold.
func result(cniVersion string, full bool) types.Result {
	body := ""
	switch {
	case !full:
	case isOld(cniVersion):
		body = `,"ip4":{"ip":"192.0.2.3/24","routes":[{"dst":"0.0.0.0/0"}]},"ip6":{"ip":"2001:db8::3/64","routes":[{"dst":"::/0"}]}`
	default:
		// Without "version", which plugins forget.
		body = `,"interfaces":[{"name":"eth0","sandbox":"/x"}],"ips":[{"address":"192.0.2.3/24","interface":0},{"address":"2001:db8::3/64"}],"routes":[{"dst":"0.0.0.0/0"},{"dst":"::/0"}]`
	}
	made, err := create.CreateFromBytes(fmt.Appendf(nil, `{"cniVersion":%q,"dns":{"nameservers":["192.0.2.53"]}%s}`, cniVersion, body))
	Expect(err).NotTo(HaveOccurred())
	return made
}

var _ = Describe("converting a result (INV-2)", func() {
	for _, from := range versions() {
		for _, to := range versions() {
			for _, full := range []bool{true, false} {
				It(fmt.Sprintf("works from %s to %s, with addresses: %t (E083)", from, to, full), func() {
					converted, err := delegate.Convert(result(from, full), to)
					Expect(err).NotTo(HaveOccurred())
					Expect(converted.Version()).To(Equal(to))
					text, err := json.Marshal(converted)
					Expect(err).NotTo(HaveOccurred())
					again, err := create.Create(to, text)
					Expect(err).NotTo(HaveOccurred())
					newest, err := types100.GetResult(again)
					Expect(err).NotTo(HaveOccurred())
					Expect(newest.DNS.Nameservers).To(Equal([]string{"192.0.2.53"}))
					var addresses, routes []string
					for _, ip := range newest.IPs {
						addresses = append(addresses, ip.Address.String())
					}
					for _, route := range newest.Routes {
						routes = append(routes, route.Dst.String())
					}
					if full {
						Expect(addresses).To(Equal([]string{"192.0.2.3/24", "2001:db8::3/64"}))
						Expect(routes).To(Equal([]string{"0.0.0.0/0", "::/0"}))
					} else {
						Expect(addresses).To(BeEmpty())
						Expect(routes).To(BeEmpty())
					}
				})
			}
		}
	}

	It("takes no version for 0.1.0", func() {
		converted, err := delegate.Convert(result("1.0.0", true), "")
		Expect(err).NotTo(HaveOccurred())
		Expect(converted.Version()).To(Equal("0.1.0"))
	})

	for _, to := range versions() {
		DescribeTable("copes with a version that does not fit the Go type, to "+to+" (E083)",
			func(odd types.Result) {
				before, err := json.Marshal(odd)
				Expect(err).NotTo(HaveOccurred())
				converted, err := delegate.Convert(odd, to)
				Expect(err).NotTo(HaveOccurred())
				Expect(converted.Version()).To(Equal(to))
				Expect(json.Marshal(odd)).To(MatchJSON(before))
			},
			Entry("1.x", &types100.Result{CNIVersion: "0.4.0"}),
			Entry("0.4.0", &types040.Result{CNIVersion: "1.0.0"}),
			Entry("0.2.0", &types020.Result{CNIVersion: "0.3.1"}),
			Entry("1.x without any", &types100.Result{}),
			Entry("0.4.0 without any", &types040.Result{}),
			Entry("0.2.0 without any", &types020.Result{}),
		)
	}

	DescribeTable("is an error, never a panic, for",
		func(odd types.Result, to string) {
			_, err := delegate.Convert(odd, to)
			Expect(err).To(HaveOccurred())
		},
		Entry("no result", nil, "1.0.0"),
		Entry("an unknown version", &types100.Result{CNIVersion: "1.0.0"}, "9.9.9"),
		Entry("a null interface", &types100.Result{CNIVersion: "1.0.0", Interfaces: []*types100.Interface{nil}}, "0.4.0"),
		Entry("a null address", &types100.Result{CNIVersion: "1.0.0", IPs: []*types100.IPConfig{nil}}, "0.4.0"),
		Entry("a null route", &types040.Result{CNIVersion: "0.4.0", Routes: []*types.Route{nil}}, "1.0.0"),
	)
})
