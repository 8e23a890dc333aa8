package delegate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/containernetworking/cni/pkg/types"
	types100 "github.com/containernetworking/cni/pkg/types/100"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/delegate"
)

const chain = `{"cniVersion":"1.0.0","name":"n1","plugins":[{"type":"one"},{"type":"two"},{"type":"three"}]}`

var _ = Describe("a verb", func() {
	var exec *recorder
	var runner delegate.Runner
	ctx := context.Background()

	BeforeEach(func() {
		exec = &recorder{}
		runner = delegate.Runner{Path: []string{"/a", "/b"}, CacheDir: GinkgoT().TempDir(), Exec: exec}
	})

	It("ADD walks the chain, and each result is the next plugin's prevResult", func() {
		exec.answer = answering(map[string]string{
			"one":   `{"cniVersion":"1.0.0","ips":[{"address":"192.0.2.1/24"}]}`,
			"two":   `{"cniVersion":"1.0.0","ips":[{"address":"192.0.2.2/24"}]}`,
			"three": `{"cniVersion":"1.0.0","ips":[{"address":"192.0.2.3/24"}]}`,
		})
		result, err := runner.Add(ctx, sandbox(), attachment(chain))
		Expect(err).NotTo(HaveOccurred())
		Expect(exec.order()).To(Equal([]string{"ADD one", "ADD two", "ADD three"}))
		Expect(exec.turns[0].get("prevResult")).To(BeEmpty())
		Expect(exec.turns[1].get("prevResult")).To(ContainSubstring("192.0.2.1/24"))
		Expect(exec.turns[2].get("prevResult")).To(ContainSubstring("192.0.2.2/24"))
		Expect(json.Marshal(result)).To(ContainSubstring("192.0.2.3/24"))
	})

	It("ADD and CHECK begin with another result where one is given (ADD-6)", func() {
		exec.answer = answering(map[string]string{"one": `{"cniVersion":"1.0.0","ips":[{"address":"192.0.2.1/24"}]}`})
		before := &types100.Result{CNIVersion: "1.1.0", DNS: types.DNS{Domain: "example"}}
		_, err := runner.AddBehind(ctx, sandbox(), attachment(chain), before)
		Expect(err).NotTo(HaveOccurred())
		Expect(exec.turns[0].get("prevResult")).To(SatisfyAll(ContainSubstring(`"cniVersion":"1.0.0"`), ContainSubstring("example")))
		Expect(exec.turns[1].get("prevResult")).To(SatisfyAll(ContainSubstring("192.0.2.1/24"), Not(ContainSubstring("example"))))
		exec.turns = nil
		Expect(runner.CheckAgainst(ctx, sandbox(), attachment(chain), before)).To(Succeed())
		for _, t := range exec.turns {
			Expect(t.get("prevResult")).To(ContainSubstring("example"))
		}
	})

	It("ADD hands on a result in the version of the configuration (INV-2, E086)", func() {
		exec.answer = answering(map[string]string{"one": `{"cniVersion":"0.2.0","ip4":{"ip":"192.0.2.3/24"}}`})
		_, err := runner.Add(ctx, sandbox(), attachment(`{"cniVersion":"0.4.0","name":"n1","plugins":[{"type":"one"},{"type":"two"}]}`))
		Expect(err).NotTo(HaveOccurred())
		Expect(exec.turns[1].get("prevResult")).To(SatisfyAll(
			ContainSubstring(`"cniVersion":"0.4.0"`), ContainSubstring(`"address":"192.0.2.3/24"`)))
	})

	It("ADD stops at the plugin that fails, and caches nothing", func() {
		exec.answer = func(t turn) ([]byte, error) {
			if t.plugin == "two" {
				return nil, types.NewError(101, "no lease", "pool empty")
			}
			return nil, nil
		}
		_, err := runner.Add(ctx, sandbox(), attachment(chain))
		Expect(err).To(MatchError("plugin two: ADD: no lease"))
		Expect(exec.order()).To(Equal([]string{"ADD one", "ADD two"}))
		Expect(runner.CachedResult(sandbox(), attachment(chain))).To(BeNil())
	})

	It("DEL runs backwards and gives the cached result to each plugin", func() {
		exec.answer = answering(map[string]string{"three": `{"cniVersion":"1.0.0","ips":[{"address":"192.0.2.3/24"}]}`})
		_, err := runner.Add(ctx, sandbox(), attachment(chain))
		Expect(err).NotTo(HaveOccurred())
		exec.turns = nil
		Expect(runner.Del(ctx, sandbox(), attachment(chain))).To(Succeed())
		Expect(exec.order()).To(Equal([]string{"DEL three", "DEL two", "DEL one"}))
		for _, t := range exec.turns {
			Expect(t.get("prevResult")).To(ContainSubstring("192.0.2.3/24"))
		}
	})

	It("DEL of a version before 0.4.0 gets no prevResult", func() {
		old := attachment(`{"cniVersion":"0.3.1","name":"n1","type":"one"}`)
		_, err := runner.Add(ctx, sandbox(), old)
		Expect(err).NotTo(HaveOccurred())
		Expect(runner.Del(ctx, sandbox(), old)).To(Succeed())
		Expect(exec.turns[1].get("prevResult")).To(BeEmpty())
	})

	It("DEL goes on after a plugin that fails, keeps all errors, and the cached result (DEL-3, E037, E085)", func() {
		_, err := runner.Add(ctx, sandbox(), attachment(chain))
		Expect(err).NotTo(HaveOccurred())
		exec.turns = nil
		exec.answer = func(t turn) ([]byte, error) {
			switch t.plugin {
			case "three":
				return nil, types.NewError(types.ErrIncompatibleCNIVersion, "incompatible CNI versions", `config is "1.0.0"`)
			case "two":
				return nil, types.NewError(101, "busy", "")
			}
			return nil, nil
		}
		err = runner.Del(ctx, sandbox(), attachment(chain))
		Expect(err).To(MatchError(SatisfyAll(
			ContainSubstring("plugin three: DEL: incompatible CNI versions"), ContainSubstring("plugin two: DEL: busy"))))
		Expect(exec.order()).To(Equal([]string{"DEL three", "DEL two", "DEL one"}))
		Expect(runner.CachedResult(sandbox(), attachment(chain))).NotTo(BeNil())

		exec.answer = nil
		Expect(runner.Del(ctx, sandbox(), attachment(chain))).To(Succeed())
		Expect(runner.CachedResult(sandbox(), attachment(chain))).To(BeNil())
	})

	It("DEL is done with a plugin that refuses the version, where the ADD never came to its end (E085)", func() {
		exec.answer = func(t turn) ([]byte, error) {
			if t.plugin == "two" {
				return nil, types.NewError(types.ErrIncompatibleCNIVersion, "incompatible CNI versions", "")
			}
			return nil, nil
		}
		Expect(runner.Del(ctx, sandbox(), attachment(chain))).To(Succeed())
		Expect(exec.order()).To(Equal([]string{"DEL three", "DEL two", "DEL one"}))
	})

	It("DEL succeeds again on what is detached (DEL-5)", func() {
		Expect(runner.Del(ctx, sandbox(), attachment(chain))).To(Succeed())
		Expect(runner.Del(ctx, sandbox(), attachment(chain))).To(Succeed())
	})

	DescribeTable("DEL does without a cached result that cannot be read (E038)",
		func(text string) {
			results := filepath.Join(runner.CacheDir, "results")
			Expect(os.MkdirAll(results, 0o700)).To(Succeed())
			Expect(os.WriteFile(filepath.Join(results, "n1-c1-net1"), []byte(text), 0o600)).To(Succeed())
			Expect(runner.Del(ctx, sandbox(), attachment(chain))).To(Succeed())
			Expect(exec.turns).To(HaveLen(3))
			Expect(exec.turns[0].get("prevResult")).To(BeEmpty())
			Expect(os.ReadDir(results)).To(BeEmpty())
		},
		Entry("empty", ""),
		Entry("cut off", `{"kind":"cniCacheV1","resu`),
		Entry("without a result", `{"kind":"cniCacheV1"}`),
		Entry("with null entries", `{"kind":"cniCacheV1","result":{"cniVersion":"0.4.0","ips":[null],"interfaces":[null],"routes":[null]}}`),
	)

	It("CHECK runs forwards with the cached result (CHK-1)", func() {
		exec.answer = answering(map[string]string{"three": `{"cniVersion":"1.0.0","ips":[{"address":"192.0.2.3/24"}]}`})
		_, err := runner.Add(ctx, sandbox(), attachment(chain))
		Expect(err).NotTo(HaveOccurred())
		exec.turns = nil
		Expect(runner.Check(ctx, sandbox(), attachment(chain))).To(Succeed())
		Expect(exec.order()).To(Equal([]string{"CHECK one", "CHECK two", "CHECK three"}))
		for _, t := range exec.turns {
			Expect(t.get("prevResult")).To(ContainSubstring("192.0.2.3/24"))
		}
	})

	It("CHECK stops at the plugin that fails", func() {
		exec.answer = func(turn) ([]byte, error) { return nil, types.NewError(102, "link is gone", "") }
		Expect(runner.Check(ctx, sandbox(), attachment(chain))).To(MatchError("plugin one: CHECK: link is gone"))
		Expect(exec.turns).To(HaveLen(1))
	})

	DescribeTable("CHECK runs no plugin where the network takes none (CHK-1, E080)",
		func(text string) {
			Expect(runner.Check(ctx, sandbox(), attachment(text))).To(MatchError(delegate.ErrNoCheck))
			Expect(exec.turns).To(BeEmpty())
		},
		Entry("0.3.1", `{"cniVersion":"0.3.1","name":"n1","type":"one"}`),
		Entry("no version", `{"name":"n1","type":"one"}`),
		Entry("disableCheck", `{"cniVersion":"1.0.0","name":"n1","disableCheck":true,"plugins":[{"type":"one"}]}`),
	)

	It("keeps a plugin's code, message and details (INV-5)", func() {
		exec.answer = func(turn) ([]byte, error) { return nil, types.NewError(101, "no lease", "pool empty") }
		_, err := runner.Add(ctx, sandbox(), attachment(chain))
		var failed *delegate.Error
		Expect(errors.As(fmt.Errorf("network n1: %w", err), &failed)).To(BeTrue())
		Expect(*failed).To(Equal(delegate.Error{
			Network: "blue/n1", Plugin: "one", Verb: "ADD", Code: 101, Msg: "no lease", Details: "pool empty",
		}))
		Expect(failed.CNICode()).To(BeEquivalentTo(101))
		Expect(failed.CNIDetails()).To(Equal("pool empty"))
	})

	It("leaves no *types.Error in the chain, which skel would print in place of ours", func() {
		exec.answer = func(turn) ([]byte, error) { return nil, types.NewError(101, "no lease", "") }
		_, err := runner.Add(ctx, sandbox(), attachment(chain))
		var object *types.Error
		Expect(errors.As(err, &object)).To(BeFalse())
	})

	DescribeTable("ADD refuses names that would leave the cache directory, before it runs anything (SEC-2)",
		func(containerID, ifname string) {
			box, a := sandbox(), attachment(chain)
			box.ContainerID, a.Interface = containerID, ifname
			_, err := runner.Add(ctx, box, a)
			Expect(err).To(MatchError(ContainSubstring("result cache")))
			Expect(exec.turns).To(BeEmpty())
		},
		Entry("container ID", "../../x", "net1"),
		Entry("interface", "c1", "../net1"),
		Entry("no interface", "c1", ""),
		Entry("no container ID", "", "net1"),
	)
})
