package nad_test

import (
	"bytes"
	"encoding/json"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/containernetworking/cni/pkg/types/create"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// FuzzParseNetworkAnnotation holds that what is accepted is valid by the rules, and reads the same when it is printed.
func FuzzParseNetworkAnnotation(f *testing.F) {
	for _, seed := range []string{
		"n1, ns1/n1@Eth0,\n", " ", "n1@a/b", "n1@",
		`[{"name":"ns1/n1","ips":["192.0.2.4/24","2001:db8::4"],"mac":"02:00:00:00:00:01","interface":"eth1","infiniband-guid":"02:00:00:00:00:00:00:01"}]`,
		`[{"name":"n1","portMappings":[{"hostPort":80,"containerPort":8080,"protocol":"TCP"}],"bandwidth":{"ingressRate":2,"ingressBurst":1},"deviceID":"0000:01:02.2"}]`,
		`[{"name":"n1","default-route":[]},{"name":"n2","default-route":["192.0.2.1","::1"],"cni-args":{"a":[1e400,9007199254740993],"b":null}}]`,
		`[{"name":"n1","ipam-claim-reference":"c","macRequest":"x","X":1,"a.b":{}}]`,
		`[{"name":"n1"}], istio-cni`, `[{"name":"n1","ips":"192.0.2.7/24"}]`, `[null]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		selections, err := nad.ParseNetworkAnnotation(value, "blue")
		if err != nil {
			return
		}
		for _, selection := range selections {
			checkSelection(t, selection)
		}
		printed, err := json.Marshal(selections)
		if err != nil {
			t.Fatalf("printing: %v", err)
		}
		if selections == nil {
			return
		}
		again, warnings, err := nad.ParseSelections(string(printed), "red")
		if err != nil || len(warnings) > 0 {
			t.Fatalf("reading %s: %v %q", printed, err, warnings)
		}
		if !reflect.DeepEqual(selections, again) {
			t.Fatalf("%s reads differently when printed", printed)
		}
	})
}

func checkSelection(t *testing.T, s *nad.NetworkSelectionElement) {
	t.Helper()
	faults := []error{nad.ValidateName(s.Name), nad.ValidateNamespace(s.Namespace)}
	if s.InterfaceRequest != "" {
		faults = append(faults, nad.ValidateInterfaceName(s.InterfaceRequest))
	}
	if s.DeviceID != "" {
		faults = append(faults, nad.ValidatePathElement(s.DeviceID))
	}
	for _, err := range faults {
		if err != nil {
			t.Errorf("%s: %v", s, err)
		}
	}
	checkAddresses(t, s)
	for _, port := range s.PortMappingsRequest {
		if port.HostPort < 1 || port.HostPort > 65535 || port.ContainerPort < 1 || port.ContainerPort > 65535 {
			t.Errorf("%s: port mapping %+v", s, port)
		}
	}
	if b := s.BandwidthRequest; b != nil && (b.IngressRate == 0 && b.IngressBurst != 0 || b.EgressRate == 0 && b.EgressBurst != 0) {
		t.Errorf("%s: bandwidth %+v", s, b)
	}
}

func checkAddresses(t *testing.T, s *nad.NetworkSelectionElement) {
	t.Helper()
	for _, ip := range s.IPRequest {
		address, _, _ := strings.Cut(ip, "/")
		if _, err := netip.ParseAddr(address); err != nil {
			t.Errorf("%s: ips: %v", s, err)
		}
	}
	if len(s.IPRequest) > 0 && s.IPAMClaimReference != "" {
		t.Errorf("%s: ips with ipam-claim-reference", s)
	}
	if mac, err := net.ParseMAC(s.MacRequest); s.MacRequest != "" && (err != nil || len(mac) != 6 || mac[0]&1 != 0) {
		t.Errorf("%s: mac %q", s, s.MacRequest)
	}
	if s.GatewayRequest == nil {
		return
	}
	for _, gateway := range *s.GatewayRequest {
		if gateway.To16() == nil {
			t.Errorf("%s: default-route %v", s, gateway)
		}
	}
}

// FuzzCreateNetworkStatuses holds that whatever a delegate prints gives an error or statuses that can be printed and
// read: at least one, each with a name, exactly one of them the default.
func FuzzCreateNetworkStatuses(f *testing.F) {
	for _, seed := range []string{
		threeLinks, `{}`, `{"cniVersion":"1.1.0","interfaces":[null],"ips":[null],"routes":[null]}`,
		`{"cniVersion":"0.2.0","ip4":{"ip":"192.0.2.3/24","routes":[{"dst":"0.0.0.0/0"}]},"ip6":{}}`,
		`{"cniVersion":"0.4.0","interfaces":[{"name":"a","sandbox":"/ns"}],"ips":[{"version":"4","interface":0,"address":"192.0.2.3/24","gateway":"192.0.2.1"}],"routes":[{"dst":"0.0.0.0/0"},{}]}`,
		`{"cniVersion":"1.0.0","ips":[{"interface":-1,"address":"192.0.2.3/24"}],"dns":{"search":["a.test"]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := create.CreateFromBytes(raw)
		if err != nil {
			return
		}
		statuses, err := nad.CreateNetworkStatuses(r, "blue/n1", true, nil)
		if err != nil {
			return
		}
		defaults := 0
		for _, status := range statuses {
			if status.Default {
				defaults++
			}
			if status.Name != "blue/n1" {
				t.Errorf("name %q", status.Name)
			}
		}
		if defaults != 1 {
			t.Errorf("%d of %d statuses are the default", defaults, len(statuses))
		}
		text, err := nad.FormatNetworkStatus(statuses)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(text, `"<nil>"`) && !bytes.Contains(raw, []byte("nil")) {
			t.Errorf("%s", text)
		}
		if again, err := nad.ParseNetworkStatus(text); err != nil || len(again) != len(statuses) {
			t.Errorf("reading %s: %v", text, err)
		}
	})
}

// FuzzGetCNIConfigFromSpec holds that a body that is accepted has a name, differs in nothing else, and is not changed a
// second time.
func FuzzGetCNIConfigFromSpec(f *testing.F) {
	for _, seed := range []string{
		`{"type":"macvlan"}`, `{"name":"n1","type":"macvlan"}`, ` {} `, `{"name":""}`, `{"name":null,"a":{"name":1}}`,
		`{"name":1}`, `[]`, `{"n":9007199254740993,"s":"<&>"}`, `{"name":"","name":"x"}`, `{"a":1} x`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		raw, err := nad.GetCNIConfigFromSpec(spec, "net-a")
		if err != nil {
			return
		}
		name, rest := fields(t, raw)
		if string(name) == "null" || string(name) == `""` || name[0] != '"' {
			t.Errorf("%s has no name", raw)
		}
		if _, before := fields(t, []byte(spec)); !reflect.DeepEqual(before, rest) {
			t.Errorf("%s became %s", spec, raw)
		}
		if again, err := nad.GetCNIConfigFromSpec(string(raw), "net-b"); err != nil || !bytes.Equal(again, raw) {
			t.Errorf("%s became %s: %v", raw, again, err)
		}
	})
}

// fields gives the name of an object and what else is in it.
func fields(t *testing.T, raw []byte) (json.RawMessage, map[string]json.RawMessage) {
	t.Helper()
	object := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &object); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	name := object["name"]
	delete(object, "name")
	return name, object
}

// FuzzLoadDeviceInfo holds that a device information file that is accepted says what it describes, and reads the same
// when it is written again.
func FuzzLoadDeviceInfo(f *testing.F) {
	for _, seed := range []string{
		`{"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:01:02.2","pf-pci-address":"0000:01:02.0"}}`,
		`{"type":"vdpa","version":"1.0.0","vdpa":{"parent-device":"vdpa3","driver":"vhost","path":"/dev/vdpa-vhost0"}}`,
		`{"type":"vhost-user","version":"1.1.0","vhost-user":{"mode":"server","path":"/var/run/vhost.sock"}}`,
		`{"type":"memif","version":"1.1.0","memif":{"role":"slave","path":"<&>","mode":"ip"},"pci":null}`,
		`{"type":"later","version":"2.0.0"}`, `{"type":"pci"}`, `{"type":1}`, `null`, `[]`, ``, `{"type":"pci","version":"1","pci":{}} x`,
	} {
		f.Add([]byte(seed))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, raw []byte) {
		path := filepath.Join(dir, "a")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := nad.LoadDeviceInfoFromCNI(path)
		if err != nil {
			return
		}
		if info == nil || info.Type == "" || info.Version == "" {
			t.Fatalf("%s: type or version is missing in %+v", raw, info)
		}
		ofToday := slices.Contains([]string{"pci", "vdpa", "vhost-user", "memif"}, info.Type)
		if err := nad.SaveDeviceInfoForCNI(path, info); ofToday != (err == nil) {
			t.Fatalf("%s: writing it: %v", raw, err)
		}
		if !ofToday {
			return
		}
		again, err := nad.LoadDeviceInfoFromCNI(path)
		if err != nil || !reflect.DeepEqual(info, again) {
			t.Fatalf("%s: %+v reads as %+v when written: %v", raw, info, again, err)
		}
	})
}
