package multus

import (
	"fmt"
	"slices"

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

// behind is what the master's first plugin gets as prevResult: a plugin that works on what is there, such as tuning,
// needs it, and one that makes an interface of its own passes it over (ADD-6). Nil if we are the first plugin ourselves.
func (c *call) behind() (types.Result, error) {
	previous, err := c.previous()
	if previous == nil {
		return nil, err
	}
	return previous, nil
}

// merge keeps the first result and adds the second one behind it, unless the second has all of the first: then the
// master has handed it on, as chained plugins do.
func merge(first *types100.Result, second types.Result) (types.Result, error) {
	added, err := types100.NewResultFromResult(second)
	if err != nil {
		return nil, fmt.Errorf("the master's result: %w", err)
	}
	if handedOn(first, added) {
		return second, nil
	}
	merged := *first
	merged.Interfaces = append(merged.Interfaces, added.Interfaces...)
	for _, ip := range added.IPs {
		if ip.Interface == nil && has(first.IPs, ip.Address.String(), addressText) {
			continue // handed on in a version that has no interfaces
		}
		ip = ip.Copy()
		if ip.Interface != nil {
			*ip.Interface += len(first.Interfaces)
		}
		merged.IPs = append(merged.IPs, ip)
	}
	for _, route := range added.Routes {
		if !has(first.Routes, route.String(), (*types.Route).String) {
			merged.Routes = append(merged.Routes, route)
		}
	}
	if merged.DNS.IsEmpty() {
		merged.DNS = added.DNS
	}
	return &merged, nil
}

// handedOn says whether a result has another one's interfaces and addresses. It may tell of them anew, such as a MAC that
// was changed.
func handedOn(first, second *types100.Result) bool {
	if len(first.Interfaces)+len(first.IPs) == 0 {
		return false
	}
	for _, wanted := range first.Interfaces {
		if !has(second.Interfaces, interfaceText(wanted), interfaceText) {
			return false
		}
	}
	for _, wanted := range first.IPs {
		if !has(second.IPs, wanted.Address.String(), addressText) {
			return false
		}
	}
	return true
}

func interfaceText(i *types100.Interface) string { return i.Name + " " + i.Sandbox }

func addressText(ip *types100.IPConfig) string { return ip.Address.String() }

// has finds an entry by what text makes of it.
func has[T any](list []*T, wanted string, text func(*T) string) bool {
	return slices.ContainsFunc(list, func(entry *T) bool { return text(entry) == wanted })
}
