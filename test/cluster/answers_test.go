package cluster

import (
	"encoding/json"
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/test/cluster/node"
)

// The suite exec runs on a stub of ours; what it answers there must be what the real server answers here.
var _ = Describe("what rules rest on in the API server's answers", func() {
	const (
		another = "00000000-0000-4000-8000-000000000000"
		absent  = "absent"
		pod     = "web-0"
	)

	DescribeTable("to changes of a pod's status (STAT-3, DEL-7)",
		func(ctx SpecContext, name, contentType, body string, code int, reason, text string, fields []string) {
			b := newBench(ctx)
			b.pod(pod, "")
			if contentType == "application/json" {
				body = b.withUID(pod, another)
			}
			err := b.API.ChangeStatus(ctx, b.ref(name), contentType, body)
			var refused *node.StatusError
			Expect(errors.As(err, &refused)).To(BeTrue(), "%v", err)
			Expect(refused.Code).To(Equal(code), refused.Error())
			Expect(refused.Reason).To(Equal(reason), refused.Error())
			Expect(refused.Message).To(ContainSubstring(text))
			Expect(refused.Fields()).To(Equal(fields))
		},
		Entry("by a merge patch with another UID", pod, "application/merge-patch+json",
			`{"metadata": {"uid": "`+another+`", "annotations": {"a": "b"}}}`, 422, "Invalid", "field is immutable", []string{"metadata.uid"}),
		Entry("by an update with another UID", pod, "application/json", "", 409, "Conflict", "UID in precondition", nil),
		Entry("by a JSON patch whose test fails", pod, "application/json-patch+json",
			`[{"op": "test", "path": "/metadata/uid", "value": "`+another+`"}]`, 422, "Invalid", "the server rejected our request", nil),
		Entry("by a merge patch of a pod that is not there", absent, "application/merge-patch+json",
			`{"metadata": {"annotations": {"a": "b"}}}`, 404, "NotFound", `pods "absent" not found`, nil),
		Entry("by a JSON patch of a pod that is not there", absent, "application/json-patch+json",
			`[{"op": "test", "path": "/metadata/uid", "value": "`+another+`"}]`, 404, "NotFound", `pods "absent" not found`, nil),
	)
})

// withUID is a pod as it is now, but for its UID.
func (b *bench) withUID(pod, uid string) string {
	GinkgoHelper()
	var whole object
	b.must(b.API.Get(b.ctx, b.ref(pod), &whole))
	whole["metadata"].(map[string]any)["uid"] = uid
	text, err := json.Marshal(whole)
	b.must(err)
	return string(text)
}
