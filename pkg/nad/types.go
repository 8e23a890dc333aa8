package nad

import (
	"net"

	"github.com/containernetworking/cni/pkg/types"
)

// Annotation keys of the NPWG "Kubernetes Network Custom Resource Definition De-facto Standard" v1.3, and of Multus.
const (
	NetworksAnnotation       = "k8s.v1.cni.cncf.io/networks"
	StatusAnnotation         = "k8s.v1.cni.cncf.io/network-status"
	ResourceNameAnnotation   = "k8s.v1.cni.cncf.io/resourceName"
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
	HostPort      int    `json:"hostPort"`
	ContainerPort int    `json:"containerPort"`
	Protocol      string `json:"protocol,omitempty"`
	HostIP        string `json:"hostIP,omitempty"`
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
	Name       string      `json:"name"`
	Interface  string      `json:"interface,omitempty"`
	IPs        []string    `json:"ips,omitempty"`
	Mac        string      `json:"mac,omitempty"`
	Mtu        int         `json:"mtu,omitempty"`
	Default    bool        `json:"default,omitempty"`
	DNS        types.DNS   `json:"dns"`
	DeviceInfo *DeviceInfo `json:"device-info,omitempty"`
	Gateway    []string    `json:"gateway,omitempty"`
}

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
