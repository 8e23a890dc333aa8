package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// patience is how long the kubelet may take in all (E104). It answers from memory.
const patience = 5 * time.Second

// Methods and message fields of k8s.io/kubelet/pkg/apis/podresources/v1/api.proto.
const (
	methodGet  = "/v1.PodResourcesLister/Get"
	methodList = "/v1.PodResourcesLister/List"

	requestName      = 1 // GetPodResourcesRequest
	requestNamespace = 2

	responsePod = 1 // GetPodResourcesResponse one, ListPodResourcesResponse many

	podName       = 1 // PodResources
	podNamespace  = 2
	podContainers = 3

	containerDevices = 2 // ContainerResources

	devicesResource = 1 // ContainerDevices
	devicesIDs      = 2
	devicesTopology = 3

	topologyNodes = 1 // TopologyInfo

	nodeID = 1 // NUMANode
)

const noNode = -1

// askKubelet asks for the one pod, and for all of them where the kubelet is too old for that, has the method disabled
// or does not know the pod by it: the last two share the code Unknown. The error is fs.ErrNotExist without a socket.
func askKubelet(ctx context.Context, socket string, pod Pod) (Pool, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client := newClient(socket)
	defer client.close()
	answer, err := client.call(ctx, methodGet, getRequest(pod))
	if refusal := (*statusError)(nil); errors.As(err, &refusal) && refusal.in(codeUnimplemented, codeUnknown) {
		answer, err = client.call(ctx, methodList, nil)
	}
	if refusal := (*statusError)(nil); errors.As(err, &refusal) {
		return nil, fmt.Errorf("kubelet pod-resources %s: %w", socket, err)
	}
	if err != nil {
		return nil, fmt.Errorf("kubelet pod-resources %s did not answer: %w", socket, err)
	}
	pool, err := parsePodResources(answer, pod)
	if err != nil {
		return nil, fmt.Errorf("kubelet pod-resources %s: reading the answer: %w", socket, err)
	}
	return pool, nil
}

func getRequest(pod Pod) []byte {
	request := protowire.AppendTag(nil, requestName, protowire.BytesType)
	request = protowire.AppendString(request, pod.Name)
	request = protowire.AppendTag(request, requestNamespace, protowire.BytesType)
	return protowire.AppendString(request, pod.Namespace)
}

// parsePodResources reads the answer of Get or List: in both, field 1 is a PodResources.
func parsePodResources(answer []byte, pod Pod) (Pool, error) {
	pool := Pool{}
	err := eachField(answer, func(f field) error {
		if f.number != responsePod {
			return nil
		}
		return pool.addPod(f.bytes, pod)
	})
	if err != nil {
		return nil, err
	}
	return pool, nil
}

func (p Pool) addPod(message []byte, pod Pod) error {
	var name, namespace string
	var containers [][]byte
	err := eachField(message, func(f field) (err error) {
		switch f.number {
		case podName:
			name, err = f.text()
		case podNamespace:
			namespace, err = f.text()
		case podContainers:
			containers = append(containers, f.bytes)
		}
		return err
	})
	if err != nil || name != pod.Name || namespace != pod.Namespace {
		return err
	}
	for _, container := range containers {
		if err := p.addContainer(container); err != nil {
			return err
		}
	}
	return nil
}

// addContainer puts the device lists in order first: the kubelet gives one list for each device, in the order of a Go
// map.
func (p Pool) addContainer(message []byte) error {
	var lists []deviceList
	err := eachField(message, func(f field) error {
		if f.number != containerDevices {
			return nil
		}
		list, err := parseDeviceList(f.bytes)
		lists = append(lists, list)
		return err
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(lists, func(a, b deviceList) int {
		return cmp.Or(cmp.Compare(a.node, b.node), slices.Compare(a.ids, b.ids))
	})
	for _, list := range lists {
		if err := p.add(list.resource, list.ids...); err != nil {
			return err
		}
	}
	return nil
}

// deviceList is a ContainerDevices message.
type deviceList struct {
	resource string
	ids      []string
	node     int64 // the lowest, -1 without topology, as in the checkpoint
}

func parseDeviceList(message []byte) (deviceList, error) {
	list := deviceList{node: noNode}
	err := eachField(message, func(f field) (err error) {
		switch f.number {
		case devicesResource:
			list.resource, err = f.text()
		case devicesIDs:
			var id string
			id, err = f.text()
			list.ids = append(list.ids, id)
		case devicesTopology:
			list.node, err = lowestNode(f.bytes)
		}
		return err
	})
	return list, err
}

func lowestNode(topology []byte) (int64, error) {
	var nodes []int64
	err := eachField(topology, func(f field) error {
		if f.number != topologyNodes {
			return nil
		}
		node, err := parseNode(f.bytes)
		nodes = append(nodes, node)
		return err
	})
	if err != nil || len(nodes) == 0 {
		return noNode, err
	}
	return slices.Min(nodes), nil
}

func parseNode(message []byte) (int64, error) {
	id := int64(0) // a zero is left out of the message
	err := eachField(message, func(f field) error {
		if f.number == nodeID {
			id = int64(f.varint)
		}
		return nil
	})
	return id, err
}

// field is one field of a protobuf message: bytes or varint is set, by its wire type.
type field struct {
	number protowire.Number
	bytes  []byte
	varint uint64
}

func (f field) text() (string, error) {
	if !utf8.Valid(f.bytes) {
		return "", fmt.Errorf("field %d: not UTF-8", f.number)
	}
	return string(f.bytes), nil
}

// eachField walks a message. Fields of other wire types are unknown ones and passed over.
func eachField(message []byte, visit func(field) error) error {
	for len(message) > 0 {
		number, kind, length := protowire.ConsumeTag(message)
		if length < 0 {
			return protowire.ParseError(length)
		}
		message = message[length:]
		f := field{number: number}
		switch kind {
		case protowire.BytesType:
			f.bytes, length = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			f.varint, length = protowire.ConsumeVarint(message)
		default:
			length = protowire.ConsumeFieldValue(number, kind, message)
		}
		if length < 0 {
			return fmt.Errorf("field %d: %w", number, protowire.ParseError(length))
		}
		message = message[length:]
		if err := visit(f); err != nil {
			return err
		}
	}
	return nil
}
