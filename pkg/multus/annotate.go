package multus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/kube"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

const (
	// statusBudget bounds the status patch of an ADD with its retries, like the reads (STAT-3).
	statusBudget = 10 * time.Second
	// optionalStatusBudget is for pods that do not depend on the API server (NET-17).
	optionalStatusBudget = 2 * time.Second
	// clearBudget bounds the API request of a DEL (DEL-6, DEL-7).
	clearBudget = 2 * time.Second
)

// annotate writes the pod's network-status (STAT-3).
func (c *call) annotate(ctx context.Context, pod *pod, outcomes []plan.Outcome) error {
	if pod == nil || pod.absent || c.isSystem(pod.Namespace) {
		return nil
	}
	value, err := statusOf(outcomes)
	if err != nil {
		return err
	}
	err = c.setStatus(ctx, pod, value)
	switch {
	case errors.Is(err, kube.ErrNotConfigured):
		return nil
	case errors.Is(err, kube.ErrGone):
		c.log.Warn("the pod is gone, its network-status is not written", "error", err)
		return nil
	case err != nil && pod.independent && ctx.Err() == nil:
		c.log.Warn("the network-status is not written", "error", err)
		return nil
	case err != nil:
		return fmt.Errorf("writing annotation %s: %w", nad.StatusAnnotation, err)
	default:
		return nil
	}
}

func (c *call) setStatus(ctx context.Context, pod *pod, value string) error {
	client, err := c.kube()
	if err != nil {
		return err
	}
	budget := statusBudget
	if pod.independent {
		budget = optionalStatusBudget
	}
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	return client.SetStatus(ctx, pod.Namespace, pod.Name, pod.UID, value)
}

// isSystem says that pods of the namespace are not annotated (STAT-4).
func (c *call) isSystem(namespace string) bool {
	return slices.Contains(c.cfg.SystemNamespaces, namespace)
}

// statusOf is the value of the network-status annotation: the interfaces of all attachments in plan order (STAT-1). It
// depends on nothing else, so that DEL can tell from what ADD has left what ADD has written.
func statusOf(outcomes []plan.Outcome) (string, error) {
	var statuses []*nad.NetworkStatus
	for i, outcome := range outcomes {
		isMaster := i == 0
		some, err := nad.CreateNetworkStatuses(outcome.Result, outcome.Attachment.Network, isMaster, outcome.DeviceInfo)
		if err != nil {
			return "", fmt.Errorf("network %s, interface %s: result: %w", outcome.Attachment.Network, outcome.Attachment.Interface, err)
		}
		for _, status := range some {
			if status.Interface == "" {
				status.Interface = outcome.Attachment.Interface
			}
		}
		statuses = append(statuses, some...)
	}
	return nad.FormatNetworkStatus(statuses)
}
