package delegate_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/containernetworking/cni/pkg/version"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/delegate"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
)

// attachment makes one of a configuration.
func attachment(text string) plan.Attachment {
	network, err := config.ParseNetwork([]byte(text), "")
	if err != nil {
		panic(err)
	}
	return plan.Attachment{Network: "blue/n1", Interface: "net1", Config: network}
}

// turn is one call of a plugin.
type turn struct {
	plugin  string
	verb    string
	stdin   string
	environ []string
}

func (t turn) String() string { return t.verb + " " + t.plugin }

// get is a key of the plugin's configuration, "" if there is none.
func (t turn) get(key string) string {
	object, err := config.ParseObject([]byte(t.stdin))
	Expect(err).NotTo(HaveOccurred())
	raw, _ := object.Get(key)
	return string(raw)
}

// recorder is an invoke.Exec that starts nothing.
type recorder struct {
	version.PluginDecoder
	turns  []turn
	answer func(turn) ([]byte, error) // nil: an empty result
}

func (r *recorder) FindInPath(plugin string, _ []string) (string, error) { return plugin, nil }

func (r *recorder) ExecPlugin(_ context.Context, path string, stdin []byte, environ []string) ([]byte, error) {
	t := turn{plugin: path, stdin: string(stdin), environ: environ}
	for _, variable := range environ {
		if verb, found := strings.CutPrefix(variable, "CNI_COMMAND="); found {
			t.verb = verb
		}
	}
	r.turns = append(r.turns, t)
	if r.answer == nil {
		return nil, nil
	}
	return r.answer(t)
}

func (r *recorder) order() []string {
	var order []string
	for _, t := range r.turns {
		order = append(order, t.String())
	}
	return order
}

// answering gives each plugin's answer to ADD, by type.
func answering(results map[string]string) func(turn) ([]byte, error) {
	return func(t turn) ([]byte, error) { return []byte(results[t.plugin]), nil }
}

// scripts is a Runner over shell scripts, by plugin type.
func scripts(bodies map[string]string) (delegate.Runner, string) {
	bin := GinkgoT().TempDir()
	for name, body := range bodies {
		Expect(os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+body), 0o755)).To(Succeed())
	}
	return delegate.Runner{Path: []string{bin}, CacheDir: GinkgoT().TempDir(), Environ: []string{"PATH=" + os.Getenv("PATH")}}, bin
}
