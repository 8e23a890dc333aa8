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
	if c.prev == nil {
		return delegate.Convert(master, c.cfg.CNIVersion)
	}
	previous, err := create.Create(c.cfg.CNIVersion, c.prev)
	if err != nil {
		return nil, fmt.Errorf("prevResult: %w", err)
	}
	merged, err := merge(previous, master)
	if err != nil {
		return nil, err
	}
	return delegate.Convert(merged, c.cfg.CNIVersion)
}

// merge keeps the first result and adds the second one behind it.
func merge(first, second types.Result) (types.Result, error) {
	a, err := types100.NewResultFromResult(first)
	if err != nil {
		return nil, fmt.Errorf("prevResult: %w", err)
	}
	b, err := types100.NewResultFromResult(second)
	if err != nil {
		return nil, fmt.Errorf("the master's result: %w", err)
	}
	merged := *a
	merged.Interfaces = append(merged.Interfaces, b.Interfaces...)
	for _, ip := range b.IPs {
		ip = ip.Copy()
		if ip.Interface != nil {
			*ip.Interface += len(a.Interfaces)
		}
		merged.IPs = append(merged.IPs, ip)
	}
	merged.Routes = append(merged.Routes, b.Routes...)
	if merged.DNS.IsEmpty() {
		merged.DNS = b.DNS
	}
	return &merged, nil
}
