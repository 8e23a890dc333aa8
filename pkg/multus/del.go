package multus

import (
	"context"
	"fmt"
	"sync"

	"github.com/containernetworking/cni/pkg/types"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/sandbox"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// del takes the sandbox's networks away again, as they were attached (DEL-1).
func (c *call) del(ctx context.Context) error {
	lock, err := c.store.Lock(ctx, c.sandbox.ContainerID, lockWait)
	if err != nil {
		c.log.Warn("going on although another verb still works on this sandbox", "error", err)
	}
	defer lock.Release()

	saved, err := c.store.Load(c.sandbox)
	if err != nil {
		saved = c.recover(ctx, err)
	} else {
		defer c.clearStatus(ctx, saved)()
	}
	return c.takeDown(ctx, saved)
}

// takeDown detaches all of a plan and, when every delegate has succeeded, forgets it (DEL-5). A path that is no
// namespace is given to the delegates as empty (DEL-2).
func (c *call) takeDown(ctx context.Context, saved *plan.Plan) error {
	saved.Sandbox.NetNS = c.sandbox.NetNS
	if !sandbox.IsNamespace(saved.Sandbox.NetNS) {
		saved.Sandbox.NetNS = ""
	}
	if err := c.detach(ctx, saved); err != nil {
		return err
	}
	if err := c.store.Remove(c.sandbox); err != nil {
		return coded{types.ErrIOFailure, fmt.Errorf("removing the plan: %w", err)}
	}
	return nil
}

// clearStatus starts to remove the network-status that this sandbox wrote, while its delegates run, and gives the
// function that waits for it (DEL-7).
func (c *call) clearStatus(ctx context.Context, saved *plan.Plan) (wait func()) {
	pod := saved.Sandbox.Pod
	if pod == nil || pod.UID == "" || c.isSystem(pod.Namespace) || !c.hasKube() {
		return func() {}
	}
	written, err := c.written(saved)
	if err != nil {
		c.log.Info("the network-status is left as it is", "reason", err)
		return func() {}
	}
	var group sync.WaitGroup
	group.Go(func() {
		if err := c.clear(ctx, pod, written); err != nil {
			c.log.Warn("the network-status is not removed", "error", err)
		}
	})
	return group.Wait
}

func (c *call) clear(ctx context.Context, pod *plan.Pod, written string) error {
	client, err := c.kube()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, clearBudget)
	defer cancel()
	return client.ClearStatus(ctx, pod.Namespace, pod.Name, pod.UID, written)
}

// written is the network-status that ADD wrote, from the cached results and device information files of the plan's
// attachments.
func (c *call) written(saved *plan.Plan) (string, error) {
	outcomes, err := c.cachedOutcomes(saved)
	if err != nil {
		return "", err
	}
	for i := range outcomes {
		if outcomes[i].DeviceInfo, err = readDeviceInfo(outcomes[i].Attachment); err != nil {
			return "", fmt.Errorf("network %s: %w", outcomes[i].Attachment.Network, err)
		}
	}
	return statusOf(outcomes)
}

// cachedOutcomes is what ADD gave, as the result cache has it.
func (c *call) cachedOutcomes(saved *plan.Plan) ([]plan.Outcome, error) {
	var outcomes []plan.Outcome
	for _, attachment := range saved.Attachments {
		result, err := c.runner.CachedResult(saved.Sandbox, attachment)
		if err != nil {
			return nil, fmt.Errorf("network %s: %w", attachment.Network, err)
		}
		if result == nil {
			return nil, fmt.Errorf("network %s: there is no cached result", attachment.Network)
		}
		outcomes = append(outcomes, plan.Outcome{Attachment: attachment, Result: result})
	}
	return outcomes, nil
}

// statusNames are the networks that a network-status shows.
func statusNames(value string) map[string]bool {
	names := map[string]bool{}
	statuses, err := nad.ParseNetworkStatus(value)
	if err != nil {
		return names
	}
	for _, status := range statuses {
		names[status.Name] = true
	}
	return names
}
