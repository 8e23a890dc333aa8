package install

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const (
	flannel     = `{"cniVersion":"1.0.0","name":"cbr0","big":12345678901234567890,"plugins":[{"type":"flannel"}]}`
	calico      = `{"cniVersion":"1.0.0","name":"pods","plugins":[{"type":"calico","text":"<&>"}]}`
	old         = `{"cniVersion":"0.3.1","name":"older","type":"bridge"}`
	half        = `{"cniVersion":"1.0.0","name":"pods","plu`
	certificate = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
)

// host is a node's directories and the pod that installs on it.
type host struct {
	shell   []string
	bin     string // plugins
	conf    string // the runtime's configuration
	account string
	environ []string
}

func newHost(shell ...string) *host {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	h := &host{shell: shell, bin: dir + "/opt/bin", conf: dir + "/etc/cni/net.d", account: dir + "/account"}
	for _, d := range []string{h.bin, h.conf, h.account} {
		Expect(os.MkdirAll(d, 0o755)).To(Succeed())
	}
	h.write(h.account+"/token", "secret-one")
	h.write(h.account+"/ca.crt", certificate)
	h.write(h.account+"/namespace", "kube-system")
	h.environ = []string{
		"PATH=" + os.Getenv("PATH"), "SERVICE_ACCOUNT_DIR=" + h.account,
		"KUBERNETES_SERVICE_HOST=192.0.2.1", "KUBERNETES_SERVICE_PORT=443",
	}
	return h
}

// write does what a careful program does: the file is there whole or not at all.
func (h *host) write(path, text string) {
	GinkgoHelper()
	Expect(os.WriteFile(path+".new", []byte(text), 0o644)).To(Succeed())
	Expect(os.Rename(path+".new", path)).To(Succeed())
}

// master puts a primary network's configuration in place.
func (h *host) master(name, text string) {
	GinkgoHelper()
	h.write(filepath.Join(h.conf, name), text)
}

func (h *host) list() string       { return h.conf + "/00-multus.conflist" }
func (h *host) single() string     { return h.conf + "/00-multus.conf" }
func (h *host) kubeconfig() string { return h.conf + "/multus.d/multus.kubeconfig" }
func (h *host) binary() string     { return h.bin + "/multus" }

// run is one run of the script.
type run struct {
	command *exec.Cmd
	done    chan struct{}
	mutex   sync.Mutex
	text    bytes.Buffer
}

// Write takes the log.
func (r *run) Write(p []byte) (int, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.text.Write(p)
}

func (r *run) log() string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.text.String()
}

// start runs the script as PID 1 of a namespace, as in a container: its end is the end of all that it started.
func (h *host) start(options ...string) *run {
	GinkgoHelper()
	r := h.command(append([]string{"--cni-bin-dir=" + h.bin, "--cni-conf-dir=" + h.conf, "--multus-autoconfig-dir=" + h.conf, "--multus-bin-file=" + binary}, options...)...)
	r.follow((*exec.Cmd).Start)
	return r
}

// follow starts the command in a way, and sees to its end.
func (r *run) follow(start func(*exec.Cmd) error) {
	GinkgoHelper()
	Expect(start(r.command)).To(Succeed())
	go func() {
		_ = r.command.Wait() // the state tells
		close(r.done)
	}()
	DeferCleanup(func() {
		_ = r.command.Process.Kill() // may be over
		<-r.done
	})
}

func (h *host) command(options ...string) *run {
	r := &run{done: make(chan struct{})}
	args := append(append(h.shell[1:], "../../images/entrypoint.sh"), options...)
	r.command = exec.Command(h.shell[0], args...)
	r.command.Env, r.command.Stdout, r.command.Stderr = h.environ, r, r
	r.command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
	return r
}

// ends waits for the end and gives the exit status, -1 if a signal was it.
func (r *run) ends() int {
	GinkgoHelper()
	Eventually(r.done).Should(BeClosed(), r.log)
	return r.command.ProcessState.ExitCode()
}

func (r *run) signal(signal os.Signal) {
	GinkgoHelper()
	Expect(r.command.Process.Signal(signal)).To(Succeed())
}

// says waits for a text in the log.
func (r *run) says(text string) {
	GinkgoHelper()
	Eventually(r.log).Should(ContainSubstring(text))
}

// installed starts the script and waits until all is in place.
func (h *host) installed(options ...string) *run {
	GinkgoHelper()
	r := h.start(options...)
	r.says("in place: ")
	return r
}

// stopped ends a run in the way that a kubelet does.
func (r *run) stopped() {
	GinkgoHelper()
	r.signal(syscall.SIGTERM)
	Expect(r.ends()).To(Equal(0), r.log())
}

// content reads a file, "" if there is none.
func content(path string) func() string {
	return func() string {
		raw, _ := os.ReadFile(path)
		return string(raw)
	}
}

// snapshot is everything below the node's directories: paths, modes and contents.
func (h *host) snapshot() map[string]string {
	GinkgoHelper()
	all := map[string]string{}
	for _, dir := range []string{h.bin, h.conf} {
		Expect(filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			if err != nil {
				return err
			}
			all[path] = info.Mode().String() + " " + info.ModTime().String() + " " + content(path)()
			return nil
		})).To(Succeed())
	}
	return all
}

// leftovers lists temporary files.
func (h *host) leftovers() []string {
	GinkgoHelper()
	var found []string
	for path := range h.snapshot() {
		if strings.HasPrefix(filepath.Base(path), ".multus.") {
			found = append(found, path)
		}
	}
	return found
}
