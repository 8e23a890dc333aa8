package nad_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// recordings has the statuses of each result in testdata/results, which testdata/record made with the real plugins, as
// secondary network "blue/n1".
func recordings() map[string]string {
	const (
		// Plugins behind a bridge pass on its result.
		onBridge = `[{"name":"blue/n1","interface":"eth0","ips":["192.0.2.2"],"mac":"52:f0:e9:87:25:ff","dns":{},"gateway":["192.0.2.1"]}]`
		old      = `"ips":["198.51.100.2"],"gateway":["198.51.100.1"],"dns":{"nameservers":["192.0.2.53"],"search":["a.test"]}}]`
	)
	return map[string]string{
		"loopback":       `[{"name":"blue/n1","interface":"lo","ips":["127.0.0.1","::1"],"mac":"00:00:00:00:00:00","dns":{}}]`,
		"bridge":         onBridge,
		"bridge-0.1.0":   `[{"name":"blue/n1",` + old,
		"bridge-0.2.0":   `[{"name":"blue/n1",` + old,
		"bridge-0.3.0":   `[{"name":"blue/n1","interface":"e0.3.0","mac":"de:24:3a:20:a9:1b",` + old,
		"bridge-0.3.1":   `[{"name":"blue/n1","interface":"e0.3.1","mac":"96:fb:bf:01:8e:6e",` + old,
		"bridge-0.4.0":   `[{"name":"blue/n1","interface":"e0.4.0","mac":"3e:2c:93:37:30:62",` + old,
		"bridge-1.0.0":   `[{"name":"blue/n1","interface":"e1.0.0","mac":"1e:06:1b:02:4d:45",` + old,
		"bridge-l2":      `[{"name":"blue/n1","interface":"l2","mac":"62:e7:a4:72:37:35","dns":{}}]`,
		"ptp":            `[{"name":"blue/n1","interface":"ptp0","ips":["203.0.113.2"],"mac":"de:39:71:9d:ca:c6","dns":{},"gateway":["203.0.113.1"]}]`,
		"macvlan":        `[{"name":"blue/n1","interface":"net1","ips":["192.0.2.2"],"mac":"2e:e9:92:d5:36:73","dns":{}}]`,
		"macvlan-static": `[{"name":"blue/n1","interface":"net2","ips":["192.0.2.7","2001:db8::7"],"mac":"42:16:be:14:26:35","dns":{"nameservers":["192.0.2.53"],"domain":"a.test"},"gateway":["192.0.2.254","2001:db8::1"]}]`,
		"macvlan-dhcp":   `[{"name":"blue/n1","interface":"net4","ips":["192.0.2.51"],"mac":"f2:28:85:85:b0:90","dns":{},"gateway":["192.0.2.1"]}]`,
		"host-device":    `[{"name":"blue/n1","interface":"net3","ips":["192.0.2.130"],"mac":"02:00:00:00:00:11","dns":{}}]`,
		"tap":            `[{"name":"blue/n1","interface":"tap0","ips":["198.51.100.130"],"mac":"1a:2f:b0:99:f2:ea","dns":{}}]`,
		// IPAM plugins know no interface.
		"host-local": `[{"name":"blue/n1","ips":["192.0.2.2"],"dns":{}}]`,
		"static":     `[{"name":"blue/n1","ips":["192.0.2.7"],"dns":{"nameservers":["192.0.2.53"]}}]`,
		"dhcp":       `[{"name":"blue/n1","ips":["192.0.2.52"],"dns":{},"gateway":["192.0.2.1"]}]`,
		"tuning":     strings.ReplaceAll(onBridge, "52:f0:e9:87:25:ff", "02:00:00:00:00:21"),
		"bandwidth":  onBridge, // with an interface of the host behind the pod's
		"portmap":    onBridge,
		"firewall":   onBridge,
		"sbr":        onBridge,
	}
}

var _ = Describe("results of the reference plugins (STAT-2, STAT-5)", func() {
	for name, want := range recordings() {
		It("give their statuses: "+name, func() {
			raw, err := os.ReadFile(filepath.Join("testdata", "results", name+".json"))
			Expect(err).NotTo(HaveOccurred())
			statuses, err := nad.CreateNetworkStatuses(result(string(raw)), "blue/n1", false, nil)
			Expect(err).NotTo(HaveOccurred())
			Expect(nad.FormatNetworkStatus(statuses)).To(MatchJSON(want))
		})
	}

	It("are all in the table", func() {
		files, err := filepath.Glob(filepath.Join("testdata", "results", "*.json"))
		Expect(err).NotTo(HaveOccurred())
		var names []string
		for _, file := range files {
			names = append(names, strings.TrimSuffix(filepath.Base(file), ".json"))
		}
		Expect(names).To(ConsistOf(slices.Collect(maps.Keys(recordings()))))
	})
})
