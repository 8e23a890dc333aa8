package delegate

import (
	"context"
	"errors"

	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/version"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
)

// Status asks each plugin of a network for its STATUS, in order, up to the first that is not ready. Networks older than
// 1.1.0 have none and are ready (STS-1).
func (r Runner) Status(ctx context.Context, network *config.Network) error {
	if !atLeast110(network.CNIVersion) {
		return nil
	}
	for _, plugin := range network.Plugins {
		if _, err := r.run(ctx, step{verb: "STATUS", attachment: ofNetwork(network), plugin: plugin}); err != nil {
			return err
		}
	}
	return nil
}

// GC tells each plugin of a network which of its attachments are valid; whatever else a plugin holds it releases (GC-2).
// Networks older than 1.1.0, and those that disable it, take none. The error joins those of all plugins.
func (r Runner) GC(ctx context.Context, network *config.Network, valid []types.GCAttachment) error {
	if !atLeast110(network.CNIVersion) || network.DisableGC {
		return nil
	}
	if valid == nil {
		valid = []types.GCAttachment{} // for plugins, null is not an empty list
	}
	var faults []error
	for _, plugin := range network.Plugins {
		_, err := r.run(ctx, step{verb: "GC", attachment: ofNetwork(network), plugin: plugin, valid: valid})
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// ofNetwork stands for a network in the verbs that are about no attachment.
func ofNetwork(network *config.Network) plan.Attachment {
	return plan.Attachment{Network: network.Name, Config: network}
}

// atLeast110 tells of a configuration version whether it has GC and STATUS.
func atLeast110(cniVersion string) bool {
	ok, err := version.GreaterThanOrEqualTo(cniVersion, "1.1.0")
	return err == nil && ok
}
