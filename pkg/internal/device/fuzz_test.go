package device

import (
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/seed-2ba21eab/multus-cni/test/fake/kubelet"
)

// check holds what every accepted source must give: named resources, named devices, each once.
func check(t *testing.T, pool Pool) {
	t.Helper()
	for resource, ids := range pool {
		if resource == "" || !utf8.ValidString(resource) {
			t.Errorf("resource %q", resource)
		}
		if len(ids) == 0 {
			t.Errorf("resource %q without devices", resource)
		}
		distinct := slices.Compact(slices.Sorted(slices.Values(ids)))
		if len(distinct) != len(ids) {
			t.Errorf("resource %q lists a device twice: %q", resource, ids)
		}
		for _, id := range ids {
			if id == "" || !utf8.ValidString(id) {
				t.Errorf("resource %q: device %q", resource, id)
			}
		}
	}
}

func FuzzCheckpoint(f *testing.F) {
	f.Add([]byte(checkpointOf(`{"PodUID":"u1","ContainerName":"c","ResourceName":"a/b","DeviceIDs":["y","x"]}`)))
	f.Add([]byte(checkpointOf(`{"PodUID":"u1","ContainerName":"c","ResourceName":"a/b","DeviceIDs":{"0":["a"],"1":["b"]}}`)))
	f.Add([]byte(`{"Data":null}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		pool, err := parseCheckpoint(raw, "u1")
		if err == nil {
			check(t, pool)
		}
	})
}

func FuzzPodResources(f *testing.F) {
	f.Add(kubelet.Pod("blue", "web-0", kubelet.Container("app", kubelet.Devices("a/b", 1, "y", "x"), kubelet.Devices("a/b", 0, "z"))))
	f.Add(slices.Concat(kubelet.Pod("red", "web-0"), kubelet.Pod("blue", "web-0", kubelet.Container("app", kubelet.Devices("a/b", -1, "x")))))
	f.Add([]byte("garbage"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		pool, err := parsePodResources(raw, blue)
		if err == nil {
			check(t, pool)
		}
	})
}

func FuzzClaimed(f *testing.F) {
	f.Add([]byte(claimOf("d/p/x", "d/p/y")), []byte(listOf(sliceOf("d", "p", 1, offer("x", "a/vf", "id"), offer("y", "", "")))))
	f.Add([]byte(`{"status":{"allocation":{"devices":{"results":[null,{"driver":"d","adminAccess":true}]}}}}`), []byte(`{"items":[null]}`))
	f.Add([]byte(`null`), []byte(`[]`))
	f.Fuzz(func(t *testing.T, claim, slices []byte) {
		api := &objects{claims: map[string]string{"c1": string(claim)}, slices: map[string]string{"d": string(slices)}}
		pool, err := Claimed(t.Context(), api, Claimant{Namespace: "blue", Node: "n1", Claims: []string{"c1"}}, []string{"a/vf"})
		if err == nil {
			check(t, pool)
		}
	})
}
