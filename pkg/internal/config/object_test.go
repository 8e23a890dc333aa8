package config_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
)

var _ = Describe("Object", func() {
	It("keeps keys and values byte for byte", func() {
		object := parseObject(` { "b<&>" : 12345678901234567890.10 , "\u0061" : { "x" : [ 1,2 ] },` + "\n" + `"c":"<&>"}`)
		Expect(string(object.Bytes())).To(Equal(`{"b<&>":12345678901234567890.10,"\u0061":{ "x" : [ 1,2 ] },"c":"<&>"}`))
		Expect(object.Keys()).To(Equal([]string{"b<&>", "a", "c"}))
	})

	It("replaces in place and appends", func() {
		object := parseObject(`{"a":1,"b":2}`)
		object.Set("a", []byte(`3`))
		object.Set("<", []byte(`4`))
		Expect(string(object.Bytes())).To(Equal(`{"a":3,"b":2,"<":4}`))
		object.Delete("b")
		Expect(string(object.Bytes())).To(Equal(`{"a":3,"<":4}`))
	})

	It("takes the last value of a key that is given twice", func() {
		object := parseObject(`{"a":1,"b":2,"a":3}`)
		value, found := object.Get("a")
		Expect(found).To(BeTrue())
		Expect(string(value)).To(Equal("3"))
		Expect(object.Keys()).To(Equal([]string{"a", "b"}))
	})

	It("is not changed by a change of its clone", func() {
		object := parseObject(`{"a":1}`)
		clone := object.Clone()
		clone.Set("a", []byte(`2`))
		clone.Set("b", []byte(`2`))
		Expect(string(object.Bytes())).To(Equal(`{"a":1}`))
	})

	DescribeTable("refuses what is no object (CONF-4)",
		func(text, want string) {
			_, err := config.ParseObject([]byte(text))
			Expect(err).To(MatchError(ContainSubstring(want)))
		},
		Entry("nothing", "", "ends at byte 0"),
		Entry("blanks", " \n", "ends at byte 2"),
		Entry("null", "null", "must be an object, is null"),
		Entry("a list", " [null]", "must be an object, is a list"),
		Entry("a list that does not end", "[", "not valid JSON: ends at byte 1"),
		Entry("an object that does not end", `{"a":1`, "not valid JSON: ends at byte 6"),
		Entry("text after it", `{"a":1} x`, "'x' at byte 8 where the end is expected"),
		Entry("a trailing comma", `{"a":1,}`, "'}' at byte 7 where a string is expected"),
		Entry("a leading zero", `{"a":01}`, "'1' at byte 6"),
		Entry("a line break in a string", "{\"a\":\"\n\"}", "at byte 6"),
		Entry("an unknown escape", `{"a":"\x"}`, "'x' at byte 7 where an escape"),
		Entry("a bomb of lists", `{"a":`+strings.Repeat("[", 1<<20), "nested deeper than 1000 levels"),
		Entry("a bomb of objects", strings.Repeat(`{"a":`, 1<<20), "nested deeper than 1000 levels"),
	)
})

func parseObject(text string) config.Object {
	GinkgoHelper()
	object, err := config.ParseObject([]byte(text))
	Expect(err).NotTo(HaveOccurred())
	return object
}
