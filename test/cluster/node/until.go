package node

import (
	"context"
	"fmt"
	"time"
)

// until waits until the attempt succeeds. If it does not in time, its last error says why.
func until(ctx context.Context, what string, attempt func(context.Context) error) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	late := time.After(Wait)
	for {
		err := attempt(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("until %s: %w", what, ctx.Err())
		case <-late:
			return fmt.Errorf("until %s: %w", what, err)
		}
	}
}
