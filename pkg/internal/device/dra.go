package device

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// Attributes of a device that say which resource and device ID it stands for.
const (
	resourceNameAttribute = "k8s.cni.cncf.io/resourceName"
	deviceIDAttribute     = "k8s.cni.cncf.io/deviceID"
)

// API answers what Dynamic Resource Allocation takes: objects of resource.k8s.io/v1 as JSON.
type API interface {
	// ResourceClaim gives a ResourceClaim.
	ResourceClaim(ctx context.Context, namespace, name string) ([]byte, error)
	// ResourceSlices gives a ResourceSliceList: what the driver offers on the node.
	ResourceSlices(ctx context.Context, node, driver string) ([]byte, error)
}

// Claimant is a pod with its ResourceClaims.
type Claimant struct {
	Namespace string
	Node      string   // that the pod runs on
	Claims    []string // names, in order
}

// Claimed returns the devices of these resources that the pod's claims hold, in the order of claims and of their
// allocation (DEV-4). A device that no attribute maps to one of the resources is passed over, such as a GPU.
func Claimed(ctx context.Context, api API, owner Claimant, resources []string) (Pool, error) {
	var allocated []allocation
	for _, name := range owner.Claims {
		raw, err := api.ResourceClaim(ctx, owner.Namespace, name)
		if err != nil {
			return nil, err
		}
		devices, err := parseClaim(raw)
		if err != nil {
			return nil, fmt.Errorf("resource claim %s/%s: %w", owner.Namespace, name, err)
		}
		allocated = append(allocated, devices...)
	}
	offers, err := readOffers(ctx, api, owner.Node, allocated)
	if err != nil {
		return nil, err
	}
	return offers.pool(allocated, resources)
}

// allocation names one device. Names are unique in a driver's pool.
type allocation struct {
	Driver, Pool, Device string
}

// parseClaim lists the devices allocated to a claim.
func parseClaim(raw []byte) ([]allocation, error) {
	var claim struct {
		Status struct {
			Allocation struct {
				Devices struct {
					Results []struct {
						allocation
						AdminAccess bool
					}
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &claim); err != nil {
		return nil, err
	}
	var devices []allocation
	for _, result := range claim.Status.Allocation.Devices.Results {
		if !result.AdminAccess { // who has that looks after devices that others use
			devices = append(devices, result.allocation)
		}
	}
	return devices, nil
}

// mapping is what a device's attributes say of it.
type mapping struct {
	resource, id string
}

// offers are the devices that drivers offer on the node.
type offers map[allocation]mapping

// readOffers asks once for each driver that the devices come from.
func readOffers(ctx context.Context, api API, node string, allocated []allocation) (offers, error) {
	all := offers{}
	var asked []string
	for _, device := range allocated {
		if slices.Contains(asked, device.Driver) {
			continue
		}
		asked = append(asked, device.Driver)
		raw, err := api.ResourceSlices(ctx, node, device.Driver)
		if err != nil {
			return nil, err
		}
		if err := all.add(raw); err != nil {
			return nil, fmt.Errorf("resource slices of driver %s on node %s: %w", device.Driver, node, err)
		}
	}
	return all, nil
}

// resourceSlice is the part of a ResourceSlice that we read.
type resourceSlice struct {
	Spec struct {
		Driver string
		Pool   struct {
			Name       string
			Generation int64
		}
		Devices []struct {
			Name       string
			Attributes map[string]struct{ String string }
		}
	}
}

// add reads a ResourceSliceList. Slices of an older generation of their pool are leftovers that the driver is about to
// remove.
func (o offers) add(raw []byte) error {
	var list struct{ Items []resourceSlice }
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	newest := map[string]int64{}
	for _, slice := range list.Items {
		pool := slice.Spec.Pool
		newest[pool.Name] = max(newest[pool.Name], pool.Generation)
	}
	for _, slice := range list.Items {
		pool := slice.Spec.Pool
		if pool.Generation < newest[pool.Name] {
			continue
		}
		for _, device := range slice.Spec.Devices {
			o[allocation{slice.Spec.Driver, pool.Name, device.Name}] = mapping{
				resource: device.Attributes[resourceNameAttribute].String,
				id:       device.Attributes[deviceIDAttribute].String,
			}
		}
	}
	return nil
}

// pool maps devices to the resources that are looked for.
func (o offers) pool(allocated []allocation, resources []string) (Pool, error) {
	pool := Pool{}
	for _, device := range allocated {
		mapped := o[device]
		if !slices.Contains(resources, mapped.resource) {
			continue
		}
		if mapped.id == "" {
			return nil, fmt.Errorf("device %s of pool %s of driver %s has the attribute %s and lacks %s",
				device.Device, device.Pool, device.Driver, resourceNameAttribute, deviceIDAttribute)
		}
		if err := pool.add(mapped.resource, mapped.id); err != nil {
			return nil, err
		}
	}
	return pool, nil
}
