package device

import (
	"net"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake/kubelet"
)

// fixture is a kubelet for one spec.
type fixture struct{ *kubelet.Kubelet }

func newKubelet() fixture {
	GinkgoHelper()
	dir, err := os.MkdirTemp("", "k") // short: a socket's path has room for 107 bytes
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(os.RemoveAll, dir)
	made, err := kubelet.New(dir)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(made.Close)
	return fixture{made}
}

func (k fixture) writeCheckpoint(content string) {
	GinkgoHelper()
	Expect(k.WriteCheckpoint(content)).To(Succeed())
}

func (k fixture) serve(replies map[string][]kubelet.Reply) {
	GinkgoHelper()
	Expect(k.Serve(replies)).To(Succeed())
}

// silent accepts connections and keeps them open.
func (k fixture) silent() <-chan net.Conn {
	GinkgoHelper()
	listener, err := k.Listen()
	Expect(err).NotTo(HaveOccurred())
	accepted := make(chan net.Conn, 1)
	go func() {
		if conn, err := listener.Accept(); err == nil {
			accepted <- conn
		}
	}()
	return accepted
}
