package kubelet

import (
	"bytes"
	"encoding/binary"

	"google.golang.org/protobuf/encoding/protowire"
)

// Answer is a good reply to Get or List: a message with these pods.
func Answer(pods ...[]byte) Reply {
	return Reply{Body: Frame(bytes.Join(pods, nil)), Status: "0"}
}

// Frame puts the header of gRPC before a message.
func Frame(message []byte) []byte {
	header := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	return append(header, message...)
}

// Pod is one PodResources as the field of an answer.
func Pod(namespace, name string, containers ...[]byte) []byte {
	return message(1, append([][]byte{text(1, name), text(2, namespace)}, containers...)...)
}

// Container is the field of a Pod.
func Container(name string, devices ...[]byte) []byte {
	return message(3, append([][]byte{text(1, name)}, devices...)...)
}

// Devices is the field of a Container: one ContainerDevices on the given NUMA node, on none where it is negative.
func Devices(resource string, node int, ids ...string) []byte {
	fields := [][]byte{text(1, resource)}
	for _, id := range ids {
		fields = append(fields, text(2, id))
	}
	switch {
	case node == 0:
		fields = append(fields, message(3, message(1)))
	case node > 0:
		fields = append(fields, message(3, message(1, number(1, uint64(node)))))
	}
	return message(2, fields...)
}

// message builds a field that holds a message, out of that message's fields.
func message(number protowire.Number, fields ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), bytes.Join(fields, nil))
}

func text(number protowire.Number, value string) []byte {
	return message(number, []byte(value))
}

func number(field protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), value)
}
