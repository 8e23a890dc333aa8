package netns

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

// podmanLife is a container's, whose root has the node's programs. It prints the interfaces that the container has.
const podmanLife = `set -eu
mount -t cgroup2 none /sys/fs/cgroup
for link in bin lib lib64 sbin; do ln -s "usr/$link" "$DIR/root/$link"; done
run() { podman --root "$DIR/storage" --runroot "$DIR/run" --storage-driver vfs "$@"; }
trap 'run rm --force --time 0 web >/dev/null' EXIT
run run --detach --name web --network node-net --ulimit nofile=1024:1024 --ulimit nproc=1024:1024 \
	--volume /usr:/usr:ro --rootfs "$DIR/root" sleep infinity >/dev/null
nsenter --net="$(run inspect --format '{{.NetworkSettings.SandboxKey}}' web)" ip -brief address
`

const podmanConfig = `[network]
network_backend = "cni"
cni_plugin_dirs = ["%DIR%/opt"]
network_config_dir = "%DIR%/etc"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
[containers]
cgroups = "disabled"
`

var _ = It("podman gives a container the configured networks, and takes them away, without Kubernetes (INV-7)", func() {
	b := newBench()
	own := b.Config(node.Config{"binDir": plugins, "delegates": []any{raw(named("main", list(bridged))), raw(named("second", leased))}})
	b.install("10-multus.conflist", node.Config{"cniVersion": "1.0.0", "name": "node-net", "plugins": []any{own}}.String())
	config := filepath.Join(b.Dir, "containers.conf")
	Expect(os.WriteFile(config, []byte(strings.ReplaceAll(podmanConfig, "%DIR%", b.Dir)), 0o600)).To(Succeed())
	Expect(os.Mkdir(filepath.Join(b.Dir, "root"), 0o755)).To(Succeed())

	cmd := exec.Command("sh", "-c", podmanLife)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.Dir, "DIR=" + b.Dir, "CONTAINERS_CONF=" + config}
	outcome := b.wait(cmd)
	Expect(outcome.Exit).To(Equal(0), outcome.String())
	Expect(outcome.Stdout).To(And(MatchRegexp(`(?m)^eth0@\S+ .*10\.1\.0\.\d+/24`), MatchRegexp(`(?m)^net1@\S+ .*192\.0\.2\.\d+/24`)))
	b.nothingOnNode()
	Expect(b.API.Count(fake.Any)).To(BeZero())
})
