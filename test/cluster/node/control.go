package node

import (
	"context"
	"fmt"
	"syscall"
)

const (
	etcdURL = "http://127.0.0.1:2379"
	// Server is the API server's address in the node's network namespace.
	Server = "127.0.0.1:6443"
)

// The names of the components, for Signal and Kill.
const (
	Etcd       = "etcd"
	APIServer  = "kube-apiserver"
	Containerd = "containerd"
	Kubelet    = "kubelet"
)

// auditPolicy notes who asked for what, once for each request when it is answered.
const auditPolicy = `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: Metadata
    users: ["` + PluginUser + `"]
  - level: None
`

func (n *Node) spawnControlPlane(context.Context) error {
	const peer = "http://127.0.0.1:2380"
	err := n.spawn(Etcd, nil, n.Parts.Debian+"/usr/bin/etcd",
		"--name=etcd", "--data-dir="+n.Path("etcd"), "--unsafe-no-fsync",
		"--listen-client-urls="+etcdURL, "--advertise-client-urls="+etcdURL,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=etcd="+peer)
	if err != nil {
		return err
	}
	if err := n.write(auditPolicy, "audit-policy.yml"); err != nil {
		return err
	}
	if n.API, err = n.newAPI(); err != nil {
		return err
	}
	if err := n.writeKubeconfigs(); err != nil {
		return err
	}
	return n.spawnAPIServer()
}

// StartAPIServer starts the API server, and waits until it is ready.
func (n *Node) StartAPIServer(ctx context.Context) error {
	if err := n.spawnAPIServer(); err != nil {
		return err
	}
	return n.waitForControlPlane(ctx)
}

func (n *Node) waitForControlPlane(ctx context.Context) error {
	return until(ctx, "the API server is ready", n.API.healthy)
}

func (n *Node) spawnAPIServer() error {
	pki := n.Path("pki")
	return n.spawn(APIServer, nil, n.Parts.Kubernetes+"/kube-apiserver",
		"--etcd-servers="+etcdURL,
		"--bind-address=127.0.0.1", "--secure-port=6443", "--advertise-address="+Address,
		"--service-cluster-ip-range=10.96.0.0/16",
		"--cert-dir="+pki, "--client-ca-file="+pki+"/ca.crt",
		"--tls-cert-file="+pki+"/kube-apiserver.crt", "--tls-private-key-file="+pki+"/kube-apiserver.key",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file="+pki+"/service-account.pub",
		"--service-account-signing-key-file="+pki+"/service-account.key",
		"--authorization-mode=Node,RBAC", "--allow-privileged=true",
		"--kubelet-client-certificate="+pki+"/admin.crt", "--kubelet-client-key="+pki+"/admin.key",
		"--kubelet-preferred-address-types=InternalIP",
		"--enable-priority-and-fairness=false", "--profiling=false",
		"--audit-policy-file="+n.Path("audit-policy.yml"), "--audit-log-path="+n.auditLog())
}

// FreezeAPIServer makes it accept connections and never answer.
func (n *Node) FreezeAPIServer() error { return n.Signal(APIServer, syscall.SIGSTOP) }

// ThawAPIServer undoes FreezeAPIServer; it is no error if there is nothing to undo.
func (n *Node) ThawAPIServer() error { return n.Signal(APIServer, syscall.SIGCONT) }

func (n *Node) auditLog() string { return n.Path("logs", "audit.log") }

// writeKubeconfigs writes <name>.kubeconfig for the administrator and the kubelet.
func (n *Node) writeKubeconfigs() error {
	for _, user := range []string{"admin", "kubelet"} {
		credentials := fmt.Sprintf("client-certificate: %s, client-key: %s",
			n.Path("pki", user+".crt"), n.Path("pki", user+".key"))
		if err := n.write(n.kubeconfig(credentials), user+".kubeconfig"); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) kubeconfig(credentials string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: node
clusters:
  - name: node
    cluster: {server: "https://%s", certificate-authority: %s}
users:
  - name: user
    user: {%s}
contexts:
  - name: node
    context: {cluster: node, user: user}
`, Server, n.Path("pki", "ca.crt"), credentials)
}
