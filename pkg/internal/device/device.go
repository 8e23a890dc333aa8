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
// gets an empty Pool. Where the PodResources socket does not answer, or not well, the kubelet's checkpoint takes its
// place (DEV-2), and a warning says so, unless there is no such socket on this node. Without a checkpoint a socket that
// failed is an error, never "no devices" (E104). With neither the error is fs.ErrNotExist.
func Allocated(ctx context.Context, kubeletDir string, pod Pod) (pool Pool, warnings []string, err error) {
	socket := filepath.Join(kubeletDir, "pod-resources", "kubelet.sock")
	pool, unanswered := askKubelet(ctx, socket, pod)
	if unanswered == nil {
		return pool, nil, nil
	}
	if ctx.Err() != nil {
		return nil, nil, unanswered
	}
	pool, err = readCheckpoint(filepath.Join(kubeletDir, "device-plugins", "kubelet_internal_checkpoint"), pod.UID)
	noSocket := errors.Is(unanswered, fs.ErrNotExist)
	switch {
	case err != nil && noSocket:
		return nil, nil, fmt.Errorf("no kubelet socket %s, and %w", socket, err)
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, unanswered
	case err != nil:
		return nil, nil, fmt.Errorf("%w; and %w", unanswered, err)
	case noSocket:
		return pool, nil, nil
	default:
		return pool, []string{"devices are taken from the kubelet's checkpoint: " + unanswered.Error()}, nil
	}
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
