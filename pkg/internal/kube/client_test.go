package kube

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
)

var _ = Describe("reading", func() {
	It("gives a pod and a NAD, over HTTP/1.1 too", func(ctx SpecContext) {
		for _, options := range [][]fake.Option{nil, {fake.HTTP1()}} {
			api, client := serve(options...)
			pod, err := client.Pod(ctx, "blue", "web-0")
			Expect(err).NotTo(HaveOccurred())
			Expect(*pod).To(Equal(Pod{Namespace: "blue", Name: "web-0", UID: uid, Annotations: map[string]string{"a": "<1>"}}))
			nad, err := client.Definition(ctx, "blue", "vlan7")
			Expect(err).NotTo(HaveOccurred())
			Expect(nad.Spec.Config).To(Equal(`{"type":"macvlan"}`))
			Expect(api.Connections()).To(Equal(1))
		}
	})

	It("makes one connection when several requests are first (NET-16)", func(ctx SpecContext) {
		api, client := serve()
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				defer GinkgoRecover()
				_, err := client.Definition(ctx, "blue", "vlan7")
				Expect(err).NotTo(HaveOccurred())
			})
		}
		group.Wait()
		Expect(api.Connections()).To(Equal(1))
		Expect(api.Count(fake.GetNAD)).To(Equal(20))
		for _, request := range api.Requests() {
			Expect(request.Proto).To(Equal("HTTP/2.0"))
		}
	})

	It("serves several first requests of a server without HTTP/2 (NET-16)", func(ctx SpecContext) {
		api, client := serve(fake.HTTP1())
		var group sync.WaitGroup
		for range 10 {
			group.Go(func() {
				defer GinkgoRecover()
				_, err := client.Definition(ctx, "blue", "vlan7")
				Expect(err).NotTo(HaveOccurred())
			})
		}
		group.Wait()
		Expect(api.Count(fake.GetNAD)).To(Equal(10))
	})

	DescribeTable("never asks with a part of the path that is no name (NET-3, SEC-2)",
		func(ctx SpecContext, namespace, name string) {
			api, client := serve()
			_, err := client.Definition(ctx, namespace, name)
			Expect(err).To(HaveOccurred())
			_, err = client.Pod(ctx, namespace, name)
			Expect(err).To(HaveOccurred())
			Expect(client.SetStatus(ctx, namespace, name, uid, "[]")).NotTo(Succeed())
			Expect(client.ClearStatus(ctx, namespace, name, uid, "[]")).NotTo(Succeed())
			Expect(api.Requests()).To(BeEmpty())
		},
		Entry("no name", "blue", ""),
		Entry("no namespace", "", "web-0"),
		Entry("a step up", "..", "web-0"),
		Entry("another path", "blue", "web-0/log"),
		Entry("a query", "blue", "web-0?x=y"),
		Entry("an escape", "blue", "%2e%2e"),
	)

	DescribeTable("repeats after an error that may pass (NET-14)",
		func(ctx SpecContext, fault fake.Fault, options ...fake.Option) {
			api, client := serve(options...)
			fault.Kind, fault.Times = fake.GetNAD, 2
			api.Inject(fault)
			_, err := client.Definition(ctx, "blue", "vlan7")
			Expect(err).NotTo(HaveOccurred())
			Expect(api.Count(fake.GetNAD)).To(BeNumerically(">=", 3))
		},
		Entry("429", fake.Fault{Code: 429}),
		Entry("500", fake.Fault{Code: 500}),
		Entry("502", fake.Fault{Code: 502}),
		Entry("503", fake.Fault{Code: 503}),
		Entry("504", fake.Fault{Code: 504}),
		Entry("reset", fake.Fault{Reset: true}),
		Entry("reset, HTTP/1.1", fake.Fault{Reset: true}, fake.HTTP1()),
		Entry("cut in the middle of the answer", fake.Fault{Cut: true}),
		Entry("cut in the middle of the answer, HTTP/1.1", fake.Fault{Cut: true}, fake.HTTP1()),
	)

	It("repeats while the server refuses connections (NET-14)", func(ctx SpecContext) {
		api, client := serve()
		api.Refuse()
		refused := 0
		working := client.transport
		client.transport = roundTripper(func(r *http.Request) (*http.Response, error) {
			response, err := working.RoundTrip(r)
			if errors.Is(err, syscall.ECONNREFUSED) {
				refused++
			}
			if refused == 2 {
				Expect(api.Accept()).To(Succeed())
			}
			return response, err
		})
		_, err := client.Pod(ctx, "blue", "web-0")
		Expect(err).NotTo(HaveOccurred())
		Expect(refused).To(Equal(2))
	})

	DescribeTable("gives up at once on what does not pass (NET-14)",
		func(ctx SpecContext, code int, words ...string) {
			api, client := serve()
			api.Fail(fake.GetNAD, fake.Always, code, "")
			_, err := client.Definition(ctx, "blue", "vlan7")
			Expect(err).To(MatchError(And(
				ContainSubstring("get network-attachment-definitions.k8s.cni.cncf.io blue/vlan7: "), containAll(words))))
			Expect(asError(err).Status).To(Equal(code))
			Expect(asError(err).Unreachable()).To(BeFalse())
			Expect(api.Count(fake.GetNAD)).To(Equal(1))
		},
		Entry("400", 400, "Bad Request"),
		Entry("401", 401, "credential", "expired"),
		Entry("403 names verb, resource and user", 403, "forbidden", "get", fake.User, `"network-attachment-definitions"`),
		Entry("404 names the namespace", 404, `not found in namespace "blue"`),
		Entry("302, which is not followed (SEC-1)", 302, "Found"),
	)

	DescribeTable("refuses an answer that is not the object",
		func(ctx SpecContext, garbage string) {
			api, client := serve()
			api.Inject(fake.Fault{Times: fake.Always, Garbage: garbage})
			_, err := client.Pod(ctx, "blue", "web-0")
			Expect(err).To(MatchError(ContainSubstring("is not the object")))
			_, err = client.Definition(ctx, "blue", "vlan7")
			Expect(err).To(MatchError(ContainSubstring("is not the object")))
			Expect(client.SetStatus(ctx, "blue", "web-0", uid, "[]")).To(MatchError(ContainSubstring("is not the object")))
			Expect(api.Requests()).To(HaveLen(3))
		},
		Entry("a page", "<html><body>Sign in</body></html>"),
		Entry("truncated", `{"metadata":{"namespace":"blue","name":"we`),
		Entry("another object", `{"metadata":{"namespace":"blue","name":"web-1"}}`),
		Entry("an empty object", `{}`),
		Entry("null", `null`),
		Entry("a list", `[]`),
		Entry("wrong types", `{"metadata":{"namespace":"blue","name":"web-0","annotations":[]}}`),
		Entry("too much", `{"metadata":{"namespace":"blue","name":"`+strings.Repeat("a", maxAnswer)+`"}}`),
	)

	It("tells a server that is not there from one that refuses (NET-15)", func(ctx SpecContext) {
		api, client := serve()
		client.Budget = 50 * time.Millisecond
		api.Refuse()
		_, err := client.Pod(ctx, "blue", "web-0")
		Expect(asError(err)).To(PointTo(MatchFields(IgnoreExtras, Fields{"Status": BeZero()})))
		Expect(asError(err).Unreachable()).To(BeTrue())
		Expect(err).To(MatchError(containAll([]string{"no answer from the API server at 127.0.0.1:", "check that it runs"})))
	})

	DescribeTable("ends when the budget does (NET-14)",
		func(ctx SpecContext, harm func(*fake.API) error) {
			api, client := serve()
			client.Budget = 50 * time.Millisecond
			Expect(harm(api)).To(Succeed())
			_, err := client.Pod(ctx, "blue", "web-0")
			Expect(err).To(MatchError(context.DeadlineExceeded))
			Expect(asError(err).Unreachable()).To(BeTrue())
		},
		Entry("no answer", func(api *fake.API) error { api.Inject(fake.Fault{Hang: true}); return nil }),
		Entry("not even a handshake", (*fake.API).Silence),
		Entry("half an answer", func(api *fake.API) error { api.Inject(fake.Fault{SlowBody: time.Hour}); return nil }),
	)

	It("ends when it is cancelled (INV-6)", SpecTimeout(time.Minute), func(ctx SpecContext) {
		api, client := serve()
		api.Inject(fake.Fault{Hang: true})
		ctx2, cancel := context.WithCancel(ctx)
		done := make(chan error)
		go func() {
			_, err := client.Pod(ctx2, "blue", "web-0")
			done <- err
		}()
		Eventually(ctx, func() int { return api.Count(fake.GetPod) }).Should(Equal(1))
		cancel()
		var err error
		Eventually(ctx, done).Should(Receive(&err))
		Expect(err).To(MatchError(context.Canceled))
		Expect(asError(err).Unreachable()).To(BeFalse())
	})

	It("reads once where that is asked for (DEL-4)", func(ctx SpecContext) {
		api, client := serve()
		api.Fail(fake.GetPod, 1, 503, "")
		_, err := client.PodOnce(ctx, "blue", "web-0")
		Expect(err).To(HaveOccurred())
		Expect(api.Count(fake.GetPod)).To(Equal(1))
	})

	It("does not trust another server's certificate, and does not ask it again", func(ctx SpecContext) {
		api, _ := serve()
		impostor, _ := serve()
		client := clientOf(api, fake.Server(impostor.URL()))
		_, err := client.Pod(ctx, "blue", "web-0")
		Expect(err).To(MatchError(containAll([]string{"no secure connection", "certificate"})))
		Expect(asError(err).Transient()).To(BeFalse())
		Expect(impostor.Connections()).To(Equal(1))
		Expect(impostor.Requests()).To(BeEmpty())
	})

	It("keeps the token out of every error (SEC-1)", func(ctx SpecContext) {
		api, client := serve()
		client.Budget = 20 * time.Millisecond
		for _, fault := range []fake.Fault{{Code: 401}, {Code: 403}, {Code: 500}, {Reset: true}, {Hang: true}, {Garbage: "x"}} {
			fault.Times = fake.Always
			api.Heal()
			api.Inject(fault)
			_, err := client.Pod(ctx, "blue", "web-0")
			Expect(err).To(HaveOccurred())
			Expect(fmt.Sprintf("%v %+v %#v", err, err, errors.Unwrap(err))).NotTo(ContainSubstring(api.Token()))
		}
	})
})

var _ = DescribeTable("static pods (NET-15)",
	func(source, uid string, want bool) {
		annotations := map[string]string{}
		if source != "" {
			annotations["kubernetes.io/config.source"] = source
		}
		Expect(IsStatic(annotations, uid)).To(Equal(want))
	},
	Entry("from the API server", "api", uid, false),
	Entry("from the API server, UID of another form", "api", "b2a9c0a4f3b1d8e7b2a9c0a4f3b1d8e7", false),
	Entry("from a file", "file", uid, true),
	Entry("from a URL, UID unknown", "http", "", true),
	Entry("nothing known", "", "", false),
	Entry("a UUID", "", uid, false),
	Entry("a UUID in capitals", "", strings.ToUpper(uid), false),
	Entry("a hash", "", "b2a9c0a4f3b1d8e7b2a9c0a4f3b1d8e7", true),
	Entry("a UUID with a wrong digit", "", strings.Replace(uid, "f", "g", 1), true),
	Entry("groups of other sizes", "", "0b6f3a523-c1e-4b0e-9d0e-3d7a1c2b4f60", true),
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func containAll(words []string) OmegaMatcher {
	var all []OmegaMatcher
	for _, word := range words {
		all = append(all, ContainSubstring(word))
	}
	return And(all...)
}

var _ = DescribeTable("what is shown of an answer that is no Status object",
	func(body, want string) { Expect(firstLine([]byte(body))).To(Equal(want)) },
	Entry("a server without the resource", "404 page not found\n", "404 page not found"),
	Entry("the first line", "upstream error\nstack", "upstream error"),
	Entry("no page of HTML", "<html>", "(no message)"),
	Entry("no JSON of another kind", `{"token":"t"}`, "(no message)"),
	Entry("nothing", "", "(no message)"),
	Entry("a long text", strings.Repeat("a", 300), strings.Repeat("a", 200)),
)
