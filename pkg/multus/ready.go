package multus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/containernetworking/cni/pkg/types"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/kube"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
)

const (
	readinessLimit = 45 * time.Second
	readinessPause = 100 * time.Millisecond
)

// ready waits for the file that says that the default network is ready (ADD-1). Without one it does not wait.
func (c *call) ready(ctx context.Context) error {
	file := c.cfg.ReadinessIndicatorFile
	if file == "" {
		return nil
	}
	_, err := os.Stat(file)
	if err == nil {
		return nil
	}
	c.log.Info("waiting for the default network", "readinessindicatorfile", file)
	started := time.Now()
	ctx, cancel := context.WithTimeout(ctx, readinessLimit)
	defer cancel()
	tick := time.NewTicker(readinessPause)
	defer tick.Stop()
	for err != nil {
		select {
		case <-tick.C:
			_, err = os.Stat(file)
		case <-ctx.Done():
			return coded{types.ErrTryAgainLater, fmt.Errorf("the default network is not ready: readinessindicatorfile %s is still missing after %s (%w)",
				file, time.Since(started).Round(time.Second), err)}
		}
	}
	return nil
}

// status says whether an ADD could succeed now. It asks nobody who might keep it waiting (STS-1).
func (c *call) status(ctx context.Context) error {
	if err := c.notReady(); err != nil {
		return coded{types.ErrPluginNotAvailable, err}
	}
	master, err := c.master()
	if err != nil {
		return coded{types.ErrPluginNotAvailable, err}
	}
	if master == nil {
		return nil
	}
	for i, plugin := range master.Plugins {
		if _, err := c.runner.Find(plugin.Type); err != nil {
			return coded{types.ErrPluginNotAvailable, fmt.Errorf("network %s: plugins[%d].type: %w", master.Name, i, err)}
		}
	}
	if err := c.runner.Status(ctx, master); err != nil {
		return fmt.Errorf("network %s: %w", master.Name, err)
	}
	return nil
}

// notReady is what of our own keeps an ADD from succeeding.
func (c *call) notReady() error {
	if c.faults != nil {
		return c.faults
	}
	if file := c.cfg.ReadinessIndicatorFile; file != "" {
		if _, err := os.Stat(file); err != nil {
			return fmt.Errorf("the default network is not ready: readinessindicatorfile: %w", err)
		}
	}
	if _, err := c.kube(); err != nil && !errors.Is(err, kube.ErrNotConfigured) {
		return err
	}
	return nil
}

// master is the configured master; nil where only the API server may know it.
func (c *call) master() (*config.Network, error) {
	refs, err := plan.Wanted(c.cfg, "", plan.Selections{})
	if err != nil {
		return nil, err
	}
	master := c.network(refs[0], nil)
	if refs[0].Source == plan.Named && master.Err != nil {
		return nil, nil
	}
	return master.Config, master.Err
}
