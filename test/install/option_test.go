package install

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// options lists every option of the contract.
func options() []string {
	return strings.Fields(`cni-bin-dir cni-conf-dir cni-version force-cni-version multus-conf-file multus-bin-file
		skip-multus-binary-copy multus-kubeconfig-file-host multus-master-cni-file-name multus-autoconfig-dir
		multus-cni-conf-dir namespace-isolation global-namespaces multus-log-to-stderr multus-log-level multus-log-file
		override-network-name cleanup-config-on-exit skip-config-watch force-config-watch rename-conf-file
		readiness-indicator-file additional-bin-dir skip-tls-verify uninstall restart-crio`)
}

// generated reads our configuration.
func (h *host) generated() map[string]any {
	GinkgoHelper()
	var read map[string]any
	Expect(json.Unmarshal([]byte(content(h.single())()), &read)).To(Succeed())
	return read
}

var _ = inEachShell("the options of the entrypoint", func(shell ...string) {
	var h *host

	BeforeEach(func() {
		h = newHost(shell...)
		h.master("10-old.conf", old)
	})

	It("are explained, all of them (ENT-10, ENT-11)", func() {
		for _, spelling := range []string{"--help", "-h"} {
			r := h.command(spelling)
			Expect(r.command.Run()).To(Succeed())
			for _, option := range options() {
				Expect(r.log()).To(ContainSubstring("--"+option), option)
			}
		}
	})

	It("are known, all of them (ENT-11, E031)", func() {
		for _, option := range options() {
			value := "true"
			switch {
			case strings.HasSuffix(option, "-dir"), strings.HasSuffix(option, "-file"), strings.HasSuffix(option, "-host"):
				value = "/none"
			}
			r := h.command("--"+option+"="+value, "--cni-bin-dir=/none/either")
			Expect(r.command.Run()).NotTo(Succeed())
			Expect(r.log()).NotTo(ContainSubstring("warning"), option)
		}
	})

	DescribeTable("reach the configuration in each spelling (ENT-11, E031)",
		func(want map[string]any, args ...string) {
			h.installed(args...)
			got := h.generated()
			for key, value := range want {
				if value == nil {
					Expect(got).NotTo(HaveKey(key))
				} else {
					Expect(got).To(HaveKeyWithValue(key, value))
				}
			}
		},
		Entry("value after =", isolated(), "--namespace-isolation=true", "--global-namespaces=default,blue"),
		Entry("value as the next argument", isolated(), "--namespace-isolation", "true", "--global-namespaces", "default,blue"),
		Entry("bare boolean", isolated(), "--namespace-isolation", "--global-namespaces=default,blue"),
		Entry("bare boolean at the end", isolated(), "--global-namespaces=default,blue", "--namespace-isolation"),
		Entry("the last of several counts", isolated(), "--namespace-isolation=false", "--namespace-isolation=T", "--global-namespaces=x", "--global-namespaces=default,blue"),
		Entry("a boolean word after a bare one", map[string]any{"namespaceIsolation": nil}, "--namespace-isolation", "FALSE", "--skip-tls-verify"),
		Entry("0", map[string]any{"logToStderr": false}, "--multus-log-to-stderr", "0"),
		Entry("the log", map[string]any{"logLevel": "debug", "logFile": "/var/log/multus.log", "logToStderr": nil}, "--multus-log-level", "debug", "--multus-log-file=/var/log/multus.log"),
		Entry("directories", map[string]any{"confDir": "/c", "binDir": "/b"}, "--multus-cni-conf-dir=/c", "--additional-bin-dir=/b"),
		Entry("the path of the kubeconfig on the node", map[string]any{"kubeconfig": "/k"}, "--multus-kubeconfig-file-host=/k"),
		Entry("defaults", map[string]any{
			"kubeconfig": "/etc/cni/net.d/multus.d/multus.kubeconfig", "name": "multus-cni-network", "cniVersion": "0.3.1", "confDir": nil, "binDir": nil, "logLevel": nil,
		}),
		Entry("a version", map[string]any{"cniVersion": "0.4.0"}, "--cni-version=0.4.0"),
		Entry("the master's name", map[string]any{"name": "older"}, "--override-network-name"),
		Entry("=, blanks, quotes and backslashes in a value", map[string]any{"readinessindicatorfile": `/a b/="c"'d'\e$(f)*`}, `--readiness-indicator-file=/a b/="c"'d'\e$(f)*`),
		Entry("such a value as the next argument", map[string]any{"readinessindicatorfile": `--x=y z`}, "--readiness-indicator-file", `--x=y z`),
	)

	It("that nobody knows are warned of, with the nearest known one (ENT-10, E031)", func() {
		r := h.installed("--namespace-isolaton", "true", "--logfile=/secret", "--cni-conf-dirs", h.conf, "--multus-autoconf-dir=x", "-x", "--x y=z", "--restart-crio=true", "--force-cni-version")
		for unknown, known := range map[string]string{
			"namespace-isolaton": "namespace-isolation", "cni-conf-dirs": "cni-conf-dir", "multus-autoconf-dir": "multus-autoconfig-dir",
		} {
			Expect(r.log()).To(ContainSubstring("no option --" + unknown + ", going on without; did you mean --" + known + "?"))
		}
		Expect(r.log()).To(ContainSubstring("no option --logfile,"))
		Expect(r.log()).To(ContainSubstring("no option: -x"))
		Expect(r.log()).NotTo(ContainSubstring("/secret"))
		Expect(r.log()).NotTo(ContainSubstring("restart-crio"))
		Expect(h.generated()).NotTo(HaveKey("namespaceIsolation"))
	})

	It("make a kubeconfig that trusts any server (ENT-11)", func() {
		Expect(os.Remove(h.account + "/ca.crt")).To(Succeed())
		h.installed("--skip-tls-verify")
		Expect(content(h.kubeconfig())()).To(ContainSubstring("insecure-skip-tls-verify: true"))
	})

	It("set another directory to find the master in, and both are watched (ENT-7, ENT-11)", func() {
		dir := GinkgoT().TempDir()
		Expect(os.Rename(h.conf+"/10-old.conf", dir+"/10-old.conf")).To(Succeed())
		h.installed("--multus-autoconfig-dir", dir)
		Expect(os.Remove(h.single())).To(Succeed())
		Eventually(h.single()).Should(BeAnExistingFile())
		h.write(dir+"/05-calico.conflist", calico)
		Eventually(content(h.list())).Should(ContainSubstring(calico))
	})

	It("that would make the node read another kubeconfig are warned of (ENT-11, E136)", func() {
		Expect(h.installed().log()).NotTo(ContainSubstring("the node will read"))
		Expect(h.installed("--multus-kubeconfig-file-host=/etc/other/multus.kubeconfig").log()).To(ContainSubstring("the node will read /etc/other"))
	})
})

func isolated() map[string]any {
	return map[string]any{"namespaceIsolation": true, "globalNamespaces": "default,blue"}
}

var _ = inEachShell("trouble", func(shell ...string) {
	var h *host

	BeforeEach(func() {
		h = newHost(shell...)
		h.master("10-flannel.conflist", flannel)
	})

	DescribeTable("is told with what to do, and leaves the node as it was (ENT-2, ENT-10)",
		func(hint string, prepare func() []string) {
			h.installed().stopped()
			options := prepare()
			before := h.snapshot()
			r := h.start(options...)
			Expect(r.ends()).To(Equal(1), r.log())
			Expect(r.log()).To(MatchRegexp(`(?m)^\S+ error: .*` + hint))
			Expect(r.log()).NotTo(ContainSubstring("secret"))
			Expect(h.snapshot()).To(Equal(before))
		},
		Entry("no token (ENT-6, E124)", "token: .*service account mounted", func() []string { return h.without(h.account + "/token") }),
		Entry("an empty token (ENT-6, E124)", "token is empty", func() []string { return h.with(h.account+"/token", "") }),
		Entry("no CA (ENT-6)", "CA bundle", func() []string { return h.without(h.account + "/ca.crt") }),
		Entry("no service address (ENT-6, E124)", "KUBERNETES_SERVICE_HOST", func() []string {
			h.environ = append(h.environ, "KUBERNETES_SERVICE_HOST=")
			return nil
		}),
		Entry("no service port (ENT-6, E124)", "KUBERNETES_SERVICE_PORT", func() []string {
			h.environ = append(h.environ, "KUBERNETES_SERVICE_PORT=")
			return nil
		}),
		Entry("a missing binary directory", "mount the node", func() []string { return []string{"--cni-bin-dir=/none"} }),
		Entry("a missing configuration directory", "mount the node", func() []string { return []string{"--cni-conf-dir", "/none"} }),
		Entry("a missing binary (ENT-3)", "--multus-bin-file", func() []string { return []string{"--multus-bin-file=/none"} }),
		Entry("a binary that does not run (ENT-3)", "another architecture", func() []string {
			path := GinkgoT().TempDir() + "/multus"
			Expect(os.WriteFile(path, []byte("\x7fELF not for this machine"), 0o755)).To(Succeed())
			return []string{"--multus-bin-file", path}
		}),
		Entry("a version that nobody speaks", "cniVersion", func() []string { return []string{"--cni-version=3"} }),
		Entry("a log level that there is not", "logLevel", func() []string { return []string{"--multus-log-level=loud"} }),
		Entry("a configuration that is not there (ENT-4)", "no such file", func() []string { return []string{"--multus-conf-file=/none.conf"} }),
		Entry("a half-written configuration (ENT-4)", "not valid JSON", func() []string {
			path := GinkgoT().TempDir() + "/a.conf"
			return h.with(path, half, "--multus-conf-file="+path)
		}),
		Entry("a flag that is neither true nor false (ENT-11)", "--skip-config-watch: must be true or false", func() []string { return []string{"--skip-config-watch=maybe"} }),
		Entry("an option without its value (ENT-11)", "--cni-version: needs a value", func() []string { return []string{"--cni-version"} }),
		Entry("a master named with a directory", "without directory", func() []string { return []string{"--multus-master-cni-file-name=../x"} }),
	)

	It("with a full disk keeps what is there (ENT-2, ENT-10)", func() {
		Expect(exec.Command("mount", "-t", "tmpfs", "-o", "size=16k", "multus-test", h.conf).Run()).To(Succeed())
		DeferCleanup(func() { Expect(exec.Command("umount", "-l", h.conf).Run()).To(Succeed()) })
		h.master("10-flannel.conflist", flannel)
		h.installed().stopped()
		filler, err := os.Create(h.conf + "/filler")
		Expect(err).NotTo(HaveOccurred())
		for err == nil {
			_, err = filler.WriteString("x")
		}
		Expect(filler.Close()).To(Succeed())
		before := h.snapshot()
		r := h.start("--multus-log-level=debug")
		Expect(r.ends()).To(Equal(1), r.log())
		Expect(r.log()).To(ContainSubstring("error: cannot write " + h.list()))
		Expect(h.snapshot()).To(Equal(before))
	})

	DescribeTable("with a system call keeps what is there (ENT-2, ENT-10)",
		func(fault string) {
			h.installed().stopped()
			before := h.snapshot()
			r := h.command("--cni-bin-dir="+h.bin, "--cni-conf-dir="+h.conf, "--multus-autoconfig-dir="+h.conf, "--multus-bin-file="+binary, "--multus-log-level=debug")
			strace, err := exec.LookPath("strace")
			Expect(err).NotTo(HaveOccurred(), "apt-get install strace")
			r.command.Args = append([]string{strace, "-f", "-qq", "-o", "/dev/null", "-e", "inject=" + fault}, r.command.Args...)
			r.command.Path = strace
			r.follow((*exec.Cmd).Start)
			Expect(r.ends()).To(Equal(1), r.log())
			Expect(r.log()).To(ContainSubstring("error: cannot write " + h.list()))
			Expect(h.snapshot()).To(Equal(before))
		},
		Entry("fsync", "fsync,fdatasync:error=EIO"),
		Entry("rename", "/^rename:error=EIO"),
		Entry("chmod", "/^f?chmod:error=EPERM"),
	)

	It("with a read-only binary directory is none, if the binary is there (ENT-2)", func() {
		h.installed().stopped()
		Expect(exec.Command("mount", "--bind", h.bin, h.bin).Run()).To(Succeed())
		DeferCleanup(func() { Expect(exec.Command("umount", "-l", h.bin).Run()).To(Succeed()) })
		Expect(exec.Command("mount", "-o", "remount,bind,ro", h.bin).Run()).To(Succeed())
		h.installed().stopped()
		other := GinkgoT().TempDir() + "/multus"
		Expect(os.WriteFile(other, []byte("#!/bin/sh\nexec "+binary+" \"$@\"\n"), 0o755)).To(Succeed())
		r := h.start("--multus-bin-file=" + other)
		Expect(r.ends()).To(Equal(1), r.log())
		Expect(r.log()).To(ContainSubstring("error: cannot write " + h.binary()))
	})

	DescribeTable("with the address of the API server is none (ENT-6, E131)",
		func(address, server string) {
			h.environ = append(h.environ, "KUBERNETES_SERVICE_HOST="+address)
			h.installed()
			Expect(content(h.kubeconfig())()).To(ContainSubstring(`server: "` + server + `"`))
		},
		Entry(nil, "2001:db8::1", "https://[2001:db8::1]:443"),
		Entry(nil, "[2001:db8::1]", "https://[2001:db8::1]:443"),
		Entry(nil, "api.example.com", "https://api.example.com:443"),
	)
})

// without removes a file, with writes one; they give the options to go on with.
func (h *host) without(path string) []string {
	GinkgoHelper()
	Expect(os.Remove(path)).To(Succeed())
	return nil
}

func (h *host) with(path, text string, options ...string) []string {
	GinkgoHelper()
	h.write(path, text)
	return options
}
