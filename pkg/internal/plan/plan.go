package plan

import (
	"encoding/json"
	"net"

	"github.com/containernetworking/cni/pkg/types"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// Plan is the ordered list of fully resolved attachments of one sandbox, the master first. It is saved before the first
// delegate runs, and DEL, CHECK and GC replay it without asking anybody again.
type Plan struct {
	Sandbox     Sandbox      `json:"sandbox"`
	Attachments []Attachment `json:"attachments"`
}

// Sandbox is what the runtime said of the pod sandbox.
type Sandbox struct {
	ContainerID string      `json:"containerID"`
	NetNS       string      `json:"netns"`         // path, empty if the namespace is gone
	Interface   string      `json:"interface"`     // CNI_IFNAME
	Args        [][2]string `json:"args"`          // CNI_ARGS, in order
	Pod         *Pod        `json:"pod,omitempty"` // nil without a pod identity (INV-7)
}

// Pod identifies the pod of a sandbox.
type Pod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"` // of the API object, else K8S_POD_UID
}

// Attachment is one delegate's work for one interface: all that ADD, CHECK and DEL hand to it.
type Attachment struct {
	Network        string                     `json:"network"`   // "namespace/name" of the NAD, else the configuration's name
	Interface      string                     `json:"interface"` // in the sandbox, 1–15 bytes
	Config         *config.Network            `json:"config"`
	Args           [][2]string                `json:"args,omitempty"`           // CNI_ARGS, in order
	CapabilityArgs map[string]json.RawMessage `json:"capabilityArgs,omitempty"` // by capability; each plugin gets those it declares
	DefaultRoute   *RouteWish                 `json:"defaultRoute,omitempty"`   // nil: leave the routes alone (ADD-7)
	MustCarry      *Carried                   `json:"-"`                        // what the result must show (NET-7); nil: nothing
	Device         *Device                    `json:"-"`                        // given by its NAD's resource name (DEV-1); nil: none
}

// RouteWish asks that an attachment carry the pod's default route (ADD-7).
type RouteWish struct {
	Gateways []net.IP `json:"gateways"` // empty: those of the attachment's own configuration
}

// Carried is what was asked for through CNI_ARGS alone and so has to be seen in the delegate's result (NET-7).
type Carried struct {
	IPs []string // with optional prefix length
	MAC string
}

// Device is a device allocated to the pod.
type Device struct {
	Resource string
	ID       string
}

// Outcome is what one attachment's ADD gave.
type Outcome struct {
	Attachment Attachment
	Result     types.Result
	DeviceInfo *nad.DeviceInfo // nil: none
}

// String is "namespace/name", empty for no pod.
func (p *Pod) String() string {
	if p == nil {
		return ""
	}
	return p.Namespace + "/" + p.Name
}
