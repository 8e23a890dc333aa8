package install

import (
	"path/filepath"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const (
	plugin = `{"cniVersion":"0.4.0","name":"n","type":"a"}`
	half   = `{"cniVersion":"0.4.0","na`
	ours   = `{"cniVersion":"0.4.0","name":"n","type":"multus","delegates":[{"type":"a"}]}`
	inList = `{"cniVersion":"1.0.0","name":"n","plugins":[{"type":"a"},{"type":"multus","delegates":[{"type":"a"}]}]}`
	byShim = `{"cniVersion":"1.0.0","name":"n","plugins":[{"type":"multus-shim"}]}`
)

// files are names and contents in turn.
func directory(files ...string) string {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	for i := 0; i < len(files); i += 2 {
		put(dir, files[i], files[i+1])
	}
	return dir
}

var _ = Describe("the master of a directory (ENT-4)", func() {
	DescribeTable("is",
		func(want string, files ...string) {
			master, err := Find(Search{Dir: directory(files...)})
			Expect(err).NotTo(HaveOccurred())
			Expect(filepath.Base(master.Path)).To(Equal(want))
		},
		Entry("the first in lexical order", "05-a.conflist", "10-b.conf", plugin, "05-a.conflist", flannel),
		Entry("not one of ours, whatever its name (E112)", "80-b.conf", "00-multus.conf", ours, "10-x.conflist", inList, "70-multus.conf", byShim, "80-b.conf", plugin),
		Entry("not one of another ending", "20-b.conf", "05-a.json", plugin, "06-a.conf.bak", plugin, "07-a", plugin, "08-a.conf.old", plugin, "20-b.conf", plugin),
		Entry("not an invalid one", "20-b.conf", "05-a.conf", half, "06-b.conflist", "", "07-c.conf", `{"name":"n"}`, "08-d.conf", `[]`, "20-b.conf", plugin),
		Entry("not one that runs us deeper down (E112)", "20-b.conf", "05-a.conf", `{"cniVersion":"0.4.0","name":"n","type":"other","plugins":[{"type":"multus"}]}`, "20-b.conf", plugin),
		Entry("a single plugin called .conflist (E113)", "05-a.conflist", "05-a.conflist", plugin),
		Entry("a list called .conf (E113)", "05-a.conf", "05-a.conf", flannel),
	)

	It("is never a FIFO or a directory", func() {
		dir := directory("04-d.conf/x", "", "20-b.conf", plugin)
		Expect(syscall.Mkfifo(filepath.Join(dir, "05-a.conf"), 0o600)).To(Succeed())
		master, err := Find(Search{Dir: dir})
		Expect(err).NotTo(HaveOccurred())
		Expect(filepath.Base(master.Path)).To(Equal("20-b.conf"))
	})

	It("is the named file, or none", func() {
		dir := directory("05-a.conf", plugin, "10-b.conf", plugin, "20-c.conf", ours)
		master, err := Find(Search{Dir: dir, Name: "10-b.conf"})
		Expect(err).NotTo(HaveOccurred())
		Expect(filepath.Base(master.Path)).To(Equal("10-b.conf"))
		_, err = Find(Search{Dir: dir, Name: "30-d.conf"})
		Expect(err).To(BeAssignableToTypeOf(&NoMaster{}))
		_, err = Find(Search{Dir: dir, Name: "20-c.conf"})
		Expect(err).To(MatchError(ContainSubstring("it is ours")))
		_, err = Find(Search{Dir: dir, Name: "../x/10-b.conf"})
		Expect(err).To(MatchError(ContainSubstring("without directory")))
	})

	It("is missing with the reasons", func() {
		dir := directory("00-multus.conf", ours, "05-a.conf", half)
		_, err := Find(Search{Dir: dir})
		Expect(err).To(BeAssignableToTypeOf(&NoMaster{}))
		Expect(err).To(MatchError(And(ContainSubstring(dir), ContainSubstring("00-multus.conf: it is ours"), ContainSubstring("05-a.conf: "))))
		_, err = Find(Search{Dir: directory()})
		Expect(err).To(BeAssignableToTypeOf(&NoMaster{}))
	})

	It("is not looked for behind a half-written file with a good configuration in place (ENT-7)", func() {
		dir := directory("00-multus.conf", ours, "05-a.conf", half, "10-b.conf", plugin)
		Expect(Installed(dir)).To(BeTrue())
		_, err := Find(Search{Dir: dir, Strict: true})
		Expect(err).To(BeAssignableToTypeOf(&NoMaster{}))
		put(dir, "05-a.conf", plugin)
		master, err := Find(Search{Dir: dir, Strict: true})
		Expect(err).NotTo(HaveOccurred())
		Expect(filepath.Base(master.Path)).To(Equal("05-a.conf"))
	})

	It("is found again after we renamed it, until it is written anew (ENT-9)", func() {
		dir := directory("05-a.conf.old", plugin, "10-b.conf", plugin)
		search := Search{Dir: dir, Renamed: []string{"05-a.conf"}}
		master, err := Find(search)
		Expect(err).NotTo(HaveOccurred())
		Expect(filepath.Base(master.Path)).To(Equal("05-a.conf.old"))
		search.Name = "05-a.conf"
		master, err = Find(search)
		Expect(err).NotTo(HaveOccurred())
		Expect(filepath.Base(master.Path)).To(Equal("05-a.conf.old"))
		put(dir, "05-a.conf", plugin)
		master, err = Find(search)
		Expect(err).NotTo(HaveOccurred())
		Expect(filepath.Base(master.Path)).To(Equal("05-a.conf"))
	})

	DescribeTable("replaces a configuration of ours that is",
		func(text string) {
			Expect(Installed(directory("00-multus.conf", text))).To(BeFalse())
		},
		Entry("half-written (ENT-7)", half),
		Entry("without delegates (ENT-7)", `{"cniVersion":"0.4.0","name":"n","type":"multus"}`),
	)
})
