package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
)

// oldest is what a configuration without a version speaks (CNI specification, section 1).
const oldest = "0.1.0"

// allVersions lists what a script without versions speaks.
func allVersions() []string {
	return []string{oldest, "0.2.0", "0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0"}
}

// configuration is what an answer depends on.
type configuration struct {
	CNIVersion string          `json:"cniVersion"`
	PrevResult json.RawMessage `json:"prevResult"`
}

func (c *call) configuration() configuration {
	var conf configuration
	if json.Unmarshal(c.stdin, &conf) != nil || conf.CNIVersion == "" {
		conf.CNIVersion = oldest
	}
	return conf
}

// behave answers as a plugin that works.
func (c *call) behave() int {
	versions := c.script.Versions
	if len(versions) == 0 {
		versions = allVersions()
	}
	conf := c.configuration()
	command := os.Getenv("CNI_COMMAND")
	switch {
	case command == "VERSION":
		printJSON(map[string]any{"cniVersion": versions[len(versions)-1], "supportedVersions": versions})
	case !slices.Contains(versions, conf.CNIVersion):
		return c.fail(script.Error{
			Code: 1, Msg: "incompatible CNI versions",
			Details: fmt.Sprintf("config is %q, plugin supports %q", conf.CNIVersion, versions),
		}, 1)
	case command == "ADD" && conf.PrevResult != nil:
		_, _ = os.Stdout.Write(conf.PrevResult)
	case command == "ADD":
		printJSON(result(conf.CNIVersion))
	}
	return 0
}

// fail prints a CNI error object and returns the exit code, 1 where none is given.
func (c *call) fail(object script.Error, exit int) int {
	if object.CNIVersion == "" {
		object.CNIVersion = c.configuration().CNIVersion
	}
	printJSON(object)
	return max(exit, 1)
}

// result is that of one interface with one address, as the version of the CNI specification has it.
func result(version string) map[string]any {
	sum := sha256.Sum256([]byte(os.Getenv("CNI_CONTAINERID") + " " + os.Getenv("CNI_IFNAME")))
	address := fmt.Sprintf("10.%d.%d.%d/16", sum[0], sum[1], 2+sum[2]%250)
	gateway := fmt.Sprintf("10.%d.0.1", sum[0])
	if strings.HasPrefix(version, "0.1.") || strings.HasPrefix(version, "0.2.") {
		return map[string]any{"cniVersion": version, "ip4": map[string]any{"ip": address, "gateway": gateway}, "dns": map[string]any{}}
	}
	ip := map[string]any{"interface": 0, "address": address, "gateway": gateway}
	if strings.HasPrefix(version, "0.") {
		ip["version"] = "4"
	}
	link := map[string]any{
		"name":    os.Getenv("CNI_IFNAME"),
		"mac":     fmt.Sprintf("02:%02x:%02x:%02x:%02x:%02x", sum[3], sum[4], sum[5], sum[6], sum[7]),
		"sandbox": os.Getenv("CNI_NETNS"),
	}
	return map[string]any{"cniVersion": version, "interfaces": []any{link}, "ips": []any{ip}, "dns": map[string]any{}}
}

func printJSON(value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err) // only maps and strings come here
	}
	_, _ = os.Stdout.Write(raw)
}
