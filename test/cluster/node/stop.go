package node

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Stop takes all down, in whatever state it is, and removes the directory. What cannot be undone is an error; the rest is
// undone all the same.
func (n *Node) Stop() error {
	var errs []error
	note := func(err error) { errs = append(errs, err) }
	note(n.killRecorded(Kubelet))
	containers := n.containers()
	for _, name := range []string{APIServer, Etcd, Containerd} {
		note(n.killRecorded(name))
	}
	note(n.killEach(n.ofPods))
	note(n.unmount())
	note(n.deleteNamespace())
	note(n.removeElsewhere(containers))
	note(os.RemoveAll(n.dir))
	note(n.release())
	return errors.Join(errs...)
}

// killRecorded ends a component, also one that another process of ours started and left.
func (n *Node) killRecorded(name string) error {
	if n.running[name] != nil {
		return n.Kill(name)
	}
	text, err := os.ReadFile(n.Path(name + ".pid"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		return err
	}
	if !bytes.Contains(commandLine(pid), []byte(n.dir+"/")) {
		return nil // the number is somebody else's by now
	}
	return kill(pid)
}

// killEach ends all processes that are chosen, without asking them.
func (n *Node) killEach(chosen func(pid int) bool) error {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	var errs []error
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err == nil && pid != os.Getpid() && chosen(pid) {
			errs = append(errs, kill(pid))
		}
	}
	return errors.Join(errs...)
}

// kill ends a process that need not be a child of ours, and waits until it has let go of all it holds.
func kill(pid int) error {
	handle, err := unix.PidfdOpen(pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(handle)
	if err := unix.PidfdSendSignal(handle, syscall.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return err
	}
	for {
		_, err = unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, int(Wait.Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// containers are the IDs of all that the runtime has, while its state can still be read, and of those that its log names.
// There may be other names among them, which is harmless.
func (n *Node) containers() []string {
	log, _ := os.ReadFile(n.Path("logs", Containerd+".log"))
	names := regexp.MustCompile(`\b[0-9a-f]{64}\b`).FindAllString(string(log), -1)
	for _, pattern := range []string{
		n.Path("containerd", "state", "io.containerd.runtime.v2.task", "k8s.io", "*"),
		n.Path("containerd", "root", "io.containerd.grpc.v1.cri", "*", "*"),
	} {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			names = append(names, filepath.Base(path))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// unmount undoes all mounts below the directory, the innermost first.
func (n *Node) unmount() error {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSpace(string(mounts)), "\n")
	var errs []error
	for i := len(lines) - 1; i >= 0; i-- {
		target := strings.Fields(lines[i])[1]
		if strings.HasPrefix(target, n.dir+"/") {
			errs = append(errs, unix.Unmount(target, unix.MNT_DETACH))
		}
	}
	return errors.Join(errs...)
}

func (n *Node) deleteNamespace() error {
	if _, err := os.Stat(n.NetNS()); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return run("ip", "netns", "del", filepath.Base(n.dir))
}

// removeElsewhere removes what the runtime keeps outside of the directory: control groups, its record of CNI results, and
// sockets of shims that were killed.
func (n *Node) removeElsewhere(containers []string) error {
	var errs []error
	for _, id := range containers {
		for _, pattern := range []string{
			"/sys/fs/cgroup/k8s.io/" + id,
			"/sys/fs/cgroup/*/k8s.io/" + id,
			"/var/lib/cni/results/*-" + id + "-*",
			"/run/containerd/runc/k8s.io/" + id + "/*",
			fmt.Sprintf("/run/containerd/s/%x", sha256.Sum256([]byte(filepath.Join(n.containerdSocket(), "k8s.io", id)))),
		} {
			found, err := filepath.Glob(pattern)
			errs = append(errs, err)
			for _, path := range found {
				errs = append(errs, os.Remove(path))
			}
		}
	}
	removeIfEmpty("/sys/fs/cgroup/k8s.io", "/sys/fs/cgroup/*/k8s.io", "/var/lib/cni/results", "/var/lib/cni",
		"/run/containerd/runc/k8s.io/*", "/run/containerd/runc/k8s.io", "/run/containerd/runc", "/run/containerd/s", "/run/containerd")
	return errors.Join(errs...)
}

// removeIfEmpty removes directories that nobody else uses.
func removeIfEmpty(patterns ...string) {
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern)
		for _, path := range found {
			_ = unix.Rmdir(path)
		}
	}
}
