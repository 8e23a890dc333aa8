package install

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

var _ = inEachShell("the entrypoint", func(shell ...string) {
	var h *host

	BeforeEach(func() { h = newHost(shell...) })

	It("installs binary, kubeconfig and configuration, in this order and each by a rename (ENT-2, ENT-4, ENT-5, E115)", func() {
		h.master("10-flannel.conflist", flannel)
		Expect(os.Mkdir(h.conf+"/multus.d", 0o700)).To(Succeed())
		w := watch(nil, h.bin, h.conf, h.conf+"/multus.d")
		h.installed()
		Expect(w.renamed()).To(Equal([]string{h.binary(), h.kubeconfig(), h.list()}))
		for _, path := range w.renamed() {
			Expect(w.of(path)).To(Equal([]uint32{unix.IN_MOVED_TO}), "created, written or chmodded under its final name: %s", path)
		}
		Expect(content(h.list())()).To(ContainSubstring("[" + flannel + "]"))
		Expect(content(h.kubeconfig())()).To(ContainSubstring(`token: "secret-one"`))
		Expect(h.leftovers()).To(BeEmpty())
	})

	It("makes what others must not read so from the start, whatever the umask (ENT-2, ENT-6, E130)", func() {
		h.master("10-flannel.conflist", flannel)
		before := syscall.Umask(0)
		defer syscall.Umask(before)
		modes := map[string]os.FileMode{}
		w := watch(func(e event) {
			if info, err := os.Stat(e.path); err == nil && e.mask != unix.IN_ATTRIB {
				modes[e.path] |= info.Mode()
			}
		}, h.conf)
		h.installed().stopped()
		w.close()
		for path, mode := range modes {
			Expect(mode&0o077).To(BeZero(), path)
		}
		for path, mode := range map[string]os.FileMode{h.list(): 0o600, h.kubeconfig(): 0o600, h.binary(): 0o755, filepath.Dir(h.kubeconfig()): 0o700} {
			info, err := os.Stat(path)
			Expect(err).NotTo(HaveOccurred())
			Expect(info.Mode().Perm()).To(Equal(mode), path)
		}
	})

	It("writes nothing when all is right already (ENT-2, E112)", func() {
		h.master("10-flannel.conflist", flannel)
		h.installed().stopped()
		before := h.snapshot()
		for range 3 {
			again := h.installed()
			again.stopped()
			Expect(again.log()).NotTo(ContainSubstring("wrote"))
		}
		Expect(h.snapshot()).To(Equal(before))
	})

	It("takes rights away from files of an older installation (ENT-6, E130)", func() {
		h.master("10-flannel.conflist", flannel)
		h.installed().stopped()
		Expect(os.Chmod(h.kubeconfig(), 0o644)).To(Succeed())
		h.installed()
		info, err := os.Stat(h.kubeconfig())
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
	})

	It("replaces a binary that is running (ENT-2, E122)", func() {
		h.master("10-flannel.conflist", flannel)
		sleep, err := exec.LookPath("sleep")
		Expect(err).NotTo(HaveOccurred())
		copied, err := os.OpenFile(h.binary(), os.O_CREATE|os.O_WRONLY, 0o755)
		Expect(err).NotTo(HaveOccurred())
		_, err = io.WriteString(copied, content(sleep)())
		Expect(err).NotTo(HaveOccurred())
		Expect(copied.Close()).To(Succeed())
		running := exec.Command(h.binary(), "600")
		Expect(running.Start()).To(Succeed())
		defer func() {
			_ = running.Process.Kill()
			_ = running.Wait()
		}()
		h.installed()
		Expect(content(h.binary())()).To(Equal(content(binary)()))
	})

	It("runs the installed binary and logs its version (ENT-3)", func() {
		h.master("10-flannel.conflist", flannel)
		version, err := exec.Command(binary, "--version").Output()
		Expect(err).NotTo(HaveOccurred())
		Expect(h.installed().log()).To(ContainSubstring(h.binary() + ": " + strings.TrimSpace(string(version))))
	})

	It("removes the other of its two names (ENT-5)", func() {
		h.master("10-old.conf", old)
		h.installed("--cni-version=1.1.0").stopped()
		Expect(h.list()).To(BeAnExistingFile())
		h.installed()
		Expect(h.single()).To(BeAnExistingFile())
		Eventually(h.list()).ShouldNot(BeAnExistingFile())
	})

	It("logs lines with the time, where the plugin's log goes, and never a token (ENT-12)", func() {
		h.master("10-flannel.conflist", flannel)
		r := h.installed("--multus-log-file=/var/log/multus.log")
		h.write(h.account+"/token", "secret-two")
		Eventually(content(h.kubeconfig())).Should(ContainSubstring("secret-two"))
		r.stopped()
		for line := range strings.Lines(r.log()) {
			Expect(line).To(MatchRegexp(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ `))
		}
		Expect(r.log()).To(ContainSubstring("/var/log/multus.log"))
		Expect(r.log()).NotTo(ContainSubstring("secret"))
	})

	It("is not misled by an environment with CNI_COMMAND (ENT-1)", func() {
		h.master("10-flannel.conflist", flannel)
		h.environ = append(h.environ, "CNI_COMMAND=ADD")
		h.installed()
	})

	Describe("that is asked to", func() {
		It("installs the configuration of a file, reached by symbolic links, and follows it (ENT-4, ENT-7, E125)", func() {
			dir := GinkgoT().TempDir()
			text := `{"cniVersion":"0.4.0","name":"n","type":"multus","delegates":[` + flannel + `]}`
			change := func(version, text string) {
				Expect(os.Mkdir(dir+"/"+version, 0o755)).To(Succeed())
				h.write(dir+"/"+version+"/70-mine.conf", text)
				Expect(os.Symlink(version, dir+"/..new")).To(Succeed())
				Expect(os.Rename(dir+"/..new", dir+"/..data")).To(Succeed())
			}
			change("..1", text)
			Expect(os.Symlink("..data/70-mine.conf", dir+"/70-mine.conf")).To(Succeed())
			r := h.installed("--multus-conf-file", dir+"/70-mine.conf")
			Expect(content(h.conf + "/70-mine.conf")()).To(Equal(text + "\n"))
			change("..2", half)
			r.says("warning: keeping " + h.conf + "/70-mine.conf")
			change("..3", strings.Replace(text, `"n"`, `"m"`, 1))
			Eventually(content(h.conf + "/70-mine.conf")).Should(ContainSubstring(`"m"`))
			Expect(os.Remove(h.conf + "/70-mine.conf")).To(Succeed())
			Eventually(h.conf + "/70-mine.conf").Should(BeAnExistingFile())
			Expect(h.list()).NotTo(BeAnExistingFile())
		})

		It("renames the master, and finds it after a restart (ENT-9)", func() {
			h.master("10-flannel.conflist", flannel)
			for range 3 {
				h.installed("--rename-conf-file=true").stopped()
				Expect(h.conf + "/10-flannel.conflist").NotTo(BeAnExistingFile())
				Expect(content(h.conf + "/10-flannel.conflist.old")()).To(Equal(flannel))
				Expect(content(h.list())()).To(ContainSubstring(flannel))
			}
			h.master("10-flannel.conflist", calico) // the primary network's own installer starts again
			h.installed("--rename-conf-file=true").stopped()
			Expect(content(h.list())()).To(ContainSubstring(calico))
			Expect(content(h.conf + "/10-flannel.conflist.old")()).To(Equal(calico))
		})

		It("removes all that it wrote, and brings the master back (ENT-11, MAN-4, E119)", func() {
			h.master("10-flannel.conflist", flannel)
			h.installed("--rename-conf-file").stopped()
			Expect(os.Remove(h.account + "/token")).To(Succeed())
			for range 2 {
				r := h.start("--uninstall")
				Expect(r.ends()).To(Equal(0), r.log())
				Expect(h.snapshot()).To(And(HaveLen(1), HaveKey(h.conf+"/10-flannel.conflist")))
			}
		})

		It("leaves nothing but the binary when it stops (ENT-8, E119)", func() {
			h.master("10-flannel.conflist", flannel)
			h.installed("--rename-conf-file", "--cleanup-config-on-exit=true").stopped()
			Expect(h.snapshot()).To(And(HaveLen(2), HaveKey(h.conf+"/10-flannel.conflist"), HaveKey(h.binary())))
		})

		It("uses the binary that is on the node (ENT-11)", func() {
			h.master("10-flannel.conflist", flannel)
			Expect(os.Symlink(binary, h.binary())).To(Succeed())
			r := h.installed("--skip-multus-binary-copy", "--multus-bin-file=/none")
			Expect(r.log()).To(ContainSubstring(h.binary() + ": multus-cni version"))
			Expect(os.Readlink(h.binary())).To(Equal(binary))
		})
	})

	It("runs twice at a time, as in a rolling update, without the two getting in each other's way (ENT-2)", func() {
		h.master("10-flannel.conflist", flannel)
		for range 5 {
			first, second := h.start(), h.start()
			for _, r := range []*run{first, second} {
				r.says("in place: ")
				r.stopped()
				Expect(r.log()).NotTo(ContainSubstring("error"))
			}
			Expect(h.leftovers()).To(BeEmpty())
			Expect(os.Remove(h.list())).To(Succeed())
			Expect(os.Remove(h.binary())).To(Succeed())
		}
	})

	It("keeps its configuration on exit (ENT-8)", func() {
		h.master("10-flannel.conflist", flannel)
		h.installed()
		before := h.snapshot()
		h.installed().stopped()
		Expect(h.snapshot()).To(Equal(before))
	})
})
