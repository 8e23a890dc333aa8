package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

func (w *world) attach(ctx context.Context) error {
	say("The container runtime calls multus to add the pod's networks, with this in the environment and on stdin:")
	result, err := w.call(ctx, "ADD")
	fmt.Printf("\nmultus answers with the result for eth0:\n%s\n", result)
	return err
}

func (w *world) detach(ctx context.Context) error {
	say("The pod goes, and the container runtime calls multus again:")
	_, err := w.call(ctx, "DEL")
	return err
}

// call does what a container runtime does (CNI specification, section 2).
func (w *world) call(ctx context.Context, verb string) (result []byte, err error) {
	environment := []string{
		"CNI_COMMAND=" + verb,
		"CNI_CONTAINERID=demo",
		"CNI_NETNS=" + podNetNS,
		"CNI_IFNAME=eth0",
		"CNI_ARGS=IgnoreUnknown=1;K8S_POD_NAMESPACE=blue;K8S_POD_NAME=web-0",
		"CNI_PATH=" + w.plugins,
	}
	fmt.Printf("%s\n%s\n", strings.Join(environment, "\n"), w.config())
	cmd := exec.CommandContext(ctx, w.multus)
	cmd.Env = append(environment, "PATH="+os.Getenv("PATH"))
	cmd.Stdin = strings.NewReader(w.config())
	cmd.Stderr = os.Stderr
	if result, err = cmd.Output(); err != nil {
		err = fmt.Errorf("%s: %w: %s", verb, err, result)
	}
	return result, err
}

func (w *world) look(ctx context.Context) error {
	say("The pod's interfaces:")
	shown, err := ip(ctx, "-n web-0 address show")
	fmt.Print(shown)
	for _, network := range networks() {
		for _, want := range network.shows {
			if err == nil && !strings.Contains(shown, want) {
				err = fmt.Errorf("interface %s does not show %q", network.ifname, want)
			}
		}
	}
	return err
}

func (w *world) ping(ctx context.Context) error {
	say("One ping from the pod through each network:")
	for _, network := range networks() {
		if err := ping(ctx, podNetNS, network.ifname, network.peer); err != nil {
			return fmt.Errorf("ping %s through %s: %w", network.peer, network.ifname, err)
		}
		fmt.Printf("%s answers through %s\n", network.peer, network.ifname)
	}
	return nil
}

func (w *world) status(context.Context) error {
	say("The annotation %s that multus wrote on the pod:", nad.StatusAnnotation)
	fmt.Println(w.annotation())
	for _, network := range networks() {
		if !strings.Contains(w.annotation(), fmt.Sprintf("%q", network.name)) {
			return fmt.Errorf("network %s is not in it", network.name)
		}
	}
	return nil
}

func (w *world) annotation() string { return w.api.Annotations("blue", "web-0")[nad.StatusAnnotation] }

// nothingLeft looks for what should be gone. The bridges stay: they are the node's, for the next pod.
func (w *world) nothingLeft(ctx context.Context) error {
	say("What is left:")
	inPod, err := links(ctx, "-n web-0 ")
	if err != nil {
		return err
	}
	onNode, err := links(ctx, "")
	if err != nil {
		return err
	}
	leases, _ := filepath.Glob(leaseDir + "/*/*.*.*.*") // named after addresses
	state, _ := filepath.Glob(stateDir + "/*/*")        // plans, results, locks
	left := fmt.Sprintf(`interfaces in the pod  %q
interfaces on the node %q
leased addresses       %q
state and lock files   %q
network-status         %q
`, inPod, onNode, leases, state, w.annotation())
	fmt.Print(left)
	if left != nothing {
		return errors.New("something is left that should be gone")
	}
	return nil
}

const nothing = `interfaces in the pod  ["lo"]
interfaces on the node ["cni0" "eth1" "lo" "storage0" "tuned0"]
leased addresses       []
state and lock files   []
network-status         ""
`

// links lists the names of the interfaces in a network namespace, sorted.
func links(ctx context.Context, where string) ([]string, error) {
	shown, err := ip(ctx, where+"-brief link show")
	var names []string
	for line := range strings.Lines(shown) {
		name, _, _ := strings.Cut(strings.Fields(line)[0], "@")
		names = append(names, name)
	}
	slices.Sort(names)
	return names, err
}
