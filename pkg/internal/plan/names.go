package plan

import (
	"fmt"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// names gives every attachment its interface (NET-12): the one that was asked for; for the master otherwise the
// runtime's; for the attachment at position i otherwise net<i>, or the next one upwards that nobody asked for.
// A name that is asked for twice is a fault, and so is one that the kernel would refuse.
func names(runtime string, networks []Network) ([]string, []error) {
	given := make([]string, len(networks))
	holder := map[string]string{}
	var faults []error
	for i, network := range networks {
		given[i] = asked(network.Ref)
		if given[i] == "" && i == 0 {
			given[i] = runtime
		}
		if given[i] == "" {
			continue
		}
		if err := nad.ValidateInterfaceName(given[i]); err != nil {
			faults = append(faults, fmt.Errorf("network %s: interface: %w", network.Name, err))
		}
		if other, taken := holder[given[i]]; taken {
			faults = append(faults, fmt.Errorf("network %s: interface %q is taken by network %s; choose another one", network.Name, given[i], other))
		}
		holder[given[i]] = network.Name
	}
	for i, network := range networks {
		if given[i] == "" {
			given[i] = nextFree(i, holder)
			holder[given[i]] = network.Name
		}
	}
	return given, faults
}

func nextFree(position int, holder map[string]string) string {
	for n := position; ; n++ {
		name := fmt.Sprintf("net%d", n)
		if _, taken := holder[name]; !taken {
			return name
		}
	}
}

func asked(ref Ref) string {
	if ref.Selection == nil {
		return ""
	}
	return ref.Selection.InterfaceRequest
}
