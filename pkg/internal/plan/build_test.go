package plan

import (
	"encoding/json"
	"errors"
	"net"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

func parsed(raw string) *config.Network {
	network, err := config.ParseNetwork([]byte(raw), "n")
	Expect(err).NotTo(HaveOccurred())
	return network
}

// selected is a network that the pod selects.
func selected(raw string, element nad.NetworkSelectionElement) Network {
	element.Namespace, element.Name = "blue", "n"
	return Network{Ref: Ref{Source: Definition, Namespace: "blue", Name: "n", Selection: &element}, Name: "blue/n", Config: parsed(raw)}
}

func master() Network {
	return Network{Ref: Ref{Source: Inline}, Name: "main", Config: parsed(`{"cniVersion":"1.0.0","name":"main","type":"fake","capabilities":{"portMappings":true}}`)}
}

var runtimeArgs = [][2]string{{"IgnoreUnknown", "1"}, {"K8S_POD_NAME", "web-0"}, {"IP", "192.0.2.9"}, {"MAC", "02:00:00:00:00:09"}}

func input(networks ...Network) Input {
	return Input{
		Sandbox:       Sandbox{ContainerID: "c1", Interface: "eth0", Args: runtimeArgs},
		RuntimeConfig: map[string]json.RawMessage{"portMappings": json.RawMessage(`[{"hostPort":80,"containerPort":8080}]`), "invented": json.RawMessage(`1`), "io.kubernetes.cri.pod-annotations": json.RawMessage(`{}`)},
		Networks:      append([]Network{master()}, networks...),
	}
}

const (
	plain    = `{"cniVersion":"1.0.0","type":"fake"}`
	declares = `{"cniVersion":"1.0.0","plugins":[{"type":"a"},{"type":"b","capabilities":{"ips":true,"mac":true,"infinibandGUID":true,"portMappings":true,"bandwidth":true,"deviceID":true}}]}`
)

var _ = DescribeTable("interface names (NET-12)",
	func(asked, want []string) {
		networks := make([]Network, len(asked)+1)
		for i, name := range asked {
			networks[i+1].Ref.Selection = &nad.NetworkSelectionElement{InterfaceRequest: name}
		}
		got, faults := names("eth0", networks)
		Expect(faults).To(BeEmpty())
		Expect(got[0]).To(Equal("eth0"))
		Expect(got[1:]).To(Equal(want))
	},
	Entry("count every attachment", []string{"", ""}, []string{"net1", "net2"}),
	Entry("count the named ones too", []string{"data", ""}, []string{"data", "net2"}),
	Entry("step over a name that was asked for (E059)", []string{"net2", ""}, []string{"net2", "net3"}),
	Entry("step over one that is asked for later", []string{"", "net1"}, []string{"net2", "net1"}),
	Entry("go on stepping", []string{"net2", "", ""}, []string{"net2", "net3", "net4"}),
)

var _ = DescribeTable("interface names that must fail (NET-12, NET-3)",
	func(asked []string, fault string) {
		networks := []Network{{Name: "main"}}
		for _, name := range asked {
			networks = append(networks, Network{Name: "blue/n", Ref: Ref{Selection: &nad.NetworkSelectionElement{InterfaceRequest: name}}})
		}
		_, faults := names("eth0", networks)
		Expect(errors.Join(faults...)).To(MatchError(And(ContainSubstring("network blue/n"), ContainSubstring(fault))))
	},
	Entry("one name twice (E061)", []string{"net1", "net1"}, `"net1" is taken by network blue/n`),
	Entry("the runtime's name (E061)", []string{"eth0"}, `"eth0" is taken by network main`),
	Entry("16 bytes", []string{"abcdefghijklmnop"}, "interface"),
)

var _ = Describe("Build", func() {
	It("gives the runtime's capability arguments, IP and MAC to the master only (NET-9, E094)", func() {
		built, err := Build(input(selected(declares, nad.NetworkSelectionElement{})))
		Expect(err).NotTo(HaveOccurred())
		Expect(built.Attachments[0].CapabilityArgs).To(HaveKey("portMappings"))
		Expect(built.Attachments[0].CapabilityArgs).To(HaveKey("invented"))
		Expect(built.Attachments[0].Args).To(Equal(runtimeArgs))
		Expect(built.Attachments[1].CapabilityArgs).To(BeEmpty())
		Expect(built.Attachments[1].Args).To(Equal(runtimeArgs[:2]))
	})

	It("never hands the pod's annotations to a delegate (NET-17)", func() {
		built, err := Build(input())
		Expect(err).NotTo(HaveOccurred())
		Expect(built.Attachments[0].CapabilityArgs).NotTo(HaveKey("io.kubernetes.cri.pod-annotations"))
	})

	It("makes every request a capability argument where a plugin declares it (NET-6)", func() {
		built, err := Build(input(selected(declares, nad.NetworkSelectionElement{
			IPRequest: []string{"192.0.2.4/24", "2001:db8::4/64"}, MacRequest: "02:00:00:00:00:01",
			InfinibandGUIDRequest: "02:00:00:00:00:00:00:01", DeviceID: "0000:00:01.0",
			PortMappingsRequest: []*nad.PortMapEntry{{HostPort: 81, ContainerPort: 8081, Protocol: "tcp"}},
			BandwidthRequest:    &nad.BandwidthEntry{IngressRate: 1000, IngressBurst: 2000},
		})))
		Expect(err).NotTo(HaveOccurred())
		args := built.Attachments[1].CapabilityArgs
		Expect(args["ips"]).To(MatchJSON(`["192.0.2.4/24","2001:db8::4/64"]`))
		Expect(args["mac"]).To(MatchJSON(`"02:00:00:00:00:01"`))
		Expect(args["infinibandGUID"]).To(MatchJSON(`"02:00:00:00:00:00:00:01"`))
		Expect(args["deviceID"]).To(MatchJSON(`"0000:00:01.0"`))
		Expect(args["portMappings"]).To(MatchJSON(`[{"hostPort":81,"containerPort":8081,"protocol":"tcp"}]`))
		Expect(args["bandwidth"]).To(MatchJSON(`{"ingressRate":1000,"ingressBurst":2000,"egressRate":0,"egressBurst":0}`))
		Expect(built.Attachments[1].Args).To(Equal(runtimeArgs[:2]), "never both")
		Expect(built.Attachments[1].MustCarry).To(BeNil())
	})

	It("puts ips and mac into CNI_ARGS where no plugin declares them (NET-6)", func() {
		built, err := Build(input(selected(plain, nad.NetworkSelectionElement{IPRequest: []string{"192.0.2.4/24", "2001:db8::4"}, MacRequest: "02:00:00:00:00:01"})))
		Expect(err).NotTo(HaveOccurred())
		Expect(built.Attachments[1].Args).To(Equal([][2]string{{"IgnoreUnknown", "1"}, {"K8S_POD_NAME", "web-0"}, {"IP", "192.0.2.4/24,2001:db8::4"}, {"MAC", "02:00:00:00:00:01"}}))
		Expect(built.Attachments[1].CapabilityArgs).To(BeEmpty())
		Expect(*built.Attachments[1].MustCarry).To(Equal(Carried{IPs: []string{"192.0.2.4/24", "2001:db8::4"}, MAC: "02:00:00:00:00:01"}))
	})

	It("refuses several addresses that host-local would get through CNI_ARGS: it fails on them, on DEL too (NET-6)", func() {
		_, err := Build(input(selected(`{"cniVersion":"1.0.0","type":"fake","ipam":{"type":"host-local"}}`, nad.NetworkSelectionElement{IPRequest: []string{"192.0.2.4", "2001:db8::4"}})))
		Expect(err).To(MatchError(And(ContainSubstring("network blue/n"), ContainSubstring("capabilities.ips"))))
	})

	It("tells plugins to ignore CNI_ARGS that they do not know, when it adds some", func() {
		in := input(selected(plain, nad.NetworkSelectionElement{MacRequest: "02:00:00:00:00:01"}))
		in.Sandbox.Args = nil
		built, err := Build(in)
		Expect(err).NotTo(HaveOccurred())
		Expect(built.Attachments[1].Args).To(ContainElement([2]string{"IgnoreUnknown", "1"}))
	})

	DescribeTable("requests that nobody would honour must fail (NET-7)",
		func(element nad.NetworkSelectionElement, fault string) {
			_, err := Build(input(selected(plain, element)))
			Expect(err).To(MatchError(And(ContainSubstring("network blue/n"), ContainSubstring(fault))))
		},
		Entry("infiniband-guid (E014)", nad.NetworkSelectionElement{InfinibandGUIDRequest: "02:00:00:00:00:00:00:01"}, "capabilities.infinibandGUID"),
		Entry("portMappings", nad.NetworkSelectionElement{PortMappingsRequest: []*nad.PortMapEntry{{HostPort: 1, ContainerPort: 1}}}, "capabilities.portMappings"),
		Entry("bandwidth", nad.NetworkSelectionElement{BandwidthRequest: &nad.BandwidthEntry{}}, "capabilities.bandwidth"),
		Entry("deviceID without a resource", nad.NetworkSelectionElement{DeviceID: "d"}, "capabilities.deviceID"),
	)

	It("adds a default-network selection's ports to the runtime's (NET-9)", func() {
		in := input()
		in.Networks[0].Ref.Selection = &nad.NetworkSelectionElement{PortMappingsRequest: []*nad.PortMapEntry{{HostPort: 81, ContainerPort: 8081}}}
		built, err := Build(in)
		Expect(err).NotTo(HaveOccurred())
		Expect(built.Attachments[0].CapabilityArgs["portMappings"]).To(MatchJSON(`[{"hostPort":80,"containerPort":8080},{"hostPort":81,"containerPort":8081}]`))
		Expect(built.Attachments[0].CapabilityArgs).To(HaveKey("invented"))
	})

	It("merges cni-args into args.cni of every plugin, the selection winning (NET-8, E013)", func() {
		network := selected(`{"cniVersion":"1.0.0","plugins":[{"type":"a","args":{"cni":{"k":"old","keep":1},"other":2}},{"type":"b"}]}`,
			nad.NetworkSelectionElement{CNIArgs: &map[string]any{"k": "v"}})
		built, err := Build(input(network))
		Expect(err).NotTo(HaveOccurred())
		plugins := built.Attachments[1].Config.Plugins
		Expect(plugins[0].Raw).To(MatchJSON(`{"type":"a","args":{"cni":{"k":"v","keep":1},"other":2}}`))
		Expect(plugins[1].Raw).To(MatchJSON(`{"type":"b","args":{"cni":{"k":"v"}}}`))
		Expect(network.Config.Plugins[1].Raw).To(MatchJSON(`{"type":"b"}`), "the input stays as it was")
	})

	It("keeps attachments of one NAD apart (NET-13, E062)", func() {
		one := selected(plain, nad.NetworkSelectionElement{CNIArgs: &map[string]any{"k": 1}})
		two := selected(plain, nad.NetworkSelectionElement{})
		two.Config = one.Config
		built, err := Build(input(one, two))
		Expect(err).NotTo(HaveOccurred())
		Expect(built.Attachments[1].Config.Plugins[0].Raw).To(MatchJSON(`{"cniVersion":"1.0.0","type":"fake","args":{"cni":{"k":1}}}`))
		Expect(built.Attachments[2].Config.Plugins[0].Raw).To(MatchJSON(plain))
		Expect(built.Attachments[2].Interface).To(Equal("net2"))
	})

	It("refuses a second default-route (ADD-7)", func() {
		element := nad.NetworkSelectionElement{GatewayRequest: &[]net.IP{}}
		_, err := Build(input(selected(plain, element), selected(plain, element)))
		Expect(err).To(MatchError(ContainSubstring("default-route is asked for by network blue/n already")))
	})

	It("names every fault of every network at once", func() {
		unread := selected(plain, nad.NetworkSelectionElement{})
		unread.Config, unread.Err, unread.Name = nil, errors.New("no such NAD"), "blue/gone"
		_, err := Build(input(unread, selected(plain, nad.NetworkSelectionElement{BandwidthRequest: &nad.BandwidthEntry{}})))
		Expect(err).To(MatchError(And(ContainSubstring("network blue/gone: no such NAD"), ContainSubstring("capabilities.bandwidth"))))
	})

	It("salvages what it can, under the names that it would have had (DEL-4)", func() {
		unread := selected(plain, nad.NetworkSelectionElement{})
		unread.Config, unread.Err = nil, errors.New("no such NAD")
		built, faults := Salvage(input(unread, selected(plain, nad.NetworkSelectionElement{})))
		Expect(faults).To(HaveLen(1))
		Expect(built.Attachments).To(HaveLen(2))
		Expect(built.Attachments[1].Interface).To(Equal("net2"))
	})
})

var _ = Describe("devices (DEV-1)", func() {
	vf := func(element nad.NetworkSelectionElement) Network {
		network := selected(declares, element)
		network.Resource = "example.com/vf"
		return network
	}
	allocated := func(in Input, ids ...string) Input {
		in.Devices = map[string][]string{"example.com/vf": ids}
		return in
	}

	It("gives each attachment another one, in every plugin and as a capability argument (NET-11, E095, E097, C7)", func() {
		built, err := Build(allocated(input(vf(nad.NetworkSelectionElement{}), vf(nad.NetworkSelectionElement{})), "d1", "d2"))
		Expect(err).NotTo(HaveOccurred())
		for i, id := range []string{"d1", "d2"} {
			attachment := built.Attachments[i+1]
			for _, plugin := range attachment.Config.Plugins {
				Expect(string(plugin.Raw)).To(And(ContainSubstring(`"deviceID":"`+id+`"`), ContainSubstring(`"pciBusID":"`+id+`"`)))
			}
			Expect(attachment.CapabilityArgs["deviceID"]).To(MatchJSON(`"` + id + `"`))
		}
	})

	It("sets aside a device that a later selection asks for", func() {
		built, err := Build(allocated(input(vf(nad.NetworkSelectionElement{}), vf(nad.NetworkSelectionElement{DeviceID: "d1"})), "d1", "d2"))
		Expect(err).NotTo(HaveOccurred())
		Expect(built.Attachments[1].CapabilityArgs["deviceID"]).To(MatchJSON(`"d2"`))
		Expect(built.Attachments[2].CapabilityArgs["deviceID"]).To(MatchJSON(`"d1"`))
	})

	It("gives the master's NAD a device too (E098)", func() {
		in := allocated(input(), "d1")
		in.Networks[0].Resource = "example.com/vf"
		built, err := Build(in)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(built.Attachments[0].Config.Plugins[0].Raw)).To(ContainSubstring(`"deviceID":"d1"`))
	})

	DescribeTable("must fail",
		func(fault string, ids []string, elements ...nad.NetworkSelectionElement) {
			in := allocated(input(), ids...)
			for _, element := range elements {
				in.Networks = append(in.Networks, vf(element))
			}
			_, err := Build(in)
			Expect(err).To(MatchError(And(ContainSubstring("network blue/n"), ContainSubstring(fault))))
		},
		Entry("none left", "1 allocated to the pod", []string{"d1"}, nad.NetworkSelectionElement{}, nad.NetworkSelectionElement{}),
		Entry("none at all (E106)", "no device of resource example.com/vf: 0 allocated to the pod", nil, nad.NetworkSelectionElement{}),
		Entry("not one of the pod's", `deviceID "d9" is not one of the 1 devices`, []string{"d1"}, nad.NetworkSelectionElement{DeviceID: "d9"}),
		Entry("one twice", `deviceID "d1" of resource example.com/vf is asked for twice`, []string{"d1", "d2"}, nad.NetworkSelectionElement{DeviceID: "d1"}, nad.NetworkSelectionElement{DeviceID: "d1"}),
	)
})
