package nad

import (
	"net"

	"github.com/containernetworking/cni/pkg/types"
)

// Annotation keys of the NPWG "Kubernetes Network Custom Resource Definition De-facto Standard" v1.3, and of Multus.
const (
	// NetworksAnnotation is the pod's: the networks that it selects, beside the cluster's default network (section 4.1).
	NetworksAnnotation = "k8s.v1.cni.cncf.io/networks"
	// StatusAnnotation is the pod's: what it got (section 5). It is for the one who attaches the networks to write.
	StatusAnnotation = "k8s.v1.cni.cncf.io/network-status"
	// ResourceNameAnnotation is a NetworkAttachmentDefinition's: the device plugin's resource that its pods need.
	ResourceNameAnnotation = "k8s.v1.cni.cncf.io/resourceName"
	// DefaultNetworkAnnotation is the pod's: one selection that takes the place of the cluster's default network (Multus).
	DefaultNetworkAnnotation = "v1.multus-cni.io/default-network"
)

// NetworkSelectionElement is one element of a pod's network annotation: which NetworkAttachmentDefinition the pod
// asks for, and what it asks of that attachment. De-facto standard v1.3, section 4.1.2.1.
type NetworkSelectionElement struct {
	// Name of the NetworkAttachmentDefinition, a DNS-1123 subdomain.
	Name string `json:"name"`
	// Namespace of the NetworkAttachmentDefinition, a DNS-1123 label.
	Namespace string `json:"namespace,omitempty"`
	// IPRequest lists addresses, each with an optional prefix length ("192.0.2.4/24", "2001:db8::4").
	IPRequest []string `json:"ips,omitempty"`
	// MacRequest is a unicast MAC address of 6 bytes ("02:00:00:00:00:01").
	MacRequest string `json:"mac,omitempty"`
	// InfinibandGUIDRequest is an InfiniBand GUID of 8 bytes, or 20 bytes in its long form.
	InfinibandGUIDRequest string `json:"infiniband-guid,omitempty"`
	// InterfaceRequest is the name of the interface in the pod, 1–15 bytes.
	InterfaceRequest string `json:"interface,omitempty"`
	// PortMappingsRequest lists host ports to forward to this attachment.
	PortMappingsRequest []*PortMapEntry `json:"portMappings,omitempty"`
	// BandwidthRequest limits the traffic of this attachment.
	BandwidthRequest *BandwidthEntry `json:"bandwidth,omitempty"`
	// CNIArgs is merged into args.cni of each plugin of the attachment. Numbers in it are json.Number.
	CNIArgs *map[string]any `json:"cni-args,omitempty"`
	// GatewayRequest asks for the pod's default route by this attachment: nil leaves the routes alone, an empty list
	// keeps what the attachment's own configuration provides.
	GatewayRequest *[]net.IP `json:"default-route,omitempty"`
	// IPAMClaimReference names an IPAMClaim of the network's own controller.
	IPAMClaimReference string `json:"ipam-claim-reference,omitempty"`
	// DeviceID is the device to use for this attachment.
	DeviceID string `json:"deviceID,omitempty"`
}

// PortMapEntry forwards one port of the host to the pod (CNI convention "portMappings").
type PortMapEntry struct {
	// HostPort and ContainerPort are 1–65535.
	HostPort      int `json:"hostPort"`
	ContainerPort int `json:"containerPort"`
	// Protocol is "tcp", "udp" or "sctp".
	Protocol string `json:"protocol,omitempty"`
	// HostIP is the one address of the host to forward from; empty: all of them.
	HostIP string `json:"hostIP,omitempty"`
}

// BandwidthEntry limits traffic (CNI convention "bandwidth"): rates in bits per second, bursts in bits.
type BandwidthEntry struct {
	IngressRate  int `json:"ingressRate"`
	IngressBurst int `json:"ingressBurst"`
	EgressRate   int `json:"egressRate"`
	EgressBurst  int `json:"egressBurst"`
}

// NetworkStatus is one element of the network-status annotation: one interface of the pod. De-facto standard v1.3,
// section 5.
type NetworkStatus struct {
	// Name is "namespace/name" of the NetworkAttachmentDefinition, or the network's name in its CNI configuration.
	Name string `json:"name"`
	// Interface is its name in the pod; empty if the CNI plugin reports none.
	Interface string `json:"interface,omitempty"`
	// IPs are addresses without prefix length ("192.0.2.4", "2001:db8::4"), in the CNI result's order.
	IPs []string `json:"ips,omitempty"`
	// Mac is the hardware address ("02:00:00:00:00:01"); empty if the CNI plugin reports none.
	Mac string `json:"mac,omitempty"`
	// Mtu is in bytes; 0 if the CNI plugin reports none, as all do that speak an older CNI version than 1.1.0.
	Mtu int `json:"mtu,omitempty"`
	// Default is true for one interface of the pod: that of the cluster's default network.
	Default bool `json:"default,omitempty"`
	// DNS is what the CNI plugin reports; it is not what the pod's resolv.conf has.
	DNS DNS `json:"dns"`
	// DeviceInfo describes the device behind the interface; nil if there is none, or nothing is known of it.
	DeviceInfo *DeviceInfo `json:"device-info,omitempty"`
	// Gateway lists the gateways of the attachment's default routes, each once.
	Gateway []string `json:"gateway,omitempty"`
}

// DNS has a network's name servers, domain, search domains and options, as the CNI specification has them.
type DNS = types.DNS

// Definition is the part of a NetworkAttachmentDefinition (k8s.cni.cncf.io/v1) that a CNI plugin reads.
type Definition struct {
	Metadata DefinitionMetadata `json:"metadata"`
	Spec     DefinitionSpec     `json:"spec"`
}

// DefinitionMetadata is the object metadata of a Definition.
type DefinitionMetadata struct {
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// DefinitionSpec is the spec of a Definition.
type DefinitionSpec struct {
	// Config is a CNI configuration or configuration list as JSON; blank means a file on the node.
	Config string `json:"config,omitempty"`
}
