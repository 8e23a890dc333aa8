package plan

import (
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

var _ = Describe("device information files (DEV-3)", func() {
	const wants = `{"cniVersion":"1.0.0","type":"fake","capabilities":{"CNIDeviceInfoFile":true}}`

	files := func(in Input) []string {
		GinkgoHelper()
		in.DeviceInfo = nad.DeviceInfoFiles{Root: "/r"}
		built, err := Build(in)
		Expect(err).NotTo(HaveOccurred())
		paths := []string{}
		for _, attachment := range built.Attachments {
			paths = append(paths, attachment.DeviceInfoFile())
		}
		return paths
	}

	It("are for attachments with a device, and with a plugin that declares the capability", func() {
		vf := selected(plain, nad.NetworkSelectionElement{})
		vf.Resource = "example.com/vf"
		in := input(selected(plain, nad.NetworkSelectionElement{}), vf, selected(wants, nad.NetworkSelectionElement{}))
		in.Devices = map[string][]string{"example.com/vf": {"d1"}}
		Expect(files(in)).To(Equal([]string{"", "", "/r/cni/blue-n:c1:net2", "/r/cni/blue-n:c1:net3"}))
	})

	It("are no more than a name long, whatever the network is called", func() {
		network := selected(wants, nad.NetworkSelectionElement{})
		network.Name = strings.Repeat("a", 63) + "/" + strings.Repeat("b", 253)
		path := files(input(network))[1]
		Expect(len(path)).To(BeNumerically("<", 120))
		Expect(path).To(HaveSuffix(":c1:net1"))
	})

	It("are the runtime's where it gives the master one (NET-9)", func() {
		in := input()
		in.Networks[0].Config = parsed(wants)
		in.RuntimeConfig["CNIDeviceInfoFile"] = json.RawMessage(`"/run/theirs"`)
		Expect(files(in)).To(Equal([]string{"/run/theirs"}))
	})

	DescribeTable("are none where the capability argument is no path",
		func(argument string) {
			a := Attachment{CapabilityArgs: map[string]json.RawMessage{"CNIDeviceInfoFile": json.RawMessage(argument)}}
			Expect(a.DeviceInfoFile()).To(BeEmpty())
		},
		Entry("a number", "1"), Entry("null", "null"), Entry("nothing", ""), Entry("garbage", "{"),
	)
})
