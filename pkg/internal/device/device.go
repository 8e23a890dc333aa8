package device

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
)

// Pool holds the devices allocated to one pod: device IDs by resource name ("intel.com/sriov"), each ID once, in an
// order that is the same at every call.
type Pool map[string][]string

// Pod names the pod whose devices are asked for. The socket knows it by namespace and name, the checkpoint by UID.
type Pod struct {
	Namespace, Name, UID string
}

// Allocated returns the devices that the kubelet with the given root directory allocated to the pod; a pod without any
// gets an empty Pool. The checkpoint is read only where there is no PodResources socket (DEV-2, E101): a kubelet that
// has one and does not answer is an error, never "no devices". With neither source the error is fs.ErrNotExist.
func Allocated(ctx context.Context, kubeletDir string, pod Pod) (Pool, error) {
	socket := filepath.Join(kubeletDir, "pod-resources", "kubelet.sock")
	pool, err := askKubelet(ctx, socket, pod)
	if !errors.Is(err, fs.ErrNotExist) {
		return pool, err
	}
	pool, err = readCheckpoint(filepath.Join(kubeletDir, "device-plugins", "kubelet_internal_checkpoint"), pod.UID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no kubelet socket %s, and %w", socket, err)
	}
	return pool, err
}

// add keeps the first place of an ID that is listed again: two containers may share a device.
func (p Pool) add(resource string, ids ...string) error {
	if resource == "" {
		return errors.New("devices of a resource without a name")
	}
	for _, id := range ids {
		if id == "" {
			return fmt.Errorf("resource %s: device without an ID", resource)
		}
		if !slices.Contains(p[resource], id) {
			p[resource] = append(p[resource], id)
		}
	}
	return nil
}
