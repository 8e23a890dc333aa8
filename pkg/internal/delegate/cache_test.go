package delegate_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/containernetworking/cni/libcni"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/delegate"
)

const addressed = `{"cniVersion":"1.0.0","interfaces":[{"name":"net1","mtu":1400,"sandbox":"/x"}],"ips":[{"address":"192.0.2.3/24"}]}`

var _ = Describe("the result cache", func() {
	var exec *recorder
	var runner delegate.Runner
	var results string
	ctx := context.Background()
	single := attachment(single)
	single.Args = [][2]string{{"K8S_POD_NAME", "web-0"}, {"A", "1"}}
	single.CapabilityArgs = map[string]json.RawMessage{"bandwidth": json.RawMessage(`{"ingressRate":12345678901234567890}`)}
	list, err := libcni.NetworkConfFromBytes([]byte(`{"cniVersion":"1.0.0","name":"n1","plugins":[{"type":"one"}]}`))
	if err != nil {
		panic(err)
	}

	BeforeEach(func() {
		exec = &recorder{answer: func(turn) ([]byte, error) { return []byte(addressed), nil }}
		runner = delegate.Runner{CacheDir: GinkgoT().TempDir(), Exec: exec}
		results = filepath.Join(runner.CacheDir, "results")
	})

	plant := func(name, text string) {
		Expect(os.MkdirAll(results, 0o700)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(results, name), []byte(text), 0o600)).To(Succeed())
	}

	names := func() []string {
		entries, err := os.ReadDir(results)
		Expect(err).NotTo(HaveOccurred())
		var names []string
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		return names
	}

	It("can be read by libcni", func() {
		_, err := runner.Add(ctx, sandbox(), single)
		Expect(err).NotTo(HaveOccurred())
		cni := libcni.NewCNIConfigWithCacheDir(nil, runner.CacheDir, nil)
		rt := &libcni.RuntimeConf{ContainerID: "c1", IfName: "net1"}

		result, err := cni.GetNetworkListCachedResult(list, rt)
		Expect(err).NotTo(HaveOccurred())
		Expect(json.Marshal(result)).To(MatchJSON(addressed))

		attachments, err := cni.GetCachedAttachments("c1")
		Expect(err).NotTo(HaveOccurred())
		Expect(attachments).To(HaveLen(1))
		Expect(attachments[0].Network).To(Equal("n1"))
		Expect(attachments[0].IfName).To(Equal("net1"))
		Expect(attachments[0].NetNS).To(Equal("/run/netns/x"))
		Expect(attachments[0].CniArgs).To(Equal(single.Args))
		Expect(attachments[0].CapabilityArgs).To(HaveKey("bandwidth"))
		Expect(libcni.NetworkConfFromBytes(attachments[0].Config)).To(HaveField("Name", "n1"))
	})

	It("can be read when libcni wrote it", func() {
		cni := libcni.NewCNIConfigWithCacheDir(nil, runner.CacheDir, exec)
		_, err := cni.AddNetworkList(ctx, list, &libcni.RuntimeConf{ContainerID: "c1", IfName: "net1", NetNS: "/x", Args: single.Args})
		Expect(err).NotTo(HaveOccurred())
		result, err := runner.CachedResult(sandbox(), single)
		Expect(err).NotTo(HaveOccurred())
		Expect(json.Marshal(result)).To(MatchJSON(addressed))
		Expect(runner.CachedAttachments("c1")).To(ConsistOf(HaveField("Args", single.Args)))
	})

	It("can be read in the form of an older libcni, which is the bare result", func() {
		plant("n1-c1-net1", addressed)
		result, err := runner.CachedResult(sandbox(), single)
		Expect(err).NotTo(HaveOccurred())
		Expect(json.Marshal(result)).To(MatchJSON(addressed))
		Expect(runner.CachedAttachments("c1")).To(BeEmpty())
	})

	It("is for root alone (SEC-2, E130)", func() {
		_, err := runner.Add(ctx, sandbox(), single)
		Expect(err).NotTo(HaveOccurred())
		dir, err := os.Stat(results)
		Expect(err).NotTo(HaveOccurred())
		Expect(dir.Mode().Perm()).To(BeEquivalentTo(0o700))
		file, err := os.Stat(filepath.Join(results, "n1-c1-net1"))
		Expect(err).NotTo(HaveOccurred())
		Expect(file.Mode().Perm()).To(BeEquivalentTo(0o600))
	})

	It("has no temporary file after ADD, and none of a killed ADD after DEL", func() {
		_, err := runner.Add(ctx, sandbox(), single)
		Expect(err).NotTo(HaveOccurred())
		Expect(names()).To(Equal([]string{"n1-c1-net1"}))
		plant(".c1-net1", `{"kind":`)
		Expect(runner.Del(ctx, sandbox(), single)).To(Succeed())
		Expect(names()).To(BeEmpty())
	})

	It("keeps the earlier entry if it cannot write, and fails ADD", func() {
		_, err := runner.Add(ctx, sandbox(), single)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.Mkdir(filepath.Join(results, ".c1-net1"), 0o700)).To(Succeed()) // in the temporary file's place
		exec.answer = nil
		_, err = runner.Add(ctx, sandbox(), single)
		Expect(err).To(MatchError(ContainSubstring("caching the result")))
		result, err := runner.CachedResult(sandbox(), single)
		Expect(err).NotTo(HaveOccurred())
		Expect(json.Marshal(result)).To(MatchJSON(addressed))
	})

	It("gives the result in the configuration's version, an empty one too (INV-2)", func() {
		old := attachment(`{"cniVersion":"0.2.0","name":"n1","type":"one"}`)
		for _, output := range []string{addressed, `{"cniVersion":"1.1.0"}`} {
			exec.answer = func(turn) ([]byte, error) { return []byte(output), nil }
			_, err := runner.Add(ctx, sandbox(), old)
			Expect(err).NotTo(HaveOccurred())
			result, err := runner.CachedResult(sandbox(), old)
			Expect(err).NotTo(HaveOccurred())
			Expect(result.Version()).To(Equal("0.2.0"))
		}
	})

	It("takes a changed result in place of the old one (ADD-7)", func() {
		result, err := runner.Add(ctx, sandbox(), single)
		Expect(err).NotTo(HaveOccurred())
		changed, err := delegate.Convert(result, "0.4.0")
		Expect(err).NotTo(HaveOccurred())
		Expect(runner.SaveResult(sandbox(), single, changed)).To(Succeed())
		again, err := runner.CachedResult(sandbox(), single)
		Expect(err).NotTo(HaveOccurred())
		Expect(json.Marshal(again)).NotTo(ContainSubstring("1400"))
	})

	It("gives back the attachments of one container (DEL-4)", func() {
		_, err := runner.Add(ctx, sandbox(), single)
		Expect(err).NotTo(HaveOccurred())
		other := sandbox()
		other.ContainerID = "c2"
		_, err = runner.Add(ctx, other, single)
		Expect(err).NotTo(HaveOccurred())

		attachments, err := runner.CachedAttachments("c1")
		Expect(err).NotTo(HaveOccurred())
		Expect(attachments).To(HaveLen(1))
		got := attachments[0]
		Expect(got.Network).To(Equal("n1"))
		Expect(got.Interface).To(Equal("net1"))
		Expect(got.Args).To(Equal(single.Args))
		Expect(got.CapabilityArgs).To(Equal(single.CapabilityArgs))
		want, _ := single.Config.MarshalJSON()
		config, err := got.Config.MarshalJSON()
		Expect(err).NotTo(HaveOccurred())
		Expect(config).To(Equal(want))
	})

	It("names the entries that it cannot read, and gives the others (DEL-4)", func() {
		_, err := runner.Add(ctx, sandbox(), single)
		Expect(err).NotTo(HaveOccurred())
		plant("bad1-c1-net2", "")
		plant("bad2-c1-net3", `{"kind":"cniCacheV1","containerId":"c1","ifName":"net3","networkName":"bad2","config":"e30="}`)
		plant("bad3-c1-net4", `{"kind":"cniCacheV1","containerId":"c1","ifName":"a/b","networkName":"bad3","config":"e30="}`)
		plant("fine-c1-net5", `{"kind":"cniCacheV1","containerId":"c1-net5","ifName":"x","networkName":"fine","config":"e30="}`)
		attachments, err := runner.CachedAttachments("c1")
		Expect(attachments).To(HaveLen(1))
		Expect(err).To(MatchError(SatisfyAll(ContainSubstring("bad1-c1-net2"), ContainSubstring("bad2-c1-net3"),
			ContainSubstring("bad3-c1-net4"), Not(ContainSubstring("fine-c1-net5")))))
	})

	It("is empty where there is no directory", func() {
		Expect(runner.CachedAttachments("c1")).To(BeEmpty())
		Expect(runner.CachedResult(sandbox(), single)).To(BeNil())
	})
})
