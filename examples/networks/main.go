package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	nadv1 "github.com/seed-2ba21eab/multus-cni/pkg/nad/v1"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig file; empty: that of the pod that this runs in")
	once := flag.Bool("once", false, "print the table once and end")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *kubeconfig, printer{out: os.Stdout, faults: os.Stderr, once: *once}); err != nil {
		fmt.Fprintln(os.Stderr, "networks:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kubeconfig string, p printer) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return watch(ctx, client, p)
}

// watch gives all pods to the printer, and again after each change, until that is enough or ctx ends.
func watch(ctx context.Context, client kubernetes.Interface, p printer) error {
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods()
	changed := make(chan struct{}, 1)
	note := func() {
		select {
		case changed <- struct{}{}:
		default: // noted already
		}
	}
	_, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { note() },
		UpdateFunc: func(any, any) { note() },
		DeleteFunc: func(any) { note() },
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer factory.Shutdown()
	defer stop() // before Shutdown, which waits for it
	factory.StartWithContext(ctx)
	if !cache.WaitForCacheSync(ctx.Done(), pods.Informer().HasSynced) {
		return nil // interrupted
	}
	note() // for there may be no pods
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
		all, err := pods.Lister().List(labels.Everything())
		if err != nil {
			return err
		}
		if err := p.print(all); err != nil || p.once {
			return err
		}
	}
}

// printer prints the table if it differs from the last one.
type printer struct {
	out, faults io.Writer
	once        bool
	last        []byte
}

func (p *printer) print(pods []*corev1.Pod) error {
	rows, faults := rowsOf(pods)
	if faults != nil {
		fmt.Fprintln(p.faults, faults)
	}
	var text bytes.Buffer
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NETWORK\tPOD\tINTERFACE\tADDRESSES")
	for _, r := range rows {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.network, r.pod, r.ifname, r.addresses)
	}
	if err := table.Flush(); err != nil || bytes.Equal(text.Bytes(), p.last) {
		return err
	}
	p.last = text.Bytes()
	_, err := p.out.Write(p.last)
	return err
}

type row struct{ network, pod, ifname, addresses string }

// rowsOf has one row for each interface, by network and pod. A pod whose annotation cannot be read is among the faults.
func rowsOf(pods []*corev1.Pod) (rows []row, faults error) {
	for _, pod := range pods {
		statuses, err := nadv1.GetNetworkStatus(pod)
		var none *nadv1.NoK8sNetworkError
		if err != nil && !errors.As(err, &none) {
			faults = errors.Join(faults, err)
		}
		for _, s := range statuses {
			rows = append(rows, row{s.Name, pod.Namespace + "/" + pod.Name, s.Interface, strings.Join(s.IPs, " ")})
		}
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.network, b.network), cmp.Compare(a.pod, b.pod))
	})
	return rows, faults
}
