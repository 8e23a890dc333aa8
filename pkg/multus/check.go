package multus

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/containernetworking/cni/pkg/types"
	types100 "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/cni/pkg/version"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/delegate"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/sandbox"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/state"
)

// check compares the sandbox with its plan: the delegates' part first, then ours (CHK-1).
func (c *call) check(ctx context.Context) error {
	lock, err := c.store.Lock(ctx, c.sandbox.ContainerID, lockWait)
	if err != nil {
		return c.busy(err)
	}
	defer lock.Release()
	saved, err := c.store.Load(c.sandbox)
	if errors.Is(err, state.ErrNotFound) {
		return coded{types.ErrUnknownContainer, fmt.Errorf("container %s with interface %s: %w", c.sandbox.ContainerID, c.sandbox.Interface, err)}
	}
	if err != nil {
		return coded{types.ErrIOFailure, err}
	}
	saved.Sandbox.NetNS = c.sandbox.NetNS
	if err := c.checkDelegates(ctx, saved); err != nil {
		return err
	}
	return c.checkSandbox(saved)
}

func (c *call) checkDelegates(ctx context.Context, saved *plan.Plan) error {
	var faults []error
	for i, attachment := range saved.Attachments {
		expected, err := c.expected(saved.Sandbox, attachment, i)
		if err == nil {
			err = c.runner.CheckAgainst(ctx, saved.Sandbox, attachment, expected)
		}
		if errors.Is(err, delegate.ErrNoCheck) {
			c.log.Info("not checked", "network", attachment.Network, "interface", attachment.Interface, "reason", err)
			continue
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("network %s, interface %s: %w", attachment.Network, attachment.Interface, err))
		}
	}
	return errors.Join(faults...)
}

// expected is what the plugins of the attachment at a position are to find. Plugins behind us in an outer list may have
// changed what our master made; then prevResult says how it is now, while it has all of the master's (ADD-6) and no older
// version between has lost some of it. Nil: as it was made.
func (c *call) expected(box plan.Sandbox, attachment plan.Attachment, position int) (types.Result, error) {
	newEnough, err := version.GreaterThanOrEqualTo(c.cfg.CNIVersion, attachment.Config.CNIVersion)
	if position > 0 || c.prev == nil || err != nil || !newEnough {
		return nil, nil
	}
	now, err := c.previous()
	if err != nil {
		return nil, err
	}
	cached, err := c.runner.CachedResult(box, attachment)
	if err != nil || cached == nil {
		return nil, err
	}
	made, err := types100.NewResultFromResult(cached)
	if err != nil || !handedOn(made, now) {
		return nil, err
	}
	return now, nil
}

// checkSandbox looks for the interfaces that the delegates reported, and for the default route where it was arranged.
func (c *call) checkSandbox(saved *plan.Plan) error {
	outcomes, err := c.cachedOutcomes(saved)
	if err != nil {
		return err
	}
	namespace, err := c.open(saved.Sandbox.NetNS)
	if err != nil {
		return coded{types.ErrInvalidNetNS, fmt.Errorf("CNI_NETNS: %w", err)}
	}
	defer namespace.Close()
	present, err := namespace.Interfaces()
	if err != nil {
		return err
	}
	var faults []error
	for _, outcome := range outcomes {
		names, err := plan.Interfaces(outcome)
		if err != nil {
			return err
		}
		for _, name := range names {
			if !slices.Contains(present, name) {
				faults = append(faults, fmt.Errorf("network %s: interface %s is missing in %s", outcome.Attachment.Network, name, saved.Sandbox.NetNS))
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	return checkRoutes(namespace, outcomes)
}

// checkRoutes compares the default routes with what ADD arranged (ADD-7).
func checkRoutes(namespace namespace, outcomes []plan.Outcome) error {
	routing, err := plan.Reroute(outcomes)
	if err != nil || routing == nil {
		return err
	}
	var faults []error
	for _, strip := range routing.Strip {
		if strip.Interface == routing.Carrier {
			continue
		}
		routes, err := namespace.DefaultRoutes(strip.Interface, strip.IPv6)
		if err != nil {
			return err
		}
		if len(routes) > 0 {
			faults = append(faults, fmt.Errorf("interface %s has a default route by %s, which %s is to carry", strip.Interface, routes[0].IP, routing.Carrier))
		}
	}
	for _, add := range routing.Add {
		routes, err := namespace.DefaultRoutes(routing.Carrier, add.IPv6)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(routes, func(route sandbox.Gateway) bool { return route.IP.Equal(add.IP) }) {
			faults = append(faults, fmt.Errorf("the default route by %s on interface %s is missing", add.IP, routing.Carrier))
		}
	}
	return errors.Join(faults...)
}
