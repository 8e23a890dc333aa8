package fake

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// API is an API server with a store of its own. It answers what the plugin asks: GET of any stored object, a list of
// ResourceSlices by field selector, PATCH and PUT of pods/status, POST of events. All methods may be called while it serves.
type API struct {
	address  string
	identity *identity
	http1    bool
	stop     context.CancelFunc // ends requests that are never answered
	running  context.Context

	connections, received, sent atomic.Int64

	mu       sync.Mutex
	server   *http.Server // nil while it refuses connections
	listener net.Listener // of the server
	store    store
	faults   []*Fault
	latency  time.Duration
	token    string
	requests []Request
}

// Option changes an API before it starts.
type Option func(*API)

// HTTP1 makes the server speak HTTP/1.1 only; otherwise it offers HTTP/2 too.
func HTTP1() Option { return func(a *API) { a.http1 = true } }

// User is what the server calls the owner of its credentials.
const User = "system:serviceaccount:kube-system:multus"

// NewAPI starts a server on a free port of 127.0.0.1, with an empty store. Close ends it.
func NewAPI(options ...Option) (*API, error) {
	made, err := newIdentity()
	if err != nil {
		return nil, err
	}
	a := &API{identity: made, store: store{}, token: "token-of-the-fake-api-server", address: "127.0.0.1:0"}
	a.running, a.stop = context.WithCancel(context.Background())
	for _, option := range options {
		option(a)
	}
	return a, a.Accept()
}

// URL is the server's address as a kubeconfig has it.
func (a *API) URL() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return "https://" + a.address
}

// Close ends the server and every request under way.
func (a *API) Close() {
	a.stop()
	a.Refuse()
}

// Refuse ends all connections and refuses new ones until Accept is called.
func (a *API) Refuse() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.server == nil {
		return
	}
	a.listener.Close() // which the server may not have begun to use
	a.server.Close()
	a.server = nil
}

// Silence ends all connections. New ones are accepted, but nothing is ever said on them, until Refuse and Accept.
func (a *API) Silence() error {
	a.Refuse()
	return a.listen(true)
}

// Accept serves again after Refuse, at the same address.
func (a *API) Accept() error { return a.listen(false) }

func (a *API) listen(silent bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.server != nil {
		return nil
	}
	if a.running.Err() != nil {
		return errors.New("the server is closed")
	}
	listener, err := net.Listen("tcp", a.address)
	if err != nil {
		return err
	}
	a.address, a.listener = listener.Addr().String(), listener
	a.server = a.newServer()
	go a.server.ServeTLS(counted{listener, a, silent}, "", "") // ends with http.ErrServerClosed
	return nil
}

func (a *API) newServer() *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(!a.http1)
	return &http.Server{
		Handler:     http.HandlerFunc(a.serve),
		Protocols:   protocols,
		TLSConfig:   a.identity.serverConfig(),
		ErrorLog:    log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return a.running },
		ConnContext: func(ctx context.Context, conn net.Conn) context.Context {
			return context.WithValue(ctx, connKey{}, conn)
		},
	}
}

// connKey is the key of a request's connection in its context.
type connKey struct{}

// reset ends the connection of a request as a crashed host does.
func reset(r *http.Request) {
	conn, _ := r.Context().Value(connKey{}).(*tls.Conn)
	if conn == nil {
		return
	}
	raw := conn.NetConn().(countedConn).Conn.(*net.TCPConn)
	raw.SetLinger(0)
	raw.Close()
}

// Connections is how many connections were accepted.
func (a *API) Connections() int { return int(a.connections.Load()) }

// Bytes is how many bytes, TLS included, came in and went out.
func (a *API) Bytes() (received, sent int64) { return a.received.Load(), a.sent.Load() }

// counted is a listener that counts what it accepts.
type counted struct {
	net.Listener
	api    *API
	silent bool // keep what it accepts
}

func (l counted) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.api.connections.Add(1)
	if l.silent {
		return mute{countedConn{conn, l.api}, l.api.running}, nil
	}
	return countedConn{conn, l.api}, nil
}

type countedConn struct {
	net.Conn
	api *API
}

func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.api.received.Add(int64(n))
	return n, err
}

func (c countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.api.sent.Add(int64(n))
	return n, err
}

// mute is a connection on which the server hears nothing.
type mute struct {
	countedConn
	running context.Context
}

func (c mute) Read([]byte) (int, error) {
	<-c.running.Done()
	return 0, io.EOF
}
