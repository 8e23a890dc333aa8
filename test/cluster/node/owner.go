package node

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// ofPods says that a process is there for a pod of this node: a shim or runc, which outlive the runtime, a CNI plugin, or one
// in a container.
func (n *Node) ofPods(pid int) bool {
	return n.runsContainer(pid) || n.isPlugin(pid) || n.isContained(pid)
}

func (n *Node) runsContainer(pid int) bool {
	line := commandLine(pid)
	program, _, _ := bytes.Cut(line, []byte{0})
	ours := []string{"containerd-shim-runc-v2", "runc"}
	return slices.Contains(ours, filepath.Base(string(program))) && bytes.Contains(line, []byte(n.dir+"/"))
}

// isPlugin knows a plugin by what it is called with.
func (n *Node) isPlugin(pid int) bool {
	environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return bytes.Contains(environ, []byte("CNI_COMMAND=")) && bytes.Contains(environ, []byte("="+n.Path("cni", "bin")))
}

// isContained looks at where the process's root file system is kept.
func (n *Node) isContained(pid int) bool {
	mounts, _ := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
	for line := range bytes.Lines(mounts) {
		fields := bytes.Fields(line)
		if len(fields) > 4 && string(fields[4]) == "/" {
			return bytes.Contains(line, []byte(n.dir+"/"))
		}
	}
	return false
}

// commandLine has a zero byte after each word. It is empty for a process that is gone.
func commandLine(pid int) []byte {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return line
}
