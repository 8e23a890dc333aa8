package kubelet

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// Methods of the PodResources service.
const (
	Get  = "/v1.PodResourcesLister/Get"
	List = "/v1.PodResourcesLister/List"
)

// Kubelet is a kubelet's root directory in which a test may put a checkpoint and serve a socket. Close ends the latter.
type Kubelet struct {
	Dir string

	closers  []io.Closer
	mutex    sync.Mutex
	asked    []string // methods, in order
	messages [][]byte // their bodies
}

// Reply is what the socket answers: a whole body and the trailers after it.
type Reply struct {
	Body            []byte
	Status, Message string // of gRPC; no trailers where Status is empty
	HTTP            int    // 200 where zero
}

// New makes what there is of a kubelet in a directory that exists. Its path is short: that of a socket has room for 107
// bytes.
func New(dir string) (*Kubelet, error) {
	return &Kubelet{Dir: dir}, errors.Join(
		os.Mkdir(filepath.Join(dir, "pod-resources"), 0o700),
		os.Mkdir(filepath.Join(dir, "device-plugins"), 0o700))
}

// Socket is the path of the PodResources socket.
func (k *Kubelet) Socket() string { return filepath.Join(k.Dir, "pod-resources", "kubelet.sock") }

// Checkpoint is the path of the device checkpoint.
func (k *Kubelet) Checkpoint() string {
	return filepath.Join(k.Dir, "device-plugins", "kubelet_internal_checkpoint")
}

// WriteCheckpoint writes the device checkpoint.
func (k *Kubelet) WriteCheckpoint(content string) error {
	return os.WriteFile(k.Checkpoint(), []byte(content), 0o600)
}

// Listen opens the socket. Nobody answers on it, unless the caller does.
func (k *Kubelet) Listen() (*net.UnixListener, error) {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: k.Socket(), Net: "unix"})
	if err == nil {
		k.closers = append(k.closers, listener)
	}
	return listener, err
}

// Die leaves the socket as a kubelet does that was killed: there, and connections are refused.
func (k *Kubelet) Die() error {
	listener, err := k.Listen()
	if err != nil {
		return err
	}
	listener.SetUnlinkOnClose(false)
	return listener.Close()
}

// Serve speaks gRPC on the socket. The n-th call of a method gets the n-th of its replies, later ones the last.
func (k *Kubelet) Serve(replies map[string][]Reply) error {
	listener, err := k.Listen()
	if err != nil {
		return err
	}
	server := &http.Server{Protocols: new(http.Protocols), Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) { k.next(r, replies).write(w) },
	)}
	server.Protocols.SetUnencryptedHTTP2(true)
	k.closers = append(k.closers, server)
	go server.Serve(listener) // ends with http.ErrServerClosed
	return nil
}

// Close ends what Listen and Serve began. The directory stays.
func (k *Kubelet) Close() {
	for _, closer := range slices.Backward(k.closers) {
		_ = closer.Close() // the server closes its listener too
	}
	k.closers = nil
}

// Asked lists the methods called, in order.
func (k *Kubelet) Asked() []string {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return slices.Clone(k.asked)
}

// Messages lists what was sent to the methods called, each with the header of its frame.
func (k *Kubelet) Messages() [][]byte {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return slices.Clone(k.messages)
}

func (k *Kubelet) next(r *http.Request, replies map[string][]Reply) Reply {
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/grpc" || r.Header.Get("Te") != "trailers" {
		return Reply{Status: "3", Message: "not a gRPC call"}
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return Reply{Status: "13", Message: err.Error()}
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	known := replies[r.URL.Path]
	if len(known) == 0 {
		known = []Reply{{Status: "12", Message: "unknown method"}}
	}
	before := 0
	for _, method := range k.asked {
		if method == r.URL.Path {
			before++
		}
	}
	k.asked = append(k.asked, r.URL.Path)
	k.messages = append(k.messages, body)
	return known[min(before, len(known)-1)]
}

func (r Reply) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/grpc")
	if r.HTTP != 0 {
		w.WriteHeader(r.HTTP)
	}
	_, _ = w.Write(r.Body)
	if r.Status != "" {
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", r.Status)
		w.Header().Set(http.TrailerPrefix+"Grpc-Message", r.Message)
	}
}
