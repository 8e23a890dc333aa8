package multus

import (
	"context"
	"errors"

	"github.com/containernetworking/cni/pkg/types"
)

// errNotSupported is what a verb answers that this version does not have: an error, never a false success.
var errNotSupported = coded{types.ErrInternal, errors.New("this version of multus does not support the verb; it supports ADD and DEL")}

// check would compare the sandbox with its plan (CHK-1).
func (c *call) check(context.Context) error { return errNotSupported }
