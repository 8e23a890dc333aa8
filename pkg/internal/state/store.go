package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/containernetworking/cni/pkg/utils"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// ErrNotFound says that there is no plan of a sandbox.
var ErrNotFound = errors.New("no plan is saved")

// Unreadable is the error for a plan that is there but cannot be understood: empty, truncated, or garbage (E038).
type Unreadable struct {
	Path string
	Err  error
}

func (u *Unreadable) Error() string { return fmt.Sprintf("plan %s: %v", u.Path, u.Err) }

// Unwrap gives the reason.
func (u *Unreadable) Unwrap() error { return u.Err }

// Store keeps one plan for each sandbox and interface that the runtime asked for.
type Store struct {
	Dir string // cniDir
}

// Key names a plan.
type Key struct {
	ContainerID string
	Interface   string // CNI_IFNAME; empty for a plan of Multus v3/v4, which does not say
}

// Save writes a plan in place of an earlier one. Without an error it is on the disk (ADD-3). With one the earlier plan
// is as it was, unless all that failed was the last sync, of the directory.
func (s Store) Save(p *plan.Plan) error {
	file, err := s.file(keyOf(p.Sandbox))
	if err != nil {
		return err
	}
	text, err := encodePlan(p)
	if err != nil {
		return fmt.Errorf("encoding the plan: %w", err)
	}
	return replaceFile(file, text)
}

// Load reads the plan of a sandbox, in the format of Multus v3/v4 if it has none of ours (DEL-8). Of box a plan of
// that format takes all that it does not hold itself. The error is ErrNotFound or an *Unreadable.
func (s Store) Load(box plan.Sandbox) (*plan.Plan, error) {
	if file, err := s.file(keyOf(box)); err == nil {
		found, err := load(file, decodePlan)
		if !errors.Is(err, ErrNotFound) {
			return found, err
		}
	}
	file, err := s.legacyFile(box.ContainerID)
	if err != nil {
		return nil, err
	}
	return load(file, func(text []byte) (*plan.Plan, error) { return decodeLegacy(text, box) })
}

func load(file string, decode func([]byte) (*plan.Plan, error)) (*plan.Plan, error) {
	text, err := os.ReadFile(file)
	if isMissing(err) {
		return nil, ErrNotFound
	}
	var found *plan.Plan
	if err == nil {
		found, err = decode(text)
	}
	if err != nil {
		return nil, &Unreadable{Path: file, Err: err}
	}
	return found, nil
}

// Remove clears away the plan of a sandbox in whatever format, and what an unfinished Save left. A sandbox without a
// plan is no error (DEL-5).
func (s Store) Remove(box plan.Sandbox) error {
	legacy, err := s.legacyFile(box.ContainerID)
	if err != nil {
		return err
	}
	files := []string{legacy}
	if file, err := s.file(keyOf(box)); err == nil {
		files = append(files, draftOf(file), file)
	}
	for _, file := range files {
		// Not os.Remove, which takes directories too.
		if err := syscall.Unlink(file); err != nil && !isMissing(err) {
			return &fs.PathError{Op: "unlink", Path: file, Err: err}
		}
	}
	return nil
}

// isMissing tells that there is no such file. A directory of the Store may have the name of a container.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EISDIR)
}

// Keys names all plans, ours before those of Multus v3/v4, each by container (GC-1).
func (s Store) Keys() ([]Key, error) {
	var keys []Key
	files, err := regularFiles(s.plans())
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		id, ifname, _ := strings.Cut(name, ":")
		if key := (Key{ContainerID: id, Interface: ifname}); key.validate() == nil {
			keys = append(keys, key)
		}
	}
	files, err = regularFiles(s.Dir)
	if err != nil {
		return nil, err
	}
	for _, name := range files {
		if validateContainerID(name) == nil {
			keys = append(keys, Key{ContainerID: name})
		}
	}
	return keys, nil
}

// OtherInterfaces lists the interfaces of a container that belong to its plans for other CNI_IFNAMEs. Of a plan that
// cannot be read it knows the CNI_IFNAME only.
func (s Store) OtherInterfaces(box plan.Sandbox) ([]string, error) {
	files, err := regularFiles(s.plans())
	if err != nil {
		return nil, err
	}
	var interfaces []string
	for _, name := range files {
		id, ifname, _ := strings.Cut(name, ":")
		if id != box.ContainerID || ifname == box.Interface {
			continue
		}
		interfaces = append(interfaces, ifname)
		if other, err := load(filepath.Join(s.plans(), name), decodePlan); err == nil {
			for _, attachment := range other.Attachments {
				interfaces = append(interfaces, attachment.Interface)
			}
		}
	}
	slices.Sort(interfaces)
	return slices.Compact(interfaces), nil
}

func (s Store) plans() string { return filepath.Join(s.Dir, "plans") }

func (s Store) file(key Key) (string, error) {
	if err := key.validate(); err != nil {
		return "", err
	}
	return filepath.Join(s.plans(), key.ContainerID+":"+key.Interface), nil
}

func (s Store) legacyFile(containerID string) (string, error) {
	if err := validateContainerID(containerID); err != nil {
		return "", err
	}
	return filepath.Join(s.Dir, containerID), nil
}

func keyOf(box plan.Sandbox) Key {
	return Key{ContainerID: box.ContainerID, Interface: box.Interface}
}

// validate keeps the key from leaving the directory (SEC-2). Neither part can hold the colon between them.
func (k Key) validate() error {
	if err := validateContainerID(k.ContainerID); err != nil {
		return err
	}
	if err := nad.ValidateInterfaceName(k.Interface); err != nil {
		return fmt.Errorf("interface: %w", err)
	}
	return nil
}

func validateContainerID(id string) error {
	if err := utils.ValidateContainerID(id); err != nil {
		return fmt.Errorf("container ID %q: %w", id, err)
	}
	return nil
}

// regularFiles lists the names of the regular files in a directory, in lexical order; none if it does not exist.
func regularFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, entry := range entries {
		if entry.Type().IsRegular() {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}
