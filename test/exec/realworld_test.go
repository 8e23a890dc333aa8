package exec

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/invoke"
	types100 "github.com/containernetworking/cni/pkg/types/100"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// manifest is the part of a NetworkAttachmentDefinition or Pod that matters here.
type manifest struct {
	Kind     string
	Metadata struct {
		Name, Namespace string
		Annotations     map[string]string
	}
	Spec struct{ Config string }
}

// manifests reads the documents of a YAML text.
func manifests(text string) []manifest {
	GinkgoHelper()
	var all []manifest
	for _, document := range strings.Split(text, "\n---\n") {
		var one manifest
		Expect(yaml.Unmarshal([]byte(document), &one)).To(Succeed(), document)
		all = append(all, one)
	}
	return all
}

// apply stores the NADs of a YAML text as kubectl does, in that namespace where they name none, and gives the
// annotations of the pods. What has an annotation of a pod only, or spec.config, needs no kind.
func (b *bench) apply(namespace, text string) (pods []map[string]string) {
	GinkgoHelper()
	for _, one := range manifests(text) {
		if one.Metadata.Name == "" {
			pods = append(pods, one.Metadata.Annotations)
			continue
		}
		b.API.AddNAD(fake.NAD{
			Namespace: namespace, Name: one.Metadata.Name, Annotations: one.Metadata.Annotations, Config: one.Spec.Config,
		})
	}
	return pods
}

// runtime is a container runtime: libcni with a configuration list, or a single plugin's configuration.
type runtime struct {
	cni  *libcni.CNIConfig
	list *libcni.NetworkConfigList
	args *libcni.RuntimeConf
}

// runtime takes a configuration as a node has it. Paths that have to exist are replaced by the node's own: each path in
// the text that is a key of paths, and the defaults of cniDir, binDir and confDir. All else is as it was published.
func (b *bench) runtime(text string, paths map[string]string, box node.Sandbox) runtime {
	GinkgoHelper()
	for key, own := range map[string]string{"cniDir": b.CNIDir, "binDir": b.BinDir, "confDir": b.ConfDir} {
		if !strings.Contains(text, `"`+key+`"`) {
			text = strings.Replace(text, `"type":"multus",`, fmt.Sprintf(`"type":"multus",%q:%q,`, key, own), 1)
		}
	}
	for from, to := range paths {
		Expect(text).To(ContainSubstring(`"` + from + `"`))
		text = strings.ReplaceAll(text, `"`+from+`"`, `"`+to+`"`)
	}
	Expect(os.Symlink(b.Binary, filepath.Join(b.BinDir, "multus"))).To(Succeed())
	exec := &invoke.DefaultExec{RawExec: &invoke.RawExec{Stderr: GinkgoWriter}}
	return runtime{
		cni:  libcni.NewCNIConfigWithCacheDir([]string{b.BinDir}, filepath.Join(b.Dir, "runtime"), exec),
		list: networkList(text),
		args: &libcni.RuntimeConf{ContainerID: box.ContainerID, NetNS: box.NetNS, IfName: box.IfName, Args: box.Args},
	}
}

// networkList reads a list. Of a single plugin's configuration it makes one, as runtimes do.
func networkList(text string) *libcni.NetworkConfigList {
	GinkgoHelper()
	var config struct {
		CNIVersion, Name string
		Plugins          []json.RawMessage
	}
	Expect(json.Unmarshal([]byte(text), &config)).To(Succeed())
	if config.Plugins == nil {
		text = fmt.Sprintf(`{"cniVersion":%q,"name":%q,"plugins":[%s]}`, config.CNIVersion, config.Name, text)
	}
	list, err := libcni.NetworkConfFromBytes([]byte(text))
	Expect(err).NotTo(HaveOccurred())
	return list
}

func (r runtime) add() *types100.Result {
	GinkgoHelper()
	printed, err := r.cni.AddNetworkList(context.Background(), r.list, r.args)
	Expect(err).NotTo(HaveOccurred())
	result, err := types100.NewResultFromResult(printed)
	Expect(err).NotTo(HaveOccurred())
	return result
}

func (r runtime) del() {
	GinkgoHelper()
	Expect(r.cni.DelNetworkList(context.Background(), r.list, r.args)).To(Succeed())
}

// capability is a capability argument that a delegate was given at a call.
func (b *bench) capability(call, name string) any {
	GinkgoHelper()
	config, err := b.call(call).Config()
	Expect(err).NotTo(HaveOccurred())
	arguments, _ := config["runtimeConfig"].(map[string]any)
	return arguments[name]
}

var _ = Describe("configurations of nodes in the field", func() {
	var b *bench
	var box node.Sandbox
	ports := []any{map[string]any{"hostPort": 8080.0, "containerPort": 80.0, "protocol": "tcp"}}
	BeforeEach(func() {
		b = newBench()
		Expect(b.Delegates.Install("flannel", "portmap", "primary-cni", "mesh-cni")).To(Succeed())
		b.nad("n1", secondary)
		box = b.pod("web-0", "n1")
	})

	It("C1: a generated configuration with flannel's list inside", func() {
		r := b.runtime(`{"cniVersion":"0.3.1","name":"multus-cni-network","type":"multus",
			 "capabilities":{"portMappings":true},
			 "kubeconfig":"/etc/cni/net.d/multus.d/multus.kubeconfig",
			 "delegates":[{"cniVersion":"1.0.0","name":"cbr0","plugins":[
			   {"type":"flannel","delegate":{"hairpinMode":true,"isDefaultGateway":true}},
			   {"type":"portmap","capabilities":{"portMappings":true}}]}]}`,
			map[string]string{"/etc/cni/net.d/multus.d/multus.kubeconfig": b.Kubeconfig}, box)
		r.args.CapabilityArgs = map[string]any{"portMappings": ports}
		result := r.add()
		Expect(result.IPs).To(HaveLen(1))
		Expect(b.calls("ADD")).To(Equal([]string{"ADD flannel eth0", "ADD portmap eth0", "ADD second net1"}))
		Expect(string(b.call("ADD flannel eth0").Stdin)).To(ContainSubstring(`"delegate":{"hairpinMode":true,"isDefaultGateway":true}`))
		Expect(b.capability("ADD portmap eth0", "portMappings")).To(Equal(ports))
		Expect(b.versionAsked("ADD flannel eth0")).To(Equal("1.0.0"))
		r.del()
		Expect(b.calls("DEL")).To(Equal([]string{"DEL second net1", "DEL portmap eth0", "DEL flannel eth0"}))
		b.expectNoState()
	})

	It("C2: inside of a list, with paths that are not under /etc", func() {
		r := b.runtime(`{"cniVersion":"1.0.0","name":"multus-cni-network","plugins":[{"type":"multus","logLevel":"verbose",
			 "capabilities":{"portMappings":true},
			 "kubeconfig":"/var/lib/example/agent/etc/cni/net.d/multus.d/multus.kubeconfig",
			 "delegates":[{"cniVersion":"1.0.0","name":"cbr0","plugins":[{"type":"flannel"},{"type":"portmap","capabilities":{"portMappings":true}}]}]}]}`,
			map[string]string{"/var/lib/example/agent/etc/cni/net.d/multus.d/multus.kubeconfig": b.Kubeconfig}, box)
		r.args.CapabilityArgs = map[string]any{"portMappings": ports}
		r.add()
		Expect(b.calls("ADD")).To(Equal([]string{"ADD flannel eth0", "ADD portmap eth0", "ADD second net1"}))
		Expect(b.capability("ADD portmap eth0", "portMappings")).To(Equal(ports))
		r.del()
		b.expectNoState()
	})

	It("C3: clusterNetwork and defaultNetworks, all options; delegates is there too, and keys in other letter case", func() {
		dir := b.write("etc", map[string]string{"10-primary.conflist": `{"cniVersion":"0.4.0","name":"primary","plugins":[{"type":"primary-cni"}]}`})
		b.API.AddNAD(fake.NAD{Namespace: "kube-system", Name: "sidecar", Config: secondary})
		log := filepath.Join(b.Dir, "multus.log")
		published := `{"cniVersion":"0.4.0","name":"node-net","type":"multus","kubeconfig":"/etc/cni/net.d/multus.d/multus.kubeconfig",
			 "confDir":"/etc/cni/multus/net.d","cniDir":"/var/lib/cni/multus","binDir":"/opt/cni/bin",
			 "logFile":"/var/log/multus.log","logLevel":"error","logOptions":{"maxAge":5,"maxSize":100,"maxBackups":5,"compress":true},
			 "namespaceIsolation":false,"clusterNetwork":"/etc/cni/net.d/10-primary.conflist",
			 "defaultNetworks":["sidecar"],"systemNamespaces":["kube-system"],"multusNamespace":"kube-system"}`
		paths := map[string]string{
			"/etc/cni/net.d/multus.d/multus.kubeconfig": b.Kubeconfig, "/etc/cni/multus/net.d": b.ConfDir,
			"/var/lib/cni/multus": b.CNIDir, "/opt/cni/bin": b.BinDir, "/var/log/multus.log": log,
			"/etc/cni/net.d/10-primary.conflist": dir + "/10-primary.conflist",
		}
		r := b.runtime(published, paths, box)
		r.add()
		Expect(b.calls("ADD")).To(Equal([]string{"ADD primary-cni eth0", "ADD second net1", "ADD second net2"}))
		r.del()
		b.expectNoState()
		Expect(log).NotTo(BeAnExistingFile(), "there was no error")

		Expect(b.Delegates.Forget()).To(Succeed())
		Expect(os.Remove(filepath.Join(b.BinDir, "multus"))).To(Succeed())
		other := strings.NewReplacer(`"logLevel"`, `"LogLevel"`, `"logFile"`, `"LogFile"`, `"error"`, `"verbose"`, `"namespaceIsolation"`, `"delegates":[{"type":"absent"}],"namespaceIsolation"`)
		r = b.runtime(other.Replace(published), paths, box)
		r.add()
		Expect(b.calls("ADD")).To(Equal([]string{"ADD primary-cni eth0", "ADD second net1", "ADD second net2"}))
		Expect(contentOf(log)).To(ContainSubstring("delegates is ignored"))
		r.del()
		b.expectNoState()
	})

	It("C4: isolation, a readiness file, an own directory of plugins, and a service mesh behind us", func() {
		ready := b.write("run", map[string]string{"80-primary.conf": "{}"}) + "/80-primary.conf"
		b.API.AddNAD(fake.NAD{Namespace: "net-shared", Name: "n1", Config: secondary})
		b.API.AddNAD(fake.NAD{Namespace: "red", Name: "n1", Config: secondary})
		box = b.pod("web-1", "net-shared/n1")
		r := b.runtime(`{"cniVersion":"0.3.1","name":"multus-cni-network","plugins":[
			 {"type":"multus","name":"multus-cni-network","binDir":"/opt/multus/bin","logLevel":"verbose",
			  "namespaceIsolation":true,"globalNamespaces":"default,net-shared",
			  "readinessindicatorfile":"/run/example/cni/80-primary.conf",
			  "kubeconfig":"/etc/kubernetes/cni/net.d/multus.d/multus.kubeconfig",
			  "delegates":[{"cniVersion":"0.3.1","name":"primary","type":"primary-cni"}]},
			 {"type":"mesh-cni","kubernetes":{"kubeconfig":"/etc/cni/net.d/mesh-kubeconfig"}}]}`,
			map[string]string{
				"/opt/multus/bin": b.BinDir, "/run/example/cni/80-primary.conf": ready,
				"/etc/kubernetes/cni/net.d/multus.d/multus.kubeconfig": b.Kubeconfig,
			}, box)
		result := r.add()
		Expect(b.calls("ADD")).To(Equal([]string{"ADD primary-cni eth0", "ADD second net1", "ADD mesh-cni eth0"}))
		Expect(result.Interfaces).To(ConsistOf(And(HaveField("Name", "eth0"), HaveField("Sandbox", box.NetNS))))
		config, err := b.call("ADD mesh-cni eth0").Config()
		Expect(err).NotTo(HaveOccurred())
		given, err := json.Marshal(config["prevResult"])
		Expect(err).NotTo(HaveOccurred())
		Expect(addresses(given)).To(ConsistOf(result.IPs[0].Address.String()))
		r.del()
		Expect(b.calls("DEL")).To(Equal([]string{"DEL mesh-cni eth0", "DEL second net1", "DEL primary-cni eth0"}))
		b.expectNoState()

		r.args.Args = b.pod("web-2", "red/n1").Args
		_, err = r.cni.AddNetworkList(context.Background(), r.list, r.args)
		Expect(err).To(MatchError(ContainSubstring("namespaceIsolation")))
	})
})

var _ = Describe("networks and pods in the field", func() {
	var b *bench
	BeforeEach(func() {
		b = newBench()
		Expect(b.Delegates.Install("macvlan", "tuning", "sriov")).To(Succeed())
	})

	interfaces := func(pod string) []string {
		GinkgoHelper()
		var names []string
		for _, status := range b.status(pod) {
			names = append(names, status.Interface)
		}
		return names
	}

	It("C5: a NAD without a name in its configuration, in YAML over several lines", func() {
		b.apply("blue", `
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: macvlan-a}
spec:
  config: '{ "cniVersion": "0.3.1", "type": "macvlan", "master": "eth1", "mode": "bridge",
    "ipam": { "type": "host-local", "subnet": "192.0.2.0/24", "rangeStart": "192.0.2.200", "rangeEnd": "192.0.2.216",
              "routes": [ { "dst": "0.0.0.0/0" } ], "gateway": "192.0.2.1" } }'
`)
		box := b.pod("web-0", "macvlan-a")
		b.add(box)
		config, err := b.call("ADD macvlan net1").Config()
		Expect(err).NotTo(HaveOccurred())
		Expect(config).To(And(HaveKeyWithValue("name", "macvlan-a"), HaveKeyWithValue("master", "eth1")))
		Expect(config["ipam"]).To(HaveKeyWithValue("routes", []any{map[string]any{"dst": "0.0.0.0/0"}}))
		b.del(box)
		b.expectNoState()
	})

	It("C6: a list with static addresses, and tuning for the MAC", func() {
		b.apply("net-shared", `
metadata: {name: iot}
spec:
  config: |-
    {"cniVersion":"0.3.1","name":"iot","plugins":[
      {"type":"macvlan","master":"eth0.50","mode":"bridge","capabilities":{"ips":true},
       "ipam":{"type":"static","routes":[{"dst":"198.51.100.0/24","gw":"192.0.2.1"},{"dst":"224.0.0.0/4"}]}},
      {"type":"tuning","capabilities":{"mac":true}}]}
`)
		box := b.pod("web-0", `[{"name":"iot","namespace":"net-shared","ips":["192.0.2.5/24"],"mac":"02:00:00:00:00:05"}]`)
		b.add(box)
		for _, verb := range []string{"ADD", "DEL"} {
			if verb == "DEL" {
				b.del(box)
			}
			Expect(b.capability(verb+" macvlan net1", "ips")).To(Equal([]any{"192.0.2.5/24"}))
			Expect(b.capability(verb+" macvlan net1", "mac")).To(BeNil())
			Expect(b.capability(verb+" tuning net1", "mac")).To(Equal("02:00:00:00:00:05"))
			Expect(b.call(verb + " macvlan net1").Arg("IP")).To(BeEmpty())
		}
		b.expectNoState()
	})

	It("C7: two devices of one resource", func() {
		pods := b.apply("blue", `
metadata: {name: vf-a, annotations: {k8s.v1.cni.cncf.io/resourceName: example.com/vf}}
spec: {config: '{"cniVersion":"0.3.1","name":"vf-a","type":"sriov","vlan":100,"ipam":{"type":"host-local","subnet":"203.0.113.0/24"}}'}
---
metadata: {annotations: {k8s.v1.cni.cncf.io/networks: 'vf-a, vf-a@data1'}}
spec: {containers: [{name: c, resources: {limits: {example.com/vf: "2"}}}]}
`)
		box := b.podWith("web-0", pods[0])
		Expect(b.kubelet().WriteCheckpoint(checkpointOf(box, `["0000:03:02.0","0000:03:02.1"]`))).To(Succeed())
		b.add(box)
		Expect(interfaces("web-0")).To(Equal([]string{"eth0", "net1", "data1"}))
		Expect(b.devices("ADD sriov net1", "ADD sriov data1")).To(ConsistOf("0000:03:02.0", "0000:03:02.1"))
		b.del(box)
		Expect(b.devices("DEL sriov net1", "DEL sriov data1")).To(Equal(b.devices("ADD sriov net1", "ADD sriov data1")))
		b.expectNoState()
	})

	DescribeTable("C8: another primary network for one pod",
		func(annotations string, want ...string) {
			for _, name := range []string{"alt-primary", "isolated-egress"} {
				b.API.AddNAD(fake.NAD{Namespace: "kube-system", Name: name, Config: `{"cniVersion":"0.3.1","type":"macvlan"}`})
			}
			b.API.AddNAD(fake.NAD{Namespace: "tenant-a", Name: "data", Config: secondary})
			pods := b.apply("", "metadata:\n"+annotations)
			box := b.podWith("web-0", pods[0])
			b.add(box)
			Expect(b.calls("ADD")).To(Equal(want))
			Expect(b.status("web-0")[0].Default).To(BeTrue())
			b.del(box)
			b.expectNoState()
		},
		Entry("and an own name for the other", `
  annotations:
    v1.multus-cni.io/default-network: '[{"name":"alt-primary","namespace":"kube-system","interface":"eth0"}]'
    k8s.v1.cni.cncf.io/networks: '[{"name":"data","namespace":"tenant-a","interface":"eth1"}]'
`, "ADD macvlan eth0", "ADD second eth1"),
		Entry("in the short form", `
  annotations:
    v1.multus-cni.io/default-network: kube-system/isolated-egress
`, "ADD macvlan eth0"),
		Entry("in the short form, without a namespace", `
  annotations:
    v1.multus-cni.io/default-network: alt-primary
`, "ADD macvlan eth0"),
	)

	// What becomes of the routes needs interfaces, which recording delegates do not make: see the suite netns.
	It("C9: dual-stack addresses, own names and a key that does not exist", func() {
		for _, name := range []string{"rf", "vlan-100"} {
			b.nad(name, `{"cniVersion":"1.0.0","type":"macvlan","capabilities":{"ips":true}}`)
		}
		pods := b.apply("", `
metadata:
  annotations:
    k8s.v1.cni.cncf.io/networks: |
      [{"name":"rf","interface":"rf","ips":["192.0.2.20/24","2001:db8:66::20/64"],"default-route":["192.0.2.254"],"gateways":["192.0.2.3"]},
       {"name":"vlan-100","interface":"vlan-100"}]
`)
		outcome := b.run("ADD", b.podWith("web-0", pods[0]))
		Expect(outcome.Stderr).To(MatchRegexp(`\[verbose\] warning: annotation k8s\.v1\.cni\.cncf\.io/networks: .*gateways`))
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0", "ADD macvlan rf", "ADD macvlan vlan-100"}))
		Expect(b.capability("ADD macvlan rf", "ips")).To(Equal([]any{"192.0.2.20/24", "2001:db8:66::20/64"}))
		Expect(b.capability("ADD macvlan vlan-100", "ips")).To(BeNil())
		b.expectNothingAttached()
		b.expectNoState()
	})

	It("C9: an address without a prefix length", func() {
		b.nad("rf", `{"cniVersion":"1.0.0","type":"macvlan","capabilities":{"ips":true}}`)
		b.add(b.pod("web-0", `[{"name":"rf","ips":["192.0.2.200"]}]`))
		Expect(b.capability("ADD macvlan net1", "ips")).To(Equal([]any{"192.0.2.200"}))
	})

	It("C10: a NAD without a configuration, and one with explicit paths", func() {
		b.write("net.d", map[string]string{"50-file-net.conf": `{"cniVersion":"0.3.1","name":"k8s-file-net","type":"tuning","here":true}`})
		b.apply("blue", `
metadata: {name: k8s-file-net}      # no spec.config → look for a file whose "name" is k8s-file-net in confDir
---
metadata: {name: wb}
spec: {config: '{"cniVersion":"1.0.0","name":"wb","type":"macvlan","master":"eth0","mode":"bridge",
  "ipam":{"type":"whereabouts","range":"192.0.2.128/28","configuration_path":"/var/lib/example/net.d/whereabouts.d/whereabouts.conf",
          "kubernetes":{"kubeconfig":"/var/lib/example/net.d/whereabouts.d/whereabouts.kubeconfig"}}}'}
`)
		box := b.pod("web-0", "k8s-file-net,wb")
		b.add(box)
		b.del(box)
		for _, verb := range []string{"ADD", "DEL"} {
			Expect(string(b.call(verb + " tuning net1").Stdin)).To(ContainSubstring(`"here":true`))
			Expect(string(b.call(verb + " macvlan net2").Stdin)).To(And(
				ContainSubstring(`"configuration_path":"/var/lib/example/net.d/whereabouts.d/whereabouts.conf"`),
				ContainSubstring(`"kubernetes":{"kubeconfig":"/var/lib/example/net.d/whereabouts.d/whereabouts.kubeconfig"}`)))
		}
		b.expectNoState()
	})
})
