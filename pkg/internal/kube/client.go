package kube

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// budget bounds one call with all its attempts (NET-14).
const budget = 10 * time.Second

// Client talks to one API server, over one connection where the server speaks HTTP/2 (NET-16). It may be used
// concurrently.
type Client struct {
	// Budget bounds each call with all its attempts, beside the deadline of the call's context. A single slow answer
	// may take all of it.
	Budget time.Duration

	server    *url.URL
	transport http.RoundTripper
}

// New makes a client from a kubeconfig file, or, if that is empty and the environment ("KEY=value" each) says so, from
// the service account of the pod that this process runs in; otherwise it returns ErrNotConfigured. Nothing is sent.
// Every other error says which file is at fault, and quotes nothing of a credential (SEC-1).
func New(kubeconfig string, environ []string) (*Client, error) {
	cfg, err := load(kubeconfig, environ)
	if err != nil {
		return nil, err
	}
	server, transport, err := connect(cfg)
	if err != nil {
		return nil, faulty(kubeconfig, err)
	}
	return &Client{Budget: budget, server: server, transport: transport}, nil
}

// Pod reads a pod. Errors of the request are a *Error.
func (c *Client) Pod(ctx context.Context, namespace, name string) (*Pod, error) {
	var found *Pod
	err := c.retry(ctx, func(ctx context.Context) (err error) {
		found, err = c.pod(ctx, namespace, name)
		return err
	})
	return found, err
}

// PodOnce is Pod with a single attempt (DEL-4).
func (c *Client) PodOnce(ctx context.Context, namespace, name string) (*Pod, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Budget)
	defer cancel()
	return c.pod(ctx, namespace, name)
}

func (c *Client) pod(ctx context.Context, namespace, name string) (*Pod, error) {
	_, found, err := c.rawPod(ctx, namespace, name)
	return found, err
}

// rawPod gives the whole object too.
func (c *Client) rawPod(ctx context.Context, namespace, name string) ([]byte, *Pod, error) {
	asked := request{verb: get, resource: pods, namespace: namespace, name: name}
	var answer podObject
	raw, err := c.read(ctx, asked, &answer)
	if err != nil {
		return nil, nil, err
	}
	found := answer.pod()
	return raw, found, c.checkIdentity(asked, found.Namespace, found.Name)
}

// Definition reads a NetworkAttachmentDefinition. Errors of the request are a *Error.
func (c *Client) Definition(ctx context.Context, namespace, name string) (*nad.Definition, error) {
	asked := request{verb: get, resource: definitions, namespace: namespace, name: name}
	var found nad.Definition
	err := c.retry(ctx, func(ctx context.Context) error {
		found = nad.Definition{}
		if _, err := c.read(ctx, asked, &found); err != nil {
			return err
		}
		return c.checkIdentity(asked, found.Metadata.Namespace, found.Metadata.Name)
	})
	if err != nil {
		return nil, err
	}
	return &found, nil
}

// read makes one attempt and decodes the object that was answered.
func (c *Client) read(ctx context.Context, asked request, into any) ([]byte, error) {
	body, err := c.send(ctx, asked)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return nil, c.garbled(asked, err)
	}
	return body, nil
}
