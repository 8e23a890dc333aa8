package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// NetworkAttachmentDefinition is a network that pods can ask for (de-facto standard v1.3, section 3). It is namespaced,
// and its resource is "network-attachment-definitions".
type NetworkAttachmentDefinition struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec NetworkAttachmentDefinitionSpec `json:"spec,omitempty"`
}

// NetworkAttachmentDefinitionSpec says how the network is attached.
type NetworkAttachmentDefinitionSpec struct {
	// Config is a CNI configuration or configuration list as JSON text. Blank: it is in a file on the node; see
	// GetCNIConfig.
	Config string `json:"config"`
}

// NetworkAttachmentDefinitionList is what the API server answers to a list request.
type NetworkAttachmentDefinitionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []NetworkAttachmentDefinition `json:"items"`
}

// Definition is the part of the object that functions without Kubernetes work on. Its annotations are the object's own
// map, not a copy. Of a nil object it is nil.
func (in *NetworkAttachmentDefinition) Definition() *nad.Definition {
	if in == nil {
		return nil
	}
	return &nad.Definition{
		Metadata: nad.DefinitionMetadata{Name: in.Name, Namespace: in.Namespace, Annotations: in.Annotations},
		Spec:     nad.DefinitionSpec{Config: in.Spec.Config},
	}
}

// FromDefinition is the object of a definition, complete with kind and version, as it can be created. Its annotations are
// the definition's own map, not a copy. Of a nil definition it is nil.
func FromDefinition(definition *nad.Definition) *NetworkAttachmentDefinition {
	if definition == nil {
		return nil
	}
	return &NetworkAttachmentDefinition{
		TypeMeta: metav1.TypeMeta{APIVersion: SchemeGroupVersion.String(), Kind: kind},
		ObjectMeta: metav1.ObjectMeta{
			Name:        definition.Metadata.Name,
			Namespace:   definition.Metadata.Namespace,
			Annotations: definition.Metadata.Annotations,
		},
		Spec: NetworkAttachmentDefinitionSpec{Config: definition.Spec.Config},
	}
}
