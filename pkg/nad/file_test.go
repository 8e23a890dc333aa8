package nad_test

import (
	"os"
	"path/filepath"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// directory makes a directory of files, given as name and content by turns.
func directory(files ...string) string {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	for i := 0; i < len(files); i += 2 {
		Expect(os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600)).To(Succeed())
	}
	return dir
}

var _ = DescribeTable("the configuration in a NAD's body (NET-11)",
	func(spec, want string) {
		Expect(nad.GetCNIConfigFromSpec(spec, "macvlan-a")).To(BeEquivalentTo(want))
	},
	Entry("stays as it is", `{"cniVersion":"1.0.0", "name":"wb","type":"macvlan"}`, `{"cniVersion":"1.0.0", "name":"wb","type":"macvlan"}`),
	Entry("gets the NAD's name (C5)", "{ \"cniVersion\": \"0.3.1\",\n\t\"type\": \"macvlan\", \"ipam\": {\"name\": \"x\"} }",
		"{\"name\":\"macvlan-a\", \"cniVersion\": \"0.3.1\",\n\t\"type\": \"macvlan\", \"ipam\": {\"name\": \"x\"} }"),
	Entry("gets the name in a list", `{"plugins":[{"name":"x"}]}`, `{"name":"macvlan-a","plugins":[{"name":"x"}]}`),
	Entry("gets the name as its only key", " {} ", ` {"name":"macvlan-a"} `),
	Entry("gets the name in the place of an empty one", `{"name" : "" ,"type":"a"}`, `{"name" : "macvlan-a" ,"type":"a"}`),
	Entry("gets the name in the place of null", `{"type":"a","name":null}`, `{"type":"a","name":"macvlan-a"}`),
	Entry("keeps the last name", `{"name":"","name":"x"}`, `{"name":"","name":"x"}`),
	Entry("keeps numbers and letters", `{"type":"a","n":9007199254740993,"s":"<&>\u0041"}`, `{"name":"macvlan-a","type":"a","n":9007199254740993,"s":"<&>\u0041"}`),
)

var _ = DescribeTable("a NAD's body that is refused (NET-11)",
	func(spec, name, says string) {
		_, err := nad.GetCNIConfigFromSpec(spec, name)
		Expect(err).To(MatchError(And(HavePrefix("spec.config: "), ContainSubstring(says))))
	},
	Entry("blank", " \n", "n1", "empty"),
	Entry("no JSON", "{\n\"type\" \"a\"}", "n1", "byte 9 (line 2, column 8)"),
	Entry("cut off", `{"type":"a"`, "n1", "byte 11"),
	Entry("followed by text", `{"type":"a"}{}`, "n1", "JSON object followed by text"),
	Entry("a list", `[{"type":"a"}]`, "n1", "must be an object, is a list"),
	Entry("null", `null`, "n1", "must be an object, is null"),
	Entry("a name that is a number", `{"name":1}`, "n1", "name: must be a string, is a number at byte 8"),
	Entry("no name anywhere", `{"type":"a"}`, "", "name: missing"),
)

var _ = Describe("a NAD's configuration (NET-11)", func() {
	dir := func() string {
		return directory("10-a.conf", `{"name":"k8s-file-net","type":"bridge"}`)
	}
	definition := func(config string) *nad.Definition {
		return &nad.Definition{Metadata: nad.DefinitionMetadata{Name: "k8s-file-net"}, Spec: nad.DefinitionSpec{Config: config}}
	}

	It("is its body", func() {
		Expect(nad.GetCNIConfig(definition(`{"type":"macvlan"}`), dir())).To(BeEquivalentTo(`{"name":"k8s-file-net","type":"macvlan"}`))
	})

	It("is the file of its name if the body is blank (C10)", func() {
		Expect(nad.GetCNIConfig(definition(" \n"), dir())).To(BeEquivalentTo(`{"name":"k8s-file-net","type":"bridge"}`))
	})

	It("is an error if there is neither", func() {
		empty := directory()
		_, err := nad.GetCNIConfig(definition(""), empty)
		Expect(err).To(MatchError(nad.ErrNoConfig))
		Expect(err).To(MatchError(And(ContainSubstring("spec.config is blank"), ContainSubstring("k8s-file-net"), ContainSubstring(empty))))
	})

	It("is an error without a definition", func() {
		_, err := nad.GetCNIConfig(nil, dir())
		Expect(err).To(HaveOccurred())
	})
})

var _ = Describe("the lookup of a configuration by name (CONF-6)", func() {
	It("takes a list before others, and the first of several", func() {
		dir := directory(
			"10-a.conf", `{"name":"n1","type":"a"}`,
			"20-b.conflist", `{"name":"n1","plugins":[{"type":"b"}]}`,
			"30-c.conflist", `{"name":"n1","plugins":[{"type":"c"}]}`,
			"40-d.json", `{"name":"n2","type":"d"}`)
		raw, path, warnings, err := nad.NamedConfig(dir, "n1")
		Expect(err).NotTo(HaveOccurred())
		Expect(warnings).To(BeEmpty())
		Expect(path).To(Equal(filepath.Join(dir, "20-b.conflist")))
		Expect(raw).To(BeEquivalentTo(`{"name":"n1","plugins":[{"type":"b"}]}`))
		Expect(nad.GetCNIConfigFromFile("n2", dir)).To(BeEquivalentTo(`{"name":"n2","type":"d"}`))
	})

	It("passes over what cannot be read, with a warning each", func() {
		dir := directory("10-a.conf", `{"name":`, "20-b.conf", `[]`, "30-c.conf", `{"name":1}`, "90-z.conf", `{"name":"n1","type":"z"}`)
		Expect(os.Mkdir(filepath.Join(dir, "40-d.conf"), 0o700)).To(Succeed())
		Expect(syscall.Mkfifo(filepath.Join(dir, "50-e.conf"), 0o600)).To(Succeed())
		Expect(os.Symlink("nowhere", filepath.Join(dir, "60-f.conf"))).To(Succeed())
		raw, _, warnings, err := nad.NamedConfig(dir, "n1")
		Expect(err).NotTo(HaveOccurred())
		Expect(raw).To(BeEquivalentTo(`{"name":"n1","type":"z"}`))
		Expect(warnings).To(HaveExactElements(
			ContainSubstring("10-a.conf"), ContainSubstring("20-b.conf"), ContainSubstring("30-c.conf"),
			ContainSubstring("40-d.conf"), ContainSubstring("50-e.conf"), ContainSubstring("60-f.conf")))
	})

	It("says which name it looked for and where, with the warnings", func() {
		dir := directory("10-a.conf", `{"name":`, "n1", `{"name":"n1"}`, "n1.txt", `{"name":"n1"}`)
		_, _, warnings, err := nad.NamedConfig(dir, "n1")
		Expect(err).To(MatchError(nad.ErrNoConfig))
		Expect(err).To(MatchError(And(ContainSubstring(`"n1"`), ContainSubstring(dir))))
		Expect(warnings).To(HaveLen(1))
	})

	It("finds nothing where there is no directory", func() {
		_, _, _, err := nad.NamedConfig(filepath.Join(directory(), "none"), "n1")
		Expect(err).To(MatchError(nad.ErrNoConfig))
	})

	It("tells a directory that cannot be read from one that has no such name", func() {
		dir := directory("file", "")
		_, _, _, err := nad.NamedConfig(filepath.Join(dir, "file"), "n1")
		Expect(err).To(HaveOccurred())
		Expect(err).NotTo(MatchError(nad.ErrNoConfig))
	})

	It("does not take a file without a name for the empty one", func() {
		_, _, _, err := nad.NamedConfig(directory("10-a.conf", `{"type":"a"}`), "")
		Expect(err).To(HaveOccurred())
	})
})
