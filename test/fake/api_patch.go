package fake

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// mergePatch applies a JSON Merge Patch (RFC 7396). On annotations and phases a strategic merge patch does the same.
func mergePatch(object any, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	before, _ := object.(map[string]any)
	after := map[string]any{}
	for key, value := range before {
		after[key] = value
	}
	for key, change := range changes {
		if change == nil {
			delete(after, key)
			continue
		}
		after[key] = mergePatch(after[key], change)
	}
	return after
}

// operation is one step of a JSON Patch (RFC 6902); move and copy are left out.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// jsonPatch applies a JSON Patch to a copy of the object.
func jsonPatch(object map[string]any, operations []operation) (map[string]any, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var patched map[string]any
	if err := json.Unmarshal(raw, &patched); err != nil {
		return nil, err
	}
	for _, step := range operations {
		if err := step.apply(patched); err != nil {
			return nil, fmt.Errorf("%s %s: %w", step.Op, step.Path, err)
		}
	}
	return patched, nil
}

// apply does the step on members of objects; elements of lists are not needed here.
func (o operation) apply(object map[string]any) error {
	keys := strings.Split(o.Path, "/")
	if len(keys) < 2 || keys[0] != "" {
		return errors.New("no path of a member")
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, key := range keys[1 : len(keys)-1] {
		if object = section(object, unescape.Replace(key)); object == nil {
			return errors.New("missing path")
		}
	}
	key := unescape.Replace(keys[len(keys)-1])
	old, exists := object[key]
	switch {
	case o.Op == "add":
		object[key] = o.Value
	case !exists:
		return errors.New("missing path")
	case o.Op == "replace":
		object[key] = o.Value
	case o.Op == "remove":
		delete(object, key)
	case o.Op == "test" && !reflect.DeepEqual(old, o.Value):
		return errors.New("test failed")
	case o.Op != "test":
		return errors.New("unknown operation")
	}
	return nil
}
