package fake

import (
	"net/http"
	"strings"
)

// Kind is what a request is for.
type Kind string

// The kinds of requests.
const (
	GetPod       Kind = "get pod"
	GetNAD       Kind = "get NAD"
	GetClaim     Kind = "get ResourceClaim"
	ListSlices   Kind = "list ResourceSlices"
	PatchStatus  Kind = "patch pods/status"
	UpdateStatus Kind = "update pods/status"
	CreateEvent  Kind = "create event"
	Other        Kind = "other"
	Any          Kind = "" // in a Fault: every kind
)

// Request is one request that was received whole, also if it was not answered.
type Request struct {
	Kind        Kind
	Method      string
	Path        string // with the query
	Proto       string // "HTTP/1.1" or "HTTP/2.0"
	ContentType string
	UserAgent   string
	Body        string
}

// Requests lists the requests received, in order.
func (a *API) Requests() []Request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]Request(nil), a.requests...)
}

// Count says how many requests of a kind were received.
func (a *API) Count(kind Kind) int {
	count := 0
	for _, request := range a.Requests() {
		if kind == Any || request.Kind == kind {
			count++
		}
	}
	return count
}

// Forget empties the list of requests and sets the counts of connections and bytes to zero.
func (a *API) Forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = nil
	a.connections.Store(0)
	a.received.Store(0)
	a.sent.Store(0)
}

// target is the object that a path names.
type target struct {
	group, plural, namespace, name, subresource string
}

const slicesPath = "/apis/resource.k8s.io/v1/resourceslices"

// parse takes a path such as /apis/k8s.cni.cncf.io/v1/namespaces/blue/network-attachment-definitions/vlan7 apart; the
// empty target if it names no object in a namespace, and not the list of ResourceSlices.
func parse(path string) target {
	if path == slicesPath {
		return slice("")
	}
	before, after, ok := strings.Cut(path, "/namespaces/")
	if !ok {
		return target{}
	}
	group := "" // of the core API
	if named, ok := strings.CutPrefix(before, "/apis/"); ok {
		group, _, _ = strings.Cut(named, "/")
	} else if before != "/api/v1" {
		return target{}
	}
	parts := append(strings.Split(after, "/"), "", "", "")
	return target{group: group, namespace: parts[0], plural: parts[1], name: parts[2], subresource: parts[3]}
}

// object is the target without its subresource: the key in the store.
func (t target) object() target {
	t.subresource = ""
	return t
}

// resource is the target's resource as messages name it.
func (t target) resource() string {
	if t.group == "" {
		return t.plural
	}
	return t.plural + "." + t.group
}

func (t target) kind(method string) Kind {
	switch {
	case method == http.MethodGet && t.plural == "pods" && t.subresource == "":
		return GetPod
	case method == http.MethodGet && t.plural == "network-attachment-definitions":
		return GetNAD
	case method == http.MethodGet && t.plural == "resourceclaims":
		return GetClaim
	case method == http.MethodGet && t == slice(""):
		return ListSlices
	case method == http.MethodPatch && t.plural == "pods" && t.subresource == "status":
		return PatchStatus
	case method == http.MethodPut && t.plural == "pods" && t.subresource == "status":
		return UpdateStatus
	case method == http.MethodPost && t.plural == "events":
		return CreateEvent
	default:
		return Other
	}
}

// verb is a method on the target as RBAC names it.
func (t target) verb(method string) string {
	switch method {
	case http.MethodGet:
		if t.name == "" {
			return "list"
		}
		return "get"
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	default:
		return strings.ToLower(method)
	}
}
