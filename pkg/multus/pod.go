package multus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/containernetworking/cni/pkg/types"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/kube"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

const (
	// A pod that is not there, or is another one of the same name, is read again this often (NET-14, NET-15).
	rereads     = 2
	rereadPause = 200 * time.Millisecond
)

// pod is what is known of the sandbox's pod when its networks are decided; nil without a pod identity (INV-7).
type pod struct {
	plan.Pod                      // UID: the API object's, for the status
	annotations map[string]string // as far as known
	node        string            // that it runs on; not where unread
	claims      []string          // its ResourceClaims; not where unread
	unread      bool              // the runtime handed the annotations over, the API server was not asked (NET-17)
	absent      bool              // there is no API object to annotate
	booting     bool              // static, and the API server does not know it or is not there (NET-15)
	independent bool              // unread, and nothing that the pod gets needs the API server (NET-17)
}

func (p *pod) namespace() string {
	if p == nil {
		return ""
	}
	return p.Namespace
}

// pod finds out what the pod asks for: from the runtime, else by one read from the API server.
func (c *call) pod(ctx context.Context) (*pod, error) {
	if c.sandbox.Pod == nil {
		return nil, nil
	}
	annotations, handedOver, err := c.cfg.PodAnnotations()
	if err != nil {
		return nil, coded{types.ErrInvalidNetworkConfig, err}
	}
	if handedOver && !c.static(annotations) {
		return &pod{Pod: *c.sandbox.Pod, annotations: annotations, unread: true}, nil
	}
	client, err := c.kube()
	if errors.Is(err, kube.ErrNotConfigured) {
		return &pod{Pod: *c.sandbox.Pod, annotations: annotations, absent: true}, nil
	}
	if err != nil {
		return nil, err
	}
	found, err := c.read(ctx, client)
	if c.static(annotations) && mayBeAbsent(err) {
		c.log.Warn("a static pod without an API object gets only the networks that need no API server", "error", err)
		return &pod{Pod: *c.sandbox.Pod, absent: true, booting: true}, nil
	}
	if err != nil {
		return nil, err
	}
	identity := plan.Pod{Namespace: found.Namespace, Name: found.Name, UID: found.UID}
	return &pod{Pod: identity, annotations: found.Annotations, node: found.Node, claims: found.Claims}, nil
}

// read reads the pod, and again shortly if it is not there yet or is another one of the same name.
func (c *call) read(ctx context.Context, client *kube.Client) (*kube.Pod, error) {
	for n := 0; ; n++ {
		found, err := client.Pod(ctx, c.sandbox.Pod.Namespace, c.sandbox.Pod.Name)
		if err == nil && c.another(found) {
			err = fmt.Errorf("the pod read has UID %s, this sandbox belongs to UID %s: the pod was replaced by a new one of the same name",
				found.UID, c.sandbox.Pod.UID)
		} else if !isNotFound(err) {
			return found, err
		}
		if n == rereads {
			return nil, err
		}
		if err := pause(ctx, rereadPause); err != nil {
			return nil, err
		}
	}
}

// another says that the pod read is a new one of the same name. The API object of a static pod always has a UID of its
// own (NET-15).
func (c *call) another(found *kube.Pod) bool {
	uid := c.sandbox.Pod.UID
	return uid != "" && found.UID != uid && !c.static(found.Annotations)
}

func (c *call) static(annotations map[string]string) bool {
	return kube.IsStatic(annotations, c.sandbox.Pod.UID)
}

// mayBeAbsent says that a static pod can do without the answer: its API object does not exist yet, or the API server
// is not there.
func mayBeAbsent(err error) bool {
	var failed *kube.Error
	return errors.As(err, &failed) && (failed.NotFound() || failed.Unreachable())
}

func isNotFound(err error) bool {
	var failed *kube.Error
	return errors.As(err, &failed) && failed.NotFound()
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// selections reads the pod's annotations (NET-1).
func (c *call) selections(pod *pod) (plan.Selections, error) {
	if pod == nil {
		return plan.Selections{}, nil
	}
	networks, err := c.parse(pod, nad.NetworksAnnotation, pod.Namespace)
	if err != nil {
		return plan.Selections{}, err
	}
	masters, err := c.parse(pod, nad.DefaultNetworkAnnotation, c.cfg.MultusNamespace)
	if err != nil {
		return plan.Selections{}, err
	}
	selected := plan.Selections{Networks: networks}
	switch len(masters) {
	case 0:
	case 1:
		selected.Default = masters[0]
	default:
		return plan.Selections{}, coded{types.ErrInvalidNetworkConfig,
			fmt.Errorf("annotation %s: names %d networks; a pod has one default network", nad.DefaultNetworkAnnotation, len(masters))}
	}
	return selected, nil
}

func (c *call) parse(pod *pod, annotation, namespace string) ([]*nad.NetworkSelectionElement, error) {
	value := pod.annotations[annotation]
	if strings.TrimSpace(value) == "" {
		return nil, nil
	}
	elements, warnings, err := nad.ParseSelections(value, namespace)
	if err != nil {
		return nil, coded{types.ErrInvalidNetworkConfig, fmt.Errorf("annotation %s: %w", annotation, err)}
	}
	for _, warning := range warnings {
		c.log.Warn("annotation " + annotation + ": " + warning)
	}
	return elements, nil
}
