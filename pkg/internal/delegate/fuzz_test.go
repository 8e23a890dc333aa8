package delegate

import (
	"encoding/json"
	"testing"

	"github.com/containernetworking/cni/pkg/types/create"
	"github.com/containernetworking/cni/pkg/version"
)

// A result that is accepted can be converted to every version, printed, and read again (INV-2, E083).
func FuzzResult(f *testing.F) {
	f.Add([]byte(`{"cniVersion":"1.1.0","interfaces":[{"name":"a"}],"ips":[{"address":"192.0.2.3/24","interface":0}],"routes":[{"dst":"::/0"}]}`))
	f.Add([]byte(`{"cniVersion":"0.4.0","ips":[{"version":"4","address":"2001:db8::3/64"}],"dns":{"nameservers":["x"]}}`))
	f.Add([]byte(`{"cniVersion":"0.2.0","ip4":{"ip":"192.0.2.3/24","routes":[{"dst":"0.0.0.0/0"}]}}`))
	f.Add([]byte(`{"ips":[null]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, output []byte) {
		result, err := parseResult(output, "1.0.0")
		if err != nil {
			return
		}
		for _, to := range version.All.SupportedVersions() {
			converted, err := Convert(result, to)
			if err != nil {
				t.Fatalf("%s to %s: %v", output, to, err)
			}
			text, err := json.Marshal(converted)
			if err != nil {
				t.Fatalf("%s to %s: printing: %v", output, to, err)
			}
			if _, err := create.Create(to, text); err != nil {
				t.Fatalf("%s to %s: reading %s: %v", output, to, text, err)
			}
		}
	})
}
