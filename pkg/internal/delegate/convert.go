package delegate

import (
	"errors"
	"fmt"
	"slices"

	"github.com/containernetworking/cni/pkg/types"
	types020 "github.com/containernetworking/cni/pkg/types/020"
	types040 "github.com/containernetworking/cni/pkg/types/040"
	types100 "github.com/containernetworking/cni/pkg/types/100"
)

// Convert gives a result in a CNI version (INV-2), "" standing for 0.1.0. It takes what the library's own conversion
// fails on: a result without addresses in 0.1.0 and 0.2.0, and one whose version does not fit its Go type (E083). The
// result given is not changed, but the two may share addresses and routes.
func Convert(result types.Result, cniVersion string) (types.Result, error) {
	if result == nil {
		return nil, errors.New("converting a result: there is none")
	}
	if err := whole(result); err != nil {
		return nil, fmt.Errorf("converting a result: %w", err)
	}
	if cniVersion == "" {
		cniVersion = "0.1.0"
	}
	fitting := fit(result)
	convert := types.Result.GetAsVersion
	if _, sameType := fitting.(*types020.Result); isOld(cniVersion) && !sameType {
		convert = toOld
	}
	converted, err := convert(fitting, cniVersion)
	if err != nil {
		return nil, fmt.Errorf("converting a result of version %s to %s: %w", fitting.Version(), cniVersion, err)
	}
	return converted, nil
}

// fit gives a result a version that its Go type stands for: the library picks the conversion by the version alone,
// and panics if the type is another.
func fit(result types.Result) types.Result {
	switch r := result.(type) {
	case *types100.Result:
		if !slices.Contains([]string{"1.0.0", "1.1.0"}, r.CNIVersion) {
			fitting := *r
			fitting.CNIVersion = types100.ImplementedSpecVersion
			return &fitting
		}
	case *types040.Result:
		if !slices.Contains([]string{"0.3.0", "0.3.1", "0.4.0"}, r.CNIVersion) {
			fitting := *r
			fitting.CNIVersion = types040.ImplementedSpecVersion
			return &fitting
		}
	case *types020.Result:
		if !isOld(r.CNIVersion) {
			fitting := *r
			fitting.CNIVersion = types020.ImplementedSpecVersion
			return &fitting
		}
	}
	return result
}

func isOld(cniVersion string) bool {
	return cniVersion == "0.1.0" || cniVersion == "0.2.0"
}

// toOld converts to a version before 0.3.0, whose results hold one address of each family.
func toOld(result types.Result, cniVersion string) (types.Result, error) {
	// The way by the newest version tells an address's family by the address: 0.3.x and 0.4.0 have it in a key, which
	// plugins forget.
	newest, err := types100.NewResultFromResult(result)
	if err != nil {
		return nil, err
	}
	if len(newest.IPs) == 0 {
		return &types020.Result{CNIVersion: cniVersion, DNS: newest.DNS}, nil
	}
	return newest.GetAsVersion(cniVersion)
}
