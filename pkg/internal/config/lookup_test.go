package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

var _ = Describe("networks in files", func() {
	var dir string

	BeforeEach(func() {
		dir = GinkgoT().TempDir()
	})

	write := func(name, text string) string {
		GinkgoHelper()
		path := filepath.Join(dir, name)
		Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
		Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
		return path
	}
	types := func(network *config.Network) string {
		var types []string
		for _, plugin := range network.Plugins {
			types = append(types, plugin.Type)
		}
		return strings.Join(types, " ")
	}

	DescribeTable("whatever the file's name says (E113)",
		func(file, text, want string) {
			network, err := config.Load(write(file, text))
			Expect(err).NotTo(HaveOccurred())
			Expect(types(network)).To(Equal(want))
		},
		Entry("a list", "10-x.conflist", `{"name":"n","plugins":[{"type":"a"},{"type":"b"}]}`, "a b"),
		Entry("a plugin", "10-x.conf", `{"name":"n","type":"a"}`, "a"),
		Entry("a plugin as a list", "10-x.conflist", `{"name":"n","type":"a"}`, "a"),
		Entry("a list as a plugin", "10-x.conf", `{"name":"n","plugins":[{"type":"a"},{"type":"b"}]}`, "a b"),
	)

	It("takes the first of a directory in lexical order (CONF-5)", func() {
		write("README", "not a configuration")
		write("20-b.conf", `{"name":"n","type":"b"}`)
		write("10-a.json", `{"name":"n","type":"a"}`)
		write("15-c.conflist", `{"name":"n","type":"c"}`)
		network, err := config.Load(dir)
		Expect(err).NotTo(HaveOccurred())
		Expect(types(network)).To(Equal("a"))
	})

	It("says where it looked (CONF-5)", func() {
		_, err := config.Load(dir)
		Expect(err).To(MatchError(nad.ErrNoConfig))
		Expect(err).To(MatchError(ContainSubstring(dir)))

		_, err = config.Load(filepath.Join(dir, "none.conf"))
		Expect(err).To(MatchError(os.ErrNotExist))
		Expect(err).To(MatchError(ContainSubstring("none.conf")))
	})

	It("names the file and the path in it that is at fault (CONF-2)", func() {
		path := write("10-x.conflist", `{"name":"n","plugins":[{"type":"a"},{}]}`)
		_, err := config.Load(path)
		Expect(err).To(MatchError(path + ": plugins[1].type: missing"))
		var faults config.Faults
		Expect(errors.As(err, &faults)).To(BeTrue(), "which has a CNI code")
	})

	It("finds out that a file is ours (CONF-3)", func() {
		network, err := config.Load(write("00-x.conflist", `{"name":"n","plugins":[{"type":"multus"}]}`))
		Expect(err).NotTo(HaveOccurred())
		Expect(network.CallsItself("multus")).To(MatchError(HavePrefix("plugins[0].type: ")))
	})

	Describe("plugins beside the list (CONF-7)", func() {
		BeforeEach(func() {
			write("n/20.conf", `{"type":"y","z":12345678901234567890}`+"\n")
			write("n/10.conf", `{"type":"x"}`)
			write("n/30.conflist", `{"type":"no"}`)
		})

		DescribeTable("are pulled in",
			func(text, want string) {
				network, err := config.Load(write("10-n.conflist", text))
				Expect(err).NotTo(HaveOccurred())
				Expect(types(network)).To(Equal(want))
			},
			Entry("after its own", `{"name":"n","plugins":[{"type":"a"}]}`, "a x y"),
			Entry("in place of its own", `{"name":"n"}`, "x y"),
			Entry("unless it says no", `{"name":"n","loadOnlyInlinedPlugins":true,"plugins":[{"type":"a"}]}`, "a"),
			Entry("but not for a single plugin", `{"name":"n","type":"a"}`, "a"),
			Entry("but not for another name", `{"name":"m","plugins":[{"type":"a"}]}`, "a"),
		)

		It("are still there after the network was saved", func() {
			network, err := config.Load(write("10-n.conflist", `{"name":"n"}`))
			Expect(err).NotTo(HaveOccurred())
			encoded, err := network.MarshalJSON()
			Expect(err).NotTo(HaveOccurred())
			Expect(string(encoded)).To(Equal(`{"name":"n","plugins":[{"type":"x"},{"type":"y","z":12345678901234567890}]}`))
			Expect(new(config.Network).UnmarshalJSON(encoded)).To(Succeed())
		})

		It("are refused by file", func() {
			path := write("n/15.conf", `{"type":"../x"}`)
			_, err := config.Load(write("10-n.conflist", `{"name":"n"}`))
			Expect(err).To(MatchError(HavePrefix(path + ": type: ")))
		})

		It("are needed where the list may have none", func() {
			_, err := config.Load(write("10-m.conflist", `{"name":"m"}`))
			Expect(err).To(MatchError(ContainSubstring("type: missing")))
			_, err = config.Load(write("10-n.conflist", `{"name":"n","loadOnlyInlinedPlugins":true}`))
			Expect(err).To(MatchError(ContainSubstring("type: missing")))
		})

		It("make a chain of their own", func() {
			network, err := config.LoadChain(dir, "n", "1.0.0")
			Expect(err).NotTo(HaveOccurred())
			Expect(network.Name).To(Equal("n"))
			Expect(network.CNIVersion).To(Equal("1.0.0"))
			Expect(types(network)).To(Equal("x y"))
			Expect(config.LoadChain(dir, "none", "1.0.0")).To(BeNil())
		})
	})

	Describe("by name (CONF-6)", func() {
		It("passes over files that cannot be read, with a warning", func() {
			bad := write("00-bad.conf", `{"name`)
			write("10-x.conf", `{"name":"other","type":"a"}`)
			write("20-n.conf", `{"name":"n","type":"b"}`)
			network, warnings, err := config.ByName(dir, "n")
			Expect(err).NotTo(HaveOccurred())
			Expect(types(network)).To(Equal("b"))
			Expect(warnings).To(HaveExactElements(ContainSubstring(bad)))
		})

		It("prefers a list", func() {
			write("10-n.conf", `{"name":"n","type":"a"}`)
			write("20-n.conflist", `{"name":"n","plugins":[{"type":"b"}]}`)
			write("n/10.conf", `{"type":"x"}`)
			network, _, err := config.ByName(dir, "n")
			Expect(err).NotTo(HaveOccurred())
			Expect(types(network)).To(Equal("b x"))
		})

		It("tells that there is none", func() {
			write("10-x.conf", `{"name":"other","type":"a"}`)
			_, _, err := config.ByName(dir, "n")
			Expect(err).To(MatchError(nad.ErrNoConfig))
		})
	})
})
