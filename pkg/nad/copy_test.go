package nad_test

import (
	"encoding/json"
	"net"
	"reflect"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// fill gives every field of a type a value, so that a field that is added later is in the tests too.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("key"), reflect.ValueOf(map[string]any{"list": []any{map[string]any{"number": json.Number("1")}}}))
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(7)
	default:
		v.SetInt(7)
	}
}

// shared lists the places where two values use the same memory.
func shared(path string, a, b reflect.Value) []string {
	switch a.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if a.Pointer() == b.Pointer() {
			return []string{path}
		}
	}
	var found []string
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface:
		return shared(path, a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			found = append(found, shared(path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))...)
		}
	case reflect.Slice:
		for i := range a.Len() {
			found = append(found, shared(path+"[]", a.Index(i), b.Index(i))...)
		}
	case reflect.Map:
		for _, key := range a.MapKeys() {
			found = append(found, shared(path+"."+key.String(), a.MapIndex(key), b.MapIndex(key))...)
		}
	}
	return found
}

var _ = DescribeTable("a deep copy is equal and shares nothing",
	func(original any, deepCopy func(any) any) {
		value := reflect.ValueOf(original)
		fill(value.Elem())
		made := deepCopy(original)
		Expect(made).To(Equal(original))
		Expect(shared("", value, reflect.ValueOf(made))).To(BeEmpty())
		empty := reflect.New(value.Type().Elem()).Interface()
		Expect(deepCopy(empty)).To(Equal(empty))
		none := reflect.Zero(value.Type()).Interface()
		Expect(deepCopy(none)).To(BeNil())
	},
	Entry("of a selection", new(nad.NetworkSelectionElement), func(in any) any { return in.(*nad.NetworkSelectionElement).DeepCopy() }),
	Entry("of a status", new(nad.NetworkStatus), func(in any) any { return in.(*nad.NetworkStatus).DeepCopy() }),
	Entry("of device information", new(nad.DeviceInfo), func(in any) any { return in.(*nad.DeviceInfo).DeepCopy() }),
)

var _ = It("copies an empty list of gateways as one, which means something else than none (ADD-7)", func() {
	made := (&nad.NetworkSelectionElement{GatewayRequest: &[]net.IP{}}).DeepCopy()
	Expect(made.GatewayRequest).To(HaveValue(And(BeEmpty(), Not(BeNil()))))
})
