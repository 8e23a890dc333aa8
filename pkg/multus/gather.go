package multus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/kube"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// gather reads all that plan.Build needs to decide. What cannot be read is in the network's Err.
func (c *call) gather(ctx context.Context, pod *pod, refs []plan.Ref) plan.Input {
	definitions := c.definitions(ctx, pod, refs)
	input := plan.Input{Sandbox: c.sandbox, RuntimeConfig: c.cfg.RuntimeConfig, DeviceInfo: c.deviceInfo}
	if pod != nil {
		input.Sandbox.Pod = &pod.Pod
	}
	for i, ref := range refs {
		network := c.network(ref, definitions[key(ref)])
		if network.Err == nil && network.Config == nil {
			continue // an auxiliary chain without plugins
		}
		if i > 0 && pod.doesWithout(network) {
			c.log.Warn("the pod does without a network that needs the API server", "network", network.Name, "error", network.Err)
			continue
		}
		if network.Err == nil {
			network.Err = c.callsItself(network)
		}
		input.Networks = append(input.Networks, network)
	}
	c.devices(ctx, pod, &input)
	return input
}

// callsItself refuses ourselves as a delegate, wherever the configuration comes from (CONF-3).
func (c *call) callsItself(network plan.Network) error {
	if err := network.Config.CallsItself(c.env.Self); err != nil {
		return fmt.Errorf("%s: %w", network.Ref.Field, err)
	}
	return nil
}

// doesWithout says that a network besides the master can be left out: the control plane must be able to boot (NET-15).
func (p *pod) doesWithout(network plan.Network) bool {
	return p != nil && p.booting && network.Ref.NeedsAPI() && errors.Is(network.Err, nad.ErrNoConfig)
}

// definition is the answer to a request for a NAD; nil where there is none to ask.
type definition struct {
	nad *nad.Definition
	err error
}

func key(ref plan.Ref) string { return ref.Namespace + "/" + ref.Name }

// definitions fetches the NADs of all references concurrently, each once (NET-16).
func (c *call) definitions(ctx context.Context, pod *pod, refs []plan.Ref) map[string]*definition {
	answers := map[string]*definition{}
	for _, ref := range refs {
		if c.asksAPI(pod, ref) {
			answers[key(ref)] = &definition{}
		}
	}
	if len(answers) == 0 {
		return answers
	}
	client, err := c.kube()
	var group sync.WaitGroup
	for name, answer := range answers {
		if err != nil {
			answer.err = err
			continue
		}
		group.Go(func() {
			namespace, name, _ := strings.Cut(name, "/")
			answer.nad, answer.err = client.Definition(ctx, namespace, name)
		})
	}
	group.Wait()
	return answers
}

// asksAPI says whether a NAD is to be looked for: never without a pod identity (INV-7), and for what the node's
// configuration names only where there is an API server to ask, and it could be a NAD's name (CONF-5, NET-15).
func (c *call) asksAPI(pod *pod, ref plan.Ref) bool {
	switch ref.Source {
	case plan.Definition:
		return true
	case plan.Named:
		return pod != nil && !pod.absent && c.hasKube() && nad.ValidateName(ref.Name) == nil
	default:
		return false
	}
}

// network reads one wanted network.
func (c *call) network(ref plan.Ref, answer *definition) plan.Network {
	switch {
	case ref.Source == plan.Inline:
		return plan.Network{Ref: ref, Name: ref.Inline.Name, Config: ref.Inline}
	case ref.Source == plan.Path:
		return fromPath(ref)
	case ref.Source == plan.Chain:
		return c.chain(ref)
	case answer == nil:
		return c.fromConfDir(ref, errors.New("no API server was asked"))
	case ref.Source == plan.Named && isNotFound(answer.err):
		return c.fromConfDir(ref, answer.err)
	case answer.err != nil:
		return plan.Network{Ref: ref, Name: ref.Network(), Err: explain(ref, answer.err)}
	default:
		return c.fromDefinition(ref, answer.nad)
	}
}

func fromPath(ref plan.Ref) plan.Network {
	network, err := config.Load(ref.Name)
	if err != nil {
		return plan.Network{Ref: ref, Name: ref.Name, Err: fmt.Errorf("%s: %w", ref.Field, err)}
	}
	return plan.Network{Ref: ref, Name: network.Name, Config: network}
}

// chain reads the plugins beside the cluster network's configuration. It has no configuration if there are none.
func (c *call) chain(ref plan.Ref) plan.Network {
	network, err := config.LoadChain(c.dirOfClusterNetwork(), ref.Name, c.cfg.CNIVersion)
	if err != nil {
		err = fmt.Errorf("%s: %w", ref.Field, err)
	}
	return plan.Network{Ref: ref, Name: ref.Name, Config: network, Err: err}
}

func (c *call) dirOfClusterNetwork() string {
	path := c.cfg.ClusterNetwork
	if !strings.Contains(path, "/") {
		return c.cfg.ConfDir
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return path
	}
	return filepath.Dir(path)
}

// explain says how a NAD that was not found came to be looked for in its namespace (NET-14, E011).
func explain(ref plan.Ref, err error) error {
	if errors.Is(err, kube.ErrNotConfigured) {
		return fmt.Errorf("the pod asks for it, but there is no API server to read it from: %w", err)
	}
	var failed *kube.Error
	if !errors.As(err, &failed) || !failed.NotFound() {
		return err
	}
	unnamed := "the pod's own"
	if ref.Field == nad.DefaultNetworkAnnotation {
		unnamed = "multusNamespace"
	}
	return fmt.Errorf("not found: there is no NetworkAttachmentDefinition %q in namespace %q, where %s looks for it (without a namespace it means %s); create it, or name the namespace that has it (the API server says: %s)",
		ref.Name, ref.Namespace, ref.Field, unnamed, failed.Message)
}

// fromDefinition takes the configuration of a NAD: its own, else the file on the node that has its name (NET-11).
func (c *call) fromDefinition(ref plan.Ref, definition *nad.Definition) plan.Network {
	network := plan.Network{
		Ref:      ref,
		Name:     ref.Network(),
		Resource: definition.Metadata.Annotations[nad.ResourceNameAnnotation],
	}
	if strings.TrimSpace(definition.Spec.Config) != "" {
		network.Config, network.Err = config.ParseNetwork([]byte(definition.Spec.Config), ref.Name)
		if network.Err != nil {
			network.Err = fmt.Errorf("spec.config: %w", network.Err)
		}
		return network
	}
	var warnings []string
	network.Config, warnings, network.Err = config.ByName(c.cfg.ConfDir, ref.Name)
	c.warn(warnings)
	if network.Err != nil {
		network.Err = fmt.Errorf("spec.config is empty, and no file on the node stands in for it: %w", network.Err)
	}
	return network
}

// fromConfDir takes the file of that name; otherwise says why there was no NAD (CONF-5).
func (c *call) fromConfDir(ref plan.Ref, noDefinition error) plan.Network {
	network, warnings, err := config.ByName(c.cfg.ConfDir, ref.Name)
	c.warn(warnings)
	if err != nil {
		return plan.Network{Ref: ref, Name: ref.Network(), Err: fmt.Errorf("%s: found neither as a NAD (%w) nor as a file (%w)", ref.Field, noDefinition, err)}
	}
	return plan.Network{Ref: ref, Name: network.Name, Config: network}
}

func (c *call) warn(warnings []string) {
	for _, warning := range warnings {
		c.log.Warn(warning)
	}
}
