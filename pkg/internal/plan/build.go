package plan

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// Input is all that is needed to decide: the sandbox, the runtime's capability arguments, and what was read of each
// wanted network, in the order of Wanted.
type Input struct {
	Sandbox       Sandbox
	RuntimeConfig map[string]json.RawMessage // by capability, for the master only (NET-9)
	Networks      []Network
	Devices       map[string][]string // device IDs allocated to the pod, by resource
	DeviceInfo    nad.DeviceInfoFiles // where attachments get their device information files
}

// Network is one wanted network with what was read of it.
type Network struct {
	Ref      Ref
	Name     string // "namespace/name" of the NAD that was read, else the configuration's name (STAT-1)
	Config   *config.Network
	Resource string // resource name that the NAD's annotation gives, empty if none (DEV-1)
	Err      error  // why it could not be read; Config is nil then
}

// Build decides what each wanted network becomes. The error names every fault of every network.
func Build(in Input) (*Plan, error) {
	built, faults := build(in)
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return built, nil
}

// Salvage is Build for a sandbox whose plan was lost: what can be built is in the plan, in order, what cannot is an
// error each (DEL-4).
func Salvage(in Input) (*Plan, []error) {
	return build(in)
}

func build(in Input) (*Plan, []error) {
	built := &Plan{Sandbox: in.Sandbox}
	interfaces, faults := names(in.Sandbox.Interface, in.Networks)
	faults = append(faults, oneDefaultRoute(in.Networks)...)
	devices, deviceFaults := assign(in.Networks, in.Devices)
	for i, network := range in.Networks {
		attachment, err := attach(in, i, interfaces[i], devices[i])
		if err = errors.Join(network.Err, deviceFaults[i], err); err != nil {
			faults = append(faults, fmt.Errorf("network %s: %w", network.Name, err))
			continue
		}
		built.Attachments = append(built.Attachments, *attachment)
	}
	return built, faults
}

// attach makes the attachment of the network at position i.
func attach(in Input, i int, ifname, device string) (*Attachment, error) {
	network := in.Networks[i]
	if network.Err != nil {
		return nil, nil
	}
	attachment := &Attachment{
		Network:   network.Name,
		Interface: ifname,
		Config:    network.Config.Clone(),
		Args:      in.Sandbox.Args,
	}
	if i == 0 {
		attachment.CapabilityArgs = forMaster(in.RuntimeConfig)
	} else {
		attachment.Args = without(in.Sandbox.Args, "IP", "MAC") // NET-9
	}
	if device != "" {
		if err := attachment.giveDevice(Device{network.Resource, device}); err != nil {
			return nil, err
		}
	}
	if err := attachment.offerDeviceInfo(in.DeviceInfo, in.Sandbox.ContainerID); err != nil {
		return nil, err
	}
	if network.Ref.Selection == nil {
		return attachment, nil
	}
	return attachment, attachment.apply(network.Ref.Selection, network.Resource)
}

// giveDevice hands an allocated device to every plugin of the attachment, under both of the keys that plugins read
// (NET-11), and as a capability argument.
func (a *Attachment) giveDevice(device Device) error {
	a.Device = &device
	for _, key := range []string{"deviceID", "pciBusID"} {
		if err := a.Config.Inject(key, device.ID); err != nil {
			return fmt.Errorf("injecting %s: %w", key, err)
		}
	}
	return a.capability("deviceID", device.ID)
}

// oneDefaultRoute refuses a second carrier of the default route (ADD-7).
func oneDefaultRoute(networks []Network) []error {
	var first *Ref
	for _, network := range networks {
		if network.Ref.Selection == nil || network.Ref.Selection.GatewayRequest == nil {
			continue
		}
		if first != nil {
			return []error{fmt.Errorf("network %s (%s): default-route is asked for by network %s already (%s); ask for it once",
				network.Ref.Network(), network.Ref.Field, first.Network(), first.Field)}
		}
		first = &network.Ref
	}
	return nil
}

// apply adds what the selection asks for (NET-6, NET-7, NET-8).
func (a *Attachment) apply(selection *nad.NetworkSelectionElement, resource string) error {
	if selection.CNIArgs != nil {
		if err := a.Config.MergeCNIArgs(*selection.CNIArgs); err != nil {
			return fmt.Errorf("cni-args: %w", err)
		}
	}
	if selection.GatewayRequest != nil {
		a.DefaultRoute = &RouteWish{Gateways: *selection.GatewayRequest}
	}
	if resource == "" && selection.DeviceID != "" {
		if err := a.require("deviceID", "deviceID", selection.DeviceID); err != nil {
			return fmt.Errorf("%w, and the NAD has no annotation %s", err, nad.ResourceNameAnnotation)
		}
	}
	return errors.Join(
		a.requestAddresses(selection.IPRequest),
		a.requestMAC(selection.MacRequest),
		a.requestGUID(selection.InfinibandGUIDRequest),
		a.requestPorts(selection.PortMappingsRequest),
		a.requestBandwidth(selection.BandwidthRequest),
	)
}
