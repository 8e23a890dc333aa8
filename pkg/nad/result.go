package nad

import (
	"errors"
	"fmt"
	"slices"

	"github.com/containernetworking/cni/pkg/types"
	types020 "github.com/containernetworking/cni/pkg/types/020"
	types040 "github.com/containernetworking/cni/pkg/types/040"
	types100 "github.com/containernetworking/cni/pkg/types/100"
)

var errNoResult = errors.New("result: missing")

// current gives a result of any version in today's form, without null entries. The CNI library's converters panic on
// those, and on a version that does not fit the Go type; hence the copies with a version that does.
func current(result types.Result) (*types100.Result, error) {
	switch r := result.(type) {
	case nil:
		return nil, errNoResult
	case *types020.Result:
		if r == nil {
			return nil, errNoResult
		}
		versioned := *r
		versioned.CNIVersion = types020.ImplementedSpecVersion
		return types100.NewResultFromResult(&versioned)
	case *types040.Result:
		if r == nil {
			return nil, errNoResult
		}
		if err := errors.Join(noNull("interfaces", r.Interfaces), noNull("ips", r.IPs), noNull("routes", r.Routes)); err != nil {
			return nil, err
		}
		versioned := *r
		versioned.CNIVersion = types040.ImplementedSpecVersion
		return types100.NewResultFromResult(&versioned)
	case *types100.Result:
		if r == nil {
			return nil, errNoResult
		}
		return r, errors.Join(noNull("interfaces", r.Interfaces), noNull("ips", r.IPs), noNull("routes", r.Routes))
	default:
		return foreign(r)
	}
}

// foreign asks a result that is none of the CNI library's to convert itself.
func foreign(result types.Result) (*types100.Result, error) {
	converted, err := result.GetAsVersion(types100.ImplementedSpecVersion)
	if err != nil {
		return nil, fmt.Errorf("result of version %s: %w", result.Version(), err)
	}
	r, ok := converted.(*types100.Result)
	if !ok {
		return nil, fmt.Errorf("result of version %s: converts to %T", result.Version(), converted)
	}
	return current(r)
}

func noNull[T any](key string, list []*T) error {
	if i := slices.Index(list, nil); i >= 0 {
		return fmt.Errorf("%s[%d]: null", key, i)
	}
	return nil
}
