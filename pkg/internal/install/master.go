package install

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
)

// Master is the configuration of a primary network.
type Master struct {
	Path    string // where it was found
	raw     []byte // as it goes into ours
	network *config.Network
	version string // cniVersion as given, empty if none is
}

// Search says where a master is looked for.
type Search struct {
	Dir     string
	Name    string   // of the file; empty: the first valid one
	Renamed []string // names that may be found with the ending ".old", because we renamed them (ENT-9)
	Strict  bool     // do not step over a faulty file: it may be half-written (ENT-7)
}

// NoMaster is the error of a search that found none, which a later one may.
type NoMaster struct {
	Dir     string
	Reasons []string // why each file that was looked at will not do
}

func (n *NoMaster) Error() string {
	text := "no configuration of a primary network in " + n.Dir
	if len(n.Reasons) == 0 {
		return text
	}
	return text + " (" + strings.Join(n.Reasons, "; ") + ")"
}

// errOurs keeps us from becoming our own delegate (E112).
var errOurs = errors.New("it is ours")

// Find gives the first configuration, in lexical order, that is valid and not ours (ENT-4). The error is NoMaster if
// there is none.
func Find(s Search) (*Master, error) {
	names, err := s.names()
	if err != nil {
		return nil, err
	}
	none := &NoMaster{Dir: s.Dir}
	for _, name := range names {
		master, err := s.load(name)
		if err == nil {
			return master, nil
		}
		none.Reasons = append(none.Reasons, name+": "+strings.TrimPrefix(err.Error(), filepath.Join(s.Dir, name)+": "))
		if s.Strict && !errors.Is(err, errOurs) {
			break
		}
	}
	return nil, none
}

// names lists what to look at, in order.
func (s Search) names() ([]string, error) {
	if s.Name != "" {
		if filepath.Base(s.Name) != s.Name {
			return nil, fmt.Errorf("master %q: must be the name of a file in %s, without directory", s.Name, s.Dir)
		}
		return []string{s.Name}, nil
	}
	entries, err := os.ReadDir(s.Dir)
	if err != nil {
		return nil, err
	}
	names := slices.Clone(s.Renamed)
	for _, entry := range entries {
		if ending := filepath.Ext(entry.Name()); ending == ".conf" || ending == ".conflist" {
			names = append(names, entry.Name())
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// load reads a file by its name or, where we renamed it and nobody wrote it anew, by the one that we gave it.
func (s Search) load(name string) (*Master, error) {
	path := filepath.Join(s.Dir, name)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && slices.Contains(s.Renamed, name) {
		path += ".old"
	}
	return Load(path)
}

// Load reads the configuration of a primary network.
func Load(path string) (*Master, error) {
	raw, err := readRegular(path)
	if err != nil {
		return nil, err
	}
	network, err := config.LoadFile(path)
	if err != nil {
		return nil, err
	}
	for _, plugin := range network.Plugins {
		if plugin.Type == self || plugin.Type == shim {
			return nil, errOurs
		}
	}
	if err := network.CallsItself(self); err != nil {
		return nil, err
	}
	return master(path, raw, network)
}

// master takes the text as it is, unless the list gets further plugins from files beside it (CONF-7): these have to be
// written out, as no file is beside a delegate.
func master(path string, raw []byte, network *config.Network) (*Master, error) {
	m := &Master{Path: path, raw: bytes.TrimSpace(raw), network: network}
	if alone, err := config.ParseNetwork(raw, ""); err != nil || len(alone.Plugins) != len(network.Plugins) {
		whole, err := network.MarshalJSON()
		if err != nil {
			return nil, err
		}
		m.raw = whole
	}
	var given struct{ CNIVersion, CNIVersions json.RawMessage }
	if err := json.Unmarshal(m.raw, &given); err != nil {
		return nil, err
	}
	if given.CNIVersion != nil || given.CNIVersions != nil {
		m.version = network.CNIVersion
	}
	return m, nil
}

// readRegular does not open what is no file: a FIFO would block.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	return os.ReadFile(path)
}

// Read reads a configuration that somebody else wrote for us, and judges it.
func Read(path string) (Configuration, error) {
	text, err := readRegular(path)
	if err != nil {
		return Configuration{}, err
	}
	found := Configuration{Name: filepath.Base(path), Text: text}
	if err := Validate(found); err != nil {
		return Configuration{}, fmt.Errorf("%s: %w", path, err)
	}
	return found, nil
}

// Installed tells whether a valid configuration of our making is in dir.
func Installed(dir string) bool {
	for _, name := range []string{"00-multus.conf", "00-multus.conflist"} {
		if _, err := Read(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}
