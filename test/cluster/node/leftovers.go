package node

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Leftovers lists all that pods have on the node: leases, links, network namespaces, plans and the rest of the plugin's state.
// Bridges stay, as plugins leave them.
func (n *Node) Leftovers() ([]string, error) {
	leases, err := files(n.Path("leases"))
	if err != nil {
		return nil, err
	}
	leases = filter(leases, func(path string) bool {
		name := filepath.Base(path)
		return name != "lock" && !strings.HasPrefix(name, "last_reserved_ip.")
	})
	state, err := files(n.StateDir())
	if err != nil {
		return nil, err
	}
	links, err := n.podLinks()
	if err != nil {
		return nil, err
	}
	namespaces, err := filepath.Glob(n.Path("containerd", "state", "*", "netns", "*"))
	return append(append(append(leases, state...), links...), namespaces...), err
}

// podLinks are the host's ends of pods' links.
func (n *Node) podLinks() ([]string, error) {
	links, err := Links(n.NetNS())
	if err != nil {
		return nil, err
	}
	var found []string
	for name := range links {
		if strings.HasPrefix(name, "veth") {
			found = append(found, "link "+name)
		}
	}
	return found, nil
}

// files are those below a directory, which need not exist.
func files(dir string) ([]string, error) {
	var found []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil // also: gone since it was listed
		}
		if err == nil && !entry.IsDir() {
			found = append(found, path)
		}
		return err
	})
	return found, err
}

func filter(list []string, keep func(string) bool) []string {
	var kept []string
	for _, item := range list {
		if keep(item) {
			kept = append(kept, item)
		}
	}
	return kept
}
