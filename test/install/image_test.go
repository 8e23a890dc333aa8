package install

import (
	"debug/elf"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// image is the final stage of the Dockerfile, built and mounted. The stages before it, which need base images from
// afar, are directories.
type image struct {
	storage []string // buildah's options
	root    string
	labels  map[string]string
}

func buildImage() *image {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	i := &image{storage: []string{"--root=" + dir + "/storage", "--runroot=" + dir + "/run", "--storage-driver=vfs"}}
	source := dir + "/source"
	Expect(os.MkdirAll(source+"/bin", 0o755)).To(Succeed())
	Expect(os.CopyFS(source+"/images", os.DirFS("../../images"))).To(Succeed())
	copyTo(source+"/bin/multus", binary)
	layout := exec.Command("images/rootfs", dir+"/build/rootfs")
	layout.Dir = source
	said(layout)
	busybox, err := exec.LookPath("busybox")
	Expect(err).NotTo(HaveOccurred())
	Expect(os.MkdirAll(dir+"/busybox/bin", 0o755)).To(Succeed())
	copyTo(dir+"/busybox/bin/busybox", busybox)
	i.buildah("build", "--quiet", "--isolation=chroot", "--build-context=build="+dir+"/build", "--build-context=busybox="+dir+"/busybox",
		"--build-arg=VERSION=v1.2.3", "--build-arg=COMMIT=abc", "--file=../../Dockerfile", "--tag=multus", source)
	container := i.buildah("from", "--pull-never", "localhost/multus")
	i.root = i.buildah("mount", container)
	DeferCleanup(func() { i.buildah("umount", container) })
	var inspected struct {
		OCIv1 struct {
			Config struct {
				Entrypoint []string
				Labels     map[string]string
			} `json:"config"`
		}
	}
	Expect(json.Unmarshal([]byte(i.buildah("inspect", "--type=image", "localhost/multus")), &inspected)).To(Succeed())
	Expect(inspected.OCIv1.Config.Entrypoint).To(Equal([]string{"/entrypoint.sh"}))
	i.labels = inspected.OCIv1.Config.Labels
	return i
}

func (i *image) buildah(args ...string) string {
	GinkgoHelper()
	return said(exec.Command("buildah", append(i.storage, args...)...))
}

// said runs a command and gives what it printed.
func said(command *exec.Cmd) string {
	GinkgoHelper()
	var trouble strings.Builder
	command.Stderr = &trouble
	output, err := command.Output()
	Expect(err).NotTo(HaveOccurred(), trouble.String())
	return strings.TrimSpace(string(output))
}

func copyTo(path, from string) {
	GinkgoHelper()
	raw, err := os.ReadFile(from)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(path, raw, 0o755)).To(Succeed())
}

// confined makes the run one of the image: its root, read-only, with the node's directories where the manifest has
// them.
func (r *run) confined(i *image, h *host) {
	GinkgoHelper()
	binds := map[string]string{
		h.bin: "/host/opt/cni/bin", h.conf: "/host/etc/cni/net.d", h.account: "/var/run/secrets/kubernetes.io/serviceaccount", "/dev": "/dev",
	}
	for from, to := range binds { // as a runtime makes them
		Expect(os.MkdirAll(i.root+to, 0o755)).To(Succeed())
		mount(from, i.root+to, "--bind")
	}
	mount(i.root, i.root, "--rbind")
	mount(i.root, i.root, "-o", "remount,bind,ro")
	r.command.Path, r.command.Args = "/entrypoint.sh", append([]string{"/entrypoint.sh"}, r.command.Args[len(h.shell)+1:]...)
	r.command.Env = []string{"PATH=/bin", "KUBERNETES_SERVICE_HOST=192.0.2.1", "KUBERNETES_SERVICE_PORT=443"}
	r.command.Dir = "/"
	r.command.SysProcAttr.Chroot = i.root
}

func mount(from, to string, how ...string) {
	GinkgoHelper()
	said(exec.Command("mount", append(how, from, to)...))
	if how[0] != "-o" {
		DeferCleanup(func() { said(exec.Command("umount", "--lazy", to)) })
	}
}

// startPowerless starts a command without any capability, on a thread that ends with the function.
func startPowerless(command *exec.Cmd) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread goes away with what it has lost
		for capability := uintptr(0); capability <= unix.CAP_LAST_CAP; capability++ {
			_ = unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0) // a kernel may know fewer
		}
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			result <- err
			return
		}
		result <- command.Start()
	}()
	return <-result
}

var _ = Describe("the image", Ordered, func() {
	var i *image

	BeforeAll(func() { i = buildImage() })

	It("holds what its users rely on, and little else (IMG-1)", func() {
		var size int64
		for _, path := range []string{"/entrypoint.sh", "/usr/src/multus-cni/bin/multus", "/usr/src/multus-cni/images/multus-daemonset.yml", "/bin/cp"} {
			info, err := os.Stat(i.root + path)
			Expect(err).NotTo(HaveOccurred())
			size += info.Size()
		}
		var files int
		Expect(filepath.WalkDir(i.root, func(_ string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() {
				files++
			}
			return err
		})).To(Succeed())
		Expect(files).To(BeNumerically("<", 20))
		Expect(size).To(BeNumerically("<", 20<<20))
		AddReportEntry("bytes", size)
	})

	It("needs no library (IMG-1)", func() {
		for _, path := range []string{"/bin/busybox", "/usr/src/multus-cni/bin/multus"} {
			file, err := elf.Open(i.root + path)
			Expect(err).NotTo(HaveOccurred())
			libraries, err := file.ImportedLibraries()
			Expect(err).NotTo(HaveOccurred())
			Expect(libraries).To(BeEmpty())
			Expect(file.Close()).To(Succeed())
		}
	})

	It("has every command that the script calls (IMG-1)", func() {
		script := content("../../images/entrypoint.sh")()
		builtin := []string{"[", "echo", "false", "kill", "printf", "test", "true"}
		for _, applet := range strings.Fields(said(exec.Command("busybox", "--list"))) {
			called := regexp.MustCompile(`(?m)(^\s*|[|;&(!{] *|\b(then|do|else|if|while|until) )` + regexp.QuoteMeta(applet) + `( |$)`)
			if called.MatchString(script) {
				Expect(append(builtin, base(i.root+"/bin")...)).To(ContainElement(applet))
			}
		}
		for _, path := range base(i.root + "/bin") {
			Expect(i.root + "/bin/" + path).To(BeAnExistingFile())
		}
	})

	It("says what it is (IMG-3)", func() {
		Expect(i.labels).To(And(
			HaveKeyWithValue("org.opencontainers.image.version", "v1.2.3"), HaveKeyWithValue("org.opencontainers.image.revision", "abc"),
			HaveKeyWithValue("org.opencontainers.image.licenses", "Apache-2.0"),
		))
	})

	It("installs with a read-only root and no capability (IMG-2, IMG-4)", func() {
		h := newHost("busybox", "ash")
		h.master("10-flannel.conflist", flannel)
		r := h.command("--rename-conf-file", "--cleanup-config-on-exit", "--namespace-isolaton")
		r.confined(i, h)
		r.follow(startPowerless)
		r.says("in place: ")
		status := content("/proc/" + strconv.Itoa(r.command.Process.Pid) + "/status")()
		Expect(status).To(MatchRegexp(`(?m)^CapEff:\s0+$`))
		Expect(status).To(MatchRegexp(`(?m)^NoNewPrivs:\s1$`))
		Expect(r.log()).To(ContainSubstring("did you mean --namespace-isolation?"))
		Expect(r.log()).NotTo(ContainSubstring("not found"))
		Expect(content(h.list())()).To(ContainSubstring(flannel))
		Expect(content(h.kubeconfig())()).To(ContainSubstring("secret-one"))
		h.write(h.account+"/token", "secret-two")
		Eventually(content(h.kubeconfig())).Should(ContainSubstring("secret-two"))
		r.stopped()
		Expect(r.log()).NotTo(ContainSubstring("not found"))
		Expect(h.snapshot()).To(And(HaveLen(2), HaveKey(h.binary()), HaveKey(h.conf+"/10-flannel.conflist")))
	})

	It("keeps the layer the same each time (IMG-3)", func() {
		info, err := os.Stat(i.root + "/entrypoint.sh")
		Expect(err).NotTo(HaveOccurred())
		Expect(info.ModTime().Unix()).To(BeZero())
	})
})

// base lists the names in a directory.
func base(dir string) []string {
	GinkgoHelper()
	entries, err := os.ReadDir(dir)
	Expect(err).NotTo(HaveOccurred())
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}
