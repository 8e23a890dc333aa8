package multus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/containernetworking/cni/pkg/types"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/state"
)

// gcLockWait is short: a sandbox that a verb is working on is no garbage.
const gcLockWait = 100 * time.Millisecond

// gc releases what belongs to no valid sandbox, then lets each network do the same (GC-1, GC-2).
func (c *call) gc(ctx context.Context) error {
	if c.faults != nil {
		return c.faults
	}
	if c.cfg.ValidAttachments == nil {
		return coded{types.ErrInvalidNetworkConfig, errors.New("cni.dev/valid-attachments: missing; it says which sandboxes are alive, and without it nothing is released")}
	}
	known, err := c.newNetworks()
	if err != nil {
		return err
	}
	keys, err := c.store.Keys()
	if err != nil {
		return coded{types.ErrIOFailure, err}
	}
	var faults []error
	for _, key := range keys {
		faults = append(faults, c.collect(ctx, key, known))
	}
	faults = append(faults, c.collectOrphans(ctx, keys, known))
	if known.partly {
		return errors.Join(faults...)
	}
	for _, network := range known.list {
		if err := c.runner.GC(ctx, network, known.valid[network.Name]); err != nil {
			faults = append(faults, fmt.Errorf("network %s: %w", network.Name, err))
		}
	}
	return errors.Join(faults...)
}

// networks are the distinct networks that a GC knows, each with its live attachments. Those that share a name share
// their list.
type networks struct {
	list   []*config.Network
	seen   map[string]bool
	valid  map[string][]types.GCAttachment
	partly bool // some live attachments are not known
}

func (n *networks) add(network *config.Network) {
	text, err := network.MarshalJSON()
	if err != nil || n.seen[string(text)] {
		return
	}
	n.seen[string(text)] = true
	n.list = append(n.list, network)
}

func (n *networks) addLive(containerID string, attachments []plan.Attachment) {
	for _, attachment := range attachments {
		n.add(attachment.Config)
		name, live := attachment.Config.Name, types.GCAttachment{ContainerID: containerID, IfName: attachment.Interface}
		if !slices.Contains(n.valid[name], live) {
			n.valid[name] = append(n.valid[name], live)
		}
	}
}

// newNetworks begins with the master of the configuration. It keeps what the runtime calls valid, so that pods which
// were attached before we were installed keep their addresses.
func (c *call) newNetworks() (*networks, error) {
	known := &networks{seen: map[string]bool{}, valid: map[string][]types.GCAttachment{}}
	master, err := c.master()
	if err != nil || master == nil {
		return known, err
	}
	known.add(master)
	known.valid[master.Name] = append(known.valid[master.Name], c.cfg.ValidAttachments...)
	return known, nil
}

func (c *call) isLive(containerID string) bool {
	return slices.ContainsFunc(c.cfg.ValidAttachments, func(a types.GCAttachment) bool { return a.ContainerID == containerID })
}

// collect keeps the plan of a live container and releases any other one.
func (c *call) collect(ctx context.Context, key state.Key, known *networks) error {
	owner := c.on(key)
	if c.isLive(key.ContainerID) {
		attachments, err := owner.liveAttachments()
		known.addLive(key.ContainerID, attachments)
		known.partly = known.partly || err != nil
		return err
	}
	return owner.collectDead(ctx, known, func() *plan.Plan {
		saved, err := owner.store.Load(owner.sandbox)
		if err != nil {
			return owner.recover(ctx, err)
		}
		return saved
	})
}

// liveAttachments are those of a live container. The error says that there may be others: then no network must be told
// that what it does not see is stale.
func (c *call) liveAttachments() ([]plan.Attachment, error) {
	saved, err := c.store.Load(c.sandbox)
	if err == nil {
		return saved.Attachments, nil
	}
	cached, whole := c.fromCache()
	if cached = c.ours(cached); whole && len(cached) > 0 {
		return cached, nil
	}
	return cached, fmt.Errorf("container %s is alive and what is attached to it is not known: %w", c.sandbox.ContainerID, coded{types.ErrTryAgainLater, err})
}

// collectOrphans does the same for cached attachments whose container has no plan.
func (c *call) collectOrphans(ctx context.Context, keys []state.Key, known *networks) error {
	containers, err := c.runner.CachedContainers()
	if err != nil {
		return err
	}
	var faults []error
	for _, id := range containers {
		if slices.ContainsFunc(keys, func(key state.Key) bool { return key.ContainerID == id }) {
			continue
		}
		owner := c.on(state.Key{ContainerID: id})
		cached, _ := owner.fromCache()
		if c.isLive(id) {
			known.addLive(id, cached)
			continue
		}
		faults = append(faults, owner.collectDead(ctx, known, func() *plan.Plan {
			return &plan.Plan{Sandbox: owner.sandbox, Attachments: cached}
		}))
	}
	return errors.Join(faults...)
}

// on is the call for another sandbox, of which only the key is known.
func (c *call) on(key state.Key) *call {
	owner := *c
	owner.sandbox = plan.Sandbox{ContainerID: key.ContainerID, Interface: cmp.Or(key.Interface, "eth0")}
	return &owner
}

// collectDead releases a sandbox that is not alive. Its namespace is handed over if it still is one.
func (c *call) collectDead(ctx context.Context, known *networks, load func() *plan.Plan) error {
	lock, err := c.store.Lock(ctx, c.sandbox.ContainerID, gcLockWait)
	if err != nil {
		c.log.Warn("not collected, a verb is working on it", "container", c.sandbox.ContainerID, "error", err)
		return nil
	}
	defer lock.Release()
	saved := load()
	for _, attachment := range saved.Attachments {
		known.add(attachment.Config)
	}
	c.sandbox.NetNS = saved.Sandbox.NetNS
	defer c.clearStatus(ctx, saved)()
	if err := c.takeDown(ctx, saved); err != nil {
		return fmt.Errorf("container %s: %w", c.sandbox.ContainerID, err)
	}
	c.log.Info("collected", "container", c.sandbox.ContainerID)
	return nil
}
