package fake

import (
	"encoding/json"
	"net/url"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("Dynamic Resource Allocation (DEV-4)", func() {
	const claim = "/apis/resource.k8s.io/v1/namespaces/blue/resourceclaims/c1"

	It("gives a ResourceClaim with what was allocated to it", func() {
		c := start()
		code, answer := c.ask("GET", claim, "", "")
		Expect(code).To(Equal(404))
		Expect(message(answer)).To(Equal(`resourceclaims.resource.k8s.io "c1" not found`))
		c.api.AddClaim(Claim{Namespace: "blue", Name: "c1", Devices: []ClaimedDevice{{Driver: "d.example.com", Pool: "p", Device: "vf-0"}}})
		code, answer = c.ask("GET", claim, "", "")
		Expect(code).To(Equal(200))
		Expect(answer).To(ContainSubstring(`{"device":"vf-0","driver":"d.example.com","pool":"p","request":"r"}`))
		Expect(c.api.Count(GetClaim)).To(Equal(2))
	})

	DescribeTable("lists ResourceSlices by field selector",
		func(selector string, want ...string) {
			c := start()
			for _, s := range []Slice{{Name: "s2", Node: "n1", Driver: "d"}, {Name: "s1", Node: "n1", Driver: "d"}, {Name: "s3", Node: "n2", Driver: "d"}, {Name: "s4", Node: "n1", Driver: "e"}} {
				c.api.AddSlice(s)
			}
			c.api.AddClaim(Claim{Namespace: "blue", Name: "c1"})
			code, answer := c.ask("GET", slicesPath+"?fieldSelector="+url.QueryEscape(selector), "", "")
			Expect(code).To(Equal(200))
			var list struct {
				Kind  string
				Items []struct{ Metadata struct{ Name string } }
			}
			Expect(json.Unmarshal([]byte(answer), &list)).To(Succeed())
			Expect(list.Kind).To(Equal("ResourceSliceList"))
			names := []string{}
			for _, item := range list.Items {
				names = append(names, item.Metadata.Name)
			}
			Expect(names).To(Equal(want))
			Expect(c.api.Count(ListSlices)).To(Equal(1))
		},
		Entry("all", "", "s1", "s2", "s3", "s4"),
		Entry("of a node", "spec.nodeName=n1", "s1", "s2", "s4"),
		Entry("of a node and driver", "spec.nodeName=n1,spec.driver=d", "s1", "s2"),
	)

	It("refuses other fields", func() {
		c := start()
		code, answer := c.ask("GET", slicesPath+"?fieldSelector=spec.color%3Dred", "", "")
		Expect(code).To(Equal(400))
		Expect(message(answer)).To(Equal("field label not supported: spec.color"))
	})

	It("forbids a list as the real server does", func() {
		c := start()
		c.api.Fail(ListSlices, 1, 403, "")
		_, answer := c.ask("GET", slicesPath, "", "")
		Expect(message(answer)).To(Equal(`resourceslices.resource.k8s.io is forbidden: User "` + User +
			`" cannot list resource "resourceslices" in API group "resource.k8s.io" at the cluster scope`))
	})
})
