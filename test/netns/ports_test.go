package netns

import (
	"debug/buildinfo"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/containernetworking/cni/pkg/version"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

const (
	mapped  = `{"type": "portmap", "backend": "iptables", "capabilities": {"portMappings": true}}`
	mapping = `{"cniVersion": "1.0.0", "name": "main", "plugins": [{"type": "bridge", "bridge": "br-main", "isGateway": true,
		"ipam": {"type": "host-local", "subnet": "10.1.0.0/24", "routes": [{"dst": "0.0.0.0/0"}]}}, ` + mapped + `]}`
)

var _ = Describe("host ports (NET-9)", func() {
	// ports is our configuration with what a runtime hands over for hostPort.
	ports := func(hostPort int) node.Config {
		return node.Config{
			"delegates":     []any{raw(mapping)},
			"capabilities":  node.Config{"portMappings": true},
			"runtimeConfig": node.Config{"portMappings": []any{node.Config{"hostPort": hostPort, "containerPort": 80, "protocol": "tcp"}}},
		}
	}

	It("of the runtime lead to the master, and to no other network that can map ports", func() {
		b := newBench()
		b.nad("n1", list(`{"type": "bridge", "bridge": "br-1", "ipam": {"type": "static", "addresses": [{"address": "198.51.100.20/24"}]}}`, mapped))
		box := b.pod("web-0", "n1")
		b.add(box, ports(8080))
		Expect(b.mappings()).To(ConsistOf("8080 10.1.0.2:80"))
		b.serves(box, "web-0")
		Expect(b.visit("192.0.2.10:8080")).To(Equal("web-0"))
		b.del(box, ports(8080))
		Expect(b.mappings()).To(BeEmpty())
	})

	It("of the pod's own selection lead to that network", func() {
		b := newBench()
		b.nad("n1", list(`{"type": "bridge", "bridge": "br-1", "isGateway": true, "ipam": {"type": "static", "addresses": [{"address": "198.51.100.20/24", "gateway": "198.51.100.1"}]}}`, mapped))
		box := b.pod("web-0", `[{"name": "n1", "portMappings": [{"hostPort": 9090, "containerPort": 80}]}]`)
		b.add(box, ports(8080))
		Expect(b.mappings()).To(ConsistOf("8080 10.1.0.2:80", "9090 198.51.100.20:80"))
		b.del(box, ports(8080))
		Expect(b.mappings()).To(BeEmpty())
	})

	It("of two pods lead to each one's own", func() {
		b := newBench()
		first, second := b.pod("web-0", ""), b.pod("web-1", "")
		b.add(first, ports(8080))
		b.add(second, ports(8081))
		b.serves(first, "web-0")
		b.serves(second, "web-1")
		Expect(b.visit("192.0.2.10:8080")).To(Equal("web-0"))
		Expect(b.visit("192.0.2.10:8081")).To(Equal("web-1"))
		Expect(b.run("DEL", first, ports(8080)).Exit).To(Equal(0))
		Expect(b.mappings()).To(ConsistOf("8081 10.1.0.3:80"))
		b.del(second, ports(8081))
	})

	DescribeTable("are mapped by a plugin without the known faults",
		func(floor string) {
			info, err := buildinfo.ReadFile(filepath.Join(plugins, "portmap"))
			Expect(err).NotTo(HaveOccurred())
			Expect(info.Main.Path).To(Equal("github.com/containernetworking/plugins"))
			Expect(version.GreaterThanOrEqualTo(strings.TrimPrefix(info.Main.Version, "v"), floor)).To(BeTrue(), info.Main.Version)
		},
		Entry("the destination address counts (E145)", "1.9.0"),
		Entry("they come after the rules of services (E146)", "0.7.5"),
	)
})

// mappings lists the node's host ports as "8080 10.1.0.2:80".
func (b *bench) mappings() []string {
	GinkgoHelper()
	outcome := b.wait(exec.Command("iptables", "-w", "-t", "nat", "-S"))
	Expect(outcome.Exit).To(Equal(0), outcome.String())
	found := []string{}
	for line := range strings.Lines(outcome.Stdout) {
		_, after, isMapping := strings.Cut(line, "--dport ")
		port, after, _ := strings.Cut(after, " ")
		_, to, hasTarget := strings.Cut(after, "--to-destination ")
		if isMapping && hasTarget {
			found = append(found, port+" "+strings.TrimSpace(to))
		}
	}
	return found
}

// serves has a server on port 80 of the sandbox that says a name to who connects.
func (b *bench) serves(box node.Sandbox, name string) {
	GinkgoHelper()
	Expect(inside(box.NetNS, func() error {
		listener, err := net.Listen("tcp", ":80")
		if err != nil {
			return err
		}
		DeferCleanup(listener.Close)
		go func() {
			for {
				conn, err := listener.Accept()
				if err != nil {
					return
				}
				io.WriteString(conn, name)
				conn.Close()
			}
		}()
		return nil
	})).To(Succeed())
}

// visit connects from the neighbour, and gives what is said there.
func (b *bench) visit(address string) string {
	GinkgoHelper()
	ip("-n", filepath.Base(b.space), "address", "replace", "192.0.2.10/24", "dev", "eth1")
	var said []byte
	Expect(inside(b.neighbour, func() error {
		conn, err := net.DialTimeout("tcp", address, 30*time.Second)
		if err != nil {
			return err
		}
		defer conn.Close()
		said, err = io.ReadAll(conn)
		return err
	})).To(Succeed())
	return string(said)
}
