package multus

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/containernetworking/cni/pkg/types"
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
	started := time.Now()
	ctx, cancel := context.WithTimeout(ctx, readinessLimit)
	defer cancel()
	tick := time.NewTicker(readinessPause)
	defer tick.Stop()
	for {
		_, err := os.Stat(file)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return coded{types.ErrTryAgainLater, fmt.Errorf("the default network is not ready: readinessindicatorfile %s is still missing after %s (%w)",
				file, time.Since(started).Round(time.Second), err)}
		}
	}
}

// status would say whether ADD can succeed (STS-1).
func (c *call) status(context.Context) error { return errNotSupported }
