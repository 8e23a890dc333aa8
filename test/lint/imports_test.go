package lint

import (
	"maps"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// row is one row of the architecture's table of packages.
type row struct {
	path string
	may  []string // import, with all below it; packages of the module without its path
}

const everything = "pkg"

// table returns the packages in order: each imports only packages above it.
func table() []row {
	const (
		cni   = "github.com/containernetworking/cni"
		types = cni + "/pkg/types"
		unix  = "golang.org/x/sys/unix"
	)
	return []row{
		{"pkg/nad", []string{types}},
		// CNI's types are in the signatures that it shares with nad.
		{"pkg/nad/v1", []string{"pkg/nad", "k8s.io/api/core/v1", "k8s.io/apimachinery", "k8s.io/client-go", types}},
		{"pkg/internal/logging", []string{"gopkg.in/natefinch/lumberjack.v2"}},
		{"pkg/internal/config", []string{"pkg/nad", "pkg/internal/logging", cni}},
		{"pkg/internal/kube", []string{"pkg/nad", "k8s.io/apimachinery", "k8s.io/client-go"}},
		{"pkg/internal/device", []string{"pkg/nad", "google.golang.org/protobuf/encoding/protowire"}},
		{"pkg/internal/sandbox", []string{
			"github.com/vishvananda/netlink", "github.com/vishvananda/netns", "github.com/containernetworking/plugins/pkg/ns", unix,
		}},
		{"pkg/internal/plan", []string{"pkg/nad", "pkg/internal/config", types}},
		// These two check names before they become paths, with the validators that live in nad and CNI (SEC-2).
		{"pkg/internal/state", []string{"pkg/nad", "pkg/internal/plan", "pkg/internal/config", cni + "/pkg/utils", unix}},
		{"pkg/internal/delegate", []string{"pkg/nad", "pkg/internal/plan", "pkg/internal/config", cni, unix}},
		{"pkg/internal/install", []string{"pkg/internal/config", cni + "/pkg/version"}},
		{"pkg/multus", []string{everything, cni}},
		{"pkg/cli", []string{everything, cni}},
		{"cmd/multus", []string{"pkg/multus", "pkg/cli", cni}},
	}
}

func rowOf(path string) int {
	return slices.IndexFunc(table(), func(r row) bool { return r.path == path })
}

// offences lists the imports of the product, the standard library's aside, that are not allowed.
func offences(allowed func(importer, imported string) bool) []string {
	GinkgoHelper()
	var found []string
	for _, p := range list("./pkg/...", "./cmd/...") {
		for _, path := range p.Imports {
			imported := strings.TrimPrefix(path, module+"/")
			if !standard(path) && !allowed(p.path(), imported) {
				found = append(found, p.path()+" imports "+imported)
			}
		}
	}
	return found
}

var _ = Describe("the packages of the product", func() {
	It("stand in the table", func() {
		for _, p := range list("./pkg/...", "./cmd/...") {
			Expect(rowOf(p.path())).To(BeNumerically(">=", 0), "%s: add it to the architecture, or move it", p.path())
		}
	})

	It("import only packages above them, and only what their row names", func() {
		Expect(offences(func(importer, imported string) bool {
			row, other := rowOf(importer), rowOf(imported)
			return row >= 0 && under(imported, table()[row].may...) && (other < row || !under(imported, "pkg", "cmd", "test"))
		})).To(BeEmpty())
	})

	It("leave Kubernetes to kube and nad/v1", func() {
		Expect(offences(func(importer, imported string) bool {
			return !under(imported, "k8s.io", "sigs.k8s.io") || under(importer, "pkg/internal/kube", "pkg/nad/v1")
		})).To(BeEmpty())
	})

	It("are named after what they are", func() {
		for _, p := range list("./...") {
			Expect(p.Name).NotTo(BeElementOf("util", "utils", "common", "types", "helper", "helpers", "misc"), p.ImportPath)
		}
	})
})

var _ = Describe("what is linked", func() {
	DescribeTable("holds nothing that costs at each start, used or not",
		func(never string) {
			for _, p := range list("-deps", "./cmd/multus") {
				Expect(under(p.ImportPath, never)).To(BeFalse(), p.ImportPath)
			}
		},
		Entry("no typed clientset", "k8s.io/client-go/kubernetes"),
		Entry("no informers", "k8s.io/client-go/informers"),
		Entry("no API groups", "k8s.io/api"),
		Entry("no grpc-go", "google.golang.org/grpc"),
		Entry("no kubelet API", "k8s.io/kubelet"),
		Entry("no scheme of ours", module+"/pkg/nad/v1"),
		Entry("no test code", module+"/test"),
		Entry("no test framework", "github.com/onsi"),
		Entry("no testing", "testing"),
	)

	It("is the CNI library and nothing else under pkg/nad, and a program that makes statuses of results", func() {
		foreign := map[string]bool{}
		for _, p := range list("-deps", "./pkg/nad", "github.com/containernetworking/cni/pkg/types/create") {
			if !p.Standard {
				foreign[p.Module.Path] = true
			}
		}
		Expect(slices.Collect(maps.Keys(foreign))).To(ConsistOf(module, "github.com/containernetworking/cni"))
	})
})
