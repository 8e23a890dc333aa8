package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// SetStatus writes the network-status annotation of the pod with that UID (empty: whichever pod has the name). If that
// pod does not exist any more the error is ErrGone (STAT-3).
func (c *Client) SetStatus(ctx context.Context, namespace, name, uid, value string) error {
	ctx, cancel := context.WithTimeout(ctx, c.Budget)
	defer cancel()
	pod := Pod{Namespace: namespace, Name: name, UID: uid}
	err := c.retry(ctx, func(ctx context.Context) error { return c.patchStatus(ctx, pod, value) })
	if !forbidden(err) {
		return err
	}
	older := c.retry(ctx, func(ctx context.Context) error { return c.updateStatus(ctx, pod, value) })
	if forbidden(older) {
		return err // names the right that is to be granted
	}
	return older
}

func forbidden(err error) bool {
	failed := asError(err)
	return failed != nil && failed.Forbidden()
}

func (c *Client) patchStatus(ctx context.Context, pod Pod, value string) error {
	body, err := mergePatch(pod.UID, value)
	if err != nil {
		return err
	}
	return c.write(ctx, pod, request{
		verb: patch, resource: podStatus, namespace: pod.Namespace, name: pod.Name,
		contentType: "application/merge-patch+json", body: body,
	})
}

// updateStatus reads the pod and writes it back with the annotation: for clusters whose RBAC grants "update" but not
// "patch". The resource version and UID that were read make the API server refuse it if either has changed.
func (c *Client) updateStatus(ctx context.Context, pod Pod, value string) error {
	raw, found, err := c.rawPod(ctx, pod.Namespace, pod.Name)
	if err != nil {
		return c.orGone(ctx, pod, err)
	}
	if pod.UID != "" && found.UID != pod.UID {
		return fmt.Errorf("%w: the pod of that name has UID %s instead of %s", ErrGone, found.UID, pod.UID)
	}
	body, err := annotate(raw, found.Annotations, value)
	if err != nil {
		return err
	}
	return c.write(ctx, pod, request{
		verb: update, resource: podStatus, namespace: pod.Namespace, name: pod.Name,
		contentType: "application/json", body: body,
	})
}

// ClearStatus removes the network-status annotation if the pod still has that UID and the annotation that value, in one
// attempt (DEL-7). If the pod does not exist any more the error is ErrGone.
func (c *Client) ClearStatus(ctx context.Context, namespace, name, uid, old string) error {
	if uid == "" {
		return errors.New("the pod's UID is not known, so its network-status may be another pod's")
	}
	ctx, cancel := context.WithTimeout(ctx, c.Budget)
	defer cancel()
	body, err := clearPatch(uid, old)
	if err != nil {
		return err
	}
	_, err = c.send(ctx, request{
		verb: patch, resource: podStatus, namespace: namespace, name: name,
		contentType: "application/json-patch+json", body: body,
	})
	if failed := asError(err); failed != nil && failed.NotFound() {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return err
}

// write sends a change of the pod, and makes sure that it was the API server who took it.
func (c *Client) write(ctx context.Context, pod Pod, r request) error {
	var answer struct{ Metadata Pod }
	if _, err := c.read(ctx, r, &answer); err != nil {
		return c.orGone(ctx, pod, err)
	}
	return c.checkIdentity(r, answer.Metadata.Namespace, answer.Metadata.Name)
}

// orGone is ErrGone if the error means that; otherwise the error. A patch with another pod's UID changes a field that
// cannot change (422), an update with one is a conflict (409).
func (c *Client) orGone(ctx context.Context, pod Pod, err error) error {
	failed := asError(err)
	if failed == nil {
		return err
	}
	const uidField = "metadata.uid"
	if failed.NotFound() || slices.Contains(failed.fields, uidField) || failed.conflict() && c.replaced(ctx, pod, failed) {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return err
}

// replaced says that a conflict is about the UID. The API server says so in its message only, hence the second look.
func (c *Client) replaced(ctx context.Context, pod Pod, conflict *Error) bool {
	if pod.UID == "" {
		return false
	}
	if strings.Contains(conflict.Message, "UID in precondition") {
		return true
	}
	now, err := c.pod(ctx, pod.Namespace, pod.Name)
	if err != nil {
		failed := asError(err)
		return failed != nil && failed.NotFound()
	}
	return now.UID != pod.UID
}

// mergePatch sets the annotation (RFC 7396). The UID makes the API server refuse it for another pod of the same name.
func mergePatch(uid, value string) ([]byte, error) {
	type metadata struct {
		UID         string            `json:"uid,omitempty"`
		Annotations map[string]string `json:"annotations"`
	}
	return json.Marshal(map[string]metadata{
		"metadata": {UID: uid, Annotations: map[string]string{nad.StatusAnnotation: value}},
	})
}

// clearPatch removes the annotation after testing whose it is (RFC 6902).
func clearPatch(uid, old string) ([]byte, error) {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value string `json:"value,omitempty"`
	}
	annotation := "/metadata/annotations/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(nad.StatusAnnotation)
	return json.Marshal([]operation{
		{Op: "test", Path: "/metadata/uid", Value: uid},
		{Op: "test", Path: annotation, Value: old},
		{Op: "remove", Path: annotation},
	})
}

// annotate sets the annotation beside the others of a pod as it was read, and leaves all else as it is.
func annotate(pod []byte, others map[string]string, value string) ([]byte, error) {
	var object, metadata map[string]json.RawMessage
	if err := json.Unmarshal(pod, &object); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(object["metadata"], &metadata); err != nil {
		return nil, err
	}
	annotations := map[string]string{}
	maps.Copy(annotations, others)
	annotations[nad.StatusAnnotation] = value
	var err error
	if metadata["annotations"], err = json.Marshal(annotations); err != nil {
		return nil, err
	}
	if object["metadata"], err = json.Marshal(metadata); err != nil {
		return nil, err
	}
	return json.Marshal(object)
}
