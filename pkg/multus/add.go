package multus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/containernetworking/cni/pkg/types"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/state"
)

// lockWait is how long a verb waits for another one on the same sandbox (DEL-9).
const lockWait = 30 * time.Second

// add gives the sandbox its networks (ADD-1).
func (c *call) add(ctx context.Context) error {
	if c.faults != nil {
		return c.faults
	}
	if _, err := c.previous(); err != nil { // of use at the end only, when it would be too late (ADD-2)
		return err
	}
	if err := c.ready(ctx); err != nil {
		return err
	}
	lock, err := c.store.Lock(ctx, c.sandbox.ContainerID, lockWait)
	if err != nil {
		return c.busy(err)
	}
	defer lock.Release()

	pod, err := c.pod(ctx)
	if err != nil {
		return err
	}
	built, err := c.plan(ctx, pod)
	if err != nil {
		return err
	}
	if err := c.preflight(built); err != nil {
		return err
	}
	if err := c.detachEarlier(ctx); err != nil {
		return err
	}
	if err := c.store.Save(built); err != nil {
		return coded{types.ErrIOFailure, fmt.Errorf("saving the plan: %w", err)}
	}
	return c.carryOut(ctx, pod, built)
}

// busy is the error of a lock that was not to be had in time, or not at all.
func (c *call) busy(err error) error {
	if errors.Is(err, state.ErrBusy) {
		return coded{types.ErrTryAgainLater, fmt.Errorf("sandbox %s is still being worked on: %w", c.sandbox.ContainerID, err)}
	}
	return coded{types.ErrIOFailure, fmt.Errorf("cniDir: %w", err)}
}

// plan decides what the sandbox gets.
func (c *call) plan(ctx context.Context, pod *pod) (*plan.Plan, error) {
	selected, err := c.selections(pod)
	if err != nil {
		return nil, err
	}
	refs, err := plan.Wanted(c.cfg, pod.namespace(), selected)
	if err != nil {
		return nil, err
	}
	if pod != nil {
		pod.independent = pod.unread && !slices.ContainsFunc(refs, plan.Ref.NeedsAPI)
	}
	return plan.Build(c.gather(ctx, pod, refs))
}

// carryOut attaches the plan, tells the pod and the runtime, and takes all of it down again if any of that fails
// (ADD-4).
func (c *call) carryOut(ctx context.Context, pod *pod, built *plan.Plan) error {
	outcomes, err := c.attach(ctx, built)
	if err != nil {
		return c.rollBack(ctx, built, len(outcomes)+1, err)
	}
	if err := c.finish(ctx, pod, built.Sandbox, outcomes); err != nil {
		defer c.clearStatus(context.WithoutCancel(ctx), built)() // it may have been written
		return c.rollBack(ctx, built, len(built.Attachments), err)
	}
	return nil
}

// finish is what comes after all delegates: routes, the pod's status, the result.
func (c *call) finish(ctx context.Context, pod *pod, box plan.Sandbox, outcomes []plan.Outcome) error {
	if err := c.reroute(box, outcomes); err != nil {
		return err
	}
	result, err := c.result(outcomes[0].Result)
	if err != nil {
		return err
	}
	if err := c.annotate(ctx, pod, outcomes); err != nil {
		return err
	}
	return result.PrintTo(c.env.Stdout)
}

// detachEarlier releases what an earlier ADD of this very sandbox left behind, so that saving a new plan over the old
// one loses nothing.
func (c *call) detachEarlier(ctx context.Context) error {
	earlier, err := c.store.Load(c.sandbox)
	if err != nil {
		if !errors.Is(err, state.ErrNotFound) {
			c.log.Warn("an earlier plan of this sandbox cannot be read and is replaced", "error", err)
		}
		return nil
	}
	c.log.Warn("releasing the attachments of an earlier ADD of this sandbox")
	if err := c.detach(ctx, earlier); err != nil {
		return fmt.Errorf("releasing the attachments of an earlier ADD of this sandbox: %w", err)
	}
	return nil
}

// preflight is the last look before anything runs (ADD-2): every plugin is installed, what device plugins say of devices
// can be read, the network namespace is not our own, and no interface name is in use.
func (c *call) preflight(built *plan.Plan) error {
	var faults []error
	for _, attachment := range built.Attachments {
		for i, plugin := range attachment.Config.Plugins {
			if _, err := c.runner.Find(plugin.Type); err != nil {
				faults = append(faults, fmt.Errorf("network %s: plugins[%d].type: %w", attachment.Network, i, err))
			}
		}
		if err := c.checkDeviceInfo(attachment); err != nil {
			faults = append(faults, fmt.Errorf("network %s: %w", attachment.Network, err))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return coded{types.ErrInvalidNetworkConfig, err}
	}
	return c.inspect(built)
}

// inspect checks the plan against the network namespace.
func (c *call) inspect(built *plan.Plan) error {
	namespace, err := c.open(built.Sandbox.NetNS)
	if err != nil {
		return coded{types.ErrInvalidNetNS, fmt.Errorf("CNI_NETNS: %w", err)}
	}
	defer namespace.Close()
	if err := c.elsewhere(namespace); err != nil {
		return coded{types.ErrInvalidNetNS, fmt.Errorf("CNI_NETNS: %w", err)}
	}
	inUse, err := namespace.Interfaces()
	if err != nil {
		return coded{types.ErrInvalidNetNS, err}
	}
	return c.namesFree(built, inUse)
}

// elsewhere refuses the network namespace that we run in ourselves. The CNI library does so too, but only after the
// verb, when everything is attached.
func (c *call) elsewhere(namespace namespace) error {
	if c.anyNetNS {
		return nil
	}
	ours, err := namespace.IsOurs()
	if err == nil && ours {
		err = errors.New("it is the network namespace that multus itself runs in, not a pod's")
	}
	return err
}

// namesFree checks the plan's interface names against those in the network namespace (NET-12). Behind another plugin
// of an outer list the master's interface is there already.
func (c *call) namesFree(built *plan.Plan, inUse []string) error {
	var faults []error
	for i, attachment := range built.Attachments {
		if i == 0 && c.prev != nil {
			continue
		}
		if slices.Contains(inUse, attachment.Interface) {
			faults = append(faults, fmt.Errorf("network %s: interface %q exists already in the network namespace %s",
				attachment.Network, attachment.Interface, built.Sandbox.NetNS))
		}
	}
	return errors.Join(faults...)
}
