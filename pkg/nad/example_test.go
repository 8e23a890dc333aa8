package nad_test

import (
	"fmt"
	"os"
	"path/filepath"

	types100 "github.com/containernetworking/cni/pkg/types/100"
	"github.com/containernetworking/cni/pkg/types/create"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

func ExampleParseNetworkAnnotation() {
	selections, err := nad.ParseNetworkAnnotation("storage, net-shared/vlan-100@data0", "blue")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, selection := range selections {
		fmt.Printf("%s in %s as %q\n", selection.Name, selection.Namespace, selection.InterfaceRequest)
	}
	// Output:
	// storage in blue as ""
	// vlan-100 in net-shared as "data0"
}

func ExampleParseNetworkAnnotation_json() {
	_, err := nad.ParseNetworkAnnotation(`[{"name":"storage","ips":"192.0.2.7/24","mac":"02:00"}]`, "blue")
	fmt.Println(err)
	// Output:
	// element 0 ("storage"): ips: must be a list of addresses, found string at byte 25 (line 1, column 26)
	// element 0 ("storage"): mac: "02:00" is not a MAC address of 6 bytes
}

func ExampleParseSelections() {
	selections, warnings, err := nad.ParseSelections(`[{"name":"storage","interfaceRequest":"data0","gateways":[]}]`, "blue")
	fmt.Println(selections, err)
	for _, warning := range warnings {
		fmt.Println(warning)
	}
	// Output:
	// [blue/storage@data0] <nil>
	// element 0 ("storage"): key "interfaceRequest" is read as "interface", its standard spelling
	// element 0 ("storage"): key "gateways" is not known and has no effect
}

func ExampleNetworkSelectionElement_String() {
	fmt.Println(&nad.NetworkSelectionElement{Namespace: "blue", Name: "storage", InterfaceRequest: "data0"})
	// Output: blue/storage@data0
}

func ExampleNetworkSelectionElement_DeepCopy() {
	original := &nad.NetworkSelectionElement{Name: "storage", IPRequest: []string{"192.0.2.4/24"}}
	original.DeepCopy().IPRequest[0] = "192.0.2.5/24"
	fmt.Println(original.IPRequest)
	// Output: [192.0.2.4/24]
}

func ExampleNetworkStatus_DeepCopy() {
	original := &nad.NetworkStatus{Name: "blue/storage", IPs: []string{"192.0.2.4"}}
	original.DeepCopy().IPs[0] = "192.0.2.5"
	fmt.Println(original.IPs)
	// Output: [192.0.2.4]
}

func ExampleDeviceInfo_DeepCopy() {
	original := &nad.DeviceInfo{Type: nad.DeviceInfoTypePCI, Pci: &nad.PciDevice{PciAddress: "0000:01:02.2"}}
	original.DeepCopy().Pci.PciAddress = "0000:01:02.3"
	fmt.Println(original.Pci.PciAddress)
	// Output: 0000:01:02.2
}

func ExampleValidateName() {
	fmt.Println(nad.ValidateName("vlan-100"))
	fmt.Println(nad.ValidateName(""))
	// Output:
	// <nil>
	// empty
}

func ExampleValidateNamespace() {
	fmt.Println(nad.ValidateNamespace("Blue"))
	// Output: "Blue" is not a DNS-1123 label: a-z, 0-9 and '-', beginning and ending with a letter or digit
}

func ExampleValidateInterfaceName() {
	fmt.Println(nad.ValidateInterfaceName("eth0.100"))
	fmt.Println(nad.ValidateInterfaceName("a/b"))
	// Output:
	// <nil>
	// "a/b" has a '/' or ':'
}

func ExampleValidatePathElement() {
	fmt.Println(nad.ValidatePathElement("0000:01:02.2"))
	fmt.Println(nad.ValidatePathElement(".."))
	// Output:
	// <nil>
	// ".." is a directory
}

func ExampleCreateNetworkStatus() {
	result := &types100.Result{Interfaces: []*types100.Interface{{Name: "veth1"}, {Name: "eth0", Mac: "02:00:00:00:00:01", Sandbox: "/run/netns/a"}}}
	status, err := nad.CreateNetworkStatus(result, "cluster-net", true, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(status.Name, status.Interface, status.Mac, status.Default)
	// Output: cluster-net eth0 02:00:00:00:00:01 true
}

func ExampleCreateNetworkStatuses() {
	result, err := create.CreateFromBytes([]byte(`{
		"cniVersion": "1.0.0",
		"interfaces": [{"name": "net1", "sandbox": "/run/netns/a"}, {"name": "net1.100", "sandbox": "/run/netns/a"}],
		"ips": [{"interface": 1, "address": "192.0.2.4/24", "gateway": "192.0.2.1"}],
		"routes": [{"dst": "0.0.0.0/0"}]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	statuses, err := nad.CreateNetworkStatuses(result, "blue/storage", false, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, status := range statuses {
		fmt.Println(status.Interface, status.IPs, status.Gateway)
	}
	// Output:
	// net1 [] [192.0.2.1]
	// net1.100 [192.0.2.4] [192.0.2.1]
}

func ExampleParseNetworkStatus() {
	statuses, err := nad.ParseNetworkStatus(`[{"name":"cluster-net","interface":"eth0","ips":["192.0.2.4"],"default":true,"dns":{}}]`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(statuses[0].Name, statuses[0].IPs[0])
	// Output: cluster-net 192.0.2.4
}

func ExampleFormatNetworkStatus() {
	text, err := nad.FormatNetworkStatus([]*nad.NetworkStatus{{Name: "cluster-net", Interface: "eth0", IPs: []string{"192.0.2.4"}, Default: true}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(text)
	// Output:
	// [
	//     {
	//         "name": "cluster-net",
	//         "interface": "eth0",
	//         "ips": [
	//             "192.0.2.4"
	//         ],
	//         "default": true,
	//         "dns": {}
	//     }
	// ]
}

func ExampleGetCNIConfigFromSpec() {
	config, err := nad.GetCNIConfigFromSpec(`{"cniVersion":"1.0.0","type":"macvlan"}`, "storage")
	fmt.Println(string(config), err)
	// Output: {"name":"storage","cniVersion":"1.0.0","type":"macvlan"} <nil>
}

func ExampleGetCNIConfig() {
	definition := &nad.Definition{
		Metadata: nad.DefinitionMetadata{Namespace: "blue", Name: "storage"},
		Spec:     nad.DefinitionSpec{Config: `{"type":"macvlan"}`},
	}
	config, err := nad.GetCNIConfig(definition, "/etc/cni/multus/net.d")
	fmt.Println(string(config), err)
	// Output: {"name":"storage","type":"macvlan"} <nil>
}

func ExampleGetCNIConfigFromFile() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "10-storage.conf"), []byte(`{"name":"storage","type":"macvlan"}`), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	config, err := nad.GetCNIConfigFromFile("storage", dir)
	fmt.Println(string(config), err)
	// Output: {"name":"storage","type":"macvlan"} <nil>
}

func ExampleNamedConfig() {
	_, _, warnings, err := nad.NamedConfig("/no/such/directory", "storage")
	fmt.Println(warnings, err)
	// Output: [] no CNI configuration named "storage": there is no directory /no/such/directory
}
