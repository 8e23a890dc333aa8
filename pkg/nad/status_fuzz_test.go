package nad_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/containernetworking/cni/pkg/types/create"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// FuzzParseNetworkStatus holds that an annotation that is accepted reads the same when it is written again, copied or not.
func FuzzParseNetworkStatus(f *testing.F) {
	for _, seed := range []string{
		`[{"name":"pods","interface":"eth0","ips":["192.0.2.4","2001:db8::4"],"mac":"02:00:00:00:00:01","mtu":1500,"default":true,"dns":{"search":["<&>"]},"gateway":["192.0.2.1"]}]`,
		`[{"name":"a","device-info":{"type":"pci","version":"1.1.0","pci":{"pci-address":"0000:01:02.2"}}}]`,
		`[]`, ` `, `null`, `[null]`, `{}`, `[{"name":1}]`, `[{"mtu":1e400}]`, "[{\"name\":\"\xff\"}]", `[{"name":"a"}] x`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		statuses, err := nad.ParseNetworkStatus(value)
		if err != nil {
			return
		}
		var copies []*nad.NetworkStatus
		for _, status := range statuses {
			copies = append(copies, status.DeepCopy())
		}
		text, err := nad.FormatNetworkStatus(statuses)
		if err != nil {
			t.Fatal(err)
		}
		again, err := nad.FormatNetworkStatus(copies)
		if err != nil || text != again {
			t.Errorf("%s is %s when copied: %v", text, again, err)
		}
		read, err := nad.ParseNetworkStatus(text)
		if err != nil {
			t.Fatalf("reading %s: %v", text, err)
		}
		if again, err := nad.FormatNetworkStatus(read); err != nil || again != text {
			t.Errorf("%s is %s when read again: %v", text, again, err)
		}
	})
}

// FuzzRecordedResults holds that one changed byte in a real plugin's result gives an error or statuses with a name.
func FuzzRecordedResults(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "results", "*.json"))
	if err != nil || len(files) == 0 {
		f.Fatal("no recorded results", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw, len(raw)/2, byte('9'))
	}
	f.Fuzz(func(t *testing.T, raw []byte, at int, other byte) {
		if at >= 0 && at < len(raw) {
			raw[at] = other
		}
		r, err := create.CreateFromBytes(raw)
		if err != nil {
			return
		}
		statuses, err := nad.CreateNetworkStatuses(r, "blue/n1", false, nil)
		if err == nil && (len(statuses) == 0 || statuses[0].Name != "blue/n1") {
			t.Errorf("%s gives %v", raw, statuses)
		}
		one, oneErr := nad.CreateNetworkStatus(r, "blue/n1", false, nil)
		if (err == nil) != (oneErr == nil) || err == nil && !reflect.DeepEqual(one, statuses[0]) {
			t.Errorf("%s gives %v and %v", raw, one, statuses[0])
		}
	})
}
