package v1_test

import (
	"maps"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
	nadv1 "github.com/seed-2ba21eab/multus-cni/pkg/nad/v1"
	"github.com/seed-2ba21eab/multus-cni/test/fake"
)

func annotated(annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "web-0", UID: "u1", Annotations: annotations}}
}

var _ = Describe("the selections of a pod (NET-1)", func() {
	It("have its namespace where they name none", func() {
		selections, err := nadv1.ParsePodNetworkAnnotation(annotated(map[string]string{nad.NetworksAnnotation: "storage, red/data@d0"}))
		Expect(err).NotTo(HaveOccurred())
		Expect(selections).To(HaveExactElements(
			&nadv1.NetworkSelectionElement{Namespace: "blue", Name: "storage"},
			&nadv1.NetworkSelectionElement{Namespace: "red", Name: "data", InterfaceRequest: "d0"}))
	})

	DescribeTable("may be none",
		func(annotations map[string]string) {
			_, err := nadv1.ParsePodNetworkAnnotation(annotated(annotations))
			Expect(err).To(BeAssignableToTypeOf(&nadv1.NoK8sNetworkError{}))
			Expect(err).To(MatchError(ContainSubstring("pod blue/web-0: annotation k8s.v1.cni.cncf.io/networks")))
		},
		Entry("without annotations", nil),
		Entry("with another annotation", map[string]string{"a": "b"}),
		Entry("with a blank one", map[string]string{nad.NetworksAnnotation: " \n"}),
		Entry("with commas only", map[string]string{nad.NetworksAnnotation: " , "}),
		Entry("with an empty list", map[string]string{nad.NetworksAnnotation: "[]"}),
	)

	It("say all that is wrong, and where", func() {
		_, err := nadv1.ParsePodNetworkAnnotation(annotated(map[string]string{nad.NetworksAnnotation: "storage@, A"}))
		Expect(err).To(MatchError(And(HavePrefix("pod blue/web-0: annotation k8s.v1.cni.cncf.io/networks: "), ContainSubstring("element 0"), ContainSubstring("element 1"))))
		Expect(err).NotTo(BeAssignableToTypeOf(&nadv1.NoK8sNetworkError{}))
	})

	It("need a pod", func() {
		_, err := nadv1.ParsePodNetworkAnnotation(nil)
		Expect(err).To(MatchError("no pod"))
	})
})

var _ = Describe("the status of a pod (STAT-1)", func() {
	It("has an element for each interface", func() {
		Expect(nadv1.GetNetworkStatus(annotated(map[string]string{nad.StatusAnnotation: `[{"name":"pods","interface":"eth0","default":true,"dns":{}},{"name":"blue/storage","interface":"net1","ips":["192.0.2.4"],"dns":{}}]`}))).
			To(HaveExactElements(
				nadv1.NetworkStatus{Name: "pods", Interface: "eth0", Default: true},
				nadv1.NetworkStatus{Name: "blue/storage", Interface: "net1", IPs: []string{"192.0.2.4"}}))
	})

	It("may be empty", func() {
		Expect(nadv1.GetNetworkStatus(annotated(map[string]string{nad.StatusAnnotation: "[]"}))).To(BeEmpty())
	})

	It("may not be there yet", func() {
		_, err := nadv1.GetNetworkStatus(annotated(nil))
		Expect(err).To(BeAssignableToTypeOf(&nadv1.NoK8sNetworkError{}))
	})

	It("says where it is wrong", func() {
		_, err := nadv1.GetNetworkStatus(annotated(map[string]string{nad.StatusAnnotation: `[{"name":1}]`}))
		Expect(err).To(MatchError(And(HavePrefix("pod blue/web-0: annotation k8s.v1.cni.cncf.io/network-status: "), ContainSubstring("line 1"))))
	})

	It("needs a pod", func() {
		_, err := nadv1.GetNetworkStatus(nil)
		Expect(err).To(MatchError("no pod"))
	})
})

var _ = Describe("setting the status of a pod (STAT-3)", func() {
	var (
		api      *fake.API
		client   kubernetes.Interface
		statuses []nadv1.NetworkStatus
	)

	BeforeEach(func() {
		var err error
		api, err = fake.NewAPI()
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(api.Close)
		client, err = kubernetes.NewForConfig(&rest.Config{
			Host: api.URL(), BearerToken: api.Token(), TLSClientConfig: rest.TLSClientConfig{CAData: api.Authority()},
		})
		Expect(err).NotTo(HaveOccurred())
		api.AddPod(fake.Pod{Namespace: "blue", Name: "web-0", UID: "u1", Annotations: map[string]string{"other": "kept"}})
		statuses = []nadv1.NetworkStatus{{Name: "pods", Interface: "eth0", Default: true}, {Name: "blue/storage", Interface: "net1", DNS: nadv1.DNS{Domain: "<a>"}}}
	})

	It("writes what can be read again, and nothing else", func() {
		pod := annotated(map[string]string{"local": "change"})
		before := maps.Clone(pod.Annotations)
		Expect(nadv1.SetNetworkStatus(client, pod, statuses)).To(Succeed())
		now := api.Annotations("blue", "web-0")
		Expect(nadv1.GetNetworkStatus(annotated(now))).To(Equal(statuses))
		delete(now, nad.StatusAnnotation)
		Expect(now).To(Equal(map[string]string{"other": "kept"}))
		Expect(pod.Annotations).To(Equal(before))
		Expect(api.Requests()).To(HaveExactElements(HaveField("Kind", fake.PatchStatus)))
	})

	It("writes an empty list where there are none", func() {
		Expect(nadv1.SetNetworkStatus(client, annotated(nil), nil)).To(Succeed())
		Expect(api.Annotations("blue", "web-0")).To(HaveKeyWithValue(nad.StatusAnnotation, "[]"))
	})

	DescribeTable("never writes to another pod of the name",
		func(uid types.UID, name string) {
			pod := annotated(nil)
			pod.UID, pod.Name = uid, name
			err := nadv1.SetNetworkStatus(client, pod, statuses)
			Expect(err).To(MatchError(nadv1.ErrPodGone))
			Expect(err).To(MatchError(ContainSubstring("blue/" + name)))
			Expect(api.Annotations("blue", "web-0")).NotTo(HaveKey(nad.StatusAnnotation))
		},
		Entry("with another UID", types.UID("u0"), "web-0"),
		Entry("where there is none", types.UID("u1"), "web-1"),
	)

	It("knows a pod without UID by its name", func() {
		pod := annotated(nil)
		pod.UID = ""
		Expect(nadv1.SetNetworkStatus(client, pod, statuses)).To(Succeed())
		Expect(api.Annotations("blue", "web-0")).To(HaveKey(nad.StatusAnnotation))
	})

	It("passes on what the API server says", func() {
		api.SetToken("another")
		err := nadv1.SetNetworkStatus(client, annotated(nil), statuses)
		Expect(apierrors.IsUnauthorized(err)).To(BeTrue(), "%v", err)
		Expect(err).NotTo(MatchError(nadv1.ErrPodGone))
	})

	It("needs a client and a pod", func() {
		Expect(nadv1.SetNetworkStatus(nil, annotated(nil), statuses)).To(MatchError("no client"))
		Expect(nadv1.SetNetworkStatus(client, nil, statuses)).To(MatchError("no pod"))
	})
})
