package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GroupName is the API group of NetworkAttachmentDefinitions.
const GroupName = "k8s.cni.cncf.io"

const kind = "NetworkAttachmentDefinition"

// SchemeGroupVersion is the API group and version of NetworkAttachmentDefinitions.
var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: "v1"}

// Kind is a kind of the group.
func Kind(kind string) schema.GroupKind {
	return SchemeGroupVersion.WithKind(kind).GroupKind()
}

// Resource is a resource of the group: that of NetworkAttachmentDefinitions is "network-attachment-definitions".
func Resource(resource string) schema.GroupResource {
	return SchemeGroupVersion.WithResource(resource).GroupResource()
}

// AddToScheme makes a scheme know NetworkAttachmentDefinitions and lists of them. It may be called more than once.
func AddToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion, &NetworkAttachmentDefinition{}, &NetworkAttachmentDefinitionList{})
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
