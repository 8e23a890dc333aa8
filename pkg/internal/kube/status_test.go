package kube

import (
	"encoding/json"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
	"github.com/seed-2ba21eab/multus-cni/test/fake"
)

const value = `[{"name":"blue/vlan7","interface":"net1","dns":{}}]`

func statusOf(api *fake.API) string { return api.Annotations("blue", "web-0")[nad.StatusAnnotation] }

var _ = Describe("the status", func() {
	It("is one patch that carries the UID, without a read (STAT-3)", func(ctx SpecContext) {
		api, client := serve()
		Expect(client.SetStatus(ctx, "blue", "web-0", uid, value)).To(Succeed())
		Expect(api.Annotations("blue", "web-0")).To(Equal(map[string]string{"a": "<1>", nad.StatusAnnotation: value}))
		Expect(api.Requests()).To(HaveLen(1))
		sent := api.Requests()[0]
		Expect(sent.Method + " " + sent.Path).To(Equal("PATCH /api/v1/namespaces/blue/pods/web-0/status"))
		quoted, _ := json.Marshal(value)
		Expect(sent.Body).To(MatchJSON(`{"metadata":{"uid":"` + uid + `","annotations":{"k8s.v1.cni.cncf.io/network-status":` + string(quoted) + `}}}`))
	})

	It("is written without a UID if none is known", func(ctx SpecContext) {
		api, client := serve()
		Expect(client.SetStatus(ctx, "blue", "web-0", "", value)).To(Succeed())
		Expect(statusOf(api)).To(Equal(value))
		Expect(api.Requests()[0].Body).NotTo(ContainSubstring("uid"))
	})

	DescribeTable("is never written to another pod of the same name (STAT-3)",
		func(ctx SpecContext, prepare func(*fake.API)) {
			api, client := serve()
			prepare(api)
			Expect(client.SetStatus(ctx, "blue", "web-0", uid, value)).To(MatchError(ErrGone))
			Expect(statusOf(api)).To(BeEmpty())
			Expect(api.Count(fake.PatchStatus)).To(Equal(1))
		},
		Entry("deleted", func(api *fake.API) { api.DeletePod("blue", "web-0") }),
		Entry("replaced", replace),
		Entry("replaced, and the conflict does not say so", func(api *fake.API) {
			replace(api)
			api.Fail(fake.PatchStatus, 1, 409, "")
		}),
		Entry("replaced, without the right to patch", func(api *fake.API) {
			replace(api)
			api.Fail(fake.PatchStatus, 1, 403, "")
		}),
		Entry("deleted, without the right to patch", func(api *fake.API) {
			api.DeletePod("blue", "web-0")
			api.Fail(fake.PatchStatus, 1, 403, "")
		}),
	)

	DescribeTable("is retried (STAT-3)",
		func(ctx SpecContext, fault fake.Fault) {
			api, client := serve()
			fault.Kind, fault.Times = fake.PatchStatus, 2
			api.Inject(fault)
			Expect(client.SetStatus(ctx, "blue", "web-0", uid, value)).To(Succeed())
			Expect(statusOf(api)).To(Equal(value))
			Expect(api.Count(fake.UpdateStatus)).To(BeZero())
		},
		Entry("after a conflict", fake.Fault{Code: 409}),
		Entry("after 500", fake.Fault{Code: 500}),
		Entry("after 503", fake.Fault{Code: 503}),
		Entry("after 429", fake.Fault{Code: 429}),
		Entry("after a reset", fake.Fault{Reset: true}),
	)

	It("is read, modified and written back where RBAC forbids the patch (STAT-3)", func(ctx SpecContext) {
		api, client := serve()
		api.Fail(fake.PatchStatus, fake.Always, 403, "")
		api.Fail(fake.UpdateStatus, 1, 409, "")
		Expect(client.SetStatus(ctx, "blue", "web-0", uid, value)).To(Succeed())
		Expect(api.Annotations("blue", "web-0")).To(Equal(map[string]string{"a": "<1>", nad.StatusAnnotation: value}))
		Expect(api.Count(fake.PatchStatus)).To(Equal(1))
		requests := api.Requests()
		last := requests[len(requests)-1]
		Expect(last.Kind).To(Equal(fake.UpdateStatus))
		Expect(last.Body).To(And(ContainSubstring(`"resourceVersion":"1"`), ContainSubstring(`"image":"registry.test/main:1"`)))
	})

	It("is never written back before the patch was forbidden (STAT-3)", func(ctx SpecContext) {
		api, client := serve()
		client.Budget = 50 * time.Millisecond
		for _, code := range []int{400, 401, 409, 422, 500} {
			api.Heal()
			api.Fail(fake.PatchStatus, fake.Always, code, "")
			Expect(client.SetStatus(ctx, "blue", "web-0", uid, value)).NotTo(Succeed())
		}
		Expect(api.Count(fake.UpdateStatus)).To(BeZero())
	})

	DescribeTable("is not written back on top of garbage",
		func(ctx SpecContext, garbage string) {
			api, client := serve()
			api.Fail(fake.PatchStatus, 1, 403, "")
			api.Inject(fake.Fault{Kind: fake.GetPod, Garbage: garbage})
			Expect(client.SetStatus(ctx, "blue", "web-0", uid, value)).To(MatchError(ContainSubstring("is not the object")))
			Expect(api.Count(fake.UpdateStatus)).To(BeZero())
		},
		Entry("no metadata", `{"metadata":null}`),
		Entry("no object", `null`),
		Entry("a page", "<html>"),
	)

	It("names the right that is missing if neither is granted (STAT-3)", func(ctx SpecContext) {
		api, client := serve()
		api.Fail(fake.PatchStatus, fake.Always, 403, "")
		api.Fail(fake.UpdateStatus, fake.Always, 403, "")
		Expect(client.SetStatus(ctx, "blue", "web-0", uid, value)).To(
			MatchError(containAll([]string{"patch pods/status blue/web-0: forbidden", fake.User})))
	})

	It("is cleared by one patch that tests UID and old value first (DEL-7)", func(ctx SpecContext) {
		api, client := serve()
		Expect(client.SetStatus(ctx, "blue", "web-0", uid, value)).To(Succeed())
		api.Forget()
		Expect(client.ClearStatus(ctx, "blue", "web-0", uid, value)).To(Succeed())
		Expect(api.Annotations("blue", "web-0")).To(Equal(map[string]string{"a": "<1>"}))
		Expect(api.Requests()).To(HaveLen(1))
		quoted, _ := json.Marshal(value)
		const at = "/metadata/annotations/k8s.v1.cni.cncf.io~1network-status"
		Expect(api.Requests()[0].Body).To(MatchJSON(`[{"op":"test","path":"/metadata/uid","value":"` + uid + `"},
			{"op":"test","path":"` + at + `","value":` + string(quoted) + `}, {"op":"remove","path":"` + at + `"}]`))
	})

	DescribeTable("is not cleared if it is another sandbox's (DEL-7)",
		func(ctx SpecContext, itsUID, itsValue string) {
			api, client := serve()
			Expect(client.SetStatus(ctx, "blue", "web-0", uid, itsValue)).To(Succeed())
			Expect(client.ClearStatus(ctx, "blue", "web-0", itsUID, value)).NotTo(Succeed())
			Expect(statusOf(api)).To(Equal(itsValue))
		},
		Entry("another pod", other, value),
		Entry("another value", uid, "[]"),
		Entry("no UID", "", value),
	)

	It("is cleared in one attempt (DEL-6, DEL-7)", func(ctx SpecContext) {
		api, client := serve()
		for _, code := range []int{403, 409, 503} {
			api.Forget()
			api.Fail(fake.PatchStatus, 1, code, "")
			Expect(client.ClearStatus(ctx, "blue", "web-0", uid, value)).NotTo(Succeed())
			Expect(api.Requests()).To(HaveLen(1))
		}
		api.DeletePod("blue", "web-0")
		Expect(client.ClearStatus(ctx, "blue", "web-0", uid, value)).To(MatchError(ErrGone))
	})
})

func replace(api *fake.API) { api.AddPod(fake.Pod{Namespace: "blue", Name: "web-0", UID: other}) }
