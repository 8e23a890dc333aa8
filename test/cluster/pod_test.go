package cluster

import (
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/seed-2ba21eab/multus-cni/test/cluster/node"
)

// object is a part of a Kubernetes object.
type object map[string]any

// change changes a pod before it is made.
type change func(metadata, spec, container object)

// pod makes a pod with the networks annotation; empty: none.
func (b *bench) pod(name, networks string, changes ...change) {
	GinkgoHelper()
	b.apply(manifest(b.namespace, name, networks, changes...))
}

// manifest is a pod that needs no controller: neither a scheduler, nor one for service accounts.
func manifest(namespace, name, networks string, changes ...change) string {
	GinkgoHelper()
	annotations := object{}
	if networks != "" {
		annotations["k8s.v1.cni.cncf.io/networks"] = networks
	}
	metadata := object{"namespace": namespace, "name": name, "annotations": annotations}
	container := object{"name": "main", "image": node.Image, "imagePullPolicy": "Never"}
	spec := object{
		"nodeName":                      node.Name,
		"containers":                    []any{container},
		"automountServiceAccountToken":  false,
		"dnsPolicy":                     "Default",
		"enableServiceLinks":            false,
		"terminationGracePeriodSeconds": 1,
	}
	for _, change := range changes {
		change(metadata, spec, container)
	}
	text, err := json.Marshal(object{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// stubborn makes a pod that lives on for three seconds after its deletion.
func stubborn(_, spec, container object) {
	container["args"] = []any{"stubborn"}
	spec["terminationGracePeriodSeconds"] = 3
}

// annotated adds an annotation.
func annotated(key, value string) change {
	return func(metadata, _, _ object) { metadata["annotations"].(object)[key] = value }
}

// haveTexts matches a text that has all of these parts.
func haveTexts(texts ...string) types.GomegaMatcher {
	var all []types.GomegaMatcher
	for _, text := range texts {
		all = append(all, ContainSubstring(text))
	}
	return And(all...)
}
