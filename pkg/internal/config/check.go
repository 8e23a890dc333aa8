package config

import (
	"strings"

	"github.com/containernetworking/cni/pkg/utils"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// check finds the faults that lie between keys, and values that would become paths unchecked (SEC-2).
func (r *reader) check(cfg *Config) {
	if raw, given := r.raw("cniVersion"); cfg.ClusterNetwork != "" && (!given || string(raw) == `""`) {
		r.fault("cniVersion", "missing; with clusterNetwork the configuration itself has to name one")
	}
	if err := nad.ValidateNamespace(cfg.MultusNamespace); err != nil {
		r.fault("multusNamespace", "%v", err)
		cfg.MultusNamespace = "kube-system"
	}
	if name := cfg.AuxiliaryCNIChainName; name != "" {
		if err := utils.ValidateNetworkName(name); err != nil {
			r.fault("auxiliaryCNIChainName", "%q: %s", name, err.Msg)
			cfg.AuxiliaryCNIChainName = ""
		}
	}
	r.within("args").within("cni")
	r.flagOr("retryDeleteOnError", true) // DEL-5 is always on
	r.flagOr("allowTryDeleteOnErr", true)
	for _, key := range []string{
		"type", "ipam", "dns", "cniVersions", "disableCheck", "disableGC", "loadOnlyInlinedPlugins",
	} {
		r.raw(key) // known to the CNI specification, nothing to us
	}
}

// warnings says which keys of ours have no effect.
func (r *reader) warnings(cfg *Config) []string {
	var warnings []string
	_, delegates := r.raw("delegates")
	if cfg.ClusterNetwork != "" && delegates {
		warnings = append(warnings, "delegates is ignored, since clusterNetwork is set")
	}
	if cfg.ClusterNetwork == "" && len(cfg.DefaultNetworks) > 0 {
		warnings = append(warnings, "defaultNetworks is ignored, since clusterNetwork is not set")
	}
	if cfg.ClusterNetwork == "" && cfg.AuxiliaryCNIChainName != "" {
		warnings = append(warnings, "auxiliaryCNIChainName is ignored, since clusterNetwork is not set")
	}
	return warnings
}

// unknown warns of the keys that nothing was asked of (CONF-2).
func unknown(readers ...*reader) []string {
	var keys []string
	for _, r := range readers {
		for _, key := range r.unknown() {
			keys = append(keys, join(r.path, key))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return []string{"unknown keys are ignored: " + strings.Join(keys, ", ")}
}

// readDelegate reads one element of "delegates". One that has no name gets ours, for want of any other.
func readDelegate(raw []byte, defaultName, self string) (*Network, Faults) {
	network, faults := readNetwork(&scanner{data: raw}, defaultName)
	if network == nil {
		return nil, faults
	}
	faults = append(faults, network.checkPlugins()...)
	faults = append(faults, network.selfCalls(self)...)
	return network, faults
}
