package kube

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

var (
	// ErrNotConfigured says that no API server is configured.
	ErrNotConfigured = errors.New(`no API server is configured: key "kubeconfig" is empty, and this is no pod with a service account`)
	// ErrGone says that the pod does not exist any more, or that another one has its name by now.
	ErrGone = errors.New("the pod is gone")
)

// Error is a request to the API server that failed.
type Error struct {
	Verb      string // as RBAC names it: "get", "patch", "update"
	Resource  string // "pods", "pods/status", …
	Namespace string // empty where the request was for a list
	Name      string
	Selector  string // of a list
	Server    string // host and port
	Status    int    // HTTP status; 0 without an answer
	Message   string // the server's own words
	Err       error  // why there is no answer, or none that can be used; nil where the status says it

	retryAfter time.Duration // what the server asks for
	fields     []string      // that the server found invalid
}

// Error says what failed, and what to do about it.
func (e *Error) Error() string {
	return fmt.Sprintf("%s %s %s: %s", e.Verb, e.Resource, e.object(), e.reason())
}

func (e *Error) object() string {
	if e.Verb == list {
		return "with " + e.Selector
	}
	return e.Namespace + "/" + e.Name
}

// scope is where the right for the request is needed.
func (e *Error) scope() string {
	if e.Verb == list {
		return "in the whole cluster"
	}
	return "in namespace " + strconv.Quote(e.Namespace)
}

func (e *Error) reason() string {
	switch {
	case e.Status == 0 && errors.Is(e.Err, context.Canceled):
		return "interrupted: " + e.Err.Error()
	case e.Status == 0 && isTLS(e.Err):
		return fmt.Sprintf("no secure connection to the API server at %s: %v; check server and certificates in the kubeconfig", e.Server, e.Err)
	case e.Status == 0:
		return fmt.Sprintf("no answer from the API server at %s: %v; check that it runs and that this node reaches it", e.Server, e.Err)
	case e.Status == http.StatusOK:
		return fmt.Sprintf("the answer of %s is not the object: %v; check that the kubeconfig names the API server", e.Server, e.Err)
	case e.Status == http.StatusUnauthorized:
		return fmt.Sprintf("the API server at %s refused the credential (has it expired?): %s; renew it in the kubeconfig", e.Server, e.Message)
	case e.Forbidden():
		return fmt.Sprintf("forbidden: %s; grant %q on %q %s to this user", e.Message, e.Verb, e.Resource, e.scope())
	case e.NotFound():
		return "not found " + e.scope() + ": " + e.Message
	default:
		return fmt.Sprintf("the API server at %s answers %d %s: %s", e.Server, e.Status, http.StatusText(e.Status), e.Message)
	}
}

func (e *Error) Unwrap() error { return e.Err }

// NotFound says that there is no such object.
func (e *Error) NotFound() bool { return e.Status == http.StatusNotFound }

// Forbidden says that the credential is good but lacks the right.
func (e *Error) Forbidden() bool { return e.Status == http.StatusForbidden }

// Transient says that the same request may well succeed later (NET-14).
func (e *Error) Transient() bool {
	if e.Status != 0 {
		return e.Status == http.StatusTooManyRequests || e.Status >= http.StatusInternalServerError
	}
	var file *fs.PathError
	return !errors.Is(e.Err, context.Canceled) && !isTLS(e.Err) && !errors.As(e.Err, &file)
}

// Unreachable says that no API server is there to answer, or only something in front of it (NET-15).
func (e *Error) Unreachable() bool {
	inFront := []int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}
	return e.Status == 0 && e.Transient() || slices.Contains(inFront, e.Status)
}

func (e *Error) conflict() bool { return e.Status == http.StatusConflict }

// isTLS says that the two ends do not trust or understand each other, which no repetition changes.
func isTLS(err error) bool {
	var (
		certificate *tls.CertificateVerificationError
		alert       tls.AlertError
		record      tls.RecordHeaderError
	)
	return errors.As(err, &certificate) || errors.As(err, &alert) || errors.As(err, &record)
}

// asError is the *Error in err's chain, or nil.
func asError(err error) *Error {
	var failed *Error
	errors.As(err, &failed)
	return failed
}

func (c *Client) failure(r request) *Error {
	return &Error{
		Verb: r.verb, Resource: r.resource.title, Namespace: r.namespace, Name: r.name, Selector: r.selector, Server: c.server.Host,
	}
}

// unanswered is the error of a request whose connection failed or whose time is up.
func (c *Client) unanswered(ctx context.Context, r request, err error) error {
	failed := c.failure(r)
	failed.Err = cmp.Or(ctx.Err(), err)
	return failed
}

// garbled is the error of an answer that is not the object which was asked for.
func (c *Client) garbled(r request, err error) error {
	failed := c.failure(r)
	failed.Status, failed.Err = http.StatusOK, err
	return failed
}

// refused is the error of an answer whose status is not OK.
func (c *Client) refused(r request, response *http.Response, body []byte) error {
	failed := c.failure(r)
	failed.Status = response.StatusCode
	failed.retryAfter = retryAfter(response.Header.Get("Retry-After"))
	var status struct {
		Message string
		Details struct{ Causes []struct{ Field string } }
	}
	if json.Unmarshal(body, &status) != nil || status.Message == "" {
		failed.Message = firstLine(body)
		return failed
	}
	failed.Message = status.Message
	for _, cause := range status.Details.Causes {
		failed.fields = append(failed.fields, cause.Field)
	}
	return failed
}

// firstLine is what can be shown of an answer that is no Status object: the API server and proxies in front of it give
// plain text at times, or a page of HTML.
func firstLine(body []byte) string {
	const enough = 200
	line, _, _ := strings.Cut(strings.TrimSpace(string(body[:min(len(body), enough)])), "\n")
	if line == "" || strings.HasPrefix(line, "<") || strings.HasPrefix(line, "{") {
		return "(no message)"
	}
	return strings.ToValidUTF8(line, "?")
}

// retryAfter reads the header of that name, seconds or a date (RFC 9110, section 10.2.3); 0 if it says nothing.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.Atoi(value); err == nil {
		const day = 24 * 60 * 60 // keeps the product below from overflowing
		return time.Duration(min(max(seconds, 0), day)) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(time.Until(date), 0)
	}
	return 0
}
