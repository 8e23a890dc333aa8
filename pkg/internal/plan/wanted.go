package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// Source says where the configuration of a wanted network is to be found.
type Source int

// The sources, CONF-5 and NET-11.
const (
	Inline     Source = iota // in our own configuration, key "delegates"
	Definition               // a NAD by namespace and name
	Named                    // a NAD by namespace and name, else a file in confDir whose JSON name it is
	Path                     // a file, or the first file of a directory
	Chain                    // all plugins of a directory, if there are any (auxiliaryCNIChainName)
)

// Ref names one network that a sandbox is to get, before anything of it has been read.
type Ref struct {
	Source    Source
	Field     string                       // where it is asked for: a configuration key or an annotation, with index
	Namespace string                       // of the NAD; Definition and Named only
	Name      string                       // of the NAD, or the path
	Inline    *config.Network              // Inline only
	Selection *nad.NetworkSelectionElement // nil for what the node's configuration names
}

// Network is the name that messages and the status annotation use: "namespace/name" of a NAD, else the name of the
// configuration, else the path.
func (r Ref) Network() string {
	switch {
	case r.Inline != nil:
		return r.Inline.Name
	case r.Source == Path, r.Source == Chain:
		return r.Name
	default:
		return r.Namespace + "/" + r.Name
	}
}

// NeedsAPI says whether the API server has to be asked for the network.
func (r Ref) NeedsAPI() bool { return r.Source == Definition || r.Source == Named }

// Selections is what a pod asks for by its annotations (NET-1).
type Selections struct {
	Default  *nad.NetworkSelectionElement   // replaces the master; nil if not asked for
	Networks []*nad.NetworkSelectionElement // in annotation order
}

// Wanted lists the networks of one sandbox, the master first: what the node's configuration names, then what the pod
// selects, last the auxiliary chain. namespace is the pod's, empty without a pod identity. The error names every reference that namespace
// isolation forbids (NET-10).
func Wanted(cfg *config.Config, namespace string, selected Selections) ([]Ref, error) {
	refs := configured(cfg, namespace)
	if selected.Default != nil {
		refs[0] = selection(nad.DefaultNetworkAnnotation, selected.Default)
	}
	for i, element := range selected.Networks {
		refs = append(refs, selection(fmt.Sprintf("%s[%d]", nad.NetworksAnnotation, i), element))
	}
	if cfg.ClusterNetwork != "" && cfg.AuxiliaryCNIChainName != "" {
		refs = append(refs, Ref{Source: Chain, Field: "auxiliaryCNIChainName", Name: cfg.AuxiliaryCNIChainName})
	}
	var faults []error
	for _, ref := range refs {
		if ref.Selection != nil && !allowed(cfg, namespace, ref.Namespace) {
			faults = append(faults, fmt.Errorf("network %s (%s): namespaceIsolation is on and namespace %q is neither the pod's own nor one of globalNamespaces (%s)",
				ref.Network(), ref.Field, ref.Namespace, strings.Join(cfg.GlobalNamespaces, ", ")))
		}
	}
	return refs, errors.Join(faults...)
}

// configured lists the networks that the node's configuration names for a pod of this namespace.
func configured(cfg *config.Config, namespace string) []Ref {
	if cfg.ClusterNetwork == "" {
		refs := make([]Ref, len(cfg.Delegates))
		for i, network := range cfg.Delegates {
			refs[i] = Ref{Source: Inline, Field: fmt.Sprintf("delegates[%d]", i), Inline: network}
		}
		return refs
	}
	refs := []Ref{named(cfg, "clusterNetwork", cfg.ClusterNetwork)}
	if slices.Contains(cfg.SystemNamespaces, namespace) {
		return refs
	}
	for i, value := range cfg.DefaultNetworks {
		refs = append(refs, named(cfg, fmt.Sprintf("defaultNetworks[%d]", i), value))
	}
	return refs
}

// named makes the reference of a clusterNetwork or defaultNetworks value (CONF-5).
func named(cfg *config.Config, field, value string) Ref {
	if strings.Contains(value, "/") {
		return Ref{Source: Path, Field: field, Name: value}
	}
	return Ref{Source: Named, Field: field, Namespace: cfg.MultusNamespace, Name: value}
}

func selection(field string, element *nad.NetworkSelectionElement) Ref {
	return Ref{Source: Definition, Field: field, Namespace: element.Namespace, Name: element.Name, Selection: element}
}

// allowed is namespace isolation (NET-10): a pod may use the NADs of its own namespace and of the global ones.
func allowed(cfg *config.Config, pod, definition string) bool {
	return !cfg.NamespaceIsolation || definition == pod || slices.Contains(cfg.GlobalNamespaces, definition)
}
