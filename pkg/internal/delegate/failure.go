package delegate

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/containernetworking/cni/pkg/types"
)

// maxExcerpt bounds what an error quotes of a plugin's output.
const maxExcerpt = 300

// failure tells why a plugin failed that exited with err: in its own words if there is a CNI error object on its
// stdout (INV-5), else by its exit status or signal and whatever it printed.
func failure(err error, stdout, stderr []byte) *types.Error {
	stdout, stderr = bytes.TrimSpace(stdout), bytes.TrimSpace(stderr)
	if len(stdout) > 0 {
		if object := errorObject(stdout); object != nil {
			return object
		}
		return types.NewError(types.ErrInternal, fmt.Sprintf("%v, and its output is no CNI error: %s", err, excerpt(stdout)), "")
	}
	if len(stderr) > 0 {
		return types.NewError(types.ErrInternal, fmt.Sprintf("%v, without output; stderr: %q", err, stderr), "")
	}
	return types.NewError(types.ErrInternal, fmt.Sprintf("%v, without output", err), "")
}

// errorObject reads a CNI error object; nil if the text is none, or says nothing.
func errorObject(text []byte) *types.Error {
	object := &types.Error{}
	if err := json.Unmarshal(text, object); err != nil || *object == (types.Error{}) {
		return nil
	}
	if object.Msg == "" {
		object.Msg = "it gave no message"
	}
	return object
}

// excerpt quotes the start of a text.
func excerpt(text []byte) string {
	if len(text) <= maxExcerpt {
		return fmt.Sprintf("%q", text)
	}
	return fmt.Sprintf("%q… (%d bytes)", text[:maxExcerpt], len(text))
}
