package v1_test

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
	nadv1 "github.com/seed-2ba21eab/multus-cni/pkg/nad/v1"
)

func ExampleAddToScheme() {
	scheme := runtime.NewScheme()
	if err := nadv1.AddToScheme(scheme); err != nil {
		fmt.Println(err)
		return
	}
	kinds, _, err := scheme.ObjectKinds(&nadv1.NetworkAttachmentDefinition{})
	fmt.Println(kinds, err)
	// Output: [k8s.cni.cncf.io/v1, Kind=NetworkAttachmentDefinition] <nil>
}

func ExampleFromDefinition() {
	network := nadv1.FromDefinition(&nad.Definition{Metadata: nad.DefinitionMetadata{Namespace: "blue", Name: "storage"}})
	fmt.Println(network.APIVersion, network.Kind, network.Namespace, network.Name)
	// Output: k8s.cni.cncf.io/v1 NetworkAttachmentDefinition blue storage
}

func ExampleNetworkAttachmentDefinition_Definition() {
	network := &nadv1.NetworkAttachmentDefinition{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "storage"}}
	fmt.Println(network.Definition().Metadata.Name)
	// Output: storage
}

func ExampleGetCNIConfig() {
	network := &nadv1.NetworkAttachmentDefinition{
		ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "storage"},
		Spec:       nadv1.NetworkAttachmentDefinitionSpec{Config: `{"type":"macvlan"}`},
	}
	config, err := nadv1.GetCNIConfig(network, "/etc/cni/multus/net.d")
	fmt.Println(string(config), err)
	// Output: {"name":"storage","type":"macvlan"} <nil>
}

func ExampleParsePodNetworkAnnotation() {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "web-0", Annotations: map[string]string{
		nadv1.NetworkAttachmentAnnot: "storage, red/data@d0",
	}}}
	selections, err := nadv1.ParsePodNetworkAnnotation(pod)
	fmt.Println(selections, err)

	_, err = nadv1.ParsePodNetworkAnnotation(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "web-1"}})
	var none *nadv1.NoK8sNetworkError
	fmt.Println(errors.As(err, &none))
	// Output:
	// [blue/storage red/data@d0] <nil>
	// true
}

func ExampleGetNetworkStatus() {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "web-0", Annotations: map[string]string{
		nadv1.NetworkStatusAnnot: `[{"name":"pods","interface":"eth0","ips":["192.0.2.4"],"default":true,"dns":{}}]`,
	}}}
	statuses, err := nadv1.GetNetworkStatus(pod)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(statuses[0].Interface, statuses[0].IPs)
	// Output: eth0 [192.0.2.4]
}

func ExampleSetNetworkStatus() {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "web-0", UID: "7a"}}
	client := fake.NewClientset(pod) // outside of tests: kubernetes.NewForConfig
	err := nadv1.SetNetworkStatus(client, pod, []nadv1.NetworkStatus{{Name: "pods", Interface: "eth0", Default: true}})
	if err != nil {
		fmt.Println(err)
		return
	}
	now, err := client.CoreV1().Pods("blue").Get(context.Background(), "web-0", metav1.GetOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	statuses, err := nadv1.GetNetworkStatus(now)
	fmt.Println(statuses[0].Interface, err)
	// Output: eth0 <nil>
}

func ExampleNetworkStatusPatch() {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: "web-0", UID: "7a"}}
	patch, err := nadv1.NetworkStatusPatch(pod, nil)
	fmt.Println(string(patch), err)
	// Output: {"metadata":{"annotations":{"k8s.v1.cni.cncf.io/network-status":"[]"},"uid":"7a"}} <nil>
}
