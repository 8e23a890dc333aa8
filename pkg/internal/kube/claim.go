package kube

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// ResourceClaim reads a ResourceClaim (resource.k8s.io/v1) and gives it as JSON. Errors of the request are a *Error.
func (c *Client) ResourceClaim(ctx context.Context, namespace, name string) ([]byte, error) {
	asked := request{verb: get, resource: resourceClaims, namespace: namespace, name: name}
	var raw []byte
	err := c.retry(ctx, func(ctx context.Context) (err error) {
		var answer struct {
			Metadata struct{ Namespace, Name string }
		}
		if raw, err = c.read(ctx, asked, &answer); err != nil {
			return err
		}
		return c.checkIdentity(asked, answer.Metadata.Namespace, answer.Metadata.Name)
	})
	if err != nil {
		return nil, err
	}
	return raw, nil
}

// ResourceSlices lists what a DRA driver offers on a node and gives the ResourceSliceList (resource.k8s.io/v1) as JSON.
// Errors of the request are a *Error.
func (c *Client) ResourceSlices(ctx context.Context, node, driver string) ([]byte, error) {
	if err := nad.ValidateName(node); err != nil {
		return nil, fmt.Errorf("list %s: node: %w", resourceSlices.title, err)
	}
	if err := nad.ValidateName(strings.ToLower(driver)); err != nil { // the API server allows capitals here
		return nil, fmt.Errorf("list %s: driver: %w", resourceSlices.title, err)
	}
	asked := request{verb: list, resource: resourceSlices, selector: "spec.nodeName=" + node + ",spec.driver=" + driver}
	var raw []byte
	err := c.retry(ctx, func(ctx context.Context) (err error) {
		var answer struct{ Kind string }
		if raw, err = c.read(ctx, asked, &answer); err != nil {
			return err
		}
		if answer.Kind != "ResourceSliceList" {
			return c.garbled(asked, fmt.Errorf("its kind is %q", answer.Kind))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return raw, nil
}
