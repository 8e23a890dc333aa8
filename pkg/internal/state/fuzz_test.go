package state

import (
	"bytes"
	"testing"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// judge looks at a plan that was accepted: it has all that DEL needs, and stays the same when it is saved and loaded.
func judge(t *testing.T, accepted *plan.Plan) {
	t.Helper()
	for i, attachment := range accepted.Attachments {
		if nad.ValidateInterfaceName(attachment.Interface) != nil || len(attachment.Config.Plugins) == 0 {
			t.Errorf("attachment %d: %+v", i, attachment)
		}
	}
	first, err := encodePlan(accepted)
	if err != nil {
		t.Fatalf("encoding: %v", err)
	}
	again, err := decodePlan(first)
	if err != nil {
		t.Fatalf("decoding %s: %v", first, err)
	}
	second, err := encodePlan(again)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("%s became %s, %v", first, second, err)
	}
}

func FuzzLoadPlan(f *testing.F) {
	f.Add([]byte(`{"version":1,"sandbox":{"containerID":"c1","netns":"/x","interface":"eth0","args":[["A","<1>"]],"pod":{"namespace":"blue","name":"web-0"}},` +
		`"attachments":[{"network":"blue/n","interface":"net1","args":[["IP","192.0.2.1"]],"defaultRoute":{"gateways":["192.0.2.254"]},` +
		`"config":{"name":"n","plugins":[{"type":"t","big": 12345678901234567890}]},"capabilityArgs":{"ips":["192.0.2.1/24"]}}]}`))
	f.Add([]byte(`{"version":1,"sandbox":{"containerID":"c1","interface":"eth0"},"attachments":[{"interface":"net1","config":{"name":"n","type":"t"},"capabilityArgs":{"":null}}]}`))
	f.Add([]byte(`{"version":1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if accepted, err := decodePlan(text); err == nil {
			judge(t, accepted)
		}
	})
}

func FuzzLegacyPlan(f *testing.F) {
	f.Add([]byte(`[{"Conf":{"cniVersion":"0.3.1","name":"n","ipam":{}},"ConfList":{"name":"n","plugins":[{"type":"t"}]},"name":"blue/n","MasterPlugin":true},` +
		`{"Bytes":"eyJuYW1lIjoibSIsInR5cGUiOiJ0IiwiY2FwYWJpbGl0aWVzIjp7ImlwcyI6dHJ1ZX19","ifnameRequest":"x","ipRequest":["192.0.2.4"],"macRequest":"02:00:00:00:00:01","bandwidthRequest":{"ingressRate":1}}]`))
	f.Add([]byte(`[{"conf":{"name":"n","type":"t"},"ipRequest":"192.0.2.9","cniargs":{"a":null},"deviceID":"d"}]`))
	f.Add([]byte(`[{"na`))
	box := plan.Sandbox{ContainerID: "c1", Interface: "eth0", Args: [][2]string{{"IP", "192.0.2.1"}}}
	f.Fuzz(func(t *testing.T, text []byte) {
		if accepted, err := decodeLegacy(text, box); err == nil {
			judge(t, accepted)
		}
	})
}
