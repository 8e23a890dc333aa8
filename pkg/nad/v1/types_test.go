package v1_test

import (
	"encoding/json"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
	nadv1 "github.com/seed-2ba21eab/multus-cni/pkg/nad/v1"
)

const (
	stored = `{"apiVersion":"k8s.cni.cncf.io/v1","kind":"NetworkAttachmentDefinition",
		"metadata":{"name":"storage","namespace":"blue","uid":"u","annotations":{"k8s.v1.cni.cncf.io/resourceName":"example.com/vf"}},
		"spec":{"config":"{\"type\":\"macvlan\"}"}}`
	listed = `{"apiVersion":"k8s.cni.cncf.io/v1","kind":"NetworkAttachmentDefinitionList","metadata":{"resourceVersion":"7"},"items":[` + stored + `]}`
)

// decode reads an object as a client with our scheme does.
func decode(raw string) runtime.Object {
	GinkgoHelper()
	scheme := runtime.NewScheme()
	Expect(nadv1.AddToScheme(scheme)).To(Succeed())
	Expect(nadv1.AddToScheme(scheme)).To(Succeed(), "a second time")
	object, _, err := serializer.NewCodecFactory(scheme).UniversalDeserializer().Decode([]byte(raw), nil, nil)
	Expect(err).NotTo(HaveOccurred())
	return object
}

var _ = Describe("the types of the CRD", func() {
	It("are what the API server sends, in a scheme", func() {
		object := decode(stored).(*nadv1.NetworkAttachmentDefinition)
		Expect(object.Spec.Config).To(Equal(`{"type":"macvlan"}`))
		Expect(object.Namespace + "/" + object.Name).To(Equal("blue/storage"))
		again, err := json.Marshal(object)
		Expect(err).NotTo(HaveOccurred())
		Expect(again).To(MatchJSON(stored))
	})

	It("are in lists", func() {
		list := decode(listed).(*nadv1.NetworkAttachmentDefinitionList)
		Expect(list.ResourceVersion).To(Equal("7"))
		Expect(list.Items).To(HaveExactElements(HaveField("Name", "storage")))
	})

	It("have a group, a kind and a resource", func() {
		Expect(nadv1.SchemeGroupVersion.String()).To(Equal("k8s.cni.cncf.io/v1"))
		Expect(nadv1.Kind("NetworkAttachmentDefinition")).To(Equal(schema.GroupKind{Group: "k8s.cni.cncf.io", Kind: "NetworkAttachmentDefinition"}))
		Expect(nadv1.Resource("network-attachment-definitions").String()).To(Equal("network-attachment-definitions.k8s.cni.cncf.io"))
	})

	It("become a definition, and come of one", func() {
		object := decode(stored).(*nadv1.NetworkAttachmentDefinition)
		definition := object.Definition()
		Expect(definition).To(Equal(&nad.Definition{
			Metadata: nad.DefinitionMetadata{Name: "storage", Namespace: "blue", Annotations: map[string]string{nad.ResourceNameAnnotation: "example.com/vf"}},
			Spec:     nad.DefinitionSpec{Config: `{"type":"macvlan"}`},
		}))
		object.UID = ""
		Expect(nadv1.FromDefinition(definition)).To(Equal(object))
	})

	It("may be nil", func() {
		Expect((*nadv1.NetworkAttachmentDefinition)(nil).Definition()).To(BeNil())
		Expect(nadv1.FromDefinition(nil)).To(BeNil())
	})
})

var _ = Describe("the configuration of a NAD (NET-11)", func() {
	It("is in the object", func() {
		object := decode(stored).(*nadv1.NetworkAttachmentDefinition)
		Expect(nadv1.GetCNIConfig(object, "/no/such/directory")).To(MatchJSON(`{"name":"storage","type":"macvlan"}`))
	})

	It("is in a file", func() {
		dir := GinkgoT().TempDir()
		Expect(os.WriteFile(filepath.Join(dir, "a.conf"), []byte(`{"name":"storage","type":"ptp"}`), 0o600)).To(Succeed())
		object := &nadv1.NetworkAttachmentDefinition{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "storage"}}
		Expect(nadv1.GetCNIConfig(object, dir)).To(MatchJSON(`{"name":"storage","type":"ptp"}`))
	})

	It("is nowhere", func() {
		object := &nadv1.NetworkAttachmentDefinition{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "storage"}}
		_, err := nadv1.GetCNIConfig(object, GinkgoT().TempDir())
		Expect(err).To(MatchError(nad.ErrNoConfig))
		_, err = nadv1.GetCNIConfig(nil, GinkgoT().TempDir())
		Expect(err).To(HaveOccurred())
	})
})

var _ = Describe("a deep copy", func() {
	It("of an object is equal and shares nothing", func() {
		object := decode(stored).(*nadv1.NetworkAttachmentDefinition)
		made := object.DeepCopy()
		Expect(made).To(Equal(object))
		made.Annotations[nad.ResourceNameAnnotation] = "changed"
		Expect(object).To(Equal(decode(stored)))
		Expect(made.Spec.DeepCopy()).To(HaveValue(Equal(object.Spec)))
	})

	It("of a list is equal and shares nothing", func() {
		list := decode(listed).(*nadv1.NetworkAttachmentDefinitionList)
		made := list.DeepCopyObject().(*nadv1.NetworkAttachmentDefinitionList)
		Expect(made).To(Equal(list))
		made.Items[0].Annotations[nad.ResourceNameAnnotation] = "changed"
		made.Items[0].Name = "changed"
		Expect(list).To(Equal(decode(listed)))
	})

	It("of nil is nil", func() {
		Expect((*nadv1.NetworkAttachmentDefinition)(nil).DeepCopyObject()).To(BeNil())
		Expect((*nadv1.NetworkAttachmentDefinition)(nil).DeepCopy()).To(BeNil())
		Expect((*nadv1.NetworkAttachmentDefinitionSpec)(nil).DeepCopy()).To(BeNil())
		Expect((*nadv1.NetworkAttachmentDefinitionList)(nil).DeepCopyObject()).To(BeNil())
		Expect((*nadv1.NetworkAttachmentDefinitionList)(nil).DeepCopy()).To(BeNil())
	})
})
