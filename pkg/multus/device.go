package multus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/device"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/kube"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
)

// devices finds the devices allocated to the pod, if any network asks for one (DEV-1). A resource for which a source
// failed, and that no other source lists, is its networks' Err.
func (c *call) devices(ctx context.Context, pod *pod, input *plan.Input) {
	missing := resourcesOf(input.Networks)
	if len(missing) == 0 || pod == nil {
		return
	}
	owner := device.Pod(pod.Pod)
	owner.UID = cmp.Or(c.sandbox.Pod.UID, owner.UID) // the kubelet's, which differs for a static pod
	pool, warnings, err := device.Allocated(ctx, c.cfg.KubeletDir, owner)
	c.warn(warnings)
	input.Devices = map[string][]string{}
	missing = take(input.Devices, pool, missing)
	if len(missing) > 0 {
		claimed, claimErr := c.claimed(ctx, pod, missing)
		missing, err = take(input.Devices, claimed, missing), errors.Join(err, claimErr)
	}
	if err == nil {
		return
	}
	for i := range input.Networks {
		network := &input.Networks[i]
		if slices.Contains(missing, network.Resource) {
			network.Err = errors.Join(network.Err, fmt.Errorf("devices of resource %s: %w", network.Resource, err))
		}
	}
}

// resourcesOf lists the resources that networks ask for, each once.
func resourcesOf(networks []plan.Network) []string {
	var resources []string
	for _, network := range networks {
		if network.Resource != "" && !slices.Contains(resources, network.Resource) {
			resources = append(resources, network.Resource)
		}
	}
	return resources
}

// take moves resources from one pool into another, and gives those that it does not list.
func take(into map[string][]string, from device.Pool, resources []string) (missing []string) {
	for _, resource := range resources {
		if len(from[resource]) == 0 {
			missing = append(missing, resource)
			continue
		}
		into[resource] = from[resource]
	}
	return missing
}

// claimed finds devices of these resources in the pod's ResourceClaims (DEV-4).
func (c *call) claimed(ctx context.Context, pod *pod, resources []string) (device.Pool, error) {
	owner, err := c.claimant(ctx, pod)
	if err != nil || len(owner.Claims) == 0 {
		return nil, err
	}
	client, err := c.kube()
	if err != nil {
		return nil, err
	}
	return device.Claimed(ctx, client, owner, resources)
}

// claimant knows the pod's claims. Where the runtime handed the annotations over it is only now that the pod is read
// (NET-17).
func (c *call) claimant(ctx context.Context, pod *pod) (device.Claimant, error) {
	owner := device.Claimant{Namespace: pod.Namespace, Node: pod.node, Claims: pod.claims}
	if !pod.unread {
		return owner, nil
	}
	client, err := c.kube()
	if errors.Is(err, kube.ErrNotConfigured) {
		return owner, nil
	}
	if err != nil {
		return owner, err
	}
	found, err := c.read(ctx, client)
	if err != nil {
		return owner, err
	}
	owner.Node, owner.Claims = found.Node, found.Claims
	return owner, nil
}
