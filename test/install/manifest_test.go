package install

import (
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

const images = "../../images"

// documents splits a manifest.
func documents(name string) []string {
	GinkgoHelper()
	text := content(filepath.Join(images, name))()
	Expect(text).NotTo(BeEmpty(), name)
	return regexp.MustCompile(`(?m)^---$`).Split(text, -1)
}

// decode reads the document of a kind, and nothing that the type does not know.
func decode[T any](name, kind string) []T {
	GinkgoHelper()
	var all []T
	for _, document := range documents(name) {
		if !regexp.MustCompile(`(?m)^kind: ` + kind + `$`).MatchString(document) {
			continue
		}
		var object T
		Expect(yaml.UnmarshalStrict([]byte(document), &object)).To(Succeed(), name)
		all = append(all, object)
	}
	return all
}

func daemonSet(name string) apps.DaemonSet {
	GinkgoHelper()
	found := decode[apps.DaemonSet](name, "DaemonSet")
	Expect(found).To(HaveLen(1), name)
	return found[0]
}

// containers are all of a pod's, the init containers too.
func containers(set apps.DaemonSet) []core.Container {
	return slices.Concat(set.Spec.Template.Spec.InitContainers, set.Spec.Template.Spec.Containers)
}

var _ = DescribeTableSubtree("the manifest",
	func(name string, paths ...string) {
		var set apps.DaemonSet
		var pod core.PodSpec

		BeforeEach(func() {
			set = daemonSet(name)
			pod = set.Spec.Template.Spec
		})

		It("is a DaemonSet of the current version, decoded strictly (MAN-1, MAN-5)", func() {
			Expect(documents(name)).To(HaveLen(1))
			Expect(set.APIVersion).To(Equal("apps/v1"))
			Expect(set.Spec.Selector.MatchLabels).To(Equal(set.Spec.Template.Labels))
		})

		It("runs on every Linux node, of any architecture (MAN-3, E160, E161)", func() {
			Expect(pod.NodeSelector).To(Equal(map[string]string{"kubernetes.io/os": "linux"}))
			Expect(pod.Affinity).To(BeNil())
			Expect(pod.Tolerations).To(Equal([]core.Toleration{{Operator: core.TolerationOpExists}}))
			Expect(pod.HostNetwork).To(BeTrue())
			Expect(pod.PriorityClassName).To(Equal("system-node-critical"))
		})

		It("is of the class Guaranteed: every container's requests are its limits (MAN-3, E139)", func() {
			for _, container := range containers(set) {
				Expect(container.Resources.Limits).To(HaveLen(2), container.Name)
				Expect(container.Resources.Requests).To(Equal(container.Resources.Limits), container.Name)
			}
		})

		It("updates a tenth of the nodes at a time, and says why a container ended (MAN-3)", func() {
			Expect(set.Spec.UpdateStrategy.Type).To(Equal(apps.RollingUpdateDaemonSetStrategyType))
			Expect(set.Spec.UpdateStrategy.RollingUpdate.MaxUnavailable.String()).To(Equal("10%"))
			for _, container := range containers(set) {
				Expect(container.TerminationMessagePolicy).To(Equal(core.TerminationMessageFallbackToLogsOnError))
				Expect(container.Image).To(MatchRegexp(`:v\d+\.\d+\.\d+$`))
			}
		})

		It("has no power that it does not need (IMG-2, MAN-3)", func() {
			Expect(pod.HostPID || pod.HostIPC).To(BeFalse())
			for _, container := range containers(set) {
				security := container.SecurityContext
				Expect(security.Privileged).To(HaveValue(BeFalse()))
				Expect(security.AllowPrivilegeEscalation).To(HaveValue(BeFalse()))
				Expect(security.ReadOnlyRootFilesystem).To(HaveValue(BeTrue()))
				Expect(security.Capabilities).To(Equal(&core.Capabilities{Drop: []core.Capability{"ALL"}}))
			}
		})

		// The plugin runs on the node, not in the container: it needs no mount for the kubelet's socket or for namespaces.
		It("mounts two directories of the node, and none of them both ways (MAN-3, E103, E163)", func() {
			var mounted []string
			for _, volume := range pod.Volumes {
				Expect(volume.HostPath).NotTo(BeNil())
				mounted = append(mounted, volume.HostPath.Path)
			}
			Expect(mounted).To(Equal(paths))
			for _, container := range containers(set) {
				for _, mount := range container.VolumeMounts {
					Expect(mount.MountPropagation).To(BeNil())
				}
			}
		})

		It("gives the entrypoint only options that it knows, for directories that are mounted (MAN-3, E031, E136)", func() {
			r := (&host{shell: []string{"busybox", "ash"}}).command(append(slices.Clone(pod.Containers[0].Args), "--cni-bin-dir=/none")...)
			Expect(r.command.Run()).NotTo(Succeed())
			Expect(r.log()).NotTo(ContainSubstring("warning"))
			for _, mount := range pod.Containers[0].VolumeMounts {
				Expect(strings.Join(pod.Containers[0].Args, " ")).To(ContainSubstring("=" + mount.MountPath))
			}
			Expect(pod.Containers[0].Args).To(ContainElement("--multus-kubeconfig-file-host=" + paths[1] + "/multus.d/multus.kubeconfig"))
		})

		DescribeTable("is ready once the configuration is in place (MAN-3)",
			func(file string, ready bool) {
				dir := GinkgoT().TempDir()
				if file != "" {
					Expect(exec.Command("touch", dir+"/"+file).Run()).To(Succeed())
				}
				probe := slices.Clone(pod.Containers[0].ReadinessProbe.Exec.Command)
				for i := range probe {
					probe[i] = strings.ReplaceAll(probe[i], "/host/etc/cni/net.d", dir)
				}
				err := exec.Command(probe[0], probe[1:]...).Run()
				Expect(err == nil).To(Equal(ready))
			},
			Entry("a list", "00-multus.conflist", true),
			Entry("a single plugin", "00-multus.conf", true),
			Entry("another network's", "10-flannel.conflist", false),
			Entry("nothing", "", false),
		)
	},
	Entry("multus-daemonset.yml", "multus-daemonset.yml", "/opt/cni/bin", "/etc/cni/net.d"),
	Entry("multus-crio-daemonset.yml", "multus-crio-daemonset.yml", "/var/lib/cni/bin", "/etc/cni/net.d"),
)

// rights lists what a role allows: "verb resource.group".
func rights(role rbac.ClusterRole) []string {
	all := map[string]bool{}
	for _, rule := range role.Rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					all[strings.TrimSuffix(verb+" "+resource+"."+group, ".")] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

var _ = Describe("the rights", func() {
	DescribeTable("are these and no other (MAN-2)",
		func(name string, want ...string) {
			roles := decode[rbac.ClusterRole](name, "ClusterRole")
			Expect(roles).To(HaveLen(1))
			Expect(roles[0].APIVersion).To(Equal("rbac.authorization.k8s.io/v1"))
			Expect(rights(roles[0])).To(Equal(want))
		},
		Entry("of the plugin", "rbac.yml", "get network-attachment-definitions.k8s.cni.cncf.io", "get pods", "patch pods/status"),
		Entry("of the plugin where devices come by DRA (SEC-3)", "rbac-dra.yml", "get resourceclaims.resource.k8s.io", "list resourceslices.resource.k8s.io"),
		Entry("of who may view a namespace", "rbac-view.yml",
			"get network-attachment-definitions.k8s.cni.cncf.io", "list network-attachment-definitions.k8s.cni.cncf.io", "watch network-attachment-definitions.k8s.cni.cncf.io"),
	)

	DescribeTable("are bound to the account of the DaemonSet (MAN-2)",
		func(name string) {
			set := daemonSet("multus-daemonset.yml")
			account := decode[core.ServiceAccount]("rbac.yml", "ServiceAccount")[0]
			Expect(set.Spec.Template.Spec.ServiceAccountName).To(Equal(account.Name))
			Expect(set.Namespace).To(Equal(account.Namespace))
			binding := decode[rbac.ClusterRoleBinding](name, "ClusterRoleBinding")[0]
			Expect(binding.RoleRef).To(Equal(rbac.RoleRef{APIGroup: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: decode[rbac.ClusterRole](name, "ClusterRole")[0].Name}))
			Expect(binding.Subjects).To(Equal([]rbac.Subject{{Kind: "ServiceAccount", Name: account.Name, Namespace: account.Namespace}}))
		},
		Entry(nil, "rbac.yml"),
		Entry(nil, "rbac-dra.yml"),
	)

	It("to view are aggregated (MAN-2)", func() {
		Expect(decode[rbac.ClusterRole]("rbac-view.yml", "ClusterRole")[0].Labels).To(HaveKeyWithValue("rbac.authorization.k8s.io/aggregate-to-view", "true"))
	})
})

var _ = Describe("the definition of the CRD", func() {
	It("is of the current version, structural, with short names and columns (MAN-1)", func() {
		var crd struct {
			APIVersion string
			Spec       struct {
				Names    struct{ ShortNames []string }
				Versions []struct {
					AdditionalPrinterColumns []struct{ Name string }
					Schema                   struct{ OpenAPIV3Schema map[string]any }
				}
			}
		}
		Expect(yaml.Unmarshal([]byte(documents("crd.yml")[0]), &crd)).To(Succeed())
		Expect(crd.APIVersion).To(Equal("apiextensions.k8s.io/v1"))
		Expect(crd.Spec.Names.ShortNames).To(ConsistOf("net-attach-def", "nad"))
		Expect(crd.Spec.Versions).To(HaveLen(1))
		Expect(crd.Spec.Versions[0].AdditionalPrinterColumns).To(HaveExactElements(HaveField("Name", "Resource"), HaveField("Name", "Age")))
		Expect(typeless(crd.Spec.Versions[0].Schema.OpenAPIV3Schema)).To(BeEmpty())
	})
})

// typeless lists the schemas without a type, which a structural one must not have.
func typeless(schema map[string]any) []string {
	var found []string
	if _, ok := schema["type"].(string); !ok {
		raw, _ := json.Marshal(schema)
		found = append(found, string(raw))
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, property := range properties {
		found = append(found, typeless(property.(map[string]any))...)
	}
	return found
}

var _ = Describe("the kustomization", func() {
	It("names every manifest that a cluster with containerd needs (MAN-1)", func() {
		var kustomization struct {
			APIVersion, Kind string
			Resources        []string
		}
		Expect(yaml.UnmarshalStrict([]byte(content(images+"/kustomization.yaml")()), &kustomization)).To(Succeed())
		Expect(kustomization.Resources).To(ConsistOf("crd.yml", "rbac.yml", "rbac-view.yml", "multus-daemonset.yml"))
		for _, name := range kustomization.Resources {
			Expect(filepath.Join(images, name)).To(BeAnExistingFile())
		}
	})
})
