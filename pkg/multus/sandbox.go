package multus

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/skel"
	"github.com/containernetworking/cni/pkg/types"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// sandboxOf is the sandbox as the runtime describes it. The error has the CNI code for a bad environment variable.
func sandboxOf(args *skel.CmdArgs) (plan.Sandbox, error) {
	pairs, err := parseArgs(args.Args)
	if err != nil {
		return plan.Sandbox{}, err
	}
	pod, err := podOf(pairs)
	if err != nil {
		return plan.Sandbox{}, err
	}
	return plan.Sandbox{
		ContainerID: args.ContainerID,
		NetNS:       args.Netns,
		Interface:   args.IfName,
		Args:        pairs,
		Pod:         pod,
	}, nil
}

// overridden reads CNI_NETNS_OVERRIDE as the CNI library does.
func overridden(value string) bool {
	return value == "1" || strings.EqualFold(value, "true")
}

// parseArgs reads CNI_ARGS, "KEY=value;KEY=value" (CNI specification, section 2).
func parseArgs(text string) ([][2]string, error) {
	var pairs [][2]string
	for _, item := range strings.Split(text, ";") {
		if item == "" {
			continue
		}
		key, value, found := strings.Cut(item, "=")
		if !found || key == "" {
			return nil, types.NewError(types.ErrInvalidEnvironmentVariables,
				fmt.Sprintf("CNI_ARGS: %q is not of the form KEY=value", item), "")
		}
		pairs = append(pairs, [2]string{key, value})
	}
	return pairs, nil
}

// podOf finds the pod identity in CNI_ARGS; nil if there is none (INV-7). The names become part of request paths, so
// they are checked here.
func podOf(args [][2]string) (*plan.Pod, error) {
	pod := &plan.Pod{
		Namespace: arg(args, "K8S_POD_NAMESPACE"),
		Name:      arg(args, "K8S_POD_NAME"),
		UID:       arg(args, "K8S_POD_UID"),
	}
	if pod.Namespace == "" || pod.Name == "" {
		return nil, nil
	}
	if err := nad.ValidateNamespace(pod.Namespace); err != nil {
		return nil, types.NewError(types.ErrInvalidEnvironmentVariables, fmt.Sprintf("CNI_ARGS: K8S_POD_NAMESPACE: %v", err), "")
	}
	if err := nad.ValidateName(pod.Name); err != nil {
		return nil, types.NewError(types.ErrInvalidEnvironmentVariables, fmt.Sprintf("CNI_ARGS: K8S_POD_NAME: %v", err), "")
	}
	return pod, nil
}

// arg is the value of a CNI_ARGS key, the last one given, empty if there is none.
func arg(args [][2]string, key string) string {
	for _, pair := range slices.Backward(args) {
		if pair[0] == key {
			return pair[1]
		}
	}
	return ""
}

// searchPath is where plugins are looked for, in order: binDir, then CNI_PATH.
func searchPath(binDir, cniPath string) []string {
	path := []string{binDir}
	for _, dir := range filepath.SplitList(cniPath) {
		if dir != "" && !slices.Contains(path, dir) {
			path = append(path, dir)
		}
	}
	return path
}
