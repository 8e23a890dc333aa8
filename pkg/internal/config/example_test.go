package config_test

import (
	"fmt"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
)

func ExampleParse() {
	_, err := config.Parse([]byte(`{"cniVersion":"1.0.0","name":"m","type":"multus","delegates":[
		{"name":"main","type":"bridge"},
		{"name":"more","plugins":[{"typ":"vlan"}]}]}`), "multus")
	fmt.Println(err)
	// Output: delegates[1].plugins[0].type: missing
}

func ExampleParseNetwork() {
	network, err := config.ParseNetwork([]byte(`{"cniVersion":"1.0.0","type":"macvlan","vni":12345678901234567890}`), "vlan7")
	if err != nil {
		fmt.Println(err)
		return
	}
	list, err := network.MarshalJSON()
	fmt.Println(string(list), err)
	// Output: {"cniVersion":"1.0.0","name":"vlan7","plugins":[{"cniVersion":"1.0.0","type":"macvlan","vni":12345678901234567890}]} <nil>
}
