package nad

import (
	"maps"
	"net"
	"slices"
)

// The copies are written by hand, since generators know neither json.Number in cni-args nor the CNI library's DNS.
// copy_test.go fills each field, also those that are added later, and fails where a copy shares memory with the original.

// DeepCopy shares nothing with the selection. Of nil it is nil.
func (e *NetworkSelectionElement) DeepCopy() *NetworkSelectionElement {
	if e == nil {
		return nil
	}
	out := new(NetworkSelectionElement)
	e.DeepCopyInto(out)
	return out
}

// DeepCopyInto copies all of the selection to out, which must not be nil.
func (e *NetworkSelectionElement) DeepCopyInto(out *NetworkSelectionElement) {
	*out = *e
	out.IPRequest = slices.Clone(e.IPRequest)
	out.PortMappingsRequest = slices.Clone(e.PortMappingsRequest)
	for i, port := range out.PortMappingsRequest {
		out.PortMappingsRequest[i] = clone(port)
	}
	out.BandwidthRequest = clone(e.BandwidthRequest)
	if e.CNIArgs != nil {
		arguments, _ := cloneJSON(*e.CNIArgs).(map[string]any)
		out.CNIArgs = &arguments
	}
	if e.GatewayRequest != nil {
		gateways := slices.Clone(*e.GatewayRequest)
		for i, gateway := range gateways {
			gateways[i] = net.IP(slices.Clone(gateway))
		}
		out.GatewayRequest = &gateways
	}
}

// DeepCopy shares nothing with the status. Of nil it is nil.
func (s *NetworkStatus) DeepCopy() *NetworkStatus {
	if s == nil {
		return nil
	}
	out := new(NetworkStatus)
	s.DeepCopyInto(out)
	return out
}

// DeepCopyInto copies all of the status to out, which must not be nil.
func (s *NetworkStatus) DeepCopyInto(out *NetworkStatus) {
	*out = *s
	out.IPs = slices.Clone(s.IPs)
	out.Gateway = slices.Clone(s.Gateway)
	out.DNS.Nameservers = slices.Clone(s.DNS.Nameservers)
	out.DNS.Search = slices.Clone(s.DNS.Search)
	out.DNS.Options = slices.Clone(s.DNS.Options)
	out.DeviceInfo = s.DeviceInfo.DeepCopy()
}

// DeepCopy shares nothing with the device information. Of nil it is nil.
func (d *DeviceInfo) DeepCopy() *DeviceInfo {
	if d == nil {
		return nil
	}
	out := new(DeviceInfo)
	d.DeepCopyInto(out)
	return out
}

// DeepCopyInto copies all of the device information to out, which must not be nil.
func (d *DeviceInfo) DeepCopyInto(out *DeviceInfo) {
	*out = *d
	out.Pci = clone(d.Pci)
	out.Vdpa = clone(d.Vdpa)
	out.VhostUser = clone(d.VhostUser)
	out.Memif = clone(d.Memif)
}

// clone copies what has no pointers in it.
func clone[T PortMapEntry | BandwidthEntry | PciDevice | VdpaDevice | VhostDevice | MemifDevice](in *T) *T {
	if in == nil {
		return nil
	}
	out := *in
	return &out
}

// cloneJSON copies a value as encoding/json decodes it.
func cloneJSON(value any) any {
	switch v := value.(type) {
	case map[string]any:
		object := maps.Clone(v)
		for key, inner := range object {
			object[key] = cloneJSON(inner)
		}
		return object
	case []any:
		list := slices.Clone(v)
		for i, inner := range list {
			list[i] = cloneJSON(inner)
		}
		return list
	default:
		return v
	}
}
