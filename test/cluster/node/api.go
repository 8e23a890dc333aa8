package node

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// API is a client of the node's API server.
type API struct {
	http *http.Client
}

// Ref names an object, or with an empty Name all of a kind in a namespace.
type Ref struct {
	Kind, Namespace, Name string
}

// StatusError is an answer that is not a success.
type StatusError struct {
	Code    int
	Reason  string
	Message string // or the whole answer, where it is not the API's own
	Details struct {
		Causes []struct{ Field string }
	}
}

func (e *StatusError) Error() string { return fmt.Sprintf("%d %s: %s", e.Code, e.Reason, e.Message) }

// Fields are those that the answer finds fault with.
func (e *StatusError) Fields() []string {
	var fields []string
	for _, cause := range e.Details.Causes {
		fields = append(fields, cause.Field)
	}
	return fields
}

func refusal(code int, answer []byte) error {
	refused := &StatusError{}
	if err := json.Unmarshal(answer, refused); err != nil {
		refused.Message = string(answer)
	}
	refused.Code = code
	return refused
}

// NotFound says that the server answered so.
func NotFound(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && status.Code == http.StatusNotFound
}

func (n *Node) newAPI() (*API, error) {
	certificate, err := tls.LoadX509KeyPair(n.Path("pki", "admin.crt"), n.Path("pki", "admin.key"))
	if err != nil {
		return nil, err
	}
	ca, err := os.ReadFile(n.Path("pki", "ca.crt"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	transport := &http.Transport{
		DialContext:       n.dial,
		DisableKeepAlives: true, // a connection does not outlive the server
		TLSClientConfig:   &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{certificate}},
	}
	return &API{http: &http.Client{Transport: transport, Timeout: 10 * time.Second}}, nil
}

// path is where the objects of these kinds are.
func (r Ref) path() (string, error) {
	var group, plural string
	switch r.Kind {
	case "Namespace", "Node":
		return path.Join("/api/v1", strings.ToLower(r.Kind)+"s", r.Name), nil
	case "Pod", "Event", "ServiceAccount":
		group, plural = "api/v1", strings.ToLower(r.Kind)+"s"
	case "NetworkAttachmentDefinition":
		group, plural = "apis/k8s.cni.cncf.io/v1", "network-attachment-definitions"
	case "ClusterRole", "ClusterRoleBinding":
		return path.Join("/apis/rbac.authorization.k8s.io/v1", strings.ToLower(r.Kind)+"s", r.Name), nil
	case "CustomResourceDefinition":
		return path.Join("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", r.Name), nil
	default:
		return "", fmt.Errorf("kind %q: not known here, add it to Ref.path", r.Kind)
	}
	return path.Join("/", group, "namespaces", r.Namespace, plural, r.Name), nil
}

// Get reads an object, or a list, into a pointer to a struct.
func (a *API) Get(ctx context.Context, ref Ref, into any) error {
	return a.on(ctx, http.MethodGet, ref, "", nil, into)
}

// Delete deletes an object. A negative grace period means the object's own.
func (a *API) Delete(ctx context.Context, ref Ref, graceSeconds int) error {
	options := map[string]any{"apiVersion": "v1", "kind": "DeleteOptions"}
	if graceSeconds >= 0 {
		options["gracePeriodSeconds"] = graceSeconds
	}
	body, err := json.Marshal(options)
	if err != nil {
		return err
	}
	return a.on(ctx, http.MethodDelete, ref, "application/json", body, nil)
}

// ChangeStatus changes the "status" of an object: by PUT with "application/json", else by PATCH.
func (a *API) ChangeStatus(ctx context.Context, ref Ref, contentType, body string) error {
	location, err := ref.path()
	if err != nil {
		return err
	}
	method := http.MethodPatch
	if contentType == "application/json" {
		method = http.MethodPut
	}
	return a.do(ctx, method, location+"/status", contentType, []byte(body), nil)
}

// Apply makes or changes objects: YAML documents or JSON.
func (a *API) Apply(ctx context.Context, documents string) error {
	for document := range strings.SplitSeq(documents, "\n---\n") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		if err := a.apply(ctx, []byte(document)); err != nil {
			return err
		}
	}
	return nil
}

func (a *API) apply(ctx context.Context, document []byte) error {
	var object struct {
		Kind     string
		Metadata struct{ Namespace, Name string }
	}
	if err := yaml.Unmarshal(document, &object); err != nil {
		return fmt.Errorf("%w in\n%s", err, document)
	}
	location, err := Ref{object.Kind, object.Metadata.Namespace, object.Metadata.Name}.path()
	if err != nil {
		return err
	}
	return a.do(ctx, http.MethodPatch, location+"?force=true&fieldManager=test", "application/apply-patch+yaml", document, nil)
}

// Token gives a token of a service account.
func (a *API) Token(ctx context.Context, namespace, name string) (string, error) {
	var answer struct{ Status struct{ Token string } }
	location, err := Ref{"ServiceAccount", namespace, name}.path()
	if err != nil {
		return "", err
	}
	request := `{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}`
	err = a.do(ctx, http.MethodPost, location+"/token", "application/json", []byte(request), &answer)
	return answer.Status.Token, err
}

func (a *API) on(ctx context.Context, method string, ref Ref, contentType string, body []byte, into any) error {
	location, err := ref.path()
	if err != nil {
		return err
	}
	return a.do(ctx, method, location, contentType, body, into)
}

func (a *API) do(ctx context.Context, method, location, contentType string, body []byte, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, "https://"+Server+location, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", contentType)
	response, err := a.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %w", method, location, refusal(response.StatusCode, answer))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(answer, into)
}

func (a *API) healthy(ctx context.Context) error {
	return a.do(ctx, http.MethodGet, "/readyz", "", nil, nil)
}

// Right is what somebody may do.
type Right struct{ Verb, Group, Resource, Subresource string }

// May asks the API server whether a user has a right everywhere.
func (a *API) May(ctx context.Context, user string, right Right) (bool, error) {
	review, err := json.Marshal(map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
		"spec": map[string]any{
			"user": user,
			"resourceAttributes": map[string]any{
				"verb": right.Verb, "group": right.Group, "resource": right.Resource, "subresource": right.Subresource,
			},
		},
	})
	if err != nil {
		return false, err
	}
	var answer struct{ Status struct{ Allowed bool } }
	err = a.do(ctx, http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", "application/json", review, &answer)
	return answer.Status.Allowed, err
}
