package device

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// maxSize bounds what either source may hand us. The kubelet's own clients accept 16 MiB from the socket.
const maxSize = 16 << 20

// checkpoint is the part of the kubelet's device checkpoint that we read. What a device plugin answered (AllocResp) is
// left alone: it can carry environment variables of the container.
type checkpoint struct {
	Data *struct {
		PodDeviceEntries []checkpointEntry
	}
}

// checkpointEntry lists the devices of one resource in one container.
type checkpointEntry struct {
	PodUID        string
	ContainerName string
	ResourceName  string
	DeviceIDs     deviceIDs
}

// deviceIDs reads both layouts of the field: a list, and since Kubernetes 1.20 a map of NUMA node to list (E100).
type deviceIDs []string

func (d *deviceIDs) UnmarshalJSON(raw []byte) error {
	if raw[0] != '{' {
		return json.Unmarshal(raw, (*[]string)(d))
	}
	var byNode map[int64][]string // numbers, as "10" comes after "9"
	if err := json.Unmarshal(raw, &byNode); err != nil {
		return err
	}
	*d = nil
	for _, node := range slices.Sorted(maps.Keys(byNode)) {
		*d = append(*d, byNode[node]...)
	}
	return nil
}

func readCheckpoint(path, uid string) (Pool, error) {
	raw, err := readFile(path)
	if err != nil {
		return nil, fmt.Errorf("kubelet device checkpoint: %w", err)
	}
	pool, err := parseCheckpoint(raw, uid)
	if err != nil {
		return nil, fmt.Errorf("kubelet device checkpoint %s: %w", path, err)
	}
	return pool, nil
}

func readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxSize {
		return nil, fmt.Errorf("%s: larger than %d bytes", path, maxSize)
	}
	return raw, nil
}

// parseCheckpoint collects what belongs to the pod of that UID.
func parseCheckpoint(raw []byte, uid string) (Pool, error) {
	if uid == "" {
		return nil, errors.New("it lists pods by UID, and the UID of this pod is not known")
	}
	var content checkpoint
	if err := json.Unmarshal(raw, &content); err != nil {
		return nil, err
	}
	if content.Data == nil {
		return nil, errors.New("it has no Data")
	}
	entries := slices.DeleteFunc(content.Data.PodDeviceEntries, func(e checkpointEntry) bool { return e.PodUID != uid })
	// The kubelet writes its entries in the order of a Go map, another one each time.
	slices.SortStableFunc(entries, func(a, b checkpointEntry) int {
		return cmp.Or(strings.Compare(a.ContainerName, b.ContainerName), strings.Compare(a.ResourceName, b.ResourceName))
	})
	pool := Pool{}
	for _, entry := range entries {
		if err := pool.add(entry.ResourceName, entry.DeviceIDs...); err != nil {
			return nil, fmt.Errorf("container %s: %w", entry.ContainerName, err)
		}
	}
	return pool, nil
}
