package multus

import (
	"errors"
	"strings"

	"github.com/containernetworking/cni/pkg/types"
)

// coder is an error that knows its CNI error code (CNI specification 1.1.0, section 5).
type coder interface{ CNICode() uint }

// detailer is an error that has details for the CNI error object.
type detailer interface{ CNIDetails() string }

// coded gives an error a CNI error code.
type coded struct {
	code uint
	err  error
}

func (c coded) Error() string { return c.err.Error() }
func (c coded) Unwrap() error { return c.err }
func (c coded) CNICode() uint { return c.code }

// fail makes the CNI error object of every verb (INV-5): the outermost code in the chain wins.
func fail(pod string, err error) error {
	message := oneLine(err)
	if pod != "" {
		message = "pod " + pod + ": " + message
	}
	return types.NewError(code(err), message, details(err))
}

func code(err error) uint {
	var known coder
	if errors.As(err, &known) {
		return known.CNICode()
	}
	var object *types.Error
	if errors.As(err, &object) {
		return object.Code
	}
	return types.ErrInternal
}

func details(err error) string {
	var known detailer
	if errors.As(err, &known) {
		return known.CNIDetails()
	}
	var object *types.Error
	if errors.As(err, &object) {
		return object.Details
	}
	return ""
}

// oneLine joins the lines of several joined errors.
func oneLine(err error) string {
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
