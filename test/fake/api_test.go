package fake

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const path = "/api/v1/namespaces/blue/pods/web-0"

// caller asks an API with a plain HTTP client.
type caller struct {
	api    *API
	client *http.Client
}

func start(options ...Option) caller {
	GinkgoHelper()
	api, err := NewAPI(options...)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(api.Close)
	api.AddPod(Pod{Namespace: "blue", Name: "web-0", UID: "u1", Annotations: map[string]string{"a": "1"}})
	authorities := x509.NewCertPool()
	Expect(authorities.AppendCertsFromPEM(api.Authority())).To(BeTrue())
	return caller{api, &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: authorities}, ForceAttemptHTTP2: true,
	}}}
}

func (c caller) try(method, path, contentType, body string) (int, string, error) {
	request, err := http.NewRequest(method, c.api.URL()+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "Bearer "+c.api.Token())
	request.Header.Set("Content-Type", contentType)
	response, err := c.client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	return response.StatusCode, string(answer), err
}

func (c caller) ask(method, path, contentType, body string) (int, string) {
	GinkgoHelper()
	code, answer, err := c.try(method, path, contentType, body)
	Expect(err).NotTo(HaveOccurred())
	return code, answer
}

func message(answer string) string {
	GinkgoHelper()
	var status struct{ Kind, Message string }
	Expect(json.Unmarshal([]byte(answer), &status)).To(Succeed())
	Expect(status.Kind).To(Equal("Status"))
	return status.Message
}

const (
	jsonPatchType  = "application/json-patch+json"
	mergePatchType = "application/merge-patch+json"
	strategicType  = "application/strategic-merge-patch+json"
)

var _ = Describe("the API server", func() {
	It("speaks HTTP/2, or HTTP/1.1 only, and counts", func() {
		for proto, options := range map[string][]Option{"HTTP/2.0": nil, "HTTP/1.1": {HTTP1()}} {
			c := start(options...)
			for range 2 {
				code, _ := c.ask("GET", path, "", "")
				Expect(code).To(Equal(200))
			}
			Expect(c.api.Connections()).To(Equal(1))
			Expect(c.api.Count(GetPod)).To(Equal(2))
			Expect(c.api.Requests()[0].Proto).To(Equal(proto))
			received, sent := c.api.Bytes()
			Expect(received).To(BeNumerically(">", 0))
			Expect(sent).To(BeNumerically(">", 0))
		}
	})

	It("gives any object that was stored", func() {
		c := start()
		const claim = "/apis/resource.k8s.io/v1/namespaces/blue/resourceclaims/gpu"
		Expect(c.api.AddObject(claim, `{"kind":"ResourceClaim"}`)).To(Succeed())
		_, answer := c.ask("GET", claim, "", "")
		Expect(answer).To(ContainSubstring(`"kind":"ResourceClaim"`))
		Expect(c.api.AddObject("/api/v1/nodes/n", `{}`)).NotTo(Succeed())
	})

	It("knows its own token and certificate only", func() {
		c := start()
		c.api.SetToken("new")
		code, _ := c.ask("GET", path, "", "")
		Expect(code).To(Equal(200))
		request, err := http.NewRequest("GET", c.api.URL()+path, nil)
		Expect(err).NotTo(HaveOccurred())
		response, err := c.client.Do(request)
		Expect(err).NotTo(HaveOccurred())
		Expect(response.StatusCode).To(Equal(401))
	})

	It("writes a kubeconfig for its owner only", func() {
		c := start()
		file := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
		Expect(c.api.Kubeconfig(file)).To(Succeed())
		info, err := os.Stat(file)
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
	})

	DescribeTable("patches the status",
		func(contentType, body string, code int, words string) {
			c := start()
			got, answer := c.ask("PATCH", path+"/status", contentType, body)
			Expect(got).To(Equal(code), answer)
			if code == 200 {
				Expect(answer).To(And(ContainSubstring(words), ContainSubstring(`"resourceVersion":"2"`), ContainSubstring("registry.test/main:1")))
				return
			}
			Expect(message(answer)).To(ContainSubstring(words))
			Expect(c.api.Annotations("blue", "web-0")).To(Equal(map[string]string{"a": "1"}))
		},
		Entry("merge", mergePatchType, `{"metadata":{"uid":"u1","annotations":{"b":"2"}}}`, 200, `"annotations":{"a":"1","b":"2"}`),
		Entry("merge removes", mergePatchType, `{"metadata":{"annotations":{"a":null,"b":"2"}}}`, 200, `"annotations":{"b":"2"}`),
		Entry("strategic merge", strategicType, `{"metadata":{"annotations":{"b":"2"}}}`, 200, `"annotations":{"a":"1","b":"2"}`),
		Entry("JSON Patch", jsonPatchType, `[{"op":"test","path":"/metadata/uid","value":"u1"},{"op":"add","path":"/metadata/annotations/x~1y","value":"2"}]`,
			200, `"x/y":"2"`),
		Entry("the spec stays", mergePatchType, `{"spec":null,"metadata":{"annotations":{"b":"2"}}}`, 200, `"b":"2"`),
		Entry("merge for another UID", mergePatchType, `{"metadata":{"uid":"u2","annotations":{"b":"2"}}}`, 422, `metadata.uid: Invalid value: "u2"`),
		Entry("merge for another version", mergePatchType, `{"metadata":{"resourceVersion":"7","annotations":{"b":"2"}}}`, 409, "has been modified"),
		Entry("JSON Patch whose test fails", jsonPatchType, `[{"op":"test","path":"/metadata/uid","value":"u2"},{"op":"remove","path":"/metadata/annotations/a"}]`,
			422, "rejected our request"),
		Entry("JSON Patch of what is not there", jsonPatchType, `[{"op":"remove","path":"/metadata/labels/x"}]`, 422, "rejected our request"),
		Entry("no JSON", mergePatchType, `{`, 400, "error decoding patch"),
		Entry("another type", "text/plain", `{}`, 415, "unknown format"),
	)

	DescribeTable("updates the status",
		func(metadata string, code int, words string) {
			c := start()
			got, answer := c.ask("PUT", path+"/status", "application/json", `{"metadata":{"namespace":"blue","name":"web-0",`+metadata+`}}`)
			Expect(got).To(Equal(code), answer)
			Expect(answer).To(ContainSubstring(words))
		},
		Entry("as read", `"uid":"u1","resourceVersion":"1","annotations":{"b":"2"}`, 200, `"annotations":{"b":"2"}`),
		Entry("of another UID", `"uid":"u2"`, 409, "UID in precondition: u2, UID in object meta: u1"),
		Entry("of another version", `"resourceVersion":"7"`, 409, "has been modified"),
	)

	DescribeTable("words what it refuses as the real one does",
		func(method, path string, code int, want string) {
			c := start()
			if code != 404 {
				c.api.Fail(Any, 1, code, "7")
			}
			got, answer := c.ask(method, path, mergePatchType, `{}`)
			Expect(got).To(Equal(code))
			Expect(message(answer)).To(Equal(want))
		},
		Entry("404", "GET", path+"x", 404, `pods "web-0x" not found`),
		Entry("404 NAD", "GET", "/apis/k8s.cni.cncf.io/v1/namespaces/blue/network-attachment-definitions/n", 404,
			`network-attachment-definitions.k8s.cni.cncf.io "n" not found`),
		Entry("404 patch", "PATCH", path+"x/status", 404, `pods "web-0x" not found`),
		Entry("401", "GET", path, 401, "Unauthorized"),
		Entry("403", "PATCH", path+"/status", 403, fmt.Sprintf(
			`pods "web-0" is forbidden: User %q cannot patch resource "pods/status" in API group "" in the namespace "blue"`, User)),
		Entry("409", "PUT", path+"/status", 409, `Operation cannot be fulfilled on pods "web-0": the object has been modified; `+
			`please apply your changes to the latest version and try again`),
		Entry("500", "GET", path, 500, "Internal error occurred: etcdserver: leader changed"),
		Entry("503", "GET", path, 503, "the server is currently unable to handle the request"),
	)

	It("misbehaves as often as it is told to", func() {
		c := start()
		c.api.Fail(GetPod, 2, 503, "7")
		c.api.Fail(GetNAD, Always, 500, "")
		codes := []int{}
		for range 3 {
			code, _ := c.ask("GET", path, "", "")
			codes = append(codes, code)
		}
		Expect(codes).To(Equal([]int{503, 503, 200}))
	})

	DescribeTable("breaks an answer",
		func(fault Fault, want error, options ...Option) {
			c := start(options...)
			c.api.Inject(fault)
			_, _, err := c.try("GET", path, "", "")
			Expect(err).To(HaveOccurred())
			if want != nil {
				Expect(errors.Is(err, want)).To(BeTrue(), err.Error())
			}
			_, _, err = c.try("GET", path, "", "")
			Expect(err).NotTo(HaveOccurred())
		},
		Entry("reset", Fault{Reset: true}, syscall.ECONNRESET, HTTP1()),
		Entry("reset, HTTP/2", Fault{Reset: true}, nil),
		Entry("cut", Fault{Cut: true}, io.ErrUnexpectedEOF, HTTP1()),
		Entry("cut, HTTP/2", Fault{Cut: true}, nil),
	)

	It("refuses connections and accepts them again at the same address", func() {
		c := start()
		c.api.Refuse()
		_, _, err := c.try("GET", path, "", "")
		Expect(errors.Is(err, syscall.ECONNREFUSED)).To(BeTrue())
		Expect(c.api.Accept()).To(Succeed())
		code, _ := c.ask("GET", path, "", "")
		Expect(code).To(Equal(200))
	})

	It("ends requests that hang when it is closed", SpecTimeout(time.Minute), func(ctx SpecContext) {
		for _, harm := range []func(*API){
			func(a *API) { a.Inject(Fault{Hang: true}) },
			func(a *API) { a.SetLatency(time.Hour) },
			func(a *API) { Expect(a.Silence()).To(Succeed()) },
		} {
			c := start()
			harm(c.api)
			c.api.Forget()
			done := make(chan error)
			go func() {
				_, _, err := c.try("GET", path, "", "")
				done <- err
			}()
			Eventually(ctx, c.api.Connections).Should(Equal(1))
			c.api.Close()
			Eventually(ctx, done).Should(Receive(HaveOccurred()))
		}
	})
})
