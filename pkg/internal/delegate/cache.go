package delegate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/types/create"
	"github.com/containernetworking/cni/pkg/utils"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// cacheKind marks libcni's format of a cached attachment.
const cacheKind = "cniCacheV1"

// cached is what libcni keeps of an attachment. Reading it here and not by libcni keeps numbers in capability
// arguments exact, tells a damaged entry from none, and never panics on one.
type cached struct {
	Kind           string                     `json:"kind"`
	ContainerID    string                     `json:"containerId"`
	Config         []byte                     `json:"config"`
	IfName         string                     `json:"ifName"`
	NetworkName    string                     `json:"networkName"`
	NetNS          string                     `json:"netns,omitempty"`
	CNIArgs        [][2]string                `json:"cniArgs,omitempty"`
	CapabilityArgs map[string]json.RawMessage `json:"capabilityArgs,omitempty"`
	Result         json.RawMessage            `json:"result,omitempty"`
}

// cacheName is the name of an attachment's file in the cache (SEC-2).
func cacheName(box plan.Sandbox, a plan.Attachment) (string, error) {
	if a.Config.Name == "" || box.ContainerID == "" || a.Interface == "" {
		return "", fmt.Errorf("result cache: network name (%q), container ID (%q) and interface (%q) are needed",
			a.Config.Name, box.ContainerID, a.Interface)
	}
	name := a.Config.Name + "-" + box.ContainerID + "-" + a.Interface
	if err := nad.ValidatePathElement(name); err != nil {
		return "", fmt.Errorf("result cache: %w", err)
	}
	return name, nil
}

func (r Runner) cacheDir() string {
	return filepath.Join(r.CacheDir, "results")
}

// SaveResult puts the result of an attachment's ADD into the cache, in place of an earlier one.
func (r Runner) SaveResult(box plan.Sandbox, a plan.Attachment, result types.Result) error {
	name, err := cacheName(box, a)
	if err != nil {
		return err
	}
	text, err := encodeCached(box, a, result)
	if err == nil {
		err = replaceFile(filepath.Join(r.cacheDir(), name), r.draft(box, a), text)
	}
	if err != nil {
		return fmt.Errorf("caching the result: %w", err)
	}
	return nil
}

// draft is the temporary file of an attachment's cache entry: always the same one, so that DEL can clear away what an
// ADD that was killed has left, and never longer than the entry's own name.
func (r Runner) draft(box plan.Sandbox, a plan.Attachment) string {
	return filepath.Join(r.cacheDir(), "."+box.ContainerID+"-"+a.Interface)
}

func encodeCached(box plan.Sandbox, a plan.Attachment, result types.Result) ([]byte, error) {
	list, err := a.Config.MarshalJSON()
	if err != nil {
		return nil, err
	}
	text, err := encode(result)
	if err != nil {
		return nil, err
	}
	return encode(cached{
		Kind:           cacheKind,
		ContainerID:    box.ContainerID,
		Config:         list,
		IfName:         a.Interface,
		NetworkName:    a.Config.Name,
		NetNS:          box.NetNS,
		CNIArgs:        a.Args,
		CapabilityArgs: a.CapabilityArgs,
		Result:         text,
	})
}

// replaceFile writes a file as a whole or not at all. It does not wait for the disk: after a power cut the sandboxes
// are gone too, and DEL can do without a cached result.
func replaceFile(file, draft string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	err := os.WriteFile(draft, text, 0o600)
	if err == nil {
		err = os.Rename(draft, file)
	}
	if err != nil {
		_ = os.Remove(draft)
	}
	return err
}

// removeResult clears an attachment out of the cache. One that is not there is no error.
func (r Runner) removeResult(box plan.Sandbox, a plan.Attachment) error {
	name, err := cacheName(box, a)
	if err != nil {
		return err
	}
	for _, file := range []string{r.draft(box, a), filepath.Join(r.cacheDir(), name)} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the cached result: %w", err)
		}
	}
	return nil
}

// CachedResult is the cached result of an attachment's ADD in the version of its configuration, nil if there is none.
func (r Runner) CachedResult(box plan.Sandbox, a plan.Attachment) (types.Result, error) {
	name, err := cacheName(box, a)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(r.cacheDir(), name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var result types.Result
	if err == nil {
		result, err = resultIn(text)
	}
	if err == nil {
		result, err = Convert(result, a.Config.CNIVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("cached result %s: %w", name, err)
	}
	return result, nil
}

// resultIn finds the result in a cache file. One of an older libcni has nothing but the result.
func resultIn(text []byte) (types.Result, error) {
	var entry cached
	if err := json.Unmarshal(text, &entry); err != nil {
		return nil, err
	}
	if entry.Kind != cacheKind {
		entry.Result = text
	}
	if len(entry.Result) == 0 {
		return nil, errors.New("there is no result in it")
	}
	return create.CreateFromBytes(entry.Result)
}

// CachedAttachments are the attachments of a container that the cache knows, by file name (DEL-4). Network is the
// configuration's name: a NAD's is not kept there. With an error, which names the entries that cannot be read, the
// others are given all the same.
func (r Runner) CachedAttachments(containerID string) ([]plan.Attachment, error) {
	entries, err := os.ReadDir(r.cacheDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("result cache: %w", err)
	}
	var attachments []plan.Attachment
	var faults []error
	for _, entry := range entries {
		if !strings.Contains(entry.Name(), "-"+containerID+"-") {
			continue
		}
		attachment, err := r.cachedAttachment(entry.Name(), containerID)
		if err != nil {
			faults = append(faults, fmt.Errorf("result cache: %s: %w", entry.Name(), err))
		}
		if attachment != nil {
			attachments = append(attachments, *attachment)
		}
	}
	return attachments, errors.Join(faults...)
}

// CachedContainers are the containers that the cache knows, in lexical order. Entries that cannot be read are passed
// over: nobody can tell whose they are.
func (r Runner) CachedContainers() ([]string, error) {
	entries, err := os.ReadDir(r.cacheDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("result cache: %w", err)
	}
	var containers []string
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(r.cacheDir(), entry.Name()))
		if err != nil {
			continue
		}
		var known cached
		if json.Unmarshal(text, &known) == nil && known.Kind == cacheKind && utils.ValidateContainerID(known.ContainerID) == nil {
			containers = append(containers, known.ContainerID)
		}
	}
	slices.Sort(containers)
	return slices.Compact(containers), nil
}

// cachedAttachment reads one entry; nil if it turns out to be another container's.
func (r Runner) cachedAttachment(name, containerID string) (*plan.Attachment, error) {
	text, err := os.ReadFile(filepath.Join(r.cacheDir(), name))
	if err != nil {
		return nil, err
	}
	var entry cached
	if err := json.Unmarshal(text, &entry); err != nil {
		return nil, err
	}
	if entry.Kind != cacheKind || entry.ContainerID != containerID {
		return nil, nil
	}
	if err := nad.ValidateInterfaceName(entry.IfName); err != nil {
		return nil, fmt.Errorf("ifName: %w", err)
	}
	network, err := config.ParseNetwork(entry.Config, entry.NetworkName)
	if err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	return &plan.Attachment{
		Network:        entry.NetworkName,
		Interface:      entry.IfName,
		Config:         network,
		Args:           entry.CNIArgs,
		CapabilityArgs: entry.CapabilityArgs,
	}, nil
}
