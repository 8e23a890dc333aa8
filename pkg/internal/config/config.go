package config

import (
	"encoding/json"

	"github.com/containernetworking/cni/pkg/types"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/logging"
)

// PodAnnotationsCapability is the capability by which a runtime hands over the pod's annotations (NET-17).
const PodAnnotationsCapability = "io.kubernetes.cri.pod-annotations"

// Config is our configuration, with the defaults in place of what is not set.
type Config struct {
	CNIVersion   string // "0.1.0" where none is named
	Name         string
	Capabilities map[string]bool
	PrevResult   json.RawMessage // nil if we are the first of the outer list

	ConfDir    string     // searched for configuration files by network name
	CNIDir     string     // all of our state
	BinDir     string     // searched for delegate binaries first
	Kubeconfig string     // path, empty if there is none
	KubeletDir string     // root directory of the kubelet
	Delegates  []*Network // the master first; empty with ClusterNetwork

	ClusterNetwork        string   // master network by name or path; empty with Delegates
	DefaultNetworks       []string // by name or path
	MultusNamespace       string   // of the NADs that the two name
	SystemNamespaces      []string
	NamespaceIsolation    bool
	GlobalNamespaces      []string
	AuxiliaryCNIChainName string // of the chain that LoadChain reads; empty if there is none

	ReadinessIndicatorFile string // path, empty if there is nothing to wait for
	Logging                logging.Options
	RuntimeConfig          map[string]json.RawMessage // capability arguments from the runtime
	ValidAttachments       []types.GCAttachment       // of a GC; nil if there is no list

	Warnings []string // what a log should say of the configuration
}

// PodAnnotations gives the annotations of the pod as the runtime handed them over; false if it did not (NET-17).
func (c *Config) PodAnnotations() (map[string]string, bool, error) {
	raw, ok := c.RuntimeConfig[PodAnnotationsCapability]
	if !ok || string(raw) == "null" {
		return nil, false, nil
	}
	var annotations map[string]string
	if err := json.Unmarshal(raw, &annotations); err != nil {
		return nil, false, Faults{{Path: join("runtimeConfig", PodAnnotationsCapability), Text: err.Error()}}
	}
	return annotations, true, nil
}
