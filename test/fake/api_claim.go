package fake

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Claim is what a test wants of a ResourceClaim: the devices allocated to it, in order.
type Claim struct {
	Namespace string
	Name      string
	Devices   []ClaimedDevice
	Pending   bool // nothing has been allocated yet
}

// ClaimedDevice is one device of a claim.
type ClaimedDevice struct {
	Driver, Pool, Device string
	AdminAccess          bool
}

// Slice is what a test wants of a ResourceSlice: devices of a driver on a node.
type Slice struct {
	Name       string
	Node       string
	Driver     string
	Pool       string
	Generation int
	Devices    []OfferedDevice
}

// OfferedDevice is one device of a slice, with its attributes of type string.
type OfferedDevice struct {
	Name       string
	Attributes map[string]string
}

// AddClaim stores a ResourceClaim, in place of one of the same name.
func (a *API) AddClaim(claim Claim) {
	results := []any{}
	for _, device := range claim.Devices {
		result := map[string]any{"request": "r", "driver": device.Driver, "pool": device.Pool, "device": device.Device}
		if device.AdminAccess {
			result["adminAccess"] = true
		}
		results = append(results, result)
	}
	status := map[string]any{}
	if !claim.Pending {
		status["allocation"] = map[string]any{"devices": map[string]any{"results": results}}
	}
	a.add(target{group: "resource.k8s.io", plural: "resourceclaims", namespace: claim.Namespace, name: claim.Name}, map[string]any{
		"apiVersion": "resource.k8s.io/v1",
		"kind":       "ResourceClaim",
		"metadata":   metadataOf(claim.Namespace, claim.Name, nil),
		"spec":       map[string]any{"devices": map[string]any{}},
		"status":     status,
	})
}

// AddSlice stores a ResourceSlice, in place of one of the same name.
func (a *API) AddSlice(s Slice) {
	devices := []any{}
	for _, device := range s.Devices {
		// Every device has one that is no string.
		attributes := map[string]any{"numaNode": map[string]any{"int": 0}}
		for key, value := range device.Attributes {
			attributes[key] = map[string]any{"string": value}
		}
		devices = append(devices, map[string]any{"name": device.Name, "attributes": attributes})
	}
	a.add(slice(s.Name), map[string]any{
		"apiVersion": "resource.k8s.io/v1",
		"kind":       "ResourceSlice",
		"metadata":   map[string]any{"name": s.Name},
		"spec": map[string]any{
			"driver": s.Driver, "nodeName": s.Node, "devices": devices,
			"pool": map[string]any{"name": s.Pool, "generation": s.Generation, "resourceSliceCount": 1},
		},
	})
}

func slice(name string) target {
	return target{group: "resource.k8s.io", plural: "resourceslices", name: name}
}

// listSlices answers with the ResourceSlices whose spec has the values that the field selector wants.
func (a *API) listSlices(selector string) answer {
	wanted := map[string]string{}
	for term := range strings.SplitSeq(selector, ",") {
		key, value, _ := strings.Cut(term, "=")
		field, known := strings.CutPrefix(key, "spec.")
		if selector != "" && (!known || !slices.Contains([]string{"nodeName", "driver"}, field)) {
			return status(http.StatusBadRequest, "BadRequest", fmt.Sprintf("field label not supported: %s", key), target{})
		}
		wanted[field] = value
	}
	items := []any{}
	for at, object := range a.store {
		if at == slice(at.name) && (selector == "" || hasAll(section(object, "spec"), wanted)) {
			items = append(items, object)
		}
	}
	// The real server has them in the order of their names.
	slices.SortFunc(items, func(a, b any) int { return strings.Compare(nameOf(a), nameOf(b)) })
	return object(http.StatusOK, map[string]any{
		"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSliceList", "metadata": map[string]any{"resourceVersion": "1"}, "items": items,
	})
}

func hasAll(object map[string]any, wanted map[string]string) bool {
	for key, value := range wanted {
		if text(object, key) != value {
			return false
		}
	}
	return true
}

func nameOf(object any) string {
	made, _ := object.(map[string]any)
	return text(section(made, "metadata"), "name")
}

func (p Pod) spec() map[string]any {
	spec := map[string]any{"containers": []any{map[string]any{"name": "main", "image": "registry.test/main:1"}}}
	if p.Node != "" {
		spec["nodeName"] = p.Node
	}
	var claims []any
	for _, name := range p.OthersClaims {
		claims = append(claims, map[string]any{"name": name, "resourceClaimName": name})
	}
	for _, name := range p.Claims {
		claims = append(claims, map[string]any{"name": name, "resourceClaimTemplateName": "template"})
	}
	if claims != nil {
		spec["resourceClaims"] = claims
	}
	return spec
}

func (p Pod) status() map[string]any {
	status := map[string]any{"phase": "Pending"}
	var claims []any
	for _, name := range p.Claims {
		claims = append(claims, map[string]any{"name": name, "resourceClaimName": name})
	}
	if claims != nil {
		status["resourceClaimStatuses"] = claims
	}
	if p.ExtendedClaim != "" {
		status["extendedResourceClaimStatus"] = map[string]any{
			"resourceClaimName": p.ExtendedClaim,
			"requestMappings":   []any{map[string]any{"containerName": "main", "resourceName": "example.com/vf", "requestName": "r"}},
		}
	}
	return status
}
