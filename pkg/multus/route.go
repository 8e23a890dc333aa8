package multus

import (
	"fmt"

	"github.com/containernetworking/cni/pkg/types"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/delegate"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/sandbox"
)

// reroute gives the default route to the attachment that asks for it: in the kernel, in the outcomes and in the cached
// results (ADD-7).
func (c *call) reroute(box plan.Sandbox, outcomes []plan.Outcome) error {
	routing, err := plan.Reroute(outcomes)
	if err != nil || routing == nil {
		return err
	}
	if err := c.applyRouting(box.NetNS, routing); err != nil {
		return fmt.Errorf("default-route: %w", err)
	}
	for i := range outcomes {
		changed, err := inVersion(routing.Results[i], outcomes[i].Result)
		if err != nil {
			return err
		}
		if err := c.runner.SaveResult(box, outcomes[i].Attachment, changed); err != nil {
			return fmt.Errorf("network %s: %w", outcomes[i].Attachment.Network, err)
		}
		outcomes[i].Result = changed
	}
	return nil
}

// inVersion keeps a changed result in the version that its delegate chose.
func inVersion(changed, original types.Result) (types.Result, error) {
	return delegate.Convert(changed, original.Version())
}

func (c *call) applyRouting(netns string, routing *plan.Routing) error {
	namespace, err := c.open(netns)
	if err != nil {
		return err
	}
	defer namespace.Close()
	for _, strip := range routing.Strip {
		if err := namespace.RemoveDefaultRoutes(strip.Interface, strip.IPv6); err != nil {
			return err
		}
	}
	for _, add := range routing.Add {
		if err := namespace.AddDefaultRoute(sandbox.Gateway{
			Interface: routing.Carrier, IP: add.IP, IPv6: add.IPv6, Metric: add.Metric, OnLink: add.OnLink,
		}); err != nil {
			return err
		}
	}
	return nil
}
