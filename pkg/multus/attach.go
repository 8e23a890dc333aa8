package multus

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/containernetworking/cni/pkg/types"
	types100 "github.com/containernetworking/cni/pkg/types/100"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
)

// rollBackLimit bounds each DEL of a roll-back (ADD-4).
const rollBackLimit = 20 * time.Second

// attach runs the delegates' ADD in plan order. With an error it gives the outcomes of those that came before.
func (c *call) attach(ctx context.Context, built *plan.Plan) ([]plan.Outcome, error) {
	behind, err := c.behind()
	if err != nil {
		return nil, err
	}
	var outcomes []plan.Outcome
	for _, attachment := range built.Attachments {
		outcome, err := c.attachOne(ctx, built.Sandbox, attachment, behind)
		if err != nil {
			return outcomes, fmt.Errorf("network %s, interface %s: %w", attachment.Network, attachment.Interface, err)
		}
		behind = nil // for the master alone
		c.log.Info("attached", "network", attachment.Network, "interface", attachment.Interface)
		outcomes = append(outcomes, outcome)
	}
	return outcomes, nil
}

func (c *call) attachOne(ctx context.Context, box plan.Sandbox, attachment plan.Attachment, behind types.Result) (plan.Outcome, error) {
	if err := c.handDeviceInfo(attachment); err != nil {
		return plan.Outcome{}, err
	}
	result, err := c.runner.AddBehind(ctx, box, attachment, behind)
	if err != nil {
		return plan.Outcome{}, err
	}
	if err := carried(attachment, result); err != nil {
		return plan.Outcome{}, err
	}
	info, err := readDeviceInfo(attachment)
	return plan.Outcome{Attachment: attachment, Result: result, DeviceInfo: info}, err
}

// rollBack detaches the first count attachments after a failed ADD and returns the failure (ADD-4). It goes on when
// the verb has been cancelled.
func (c *call) rollBack(ctx context.Context, built *plan.Plan, count int, failure error) error {
	ctx = context.WithoutCancel(ctx)
	var faults []error
	for _, attachment := range slices.Backward(built.Attachments[:count]) {
		limited, cancel := context.WithTimeout(ctx, rollBackLimit)
		faults = append(faults, c.release(limited, built.Sandbox, attachment))
		cancel()
	}
	if err := errors.Join(faults...); err != nil {
		c.log.Error("rolling back: the plan is kept for DEL", "error", oneLine(err))
		return failure
	}
	if err := c.store.Remove(built.Sandbox); err != nil {
		c.log.Error("rolling back: removing the plan", "error", err)
	}
	return failure
}

// detach runs the delegates' DEL in reverse plan order. One that fails does not stop the others (DEL-3).
func (c *call) detach(ctx context.Context, built *plan.Plan) error {
	var faults []error
	for _, attachment := range slices.Backward(built.Attachments) {
		faults = append(faults, c.release(ctx, built.Sandbox, attachment))
	}
	return errors.Join(faults...)
}

func (c *call) release(ctx context.Context, box plan.Sandbox, attachment plan.Attachment) error {
	if err := c.runner.Del(ctx, box, attachment); err != nil {
		return fmt.Errorf("network %s, interface %s: %w", attachment.Network, attachment.Interface, err)
	}
	c.removeDeviceInfo(attachment)
	c.log.Info("detached", "network", attachment.Network, "interface", attachment.Interface)
	return nil
}

// carried checks that a result shows what was asked for through CNI_ARGS alone: a plugin that does not read them
// ignores it without a word (NET-7).
func carried(attachment plan.Attachment, result types.Result) error {
	want := attachment.MustCarry
	if want == nil {
		return nil
	}
	got, err := types100.GetResult(result)
	if err != nil {
		return fmt.Errorf("reading the result: %w", err)
	}
	if want.MAC != "" && !hasMAC(got, attachment.Interface, want.MAC) {
		return fmt.Errorf("mac %s was asked for, but the result does not show it: no plugin of the network declares capabilities.mac, and none honoured CNI_ARGS", want.MAC)
	}
	for _, address := range want.IPs {
		if !hasAddress(got, address) {
			return fmt.Errorf("ips: %s was asked for, but the result does not show it: no plugin of the network declares capabilities.ips, and none honoured CNI_ARGS", address)
		}
	}
	return nil
}

// hasMAC looks at the attachment's interface in the sandbox.
func hasMAC(result *types100.Result, ifname, mac string) bool {
	return slices.ContainsFunc(result.Interfaces, func(i *types100.Interface) bool {
		return i.Sandbox != "" && i.Name == ifname && strings.EqualFold(i.Mac, mac)
	})
}

func hasAddress(result *types100.Result, asked string) bool {
	want, err := addressOf(asked)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(result.IPs, func(ip *types100.IPConfig) bool {
		got, ok := netip.AddrFromSlice(ip.Address.IP)
		return ok && got.Unmap() == want
	})
}

// addressOf reads an address with or without prefix length.
func addressOf(text string) (netip.Addr, error) {
	bare, _, _ := strings.Cut(text, "/")
	address, err := netip.ParseAddr(bare)
	return address.Unmap(), err
}
