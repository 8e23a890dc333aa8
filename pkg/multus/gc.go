package multus

import "context"

// gc would release what belongs to no valid sandbox (GC-1, GC-2).
func (c *call) gc(context.Context) error { return errNotSupported }
