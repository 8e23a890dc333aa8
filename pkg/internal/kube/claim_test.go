package kube

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
)

var _ = Describe("Dynamic Resource Allocation (DEV-4)", func() {
	It("is in a pod's spec and status", func(ctx SpecContext) {
		api, client := serve()
		api.AddPod(fake.Pod{
			Namespace: "blue", Name: "web-0", UID: uid, Node: "n1",
			OthersClaims: []string{"shared"}, Claims: []string{"web-0-vf", "web-0-gpu"}, ExtendedClaim: "web-0-extended",
		})
		pod, err := client.Pod(ctx, "blue", "web-0")
		Expect(err).NotTo(HaveOccurred())
		Expect(pod.Node).To(Equal("n1"))
		Expect(pod.Claims).To(Equal([]string{"shared", "web-0-vf", "web-0-gpu", "web-0-extended"}))
	})

	It("passes over claims that the pod turned out not to need", func(ctx SpecContext) {
		api, client := serve()
		Expect(api.AddObject("/api/v1/namespaces/blue/pods/web-0", `{"metadata":{"namespace":"blue","name":"web-0"},
			"spec":{"resourceClaims":[{"name":"a","resourceClaimTemplateName":"t"}]},
			"status":{"resourceClaimStatuses":[{"name":"a"},{"name":"b","resourceClaimName":null},{"name":"c","resourceClaimName":"c1"},{"name":"d","resourceClaimName":"c1"}],
			"extendedResourceClaimStatus":null}}`)).To(Succeed())
		pod, err := client.Pod(ctx, "blue", "web-0")
		Expect(err).NotTo(HaveOccurred())
		Expect(pod.Claims).To(Equal([]string{"c1"}))
	})

	It("reads a ResourceClaim", func(ctx SpecContext) {
		api, client := serve()
		api.AddClaim(fake.Claim{Namespace: "blue", Name: "c1", Devices: []fake.ClaimedDevice{{Driver: "d", Pool: "p", Device: "vf-0"}}})
		api.Fail(fake.GetClaim, 1, 503, "")
		raw, err := client.ResourceClaim(ctx, "blue", "c1")
		Expect(err).NotTo(HaveOccurred())
		Expect(string(raw)).To(ContainSubstring(`"vf-0"`))
		Expect(api.Count(fake.GetClaim)).To(Equal(2), "repeated after an error that may pass (NET-14)")
	})

	It("lists the ResourceSlices of one node and driver", func(ctx SpecContext) {
		api, client := serve()
		api.AddSlice(fake.Slice{Name: "s1", Node: "n1", Driver: "Vf.example.com"})
		api.AddSlice(fake.Slice{Name: "s2", Node: "n2", Driver: "Vf.example.com"})
		api.Fail(fake.ListSlices, 1, 503, "")
		raw, err := client.ResourceSlices(ctx, "n1", "Vf.example.com")
		Expect(err).NotTo(HaveOccurred())
		Expect(string(raw)).To(And(ContainSubstring(`"s1"`), Not(ContainSubstring(`"s2"`))))
		Expect(api.Requests()[1].Path).To(Equal("/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3Dn1%2Cspec.driver%3DVf.example.com"))
	})

	DescribeTable("never asks with a part of the request that is no name (NET-3, SEC-2)",
		func(ctx SpecContext, node, driver string) {
			api, client := serve()
			_, err := client.ResourceSlices(ctx, node, driver)
			Expect(err).To(MatchError(ContainSubstring("list resourceslices.resource.k8s.io: ")))
			_, err = client.ResourceClaim(ctx, "blue", node+"/status")
			Expect(err).To(HaveOccurred())
			Expect(api.Requests()).To(BeEmpty())
		},
		Entry("no node", "", "d"),
		Entry("no driver", "n1", ""),
		Entry("another node by its own selector", "n1,spec.driver=e", "d"),
		Entry("another driver by its own selector", "n1", `d\,spec.pool.name=p`),
	)

	It("names verb, resource and user where a right is missing (NET-14, SEC-3)", func(ctx SpecContext) {
		api, client := serve()
		api.Fail(fake.Any, fake.Always, 403, "")
		_, err := client.ResourceSlices(ctx, "n1", "d.example.com")
		Expect(err).To(MatchError(containAll([]string{
			"list resourceslices.resource.k8s.io with spec.nodeName=n1,spec.driver=d.example.com: forbidden", fake.User,
			`grant "list" on "resourceslices.resource.k8s.io" in the whole cluster`,
		})))
		_, err = client.ResourceClaim(ctx, "blue", "c1")
		Expect(err).To(MatchError(containAll([]string{
			"get resourceclaims.resource.k8s.io blue/c1: forbidden", fake.User, `grant "get" on "resourceclaims.resource.k8s.io" in namespace "blue"`,
		})))
	})

	DescribeTable("refuses an answer that is not the object",
		func(ctx SpecContext, garbage string) {
			api, client := serve()
			api.Inject(fake.Fault{Times: fake.Always, Garbage: garbage})
			_, err := client.ResourceSlices(ctx, "n1", "d")
			Expect(err).To(MatchError(ContainSubstring("is not the object")))
			_, err = client.ResourceClaim(ctx, "blue", "c1")
			Expect(err).To(MatchError(ContainSubstring("is not the object")))
		},
		Entry("a page", "<html>"),
		Entry("another object", `{"kind":"PodList","metadata":{"namespace":"blue","name":"c2"}}`),
		Entry("null", "null"),
		Entry("a list", "[]"),
	)

	It("is not found on a cluster without it", func(ctx SpecContext) {
		_, client := serve()
		_, err := client.ResourceClaim(ctx, "blue", "c1")
		Expect(asError(err).NotFound()).To(BeTrue())
	})
})
