package kube

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	firstPause = 100 * time.Millisecond
	maxPause   = 2 * time.Second
)

// retry repeats an attempt for as long as it fails in a way that may pass, within the budget (NET-14).
func (c *Client) retry(ctx context.Context, attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, c.Budget)
	defer cancel()
	end, _ := ctx.Deadline()
	total := time.Until(end)
	for n := 1; ; n++ {
		err := attempt(ctx)
		if !mayPass(err) {
			return err
		}
		wait, ok := pauseAfter(n, asError(err).retryAfter, time.Until(end), total)
		if !ok || ctx.Err() != nil {
			return fmt.Errorf("%w (gave up after %d attempts in %s)", err, n, total.Round(time.Millisecond))
		}
		if ended := sleep(ctx, wait); ended != nil {
			return fmt.Errorf("%w while waiting to repeat: %w", ended, err)
		}
	}
}

// mayPass says that an attempt failed, but another one may do better.
func mayPass(err error) bool {
	failed := asError(err)
	return failed != nil && !errors.Is(err, ErrGone) && (failed.Transient() || failed.conflict())
}

// pauseAfter is how long to wait after the n-th attempt; not ok if there is no time left for another one. The pauses
// grow, and differ between the many processes that start together after a reboot. What the server asks for is granted
// if it fits; otherwise there is one last attempt shortly before the end, since a date is as wrong as the node's clock.
func pauseAfter(n int, asked, left, total time.Duration) (wait time.Duration, ok bool) {
	own := min(firstPause<<min(n-1, 10), maxPause)
	own = own/2 + rand.N(own/2)
	if asked < left {
		wait = max(own, asked)
		return wait, wait < left
	}
	wait = left - total/5
	return wait, wait >= own
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
