package exec

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// older gives the node an API server that speaks HTTP/1.1 only.
func (b *bench) older() {
	GinkgoHelper()
	b.API.Close()
	api, err := fake.NewAPI(fake.HTTP1())
	Expect(err).NotTo(HaveOccurred())
	b.API = api
	Expect(api.Kubeconfig(b.Kubeconfig)).To(Succeed())
}

// once makes the API server misbehave at the next request of a kind.
func once(fault fake.Fault) func(*bench) { return func(b *bench) { b.API.Inject(fault) } }

// always makes it misbehave at every request of a kind.
func always(fault fake.Fault) func(*bench) {
	fault.Times = fake.Always
	return once(fault)
}

var _ = Describe("requests of an ADD (NET-14, NET-16)", func() {
	networks := func(count int) []string {
		var names []string
		for i := range count {
			names = append(names, fmt.Sprintf("blue/n%d", i))
		}
		return names
	}

	DescribeTable("are the pod, each NAD once, the status, over one connection",
		func(prepare func(*bench), count int) {
			b := newBench()
			prepare(b)
			names := networks(count)
			b.define(names...)
			b.add(b.pod("web-0", strings.Join(names, ",")))
			requests := b.requests()
			Expect(requests).To(HaveLen(count + 2))
			Expect(requests[0]).To(Equal(podRead))
			var reads []string
			for _, name := range names {
				reads = append(reads, nadRead(name))
			}
			Expect(requests[1 : count+1]).To(ConsistOf(reads))
			Expect(requests[count+1]).To(Equal(statusSent))
			Expect(b.API.Connections()).To(Equal(1))
		},
		Entry("no NAD", func(*bench) {}, 0),
		Entry("1 NAD", func(*bench) {}, 1),
		Entry("5 NADs", func(*bench) {}, 5),
		Entry("a server that speaks HTTP/1.1 only, no NAD", (*bench).older, 0),
		Entry("a server that speaks HTTP/1.1 only, 5 NADs", (*bench).older, 5),
	)

	It("fetch each of ten NADs once, though they are listed twice (E140)", func() {
		b := newBench()
		names := networks(10)
		b.define(names...)
		b.add(b.pod("web-0", strings.Join(append(names, names...), ",")))
		Expect(b.interfaces("ADD")).To(HaveLen(21))
		Expect(b.API.Count(fake.GetPod)).To(Equal(1))
		Expect(b.API.Count(fake.GetNAD)).To(Equal(10))
		Expect(b.API.Count(fake.PatchStatus)).To(Equal(1))
		Expect(b.API.Count(fake.Any)).To(Equal(12))
		Expect(b.API.Connections()).To(Equal(1))
	})

	It("ask for all NADs at once", func() {
		b := newBench()
		names := networks(10)
		b.define(names...)
		b.API.Inject(fake.Fault{Kind: fake.GetNAD, Times: fake.Always, Hang: true})
		add := b.start("ADD", b.pod("web-0", strings.Join(names, ",")))
		Eventually(func() int { return b.API.Count(fake.GetNAD) }).Should(Equal(10), "while none is answered")
		Expect(b.API.Connections()).To(Equal(1))
		add.signal(syscall.SIGTERM)
		b.cancelled(add)
		Expect(b.Delegates.Calls()).To(BeEmpty())
	})

	DescribeTable("may be slow",
		func(slow func(*bench)) {
			b := newBench()
			slow(b)
			b.define("blue/n1")
			b.add(b.pod("web-0", "n1"))
			Expect(b.requests()).To(Equal([]string{podRead, nadRead("blue/n1"), statusSent}))
			Expect(b.status("web-0")).To(HaveLen(2))
		},
		Entry("each takes a second", func(b *bench) { b.API.SetLatency(time.Second) }),
		Entry("a body comes in two parts", always(fake.Fault{SlowBody: 300 * time.Millisecond})),
		Entry("a body comes in two parts, HTTP/1.1", func(b *bench) {
			b.older()
			b.API.Inject(fake.Fault{Times: fake.Always, SlowBody: 300 * time.Millisecond})
		}),
	)
})

var _ = DescribeTable("trouble that passes is no trouble: the request is repeated (NET-14, E026)",
	func(fault fake.Fault) {
		for kind, usual := range map[fake.Kind]int{fake.GetPod: 1, fake.GetNAD: 2, fake.PatchStatus: 1} {
			b := newBench()
			b.define("blue/n1", "red/n2")
			box := b.pod("web-0", "n1, red/n2")
			fault.Kind = kind
			b.API.Inject(fault)
			b.add(box)
			Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0", "ADD second net1", "ADD second net2"}), string(kind))
			Expect(b.status("web-0")).To(HaveLen(3), string(kind))
			Expect(b.API.Count(kind)).To(BeNumerically(">", usual), string(kind))
		}
	},
	Entry("409", fake.Fault{Code: 409}),
	Entry("429", fake.Fault{Code: 429}),
	Entry("429 with Retry-After", fake.Fault{Code: 429, RetryAfter: "1"}),
	Entry("500, as while the leader changes", fake.Fault{Code: 500}),
	Entry("503", fake.Fault{Code: 503}),
	Entry("504", fake.Fault{Code: 504}),
	Entry("reset", fake.Fault{Reset: true}),
	Entry("cut in the middle of the answer", fake.Fault{Cut: true}),
)

var _ = It("a pod that is not found is read again twice, and may be there then (NET-14)", func() {
	b := newBench()
	box := b.pod("web-0", "")
	b.API.Fail(fake.GetPod, 2, 404, "")
	b.add(box)
	Expect(b.requests()).To(Equal([]string{podRead, podRead, podRead, statusSent}))
})

var _ = DescribeTable("trouble that does not pass by waiting fails at once and says what it is (NET-14)",
	func(trouble func(*bench), requests []string, texts ...string) {
		b := newBench()
		b.define("blue/n1", "blue/n2")
		box := b.pod("web-0", "n1, n2")
		trouble(b)
		b.untouched(box, append(texts, "pod blue/web-0"))
		Expect(b.requests()).To(Equal(requests))
	},
	Entry("pod: 401", always(fake.Fault{Kind: fake.GetPod, Code: 401}), []string{podRead}, "get pods blue/web-0", "refused the credential"),
	Entry("pod: 403 (E028)", always(fake.Fault{Kind: fake.GetPod, Code: 403}), []string{podRead}, "forbidden", `grant "get" on "pods"`, fake.User),
	Entry("pod: 404, also when read again (NET-15)", always(fake.Fault{Kind: fake.GetPod, Code: 404}), []string{podRead, podRead, podRead}, "not found"),
	Entry("pod: 400", always(fake.Fault{Kind: fake.GetPod, Code: 400}), []string{podRead}, "400 Bad Request"),
	Entry("pod: a redirection, which is not followed", always(fake.Fault{Kind: fake.GetPod, Code: 302}), []string{podRead}, "302 Found"),
	Entry("pod: a page of HTML", always(fake.Fault{Kind: fake.GetPod, Garbage: "<html>log in</html>"}), []string{podRead}, "is not the object"),
	Entry("pod: half an object", always(fake.Fault{Kind: fake.GetPod, Garbage: `{"metadata":{`}), []string{podRead}, "is not the object"),
	Entry("pod: a blank body", always(fake.Fault{Kind: fake.GetPod, Garbage: " "}), []string{podRead}, "is not the object"),
	Entry("pod: null", always(fake.Fault{Kind: fake.GetPod, Garbage: "null"}), []string{podRead}, "is not the object"),
	Entry("pod: another object", always(fake.Fault{Kind: fake.GetPod, Garbage: `{"metadata":{"namespace":"blue","name":"web-1"}}`}), []string{podRead}, "web-1"),
	Entry("pod: annotations of a wrong type", always(fake.Fault{Kind: fake.GetPod, Garbage: `{"metadata":{"namespace":"blue","name":"web-0","annotations":{"a":1}}}`}), []string{podRead}, "is not the object"),
	Entry("the token has expired", func(b *bench) { b.API.SetToken("another") }, []string{podRead}, "refused the credential"),
)

var _ = DescribeTable("a NAD that cannot be read is never left out (NET-14, E026)",
	func(fault fake.Fault, texts ...string) {
		b := newBench()
		b.define("blue/n1", "blue/n2")
		box := b.pod("web-0", "n1, n2")
		fault.Kind = fake.GetNAD
		b.API.Inject(fault)
		b.untouched(box, append(texts, "pod blue/web-0", "network blue/n"))
		Expect(b.API.Count(fake.GetNAD)).To(Equal(2))
		Expect(b.API.Count(fake.PatchStatus)).To(BeZero())
	},
	Entry("401", fake.Fault{Code: 401}, "refused the credential"),
	Entry("403 (E028)", fake.Fault{Code: 403}, "forbidden", `cannot get resource "network-attachment-definitions"`, fake.User, `in namespace "blue"`),
	Entry("404", fake.Fault{Code: 404}, "not found"),
	Entry("a page of HTML", fake.Fault{Garbage: "<html>"}, "is not the object"),
	Entry("a blank body", fake.Fault{Garbage: " "}, "is not the object"),
	Entry("another NAD", fake.Fault{Garbage: `{"metadata":{"namespace":"blue","name":"n3"},"spec":{}}`}, "n3"),
)

var _ = It("403 on a NAD names the right even if the pod selects nothing else (E028)", func() {
	b := newBench()
	b.define("kube-system/n1")
	box := b.podWith("web-0", map[string]string{nad.DefaultNetworkAnnotation: "n1"})
	b.API.Fail(fake.GetNAD, fake.Always, 403, "")
	b.untouched(box, []string{"network kube-system/n1", "forbidden", fake.User, `grant "get" on "network-attachment-definitions.k8s.cni.cncf.io" in namespace "kube-system"`})
})

// atOnce begins an ADD on a bench of its own for each case, and looks at each when it has ended: where they wait for a
// whole budget, they wait together.
func atOnce[T any](cases map[string]T, begin func(*bench, T) *running, look func(*bench, T, node.Outcome)) {
	GinkgoHelper()
	benches, adds := map[string]*bench{}, map[string]*running{}
	for name, one := range cases {
		b := newBench()
		benches[name], adds[name] = b, begin(b, one)
	}
	for name, add := range adds {
		By(name)
		look(benches[name], cases[name], add.wait())
	}
}

// trouble is something that keeps an ADD from ever succeeding.
type trouble struct {
	with func(*bench)
	says string
}

// lasting are kinds of it that ADD waits for in vain.
func lasting() map[string]trouble {
	all := map[string]trouble{
		"an API server that is down":        {(*bench).refuse, "connection refused"},
		"an API server that keeps silent":   {(*bench).silence, "deadline exceeded"},
		"an API server behind a black hole": {(*bench).blackHole, "deadline exceeded"},
	}
	for _, kind := range []fake.Kind{fake.GetPod, fake.GetNAD} {
		for name, one := range map[string]struct {
			fake.Fault
			says string
		}{
			"no answer":       {fake.Fault{Hang: true}, "deadline exceeded"},
			"half an answer":  {fake.Fault{SlowBody: time.Hour}, "deadline exceeded"},
			"reset":           {fake.Fault{Reset: true}, "no answer"},
			"cut":             {fake.Fault{Cut: true}, "no answer"},
			"503":             {fake.Fault{Code: 503}, "503 Service Unavailable"},
			"429":             {fake.Fault{Code: 429}, "429 Too Many Requests"},
			"503 for an hour": {fake.Fault{Code: 503, RetryAfter: "3600"}, "503 Service Unavailable"},
		} {
			one.Kind = kind
			all[string(kind)+": "+name] = trouble{always(one.Fault), one.says}
		}
	}
	return all
}

func (b *bench) refuse() { b.API.Refuse() }

func (b *bench) silence() {
	GinkgoHelper()
	Expect(b.API.Silence()).To(Succeed())
}

var _ = It("trouble that lasts fails ADD: no delegate runs, nothing is left (NET-14, E026)", func() {
	atOnce(lasting(), func(b *bench, trouble trouble) *running {
		b.define("blue/n1", "blue/n2")
		box := b.pod("web-0", "n1, n2")
		trouble.with(b)
		return b.start("ADD", box)
	}, func(b *bench, trouble trouble, outcome node.Outcome) {
		Expect(outcome.Error()).NotTo(BeNil(), outcome.String())
		Expect(outcome.Error().Msg).To(ContainSubstring("pod blue/web-0"))
		Expect(outcome.Error().Msg).To(Or(ContainSubstring(trouble.says), ContainSubstring("deadline exceeded")), "in the last attempt")
		Expect(b.Delegates.Calls()).To(BeEmpty())
		b.expectNoState()
		Expect(b.API.Count(fake.PatchStatus)).To(BeZero())
	})
})

var _ = It("what the server says of the next time is honoured (NET-14)", func() {
	attempts := map[string]int{}
	atOnce(map[string]string{"none": "", "seconds": "4", "an hour": "3600"}, func(b *bench, after string) *running {
		box := b.pod("web-0", "")
		b.API.Fail(fake.GetPod, fake.Always, 429, after)
		return b.start("ADD", box)
	}, func(b *bench, after string, outcome node.Outcome) {
		Expect(outcome.Exit).To(Equal(1), outcome.String())
		attempts[after] = b.API.Count(fake.GetPod)
	})
	Expect(attempts[""]).To(BeNumerically(">", 3), "pauses of our own are shorter")
	Expect(attempts["4"]).To(BeNumerically("<=", 3))
	Expect(attempts["3600"]).To(BeNumerically("<=", 2))
})

var _ = Describe("a kubeconfig (NET-14)", func() {
	const secret = "token-that-nobody-may-see"
	DescribeTable("that cannot be used fails ADD and is named, without what is in it (SEC-1)",
		func(spoil func(path string) error, texts ...string) {
			b := newBench()
			box := b.pod("web-0", "")
			Expect(os.Remove(b.Kubeconfig)).To(Succeed())
			Expect(spoil(b.Kubeconfig)).To(Succeed())
			outcome := b.untouched(box, append(texts, "pod blue/web-0", "kubeconfig", b.Kubeconfig))
			Expect(outcome.Stdout + outcome.Stderr).NotTo(ContainSubstring(secret))
			Expect(b.requests()).To(BeEmpty())
		},
		Entry("missing", func(string) error { return nil }, "no such file"),
		Entry("a directory", func(path string) error { return os.Mkdir(path, 0o700) }, "is a directory"),
		Entry("empty", content(""), "current-context: missing"),
		Entry("garbage", content("users: [{name: m, user: {token: "+secret), "it is not YAML or JSON"),
		Entry("of wrong types", content(`{"apiVersion":"v1","kind":"Config","users":[{"name":"m","user":{"token":["`+secret+`"]}}]}`), "it is not YAML or JSON"),
		Entry("without a cluster", content(`{"apiVersion":"v1","kind":"Config","current-context":"m","contexts":[{"name":"m","context":{"cluster":"absent","user":"m"}}]}`),
			`no cluster "absent"`),
		Entry("with a file that is not there", content(`{"apiVersion":"v1","kind":"Config","current-context":"m",
			"contexts":[{"name":"m","context":{"cluster":"c","user":"m"}}],"users":[{"name":"m","user":{"token":"`+secret+`"}}],
			"clusters":[{"name":"c","cluster":{"server":"https://127.0.0.1:1","certificate-authority":"absent.crt"}}]}`), "absent.crt"),
	)

	It("that names another server's authority fails at once", func() {
		b := newBench()
		box := b.pod("web-0", "")
		other, err := fake.NewAPI()
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(other.Close)
		Expect(other.Kubeconfig(b.Kubeconfig, fake.Server(b.API.URL()))).To(Succeed())
		outcome := b.untouched(box, []string{"pod blue/web-0", "no secure connection", "certificate"})
		Expect(outcome.Stdout + outcome.Stderr).NotTo(ContainSubstring(other.Token()))
		Expect(b.API.Connections()).To(Equal(1))
	})

	It("that is not given, with no cluster around, leaves the configured networks alone", func() {
		b := newBench()
		box := b.pod("web-0", "n1")
		b.add(box, node.Config{"kubeconfig": nil})
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0"}))
		Expect(b.requests()).To(BeEmpty())
	})

	DescribeTable("may hold the credential in other ways",
		func(option func(*bench) fake.KubeconfigOption) {
			b := newBench()
			Expect(b.API.Kubeconfig(b.Kubeconfig, option(b))).To(Succeed())
			b.add(b.pod("web-0", ""))
			Expect(b.status("web-0")).To(HaveLen(1))
		},
		Entry("a file of the token", func(b *bench) fake.KubeconfigOption {
			path := b.Dir + "/token"
			Expect(os.WriteFile(path, []byte(b.API.Token()+"\n"), 0o600)).To(Succeed())
			return fake.TokenFile(path)
		}),
		Entry("a client certificate", func(b *bench) fake.KubeconfigOption { return b.API.ClientCertificate() }),
		Entry("no authority", func(*bench) fake.KubeconfigOption { return fake.Insecure() }),
	)
})

// content writes a kubeconfig.
func content(text string) func(path string) error {
	return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
}

// withUID is the sandbox with another K8S_POD_UID, without one if that is empty.
func withUID(box node.Sandbox, uid string) node.Sandbox {
	box.Args = slices.DeleteFunc(slices.Clone(box.Args), func(arg [2]string) bool { return arg[0] == "K8S_POD_UID" })
	if uid != "" {
		box.Args = append(box.Args, [2]string{"K8S_POD_UID", uid})
	}
	return box
}

// anotherUID is none that a bench gives to a pod.
const anotherUID = "ffffffff-0000-4000-8000-000000000000"

var _ = Describe("a pod of another UID (NET-15)", func() {
	It("is read again, and may be the right one then; delegates get its UID (E157)", func() {
		b := newBench()
		b.define("blue/n1")
		box := b.pod("web-0", "n1")
		b.API.Inject(fake.Fault{Kind: fake.GetPod, Garbage: `{"metadata":{"namespace":"blue","name":"web-0","uid":"` + anotherUID + `"}}`})
		b.add(box)
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0", "ADD second net1"}))
		for _, call := range []string{"ADD master eth0", "ADD second net1"} {
			Expect(b.call(call).Arg("K8S_POD_UID")).To(Equal(uidOf(box)))
		}
		Expect(b.API.Count(fake.GetPod)).To(Equal(2))
	})

	It("must fail if it stays so: it is a new pod of the same name (E157)", func() {
		b := newBench()
		b.define("blue/n1")
		box := b.pod("web-0", "n1")
		b.untouched(withUID(box, anotherUID), []string{"pod blue/web-0", anotherUID, uidOf(box), "replaced by a new one"})
		Expect(b.requests()).To(Equal([]string{podRead, podRead, podRead}))
	})

	It("is none where the runtime gives no UID; the status carries the one that was read", func() {
		b := newBench()
		box := b.pod("web-0", "")
		b.add(withUID(box, ""))
		requests := b.API.Requests()
		Expect(requests[len(requests)-1].Body).To(ContainSubstring(`"uid":"` + uidOf(box) + `"`))
	})
})
