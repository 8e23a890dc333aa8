package v1

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// ErrPodGone is the error of a change to a pod that does not exist any more: there is none of its name, or one with
// another UID.
var ErrPodGone = errors.New("the pod does not exist any more")

var errNoPod = errors.New("no pod")

// NoK8sNetworkError says that a pod has no annotation of that kind: that it selects nothing, or has no status yet. It is
// returned as a pointer and unwrapped, for those who test its type.
type NoK8sNetworkError struct {
	Message string
}

// Error is the message.
func (e *NoK8sNetworkError) Error() string { return e.Message }

// ParsePodNetworkAnnotation gives the networks that a pod selects, in the order of its annotation, with the pod's namespace
// where they name none (de-facto standard v1.3, section 4.1). A pod that selects none gives a *NoK8sNetworkError. Any other
// error names the pod and joins all faults of the annotation, each with its element and key.
func ParsePodNetworkAnnotation(pod *corev1.Pod) ([]*NetworkSelectionElement, error) {
	value, err := annotation(pod, nad.NetworksAnnotation)
	if err != nil {
		return nil, err
	}
	selections, err := nad.ParseNetworkAnnotation(value, pod.Namespace)
	if err != nil {
		return nil, fault(pod, nad.NetworksAnnotation, err)
	}
	if len(selections) == 0 { // commas only
		return nil, missing(pod, nad.NetworksAnnotation)
	}
	return selections, nil
}

// GetNetworkStatus gives the statuses that a pod's annotation has, one for each interface, in its order (de-facto standard
// v1.3, section 5). A pod without the annotation gives a *NoK8sNetworkError: it has no networks yet, or belongs to a
// namespace whose pods get none. Any other error names the pod and the place in the annotation.
func GetNetworkStatus(pod *corev1.Pod) ([]NetworkStatus, error) {
	value, err := annotation(pod, nad.StatusAnnotation)
	if err != nil {
		return nil, err
	}
	parsed, err := nad.ParseNetworkStatus(value)
	if err != nil {
		return nil, fault(pod, nad.StatusAnnotation, err)
	}
	statuses := make([]NetworkStatus, len(parsed))
	for i, status := range parsed {
		statuses[i] = *status
	}
	return statuses, nil
}

// SetNetworkStatus writes the statuses to a pod's annotation, with one patch of its status sub-resource; RBAC: patch
// pods/status. Nothing else of the pod changes, so that there are no conflicts with others who write to it, and the pod
// given is left as it is. Without statuses the annotation has an empty list.
//
// The patch carries the pod's UID, so that another pod of the same name is never written to: the error is ErrPodGone. A pod
// without UID, which only tests have, is known by its name. Other errors are the API server's, wrapped: the functions of
// apimachinery's api/errors know them. It is not retried; how long it may take is for the client's configuration to say.
func SetNetworkStatus(client kubernetes.Interface, pod *corev1.Pod, statuses []NetworkStatus) error {
	if client == nil {
		return errors.New("no client")
	}
	patch, err := NetworkStatusPatch(pod, statuses)
	if err != nil {
		return err
	}
	// The established function has no context.
	_, err = client.CoreV1().Pods(pod.Namespace).Patch(context.Background(), pod.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	switch {
	case err == nil:
		return nil
	case isGone(err):
		return fault(pod, nad.StatusAnnotation, fmt.Errorf("%w: %w", ErrPodGone, err))
	default:
		return fault(pod, nad.StatusAnnotation, err)
	}
}

// NetworkStatusPatch is what SetNetworkStatus sends: a JSON merge patch (RFC 7396) for the pod's status sub-resource, with
// the pod's UID. It is for other clients than client-go's, and for those who need a context.
func NetworkStatusPatch(pod *corev1.Pod, statuses []NetworkStatus) ([]byte, error) {
	if pod == nil {
		return nil, errNoPod
	}
	pointers := make([]*NetworkStatus, len(statuses))
	for i := range statuses {
		pointers[i] = &statuses[i]
	}
	value, err := nad.FormatNetworkStatus(pointers)
	if err != nil {
		return nil, fault(pod, nad.StatusAnnotation, err)
	}
	metadata := map[string]any{"annotations": map[string]string{nad.StatusAnnotation: value}}
	if pod.UID != "" {
		metadata["uid"] = pod.UID
	}
	return json.Marshal(map[string]any{"metadata": metadata})
}

// isGone knows that the patch changed the UID, which no patch can.
func isGone(err error) bool {
	const uid = "metadata.uid"
	cause, changed := apierrors.StatusCause(err, metav1.CauseTypeFieldValueInvalid)
	return apierrors.IsNotFound(err) || changed && cause.Field == uid
}

// annotation is the value of one of the pod's annotations, not blank.
func annotation(pod *corev1.Pod, key string) (string, error) {
	if pod == nil {
		return "", errNoPod
	}
	value := pod.Annotations[key]
	if strings.TrimSpace(value) == "" {
		return "", missing(pod, key)
	}
	return value, nil
}

func missing(pod *corev1.Pod, key string) error {
	return &NoK8sNetworkError{Message: fmt.Sprintf("pod %s/%s: annotation %s: none, or blank", pod.Namespace, pod.Name, key)}
}

func fault(pod *corev1.Pod, key string, err error) error {
	return fmt.Errorf("pod %s/%s: annotation %s: %w", pod.Namespace, pod.Name, key, err)
}
