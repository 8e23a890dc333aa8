package delegate

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/containernetworking/cni/pkg/types"
)

// Error is one plugin's failure, with the code, message and details of the plugin's own error object if it gave one
// (INV-5).
type Error struct {
	Network string // of the attachment
	Plugin  string // its type
	Verb    string // CNI_COMMAND
	Code    uint   // CNI specification, section 5; 999 if the plugin gave none
	Msg     string
	Details string
	cause   error // nil for what the plugin said itself
}

// Error names plugin, verb and message. The network is for the caller to add, who knows the interface too; details
// have their own place in the CNI error object.
func (e *Error) Error() string {
	return fmt.Sprintf("plugin %s: %s: %s", e.Plugin, e.Verb, e.Msg)
}

// CNICode is the code for the CNI error object.
func (e *Error) CNICode() uint { return e.Code }

// CNIDetails are the details for the CNI error object.
func (e *Error) CNIDetails() string { return e.Details }

// Unwrap gives what kept the plugin from running or from ending by itself, a cancelled context above all.
func (e *Error) Unwrap() error { return e.cause }

// fail makes an Error of the step. A *types.Error in err gives code, message and details, and does not stay in the
// chain: skel would print the first one that it finds there.
func (s step) fail(err error) *Error {
	failed := &Error{Network: s.attachment.Network, Plugin: s.plugin.Type, Verb: s.verb}
	var object *types.Error
	if errors.As(err, &object) {
		failed.Code = cmp.Or(object.Code, types.ErrInternal)
		failed.Msg, failed.Details = object.Msg, object.Details
		return failed
	}
	failed.Code, failed.Msg, failed.cause = types.ErrInternal, err.Error(), err
	return failed
}
