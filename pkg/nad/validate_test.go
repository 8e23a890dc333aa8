package nad_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

var _ = Describe("validators (NET-3)", func() {
	accepts := func(validate func(string) error, values ...string) {
		GinkgoHelper()
		for _, value := range values {
			Expect(validate(value)).To(Succeed(), "%q", value)
		}
	}
	refuses := func(validate func(string) error, values ...string) {
		GinkgoHelper()
		for _, value := range values {
			Expect(validate(value)).NotTo(Succeed(), "%q", value)
		}
	}

	It("take a DNS-1123 subdomain as a name", func() {
		accepts(nad.ValidateName, "n", "0", "n1", "vlan-100", "a.b-c.d", strings.Repeat("a", 253))
		refuses(nad.ValidateName, "", "N1", "-a", "a-", "a..b", ".a", "a.", "a.-b", "a_b", "a b", "a/b", "..", "é", strings.Repeat("a", 254))
	})

	It("take a DNS-1123 label as a namespace", func() {
		accepts(nad.ValidateNamespace, "n", "0", "kube-system", strings.Repeat("a", 63))
		refuses(nad.ValidateNamespace, "", "a.b", "Blue", "-a", "a-", "a/b", "..", strings.Repeat("a", 64))
	})

	It("take the kernel's interface names (E004, E005)", func() {
		accepts(nad.ValidateInterfaceName, "a", "veth.10", "Eth0", "uplink_p0", "flannel.1", "a@b", "...", "a,b", "ü", "123456789012345")
		refuses(nad.ValidateInterfaceName, "", ".", "..", "a/b", "a:b", "a b", "a\tb", "a\u2003b", "1234567890123456", "eth%d", "a\x00", "a\x7f", "\xff")
	})

	It("refuse a character whose bytes the kernel takes for a blank", func() {
		refuses(nad.ValidateInterfaceName, "à", "a\u00a0b")
	})

	It("keep a path element in its directory (SEC-2)", func() {
		accepts(nad.ValidatePathElement, "a", "...", "a b", "0000:01:02.2", ".a")
		refuses(nad.ValidatePathElement, "", ".", "..", "/", "a/b", "../a", "a/", "a\x00b")
	})

	It("do not repeat a long value whole", func() {
		Expect(len(nad.ValidateName(strings.Repeat("A", 1<<20)).Error())).To(BeNumerically("<", 300))
	})
})
