package install

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

var _ = inEachShell("the entrypoint in the course of time", func(shell ...string) {
	var h *host

	BeforeEach(func() { h = newHost(shell...) })

	It("waits for a primary network, saying so again and again (ENT-4, E133)", func() {
		h.master("06-backup.conf.bak", flannel)
		r := h.start()
		r.says("waiting: ")
		Eventually(func() int { return len(waits(r.log())) }).Should(BeNumerically(">", 1))
		Expect(waits(r.log())[0]).To(ContainSubstring(h.conf))
		Expect(h.list()).NotTo(BeAnExistingFile())
		h.master("10-flannel.conflist", half)
		r.says("10-flannel.conflist: ")
		h.master("10-flannel.conflist", flannel)
		Eventually(content(h.list())).Should(ContainSubstring(flannel))
	})

	It("follows the master as it changes, vanishes and comes back (ENT-7, E121)", func() {
		h.master("10-flannel.conflist", flannel)
		r := h.installed()
		w := watch(nil, h.conf)
		h.master("05-calico.conflist", calico)
		Eventually(content(h.list())).Should(ContainSubstring(calico))
		Expect(os.Remove(h.conf + "/05-calico.conflist")).To(Succeed())
		Eventually(content(h.list())).Should(ContainSubstring(flannel))
		Expect(os.Remove(h.conf + "/10-flannel.conflist")).To(Succeed())
		r.says("warning: keeping " + h.list())
		Expect(content(h.list())()).To(ContainSubstring(flannel))
		h.master("10-flannel.conflist", calico)
		Eventually(content(h.list())).Should(ContainSubstring(calico))
		for _, mask := range w.of(h.list()) {
			Expect(mask).To(Equal(uint32(unix.IN_MOVED_TO)), "never gone, never written in place (E115)")
		}
	})

	It("keeps a good configuration while the first master is half-written (ENT-7)", func() {
		h.master("05-calico.conflist", calico)
		h.master("10-flannel.conflist", flannel)
		r := h.installed()
		h.master("05-calico.conflist", half)
		r.says("warning: keeping " + h.list() + ": ")
		Expect(content(h.list())()).To(ContainSubstring(calico))
		r.stopped()
		again := h.start()
		again.says("waiting: ")
		Expect(content(h.list())()).To(ContainSubstring(calico))
		h.master("05-calico.conflist", calico[:len(calico)-1]+`,"x":1}`)
		Eventually(content(h.list())).Should(ContainSubstring(`"x":1`))
	})

	It("steps over a half-written master when there is nothing to keep (ENT-7)", func() {
		h.master("05-calico.conflist", half)
		h.master("10-flannel.conflist", flannel)
		h.installed()
		Expect(content(h.list())()).To(ContainSubstring(flannel))
	})

	It("stays with the named master (ENT-4, E121)", func() {
		h.master("05-calico.conflist", calico)
		r := h.start("--multus-master-cni-file-name=10-flannel.conflist")
		r.says("waiting: ")
		h.master("10-flannel.conflist", flannel)
		Eventually(content(h.list())).Should(ContainSubstring(flannel))
	})

	It("never takes itself for the master, under any name (ENT-4, E112)", func() {
		h.master("70-multus.conf", `{"cniVersion":"0.4.0","name":"n","type":"multus","delegates":[`+old+`]}`)
		h.master("71-x.conflist", `{"cniVersion":"1.0.0","name":"n","plugins":[{"type":"multus-shim"}]}`)
		h.master("80-flannel.conflist", flannel)
		h.installed()
		Expect(content(h.list())()).To(ContainSubstring("[" + flannel + "]"))
	})

	It("follows token and CA, and never replaces a good kubeconfig by an incomplete one (ENT-7, E124)", func() {
		h.master("10-flannel.conflist", flannel)
		r := h.installed()
		w := watch(nil, filepath.Dir(h.kubeconfig()))
		h.write(h.account+"/token", "secret-two")
		Eventually(content(h.kubeconfig())).Should(ContainSubstring("secret-two"))
		h.write(h.account+"/token", "")
		r.says("warning: keeping " + h.kubeconfig())
		Expect(content(h.kubeconfig())()).To(ContainSubstring("secret-two"))
		h.write(h.account+"/token", "secret-three")
		h.write(h.account+"/ca.crt", certificate+certificate)
		Eventually(content(h.kubeconfig())).Should(And(ContainSubstring("secret-three"), ContainSubstring(base64.StdEncoding.EncodeToString([]byte(certificate+certificate)))))
		Expect(w.of(h.kubeconfig())).To(HaveEach(uint32(unix.IN_MOVED_TO)))
	})

	It("writes its configuration again when somebody takes it away (ENT-7, E127)", func() {
		h.master("10-flannel.conflist", flannel)
		r := h.installed()
		Expect(os.Rename(h.list(), h.list()+".cilium_bak")).To(Succeed())
		Eventually(h.list()).Should(BeAnExistingFile())
		r.says("was taken away by somebody else")
		Expect(os.Remove(h.kubeconfig())).To(Succeed())
		Eventually(h.kubeconfig()).Should(BeAnExistingFile())
	})

	It("watches nothing where that is asked for, but stays (ENT-7, ENT-8)", func() {
		h.master("10-flannel.conflist", flannel)
		r := h.installed("--skip-config-watch")
		Expect(os.Remove(h.list())).To(Succeed())
		Consistently(h.list(), "2500ms").ShouldNot(BeAnExistingFile())
		r.stopped()
	})

	DescribeTable("ends by a signal as PID 1 (ENT-8)",
		func(prepare func(h *host) *run) {
			r := prepare(h)
			r.stopped()
			Expect(r.log()).To(ContainSubstring("stopped"))
			Expect(h.leftovers()).To(BeEmpty())
		},
		Entry("while it waits for a master", func(h *host) *run {
			r := h.start()
			r.says("waiting: ")
			return r
		}),
		Entry("while it watches", func(h *host) *run {
			h.master("10-flannel.conflist", flannel)
			return h.installed()
		}),
		Entry("while it does nothing", func(h *host) *run {
			h.master("10-flannel.conflist", flannel)
			return h.installed("--skip-config-watch")
		}),
	)

	// The n-th thing that it does in the node's directories is the last one.
	DescribeTable("ended at any moment of its work, leaves no part of a file under a name that is read",
		func(signal syscall.Signal) {
			h.master("10-flannel.conflist", flannel)
			Expect(os.Mkdir(h.conf+"/multus.d", 0o700)).To(Succeed())
			clean := h.snapshot()
			for n := 1; ; n++ {
				for path := range h.snapshot() {
					if _, kept := clean[path]; !kept {
						Expect(os.Remove(path)).To(Succeed())
					}
				}
				if !h.endedAt(n, signal) {
					Expect(n).To(BeNumerically(">", 9), "binary, kubeconfig and configuration, three events each")
					return
				}
				for path, text := range map[string]string{h.binary(): content(binary)(), h.list(): "}\n", h.kubeconfig(): "current-context: multus\n"} {
					if got := content(path)(); got != "" {
						Expect(got == text || len(got) > len(text) && got[len(got)-len(text):] == text).To(BeTrue(), "event %d: %s", n, path)
					}
				}
				h.installed().stopped()
				Expect(content(h.list())()).To(ContainSubstring(flannel))
			}
		},
		Entry("by kill -9 (ENT-2)", syscall.SIGKILL),
		Entry("by SIGTERM (ENT-8)", syscall.SIGTERM),
	)
})

// endedAt runs the script and sends the signal at its n-th event; false if it comes to its end before.
func (h *host) endedAt(n int, signal syscall.Signal) bool {
	GinkgoHelper()
	reached, count := make(chan struct{}), 0
	watch(func(event) {
		if count++; count == n {
			close(reached)
		}
	}, h.bin, h.conf, h.conf+"/multus.d")
	r := h.start()
	defer func() {
		_ = r.command.Process.Signal(signal) // as when it is reached
		r.ends()
	}()
	var done bool
	Eventually(func() bool {
		select {
		case <-reached:
			_ = r.command.Process.Signal(signal)
			return true
		default:
			done = strings.Contains(r.log(), "in place: ")
			return done
		}
	}, "30s", "200us").Should(BeTrue(), func() string { return fmt.Sprintf("event %d: %s", n, r.log()) })
	return !done
}

// waits lists the lines that say what is waited for.
func waits(log string) []string {
	var found []string
	for line := range strings.Lines(log) {
		if strings.Contains(line, " waiting: ") {
			found = append(found, line)
		}
	}
	return found
}
