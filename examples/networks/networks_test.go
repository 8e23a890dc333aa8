package main

import (
	"context"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	nadv1 "github.com/seed-2ba21eab/multus-cni/pkg/nad/v1"
)

func TestNetworks(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(30 * time.Second)
	RunSpecs(t, "networks")
}

func pod(name, status string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "blue", Name: name, Annotations: map[string]string{nadv1.NetworkStatusAnnot: status}}}
}

const (
	web = `[{"name":"pods","interface":"eth0","ips":["192.0.2.4"],"default":true,"dns":{}},
		{"name":"blue/storage","interface":"net1","ips":["198.51.100.4","2001:db8::4"],"dns":{}}]`
	data = `[{"name":"pods","interface":"eth0","ips":["192.0.2.3"],"default":true,"dns":{}}]`
)

const table = "NETWORK       POD         INTERFACE  ADDRESSES\n" +
	"blue/storage  blue/web-0  net1       198.51.100.4 2001:db8::4\n" +
	"pods          blue/db-0   eth0       192.0.2.3\n" +
	"pods          blue/web-0  eth0       192.0.2.4\n"

var _ = Describe("the table of networks", func() {
	It("has a row for each interface, by network and pod", func(ctx SpecContext) {
		out, faults := gbytes.NewBuffer(), gbytes.NewBuffer()
		client := fake.NewClientset(pod("web-0", web), pod("db-0", data), pod("new-0", ""), pod("odd-0", "{}"))
		Expect(watch(ctx, client, printer{out: out, faults: faults, once: true})).To(Succeed())
		Expect(string(out.Contents())).To(Equal(table))
		Expect(faults).To(gbytes.Say("pod blue/odd-0: .*must be a list"))
	})

	It("is empty without pods", func(ctx SpecContext) {
		out := gbytes.NewBuffer()
		Expect(watch(ctx, fake.NewClientset(), printer{out: out, faults: GinkgoWriter, once: true})).To(Succeed())
		Expect(out).To(gbytes.Say(`^NETWORK +POD +INTERFACE +ADDRESSES\n$`))
	})

	It("is printed again when a pod gets its networks, until the end", func(ctx SpecContext) {
		running, stop := context.WithCancel(ctx)
		defer stop()
		out := gbytes.NewBuffer()
		late := pod("web-0", "")
		client := fake.NewClientset(late)
		ended := make(chan error, 1)
		go func() { ended <- watch(running, client, printer{out: out, faults: GinkgoWriter}) }()
		Eventually(out).Should(gbytes.Say("NETWORK"))
		Eventually(func(g Gomega) { // again and again, since the client of tests forgets a change before the first watch
			g.Expect(nadv1.SetNetworkStatus(client, late, []nadv1.NetworkStatus{{Name: "pods", Interface: "eth0", IPs: []string{"192.0.2.9"}}})).To(Succeed())
			g.Expect(out).To(gbytes.Say("pods +blue/web-0 +eth0 +192.0.2.9"))
		}).Should(Succeed())
		stop()
		Eventually(ended).Should(Receive(BeNil()))
	})
})
