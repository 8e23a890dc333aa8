package device

import (
	"context"
	"errors"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// objects is an API of texts: claims by name, lists of slices by driver. It writes down what it was asked.
type objects struct {
	claims, slices map[string]string
	asked          []string
}

func (o *objects) ResourceClaim(_ context.Context, namespace, name string) ([]byte, error) {
	o.asked = append(o.asked, "claim "+namespace+"/"+name)
	return o.get(o.claims, name)
}

func (o *objects) ResourceSlices(_ context.Context, node, driver string) ([]byte, error) {
	o.asked = append(o.asked, "slices "+node+" "+driver)
	return o.get(o.slices, driver)
}

func (o *objects) get(from map[string]string, key string) ([]byte, error) {
	if text, known := from[key]; known {
		return []byte(text), nil
	}
	return nil, errors.New(key + " is not there")
}

// claimOf is a claim with devices, each "driver/pool/device".
func claimOf(devices ...string) string {
	var results []string
	for _, device := range devices {
		part := strings.Split(device, "/")
		results = append(results, fmt.Sprintf(`{"request":"r","driver":%q,"pool":%q,"device":%q}`, part[0], part[1], part[2]))
	}
	return `{"status":{"allocation":{"devices":{"results":[` + strings.Join(results, ",") + `]}}}}`
}

// offer is a device with the two attributes; empty ones are left out.
func offer(name, resource, id string) string {
	attributes := []string{`"numaNode":{"int":0}`}
	for key, value := range map[string]string{"resourceName": resource, "deviceID": id} {
		if value != "" {
			attributes = append(attributes, fmt.Sprintf(`"k8s.cni.cncf.io/%s":{"string":%q}`, key, value))
		}
	}
	return fmt.Sprintf(`{"name":%q,"attributes":{%s}}`, name, strings.Join(attributes, ","))
}

func sliceOf(driver, pool string, generation int, devices ...string) string {
	return fmt.Sprintf(`{"spec":{"driver":%q,"nodeName":"n1","pool":{"name":%q,"generation":%d},"devices":[%s]}}`,
		driver, pool, generation, strings.Join(devices, ","))
}

func listOf(slices ...string) string {
	return `{"kind":"ResourceSliceList","items":[` + strings.Join(slices, ",") + `]}`
}

var _ = Describe("Dynamic Resource Allocation (DEV-4)", func() {
	claimed := func(api *objects, claims ...string) (Pool, error) {
		owner := Claimant{Namespace: "blue", Node: "n1", Claims: claims}
		return Claimed(context.Background(), api, owner, []string{"a/vf", "a/pf"})
	}

	It("maps the devices of the pod's claims by their attributes, in the order of claims and allocation (E106)", func() {
		api := &objects{
			claims: map[string]string{"c1": claimOf("vf.d/p/vf-1", "gpu.d/p/gpu-0", "vf.d/p/vf-0"), "c2": claimOf("vf.d/q/vf-1")},
			slices: map[string]string{
				"vf.d": listOf(sliceOf("vf.d", "p", 1, offer("vf-0", "a/vf", "0000:00:00.0"), offer("vf-1", "a/vf", "0000:00:00.1"), offer("vf-2", "a/vf", "0000:00:00.2")),
					sliceOf("vf.d", "q", 1, offer("vf-1", "a/pf", "0000:01:00.0"))),
				"gpu.d": listOf(sliceOf("gpu.d", "p", 1, offer("gpu-0", "", ""))),
			},
		}
		Expect(claimed(api, "c1", "c2")).To(Equal(Pool{"a/vf": {"0000:00:00.1", "0000:00:00.0"}, "a/pf": {"0000:01:00.0"}}))
		Expect(api.asked).To(Equal([]string{"claim blue/c1", "claim blue/c2", "slices n1 vf.d", "slices n1 gpu.d"}), "once for each driver")
	})

	It("asks for nothing where the pod has no claim, and for no slices where its claims have no devices", func() {
		api := &objects{claims: map[string]string{"c1": claimOf(), "c2": `{"status":{}}`, "c3": `{}`}}
		Expect(claimed(api)).To(BeEmpty())
		Expect(api.asked).To(BeEmpty())
		Expect(claimed(api, "c1", "c2", "c3")).To(BeEmpty())
		Expect(api.asked).To(HaveLen(3))
	})

	DescribeTable("passes over a device",
		func(claim, slices string) {
			api := &objects{claims: map[string]string{"c1": claim}, slices: map[string]string{"d": slices}}
			Expect(claimed(api, "c1")).To(BeEmpty())
		},
		Entry("of another resource", claimOf("d/p/x"), listOf(sliceOf("d", "p", 1, offer("x", "a/other", "id")))),
		Entry("without attributes", claimOf("d/p/x"), listOf(`{"spec":{"driver":"d","pool":{"name":"p"},"devices":[{"name":"x"}]}}`)),
		Entry("whose attribute is no string", claimOf("d/p/x"),
			listOf(sliceOf("d", "p", 1, `{"name":"x","attributes":{"k8s.cni.cncf.io/resourceName":{"int":1}}}`))),
		Entry("of another node, which no slice shows", claimOf("d/p/x"), listOf()),
		Entry("of the same name in another pool", claimOf("d/p/x"), listOf(sliceOf("d", "q", 1, offer("x", "a/vf", "id")))),
		Entry("that the pod has only for administration", strings.Replace(claimOf("d/p/x"), `{"request"`, `{"adminAccess":true,"request"`, 1),
			listOf(sliceOf("d", "p", 1, offer("x", "a/vf", "id")))),
	)

	It("believes the newest generation of a pool alone", func() {
		api := &objects{
			claims: map[string]string{"c1": claimOf("d/p/x", "d/q/x")},
			slices: map[string]string{"d": listOf(sliceOf("d", "p", 2, offer("x", "a/vf", "new")), sliceOf("d", "p", 1, offer("x", "a/vf", "old")),
				sliceOf("d", "q", 1, offer("x", "a/vf", "other")))},
		}
		Expect(claimed(api, "c1")).To(Equal(Pool{"a/vf": {"new", "other"}}))
	})

	It("gives a device once that two claims share", func() {
		api := &objects{
			claims: map[string]string{"c1": claimOf("d/p/x"), "c2": claimOf("d/p/x")},
			slices: map[string]string{"d": listOf(sliceOf("d", "p", 1, offer("x", "a/vf", "id")))},
		}
		Expect(claimed(api, "c1", "c2")).To(Equal(Pool{"a/vf": {"id"}}))
	})

	DescribeTable("must fail, never 'no devices'",
		func(claim, slices, reason string) {
			api := &objects{claims: map[string]string{}, slices: map[string]string{}}
			if claim != "" {
				api.claims["c1"] = claim
			}
			if slices != "" {
				api.slices["d"] = slices
			}
			_, err := claimed(api, "c1")
			Expect(err).To(MatchError(ContainSubstring(reason)))
		},
		Entry("a claim that is not there", "", "", "c1 is not there"),
		Entry("slices that are not there", claimOf("d/p/x"), "", "d is not there"),
		Entry("a claim of another shape", `{"status":{"allocation":{"devices":{"results":{}}}}}`, "", "resource claim blue/c1: "),
		Entry("slices of another shape", claimOf("d/p/x"), `{"items":{}}`, "resource slices of driver d on node n1: "),
		Entry("a device with half of the attributes", claimOf("d/p/x"), listOf(sliceOf("d", "p", 1, offer("x", "a/vf", ""))),
			"device x of pool p of driver d has the attribute k8s.cni.cncf.io/resourceName and lacks k8s.cni.cncf.io/deviceID"),
	)
})
