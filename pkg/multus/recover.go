package multus

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/kube"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/state"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// recoverBudget bounds what a DEL without a plan asks of the API server (DEL-4, DEL-6).
const recoverBudget = 2 * time.Second

// recover makes up for a plan that is lost (DEL-4): from the results that libcni's cache still has of this container,
// else, or if some of them cannot be read, from the configuration and what the API server says of the pod. The plan may
// be empty: then there is nothing to release.
func (c *call) recover(ctx context.Context, lost error) *plan.Plan {
	cached, whole := c.fromCache()
	cached = c.ours(cached)
	if len(cached) > 0 && whole {
		c.log.Warn("there is no plan for this sandbox; releasing what the result cache knows", "reason", lost)
		return &plan.Plan{Sandbox: c.sandbox, Attachments: cached}
	}
	c.log.Warn("there is no plan for this sandbox; releasing what the configuration names", "reason", lost)
	built := c.salvage(ctx, errors.Is(lost, state.ErrNotFound))
	built.Attachments = c.complete(cached, c.ours(built.Attachments))
	return built
}

// complete adds to cached attachments those of the interfaces that they lack.
func (c *call) complete(cached, salvaged []plan.Attachment) []plan.Attachment {
	if len(cached) == 0 {
		return salvaged
	}
	for _, attachment := range salvaged {
		same := func(known plan.Attachment) bool { return known.Interface == attachment.Interface }
		if !slices.ContainsFunc(cached, same) {
			cached = append(cached, attachment)
		}
	}
	c.sort(cached)
	return cached
}

// fromCache lists the cached attachments of this container, the master first, and says whether there can be no others.
func (c *call) fromCache() (cached []plan.Attachment, whole bool) {
	cached, err := c.runner.CachedAttachments(c.sandbox.ContainerID)
	if err != nil {
		c.log.Error("the result cache cannot be read in full; what it does not show may not be released", "error", oneLine(err))
	}
	c.sort(cached)
	return cached, err == nil
}

// ours leaves out what belongs to another plan of the container, for another CNI_IFNAME.
func (c *call) ours(attachments []plan.Attachment) []plan.Attachment {
	others, err := c.store.OtherInterfaces(c.sandbox)
	if err != nil {
		c.log.Warn("other plans of this container cannot be read", "error", err)
	}
	return slices.DeleteFunc(attachments, func(a plan.Attachment) bool { return slices.Contains(others, a.Interface) })
}

// sort puts the master before the others, which go by interface name.
func (c *call) sort(attachments []plan.Attachment) {
	rank := func(a plan.Attachment) string {
		if a.Interface == c.sandbox.Interface {
			return ""
		}
		return a.Interface
	}
	slices.SortStableFunc(attachments, func(a, b plan.Attachment) int { return strings.Compare(rank(a), rank(b)) })
}

// salvage builds a plan from the configuration and the pod's annotations. What could never have been attached is
// logged and left out.
func (c *call) salvage(ctx context.Context, noPlanAtAll bool) *plan.Plan {
	if c.faults != nil {
		c.log.Error("not released, since nothing can have been attached by this configuration", "error", oneLine(c.faults))
		return &plan.Plan{Sandbox: c.sandbox}
	}
	ctx, cancel := context.WithTimeout(ctx, recoverBudget)
	defer cancel()
	pod := c.podForRecovery(ctx)
	selected, err := c.selections(pod)
	if err != nil {
		c.log.Error("not released, since it cannot have been attached", "error", err)
	}
	if noPlanAtAll && pod != nil {
		selected = stillShown(selected, pod.annotations[nad.StatusAnnotation])
	}
	refs, err := plan.Wanted(c.cfg, c.namespaceOfPod(), selected)
	if err != nil {
		c.log.Error("not released, since it cannot have been attached", "error", err)
		refs, _ = plan.Wanted(c.cfg, c.namespaceOfPod(), plan.Selections{})
	}
	built, faults := plan.Salvage(c.gather(ctx, pod, refs))
	for _, fault := range faults {
		c.log.Error("not released", "error", oneLine(fault))
	}
	built.Attachments = slices.DeleteFunc(built.Attachments, c.impossible)
	return built
}

var errReplaced = errors.New("it was replaced by a new one of the same name")

// podForRecovery reads the pod once. If that fails only its identity is known, and unless the API server said that the
// pod is gone, that server is not asked for anything else. It is nil without a pod identity or API server.
func (c *call) podForRecovery(ctx context.Context) *pod {
	if c.sandbox.Pod == nil || !c.hasKube() {
		return nil
	}
	found, err := c.readOnce(ctx)
	if err == nil && c.another(found) {
		found, err = nil, errReplaced
	}
	switch {
	case isNotFound(err) || errors.Is(err, errReplaced):
		// The usual end: a runtime repeats DEL when the pod is gone and all of it is detached.
		c.log.Warn("the pod is gone, so networks that it selected itself are not released, unless an earlier DEL has done it", "reason", err)
		return &pod{Pod: *c.sandbox.Pod}
	case err != nil:
		c.log.Error("the pod cannot be read, so networks that it selected itself are not released", "error", err)
		return &pod{Pod: *c.sandbox.Pod, absent: true}
	}
	return &pod{Pod: *c.sandbox.Pod, annotations: found.Annotations, node: found.Node, claims: found.Claims}
}

func (c *call) readOnce(ctx context.Context) (*kube.Pod, error) {
	client, err := c.kube()
	if err != nil {
		return nil, err
	}
	return client.PodOnce(ctx, c.sandbox.Pod.Namespace, c.sandbox.Pod.Name)
}

func (c *call) namespaceOfPod() string {
	if c.sandbox.Pod == nil {
		return ""
	}
	return c.sandbox.Pod.Namespace
}

// stillShown keeps the selections whose networks the network-status shows: a finished DEL has removed it.
func stillShown(selected plan.Selections, status string) plan.Selections {
	shown := statusNames(status)
	gone := func(e *nad.NetworkSelectionElement) bool { return !shown[e.Namespace+"/"+e.Name] }
	selected.Networks = slices.DeleteFunc(slices.Clone(selected.Networks), gone)
	if selected.Default != nil && gone(selected.Default) {
		selected.Default = nil
	}
	return selected
}

// impossible says, and logs, that an attachment cannot have been made.
func (c *call) impossible(a plan.Attachment) bool {
	reason := ""
	if a.Interface == "lo" {
		reason = "interface lo is never attached"
	}
	for _, plugin := range a.Config.Plugins {
		if _, err := c.runner.Find(plugin.Type); err != nil {
			reason = err.Error()
		}
	}
	if reason != "" {
		c.log.Error("not released", "network", a.Network, "interface", a.Interface, "reason", reason)
	}
	return reason != ""
}
