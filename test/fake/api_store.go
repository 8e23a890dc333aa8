package fake

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
)

// store has the objects as JSON decodes them.
type store map[target]map[string]any

// Pod is what a test wants of a pod.
type Pod struct {
	Namespace   string
	Name        string
	UID         string
	Annotations map[string]string

	Node          string   // spec.nodeName, left out if empty
	OthersClaims  []string // ResourceClaims that the spec names
	Claims        []string // ResourceClaims made for the pod, which the status names
	ExtendedClaim string   // the one made for extended resources, left out if empty
}

// NAD is what a test wants of a NetworkAttachmentDefinition.
type NAD struct {
	Namespace   string
	Name        string
	Config      string // spec.config, left out if empty
	Annotations map[string]string
}

// AddPod stores a pod with one container, in place of one of the same name.
func (a *API) AddPod(pod Pod) {
	metadata := metadataOf(pod.Namespace, pod.Name, pod.Annotations)
	metadata["uid"] = pod.UID
	a.add(target{plural: "pods", namespace: pod.Namespace, name: pod.Name}, map[string]any{
		"apiVersion": "v1",
		"kind":       "Pod",
		"metadata":   metadata,
		"spec":       pod.spec(),
		"status":     pod.status(),
	})
}

// AddNAD stores a NetworkAttachmentDefinition, in place of one of the same name.
func (a *API) AddNAD(nad NAD) {
	spec := map[string]any{}
	if nad.Config != "" {
		spec["config"] = nad.Config
	}
	at := target{group: "k8s.cni.cncf.io", plural: "network-attachment-definitions", namespace: nad.Namespace, name: nad.Name}
	a.add(at, map[string]any{
		"apiVersion": "k8s.cni.cncf.io/v1",
		"kind":       "NetworkAttachmentDefinition",
		"metadata":   metadataOf(nad.Namespace, nad.Name, nad.Annotations),
		"spec":       spec,
	})
}

// AddObject stores any object in JSON at its path, "/api/v1/namespaces/blue/pods/web-0" for one.
func (a *API) AddObject(path, raw string) error {
	at := parse(path)
	if at.name == "" || at.subresource != "" {
		return fmt.Errorf("%s is no path of an object in a namespace", path)
	}
	var made map[string]any
	if err := json.Unmarshal([]byte(raw), &made); err != nil {
		return err
	}
	a.add(at, made)
	return nil
}

// DeletePod removes a pod, if it is there.
func (a *API) DeletePod(namespace, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.store, target{plural: "pods", namespace: namespace, name: name})
}

// Annotations gives the annotations of a pod; nil if it is not there or has none.
func (a *API) Annotations(namespace, name string) map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	pod := a.store[target{plural: "pods", namespace: namespace, name: name}]
	var found map[string]string
	for key, value := range section(section(pod, "metadata"), "annotations") {
		if found == nil {
			found = map[string]string{}
		}
		found[key], _ = value.(string)
	}
	return found
}

func metadataOf(namespace, name string, annotations map[string]string) map[string]any {
	metadata := map[string]any{"namespace": namespace, "name": name}
	if len(annotations) > 0 {
		values := map[string]any{}
		for key, value := range annotations {
			values[key] = value
		}
		metadata["annotations"] = values
	}
	return metadata
}

func (a *API) add(at target, made map[string]any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	version := 0
	if old, ok := a.store[at]; ok {
		version, _ = strconv.Atoi(text(section(old, "metadata"), "resourceVersion"))
	}
	a.store[at] = versioned(made, version+1)
}

// versioned is the object with that resource version.
func versioned(object map[string]any, version int) map[string]any {
	object, metadata := maps.Clone(object), maps.Clone(section(object, "metadata"))
	if metadata == nil {
		metadata = map[string]any{}
	}
	metadata["resourceVersion"] = strconv.Itoa(version)
	object["metadata"] = metadata
	return object
}

func section(object map[string]any, key string) map[string]any {
	found, _ := object[key].(map[string]any)
	return found
}

func text(object map[string]any, key string) string {
	found, _ := object[key].(string)
	return found
}
