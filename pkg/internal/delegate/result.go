package delegate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/types"
	types020 "github.com/containernetworking/cni/pkg/types/020"
	types040 "github.com/containernetworking/cni/pkg/types/040"
	types100 "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/cni/pkg/types/create"
	"github.com/containernetworking/cni/pkg/version"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
)

// parseResult reads what a plugin printed on ADD. Nothing, or null, is an empty result (ADD-5). A result without a
// version has the configuration's, as libcni takes it. The error is a *types.Error.
func parseResult(output []byte, configVersion string) (types.Result, error) {
	output = bytes.TrimSpace(output)
	if len(output) == 0 || string(output) == "null" {
		output = []byte("{}")
	}
	object, err := config.ParseObject(output)
	if err != nil {
		return nil, undecodable("its output is no JSON object (%v): %s", err, excerpt(output))
	}
	var named struct {
		CNIVersion string `json:"cniVersion"`
	}
	if err := json.Unmarshal(output, &named); err != nil {
		return nil, undecodable("its result cannot be read (%v): %s", err, excerpt(output))
	}
	if named.CNIVersion == "" {
		named.CNIVersion = configVersion
		object.Set("cniVersion", json.RawMessage(fmt.Sprintf("%q", configVersion)))
	}
	return createResult(named.CNIVersion, object.Bytes())
}

// createResult reads a result that names its version.
func createResult(resultVersion string, text []byte) (types.Result, error) {
	if supported := version.All.SupportedVersions(); !slices.Contains(supported, resultVersion) {
		return nil, types.NewError(types.ErrIncompatibleCNIVersion, fmt.Sprintf(
			"its result has version %q, which is not one of %s", resultVersion, strings.Join(supported, ", ")), "")
	}
	result, err := create.Create(resultVersion, text)
	if err != nil {
		return nil, undecodable("its result cannot be read (%v): %s", err, excerpt(text))
	}
	if err := whole(result); err != nil {
		return nil, undecodable("its result cannot be used (%v): %s", err, excerpt(text))
	}
	return result, nil
}

func undecodable(format string, args ...any) error {
	return types.NewError(types.ErrDecodingFailure, fmt.Sprintf(format, args...), "")
}

// whole finds what a result must not lack: the library follows each pointer when it converts, and prints a missing
// address as "<nil>", which nobody can read again.
func whole(result types.Result) error {
	switch r := result.(type) {
	case *types100.Result:
		return errors.Join(
			each("interfaces", r.Interfaces, func(*types100.Interface) error { return nil }),
			each("ips", r.IPs, func(ip *types100.IPConfig) error { return given("address", ip.Address.IP) }),
			each("routes", r.Routes, hasDestination))
	case *types040.Result:
		return errors.Join(
			each("interfaces", r.Interfaces, func(*types040.Interface) error { return nil }),
			each("ips", r.IPs, func(ip *types040.IPConfig) error { return given("address", ip.Address.IP) }),
			each("routes", r.Routes, hasDestination))
	case *types020.Result:
		return errors.Join(wholeFamily("ip4", r.IP4), wholeFamily("ip6", r.IP6))
	default:
		return fmt.Errorf("unknown kind of result %T", result)
	}
}

func wholeFamily(key string, family *types020.IPConfig) error {
	if family == nil {
		return nil
	}
	if err := given("ip", family.IP.IP); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	for i := range family.Routes {
		if err := hasDestination(&family.Routes[i]); err != nil {
			return fmt.Errorf("%s: routes[%d]: %w", key, i, err)
		}
	}
	return nil
}

func hasDestination(route *types.Route) error {
	return given("dst", route.Dst.IP)
}

func given(key string, address []byte) error {
	if len(address) == 0 {
		return fmt.Errorf("%s is missing", key)
	}
	return nil
}

// each checks every entry of a list, none of which may be null.
func each[T any](key string, list []*T, check func(*T) error) error {
	for i, entry := range list {
		err := errors.New("is null")
		if entry != nil {
			err = check(entry)
		}
		if err != nil {
			return fmt.Errorf("%s[%d]: %w", key, i, err)
		}
	}
	return nil
}
