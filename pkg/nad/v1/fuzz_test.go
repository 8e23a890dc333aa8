package v1_test

import (
	"bytes"
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
	nadv1 "github.com/seed-2ba21eab/multus-cni/pkg/nad/v1"
)

// FuzzPodAnnotations holds that whatever stands in a pod's annotations gives an error, or what can be written again and
// then reads the same.
func FuzzPodAnnotations(f *testing.F) {
	f.Add("storage, red/data@d0", `[{"name":"pods","interface":"eth0","default":true,"dns":{}}]`)
	f.Add(`[{"name":"storage"}]`, `[{"name":"a","mtu":1e9,"device-info":{"type":"pci","version":"1.1.0","pci":{"pci-address":"<&>"}}}]`)
	f.Add(" , ", "[null]")
	f.Add("\xff", "[{\"name\":\"\xff\"}]")
	f.Fuzz(func(t *testing.T, networks, status string) {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "web-0", Annotations: map[string]string{
			nad.NetworksAnnotation: networks, nad.StatusAnnotation: status,
		}}}
		if selections, err := nadv1.ParsePodNetworkAnnotation(pod); err == nil && len(selections) == 0 {
			t.Errorf("%q selects nothing, without an error", networks)
		}
		statuses, err := nadv1.GetNetworkStatus(pod)
		if err != nil {
			return
		}
		pod.Annotations = patched(t, pod, statuses)
		again, err := nadv1.GetNetworkStatus(pod)
		if err != nil || !sameStatuses(statuses, again) {
			t.Errorf("%q reads as %+v when written: %v", status, again, err)
		}
	})
}

// patched gives the annotations that the patch sets.
func patched(t *testing.T, pod *corev1.Pod, statuses []nadv1.NetworkStatus) map[string]string {
	t.Helper()
	patch, err := nadv1.NetworkStatusPatch(pod, statuses)
	if err != nil {
		t.Fatal(err)
	}
	var change corev1.Pod
	if err := json.Unmarshal(patch, &change); err != nil {
		t.Fatalf("%s: %v", patch, err)
	}
	return change.Annotations
}

// sameStatuses takes an empty list, which is not written, for none.
func sameStatuses(a, b []nadv1.NetworkStatus) bool {
	left, err := json.Marshal(a)
	if err != nil {
		return false
	}
	right, err := json.Marshal(b)
	return err == nil && bytes.Equal(left, right)
}
