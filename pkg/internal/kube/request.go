package kube

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// maxAnswer bounds what is read of an answer. The API server itself stores no object of more than 3 MiB.
const maxAnswer = 8 << 20

// The verbs that we use, as RBAC names them (SEC-3).
const (
	get    = "get"
	list   = "list"
	patch  = "patch"
	update = "update"
)

// resource is a resource of the API, namespaced unless it is listed.
type resource struct {
	group       string // path of its group and version
	plural      string
	subresource string
	title       string // as RBAC rules and messages name it
}

var (
	pods        = resource{group: "api/v1", plural: "pods", title: "pods"}
	podStatus   = resource{group: "api/v1", plural: "pods", subresource: "status", title: "pods/status"}
	definitions = resource{
		group:  "apis/k8s.cni.cncf.io/v1",
		plural: "network-attachment-definitions",
		title:  "network-attachment-definitions.k8s.cni.cncf.io",
	}
	resourceClaims = resource{group: "apis/resource.k8s.io/v1", plural: "resourceclaims", title: "resourceclaims.resource.k8s.io"}
	resourceSlices = resource{group: "apis/resource.k8s.io/v1", plural: "resourceslices", title: "resourceslices.resource.k8s.io"}
)

// request is what we ask of one object, or of all cluster-wide ones that a field selector picks.
type request struct {
	verb      string
	resource  resource
	namespace string
	name      string
	selector  string // of a list, which has neither namespace nor name

	contentType string // of the body
	body        []byte // nil: none
}

func (r request) method() string {
	switch r.verb {
	case patch:
		return http.MethodPatch
	case update:
		return http.MethodPut
	default:
		return http.MethodGet
	}
}

// check keeps parts of the path that are no names from ever being sent (NET-3).
func (r request) check() error {
	if r.verb == list {
		return nil // has nothing in its path that depends on anybody
	}
	if err := errors.Join(nad.ValidateNamespace(r.namespace), nad.ValidateName(r.name)); err != nil {
		return fmt.Errorf("%s %s: %w", r.verb, r.resource.title, err)
	}
	return nil
}

func (r request) http(ctx context.Context, server *url.URL) (*http.Request, error) {
	target := r.target(server)
	made, err := http.NewRequestWithContext(ctx, r.method(), target.String(), bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	made.Header.Set("Accept", "application/json")
	if r.body != nil {
		made.Header.Set("Content-Type", r.contentType)
	}
	return made, nil
}

func (r request) target(server *url.URL) *url.URL {
	if r.verb == list {
		target := server.JoinPath(r.resource.group, r.resource.plural)
		target.RawQuery = url.Values{"fieldSelector": {r.selector}}.Encode()
		return target
	}
	return server.JoinPath(r.resource.group, "namespaces", url.PathEscape(r.namespace), r.resource.plural,
		url.PathEscape(r.name), r.resource.subresource)
}

// send makes one attempt and returns the object that was answered. It uses the transport alone, so that a redirection
// never takes the credential elsewhere (SEC-1).
func (c *Client) send(ctx context.Context, r request) ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	sent, err := r.http(ctx, c.server)
	if err != nil {
		return nil, c.unanswered(ctx, r, err)
	}
	response, err := c.transport.RoundTrip(sent)
	if err != nil {
		return nil, c.unanswered(ctx, r, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case response.StatusCode != http.StatusOK:
		return nil, c.refused(r, response, body)
	case err != nil:
		return nil, c.unanswered(ctx, r, err)
	case len(body) > maxAnswer:
		return nil, c.garbled(r, fmt.Errorf("it has more than %d bytes", maxAnswer))
	default:
		return body, nil
	}
}

// checkIdentity tells the object that was asked for from any other JSON.
func (c *Client) checkIdentity(r request, namespace, name string) error {
	if namespace == r.namespace && name == r.name {
		return nil
	}
	return c.garbled(r, fmt.Errorf("its metadata has namespace %q and name %q", namespace, name))
}
