package plan

import (
	"fmt"
	"slices"
)

// assign gives each network whose NAD names a resource one of the devices allocated to the pod (DEV-1), no device
// twice. Devices that a selection asks for by ID are set aside first. Both results have one element per network.
func assign(networks []Network, allocated map[string][]string) (devices []string, faults []error) {
	devices, faults = make([]string, len(networks)), make([]error, len(networks))
	used := map[string][]string{}
	take := func(i int, device string) {
		devices[i] = device
		used[networks[i].Resource] = append(used[networks[i].Resource], device)
	}
	for i, network := range networks {
		want := askedDevice(network)
		switch {
		case want == "":
		case !slices.Contains(allocated[network.Resource], want):
			faults[i] = fmt.Errorf("deviceID %q is not one of the %d devices of resource %s allocated to the pod", want, len(allocated[network.Resource]), network.Resource)
		case slices.Contains(used[network.Resource], want):
			faults[i] = fmt.Errorf("deviceID %q of resource %s is asked for twice", want, network.Resource)
		default:
			take(i, want)
		}
	}
	for i, network := range networks {
		if network.Resource == "" || askedDevice(network) != "" {
			continue
		}
		device, ok := nextUnused(allocated[network.Resource], used[network.Resource])
		if !ok {
			faults[i] = noneLeft(network.Resource, len(allocated[network.Resource]))
			continue
		}
		take(i, device)
	}
	return devices, faults
}

func noneLeft(resource string, allocated int) error {
	if allocated == 0 {
		return fmt.Errorf("no device of resource %s: 0 allocated to the pod; ask for one in resources.limits or by a resource claim", resource)
	}
	return fmt.Errorf("no device of resource %s is left: %d allocated to the pod, all in use by its other networks; ask for more in resources.limits or by a resource claim", resource, allocated)
}

func askedDevice(network Network) string {
	if network.Resource == "" || network.Ref.Selection == nil {
		return ""
	}
	return network.Ref.Selection.DeviceID
}

func nextUnused(allocated, used []string) (string, bool) {
	for _, device := range allocated {
		if !slices.Contains(used, device) {
			return device, true
		}
	}
	return "", false
}
