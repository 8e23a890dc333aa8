package device

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"google.golang.org/protobuf/encoding/protowire"
)

// kubelet is a kubelet's root directory in which a spec may put a checkpoint and serve a socket.
type kubelet struct {
	dir   string
	mutex sync.Mutex
	asked []string // methods, in order
	got   [][]byte // their messages
}

// reply is what the fake kubelet answers: a whole body and the trailers after it.
type reply struct {
	body            []byte
	status, message string // no trailers where status is empty
	http            int    // 200 where zero
}

func newKubelet() *kubelet {
	GinkgoHelper()
	dir, err := os.MkdirTemp("", "k") // short: a socket's path has room for 107 bytes
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(os.RemoveAll, dir)
	Expect(os.Mkdir(filepath.Join(dir, "pod-resources"), 0o700)).To(Succeed())
	Expect(os.Mkdir(filepath.Join(dir, "device-plugins"), 0o700)).To(Succeed())
	return &kubelet{dir: dir}
}

func (k *kubelet) socket() string { return filepath.Join(k.dir, "pod-resources", "kubelet.sock") }

func (k *kubelet) checkpoint() string {
	return filepath.Join(k.dir, "device-plugins", "kubelet_internal_checkpoint")
}

func (k *kubelet) writeCheckpoint(content string) {
	GinkgoHelper()
	Expect(os.WriteFile(k.checkpoint(), []byte(content), 0o600)).To(Succeed())
}

func (k *kubelet) listen() net.Listener {
	GinkgoHelper()
	listener, err := net.Listen("unix", k.socket())
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { _ = listener.Close() })
	return listener
}

// serve speaks gRPC on the socket. The n-th call of a method gets the n-th of its replies, later ones the last.
func (k *kubelet) serve(replies map[string][]reply) {
	GinkgoHelper()
	server := &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) { k.next(r, replies).write(w) },
	)}
	server.Protocols.SetUnencryptedHTTP2(true)
	listener := k.listen()
	go func() { _ = server.Serve(listener) }()
	DeferCleanup(server.Close)
}

func (k *kubelet) next(r *http.Request, replies map[string][]reply) reply {
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/grpc" || r.Header.Get("Te") != "trailers" {
		return reply{status: "3", message: "not a gRPC call"}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return reply{status: "13", message: err.Error()}
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	known := replies[r.URL.Path]
	if len(known) == 0 {
		known = []reply{{status: "12", message: "unknown method"}}
	}
	before := 0
	for _, method := range k.asked {
		if method == r.URL.Path {
			before++
		}
	}
	k.asked = append(k.asked, r.URL.Path)
	k.got = append(k.got, body)
	return known[min(before, len(known)-1)]
}

func (r reply) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/grpc")
	if r.http != 0 {
		w.WriteHeader(r.http)
	}
	_, _ = w.Write(r.body)
	if r.status != "" {
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", r.status)
		w.Header().Set(http.TrailerPrefix+"Grpc-Message", r.message)
	}
}

// answer is a good reply with one message.
func answer(messages ...[]byte) reply {
	var all []byte
	for _, message := range messages {
		all = append(all, message...)
	}
	return reply{body: frame(all), status: "0"}
}

// message builds a field that holds a message, out of that message's fields.
func message(number protowire.Number, fields ...[]byte) []byte {
	var content []byte
	for _, field := range fields {
		content = append(content, field...)
	}
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)
}

func text(number protowire.Number, value string) []byte {
	return message(number, []byte(value))
}

func number(field protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), value)
}

// podResources is one PodResources as field 1 of an answer.
func podResources(namespace, name string, containers ...[]byte) []byte {
	return message(1, append([][]byte{text(1, name), text(2, namespace)}, containers...)...)
}

func container(name string, devices ...[]byte) []byte {
	return message(3, append([][]byte{text(1, name)}, devices...)...)
}

// devices is one ContainerDevices on the given NUMA node, on none where it is negative.
func devices(resource string, node int, ids ...string) []byte {
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
