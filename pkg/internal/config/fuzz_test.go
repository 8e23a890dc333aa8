package config_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
)

// FuzzParse shows that our own configuration never panics, and that what is accepted is valid.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/c*.conf*")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"name":"m","delegates":[{"type":"a"},null,{"plugins":[]}],"args":[],"logOptions":{"maxSize":1e9}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		cfg, err := config.Parse(text, "multus")
		switch {
		case cfg == nil:
			if faults := (config.Faults)(nil); !errors.As(err, &faults) || len(faults) == 0 {
				t.Fatalf("neither a configuration nor faults: %v", err)
			}
			return
		case !json.Valid(text):
			t.Fatal("accepted what is no JSON")
		case err == nil && cfg.ClusterNetwork == "" && len(cfg.Delegates) == 0:
			t.Fatal("accepted a configuration without a master")
		}
		for _, network := range cfg.Delegates {
			if network.Name == "" || network.CallsItself("multus") != nil {
				t.Fatalf("accepted delegate %q", network.Name)
			}
		}
	})
}

// FuzzParseNetwork shows that a network that is accepted is written and read again as the same.
func FuzzParseNetwork(f *testing.F) {
	f.Add([]byte(`{"name":"n","type":"a"}`))
	f.Add([]byte(`{"cniVersion":"1.0.0","name":"n","disableGC":"true","plugins":[{"type":"a","capabilities":{"ips":true}},{"type":"b","ipam":{"type":"static"},"args":{"cni":{"a":"<&>"}}}]}`))
	f.Add([]byte(`{"cniVersions":["0.4.0","1.1.0"],"NAME":"n","name":"","plugins":null,"plugins":[{"Type":"a","x":-12.5E+3}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		network, err := config.ParseNetwork(text, "unnamed")
		if err != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatal("accepted what is no JSON")
		}
		if err := network.Inject("deviceID", "<0>"); err != nil {
			t.Fatalf("injecting: %v", err)
		}
		written, err := network.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var again config.Network
		if err := again.UnmarshalJSON(written); err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		rewritten, err := again.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if string(rewritten) != string(written) {
			t.Fatalf("%s became %s", written, rewritten)
		}
		for _, n := range []*config.Network{network, &again} {
			for i := range n.Plugins {
				if n.Plugins[i].Type == "" {
					t.Fatal("accepted a plugin without type")
				}
			}
		}
		if network.Name != again.Name || network.CNIVersion != again.CNIVersion || network.DisableCheck != again.DisableCheck ||
			network.DisableGC != again.DisableGC || !reflect.DeepEqual(network.Capabilities(), again.Capabilities()) {
			t.Fatalf("%+v became %+v", network, again)
		}
	})
}

// FuzzParseObject shows that the scanner takes for JSON what encoding/json does, up to its limit of depth.
func FuzzParseObject(f *testing.F) {
	f.Add([]byte(`{"a":[1,-0.5e-3,"\u00e9\n",true,false,null,{}],"b":{"c":[]}}`))
	f.Add([]byte(`{"a":01}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		object, err := config.ParseObject(text)
		var members map[string]json.RawMessage
		want := json.Unmarshal(text, &members)
		if members == nil || len(text) > 1000 && err != nil {
			return // null, or perhaps too deep
		}
		if (err == nil) != (want == nil) {
			t.Fatalf("%q: %v, encoding/json: %v", text, err, want)
		}
		if err == nil && len(object.Keys()) != len(members) {
			t.Fatalf("keys %q, encoding/json: %q", object.Keys(), members)
		}
		for name, value := range members {
			if got, _ := object.Get(name); err == nil && string(got) != string(value) {
				t.Fatalf("%q is %q, encoding/json: %q", name, got, value)
			}
		}
	})
}
