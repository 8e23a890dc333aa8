package exec

import (
	"os"
	"path/filepath"
	"syscall"

	"github.com/containernetworking/cni/pkg/types"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"

	"github.com/seed-2ba21eab/multus-cni/test/fake"
	"github.com/seed-2ba21eab/multus-cni/test/fake/node"
)

var _ = Describe("the readiness file (ADD-1)", func() {
	var b *bench
	var box node.Sandbox
	var file string
	var config node.Config
	BeforeEach(func() {
		b = newBench()
		box = b.pod("web-0", "")
		file = filepath.Join(b.Dir, "ready")
		config = node.Config{"readinessindicatorfile": file}
	})
	appear := func() { Expect(os.WriteFile(file, nil, 0o600)).To(Succeed()) }

	It("is looked at once if it is there, and not at all if none is configured (E107)", func() {
		appear()
		looks := func(path string, change node.Config) int {
			return len(ofPath(path, b.traced("newfstatat,statx", "ADD", b.sandbox(), change)))
		}
		Expect(looks(file, config)).To(Equal(1))
		Expect(looks(file, nil)).To(Equal(0))
		Expect(looks("", nil)).To(Equal(0))
	})

	It("is waited for, before anything else; when it appears ADD goes on (E110)", func() {
		add := b.start("ADD", box, config)
		Eventually(add.stderr).Should(gbytes.Say("waiting for the default network pod=blue/web-0 readinessindicatorfile=" + file))
		Expect(b.API.Count(fake.Any)).To(BeZero())
		Expect(b.calls("ADD")).To(BeEmpty())
		appear()
		outcome := add.wait()
		Expect(outcome.Exit).To(Equal(0), outcome.String())
		Expect(b.calls("ADD")).To(Equal([]string{"ADD master eth0"}))
	})

	It("is no longer waited for after a signal; the error has code 11, the file and the time waited (INV-6, E109)", func() {
		add := b.start("ADD", box, config)
		Eventually(add.stderr).Should(gbytes.Say("waiting for the default network"))
		add.signal(syscall.SIGTERM)
		outcome := b.cancelled(add)
		Expect(outcome.Error().Code).To(BeEquivalentTo(types.ErrTryAgainLater))
		Expect(outcome.Error().Msg).To(MatchRegexp(`^pod blue/web-0: the default network is not ready: readinessindicatorfile ` + file + ` is still missing after \d+s`))
		Expect(b.calls("ADD", "DEL")).To(BeEmpty())
	})

	It("does not matter to DEL", func() {
		appear()
		b.add(box, config)
		Expect(os.Remove(file)).To(Succeed())
		b.del(box, config)
		b.expectNoState()
	})
})
