package multus

import (
	"fmt"

	"github.com/containernetworking/cni/pkg/types"
	types100 "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/cni/pkg/types/create"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/delegate"
)

// result is what the runtime gets: the master's result in the version of our own configuration (INV-2, ADD-5), behind
// what earlier plugins of an outer list have made (ADD-6).
func (c *call) result(master types.Result) (types.Result, error) {
	previous, err := c.previous()
	if err != nil {
		return nil, err
	}
	if previous == nil {
		return delegate.Convert(master, c.cfg.CNIVersion)
	}
	merged, err := merge(previous, master)
	if err != nil {
		return nil, err
	}
	return delegate.Convert(merged, c.cfg.CNIVersion)
}

// previous is prevResult; nil if we are the first plugin of the outer list.
func (c *call) previous() (*types100.Result, error) {
	if c.prev == nil {
		return nil, nil
	}
	given, err := create.Create(c.cfg.CNIVersion, c.prev)
	if err == nil {
		given, err = delegate.Convert(given, types100.ImplementedSpecVersion)
	}
	if err != nil {
		return nil, coded{types.ErrInvalidNetworkConfig, fmt.Errorf("prevResult: %w", err)}
	}
	return types100.GetResult(given)
}

// merge keeps the first result and adds the second one behind it.
func merge(first *types100.Result, second types.Result) (types.Result, error) {
	added, err := types100.NewResultFromResult(second)
	if err != nil {
		return nil, fmt.Errorf("the master's result: %w", err)
	}
	merged := *first
	merged.Interfaces = append(merged.Interfaces, added.Interfaces...)
	for _, ip := range added.IPs {
		ip = ip.Copy()
		if ip.Interface != nil {
			*ip.Interface += len(first.Interfaces)
		}
		merged.IPs = append(merged.IPs, ip)
	}
	merged.Routes = append(merged.Routes, added.Routes...)
	if merged.DNS.IsEmpty() {
		merged.DNS = added.DNS
	}
	return &merged, nil
}
