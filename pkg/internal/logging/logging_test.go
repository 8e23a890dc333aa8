package logging_test

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/logging"
)

// counter counts the writes that it is given.
type counter struct {
	bytes.Buffer
	writes int
}

func (c *counter) Write(line []byte) (int, error) {
	c.writes++
	return c.Buffer.Write(line)
}

// fixed is what a line looks like behind its time.
func fixed(text string) string {
	GinkgoHelper()
	stamp, rest, found := strings.Cut(text, " ")
	Expect(found).To(BeTrue())
	_, err := time.Parse(time.RFC3339, stamp)
	Expect(err).NotTo(HaveOccurred())
	return rest
}

var _ = Describe("lines (LOG-1)", func() {
	DescribeTable("text",
		func(log func(*slog.Logger), want string) {
			var stderr counter
			log(logging.New(logging.Options{Level: "debug", Stderr: true}, &stderr))
			Expect(fixed(stderr.String())).To(Equal(want + "\n"))
			Expect(stderr.writes).To(Equal(1), "one line, one write")
		},
		Entry("plain", func(l *slog.Logger) { l.Info("attached") }, "[verbose] attached"),
		Entry("error", func(l *slog.Logger) { l.Error("ADD failed", "error", errors.New("no such file")) }, `[error] ADD failed error="no such file"`),
		Entry("warning", func(l *slog.Logger) { l.Warn("pod is gone") }, "[verbose] warning: pod is gone"),
		Entry("debug", func(l *slog.Logger) { l.Debug("looking") }, "[debug] looking"),
		Entry("what is known", func(l *slog.Logger) {
			l.With("pod", "blue/web-0").With("network", "blue/vlan7").Info("attached", "interface", "net1", "took", time.Second)
		}, "[verbose] attached pod=blue/web-0 network=blue/vlan7 interface=net1 took=1s"),
		Entry("groups", func(l *slog.Logger) { l.WithGroup("a").With("b", 1).Info("x", slog.Group("c", "d", 2)) }, "[verbose] x a.b=1 a.c.d=2"),
		Entry("values whose end cannot be seen", func(l *slog.Logger) { l.Info("x", "a", "", "b", "k=v", "c", "l\nm") }, `[verbose] x a="" b="k=v" c="l\nm"`),
		Entry("more than one line", func(l *slog.Logger) { l.Info("a\nb\r\x1b[31m") }, `[verbose] a\nb\r\x1b[31m`),
	)

	DescribeTable("levels",
		func(level string, want int) {
			var stderr counter
			log := logging.New(logging.Options{Level: level, Stderr: true}, &stderr)
			log.Debug("x")
			log.Info("x")
			log.Warn("x")
			log.Error("x")
			Expect(stderr.writes).To(Equal(want))
		},
		Entry("panic", "panic", 0),
		Entry("none", "", 0),
		Entry("one that does not exist", "loud", 0),
		Entry("error", "error", 1),
		Entry("verbose", "VERBOSE", 3),
		Entry("debug", "debug", 4),
	)

	It("names the levels that there are", func() {
		_, err := logging.Threshold("loud")
		Expect(err).To(MatchError(`"loud" is not one of panic, error, verbose, debug`))
	})

	It("does not go to stderr unless asked", func() {
		var stderr counter
		logging.New(logging.Options{Level: "debug"}, &stderr).Error("x")
		Expect(stderr.writes).To(BeZero())
	})
})

var _ = Describe("the log file", func() {
	var dir string

	BeforeEach(func() {
		dir = GinkgoT().TempDir()
	})

	It("is made by the first line, with directory, for root alone (E130)", func() {
		path := filepath.Join(dir, "logs", "multus.log")
		log := logging.New(logging.Options{Level: "error", File: path}, nil)
		log.Info("not for this level")
		Expect(filepath.Dir(path)).NotTo(BeAnExistingFile())

		log.Error("one")
		log.Error("two")
		text, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Count(string(text), "\n")).To(Equal(2))
		Expect(mode(path)).To(Equal(fs.FileMode(0o600)))
		Expect(mode(filepath.Dir(path))).To(Equal(fs.FileMode(0o700)))
	})

	It("is appended to by the next run, beside stderr", func() {
		path := filepath.Join(dir, "multus.log")
		for range 2 {
			var stderr counter
			logging.New(logging.Options{Level: "error", File: path, Stderr: true}, &stderr).Error("x")
			Expect(stderr.writes).To(Equal(1))
		}
		text, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Count(string(text), "\n")).To(Equal(2))
	})

	It("is rotated at the configured size (E128)", func() {
		path := filepath.Join(dir, "multus.log")
		Expect(os.WriteFile(path, bytes.Repeat([]byte("x"), 1<<20), 0o600)).To(Succeed())
		logging.New(logging.Options{Level: "error", File: path, Rotation: logging.Rotation{MaxSize: 1}}, nil).Error("x")
		Expect(filepath.Glob(filepath.Join(dir, "multus-*.log"))).To(HaveLen(1))
	})

	DescribeTable("that cannot be written is nobody's error (E128)",
		func(path func() string) {
			var stderr counter
			log := logging.New(logging.Options{Level: "error", File: path(), Stderr: true}, &stderr)
			log.Error("x")
			log.Error("y")
			Expect(stderr.writes).To(Equal(2))
			Expect(dir).To(BeADirectory())
		},
		Entry("no directory to make it in", func() string { return "/proc/no/such/x.log" }),
		Entry("a file in place of the directory", func() string { return "/dev/null/x.log" }),
		Entry("a directory, which must stay where it is", func() string { return dir }),
		Entry("a full disk", func() string { return "/dev/full" }),
	)
})

func mode(path string) fs.FileMode {
	GinkgoHelper()
	info, err := os.Stat(path)
	Expect(err).NotTo(HaveOccurred())
	return info.Mode().Perm()
}
