package kube

import (
	"slices"
	"strings"
)

// Pod is what we read of a pod.
type Pod struct {
	Namespace   string            `json:"namespace"`
	Name        string            `json:"name"`
	UID         string            `json:"uid"`
	Annotations map[string]string `json:"annotations"`

	Node   string   `json:"-"` // that it is bound to
	Claims []string `json:"-"` // names of its ResourceClaims (DEV-4)
}

// podObject is the part of a pod that we read, as the API server has it.
type podObject struct {
	Metadata Pod
	Spec     struct {
		NodeName       string
		ResourceClaims []struct{ ResourceClaimName string }
	}
	Status struct {
		ResourceClaimStatuses       []struct{ ResourceClaimName string }
		ExtendedResourceClaimStatus struct{ ResourceClaimName string }
	}
}

func (o podObject) pod() *Pod {
	pod := o.Metadata
	pod.Node = o.Spec.NodeName
	// The status has the claims that were made for the pod, the spec names those that others made.
	for _, claim := range slices.Concat(o.Spec.ResourceClaims, o.Status.ResourceClaimStatuses) {
		pod.addClaim(claim.ResourceClaimName)
	}
	pod.addClaim(o.Status.ExtendedResourceClaimStatus.ResourceClaimName)
	return &pod
}

func (p *Pod) addClaim(name string) {
	if name != "" && !slices.Contains(p.Claims, name) {
		p.Claims = append(p.Claims, name)
	}
}

// sourceAnnotation says where the kubelet has a pod from. Pods of the API server carry "api" or nothing.
const sourceAnnotation = "kubernetes.io/config.source"

// IsStatic says that a pod is made by the kubelet from a file or URL of its own (NET-15). Its API object, if there is
// one, is a mirror with another UID. The annotations are the runtime's or the API object's; uid is what the runtime
// gave, empty if unknown.
func IsStatic(annotations map[string]string, uid string) bool {
	if source := annotations[sourceAnnotation]; source != "" {
		return source != "api"
	}
	return uid != "" && !isUUID(uid)
}

// isUUID says that s has the text form of RFC 4122, which every UID of the API server has. The kubelet's own UIDs are
// plain hashes.
func isUUID(s string) bool {
	groups := strings.Split(s, "-")
	if len(groups) != 5 {
		return false
	}
	for i, size := range []int{8, 4, 4, 4, 12} {
		if len(groups[i]) != size || strings.Trim(groups[i], "0123456789abcdefABCDEF") != "" {
			return false
		}
	}
	return true
}
