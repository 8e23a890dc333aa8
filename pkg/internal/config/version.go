package config

import (
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/version"
)

// versionOr reads "cniVersion". Where there are "cniVersions" too, the newest of all that we speak counts, as in libcni.
func (r *reader) versionOr(unset string) string {
	best := r.textOr("cniVersion", unset)
	if choices := r.textsOr("cniVersions", nil); len(choices) > 0 {
		best = r.newest(append(choices, best))
	}
	return r.supported("cniVersion", best)
}

// supported refuses a version whose results could not be read.
func (r *reader) supported(key, chosen string) string {
	if known := version.All.SupportedVersions(); !slices.Contains(known, chosen) {
		r.fault(key, "%q is not one of %s", chosen, strings.Join(known, ", "))
	}
	return chosen
}

// newest gives the greatest version that is not beyond our own; the last of all if there is none.
func (r *reader) newest(choices []string) string {
	best := ""
	for _, choice := range choices {
		tooNew, err := version.GreaterThan(choice, version.Current())
		if err != nil {
			r.fault("cniVersions", "%v", err)
		}
		if err != nil || tooNew {
			continue
		}
		if newer, _ := version.GreaterThan(choice, best); best == "" || newer {
			best = choice
		}
	}
	if best == "" {
		return choices[len(choices)-1]
	}
	return best
}
