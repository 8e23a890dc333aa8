package device

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// Status codes of gRPC that a caller decides on (github.com/grpc/grpc, doc/statuscodes.md).
const (
	codeUnknown           = 2
	codeResourceExhausted = 8
	codeUnimplemented     = 12
	codeUnavailable       = 14
)

// statusError is a gRPC status other than OK.
type statusError struct {
	code    int
	message string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("gRPC status %d: %s", e.code, e.message)
}

func (e *statusError) in(codes ...int) bool {
	return slices.Contains(codes, e.code)
}

// client makes unary gRPC calls on a Unix socket: one POST over unencrypted HTTP/2 each, with a length before the
// message and the status in the trailers (github.com/grpc/grpc, doc/PROTOCOL-HTTP2.md).
type client struct {
	transport *http.Transport
}

func newClient(socket string) client {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return client{transport: &http.Transport{
		Protocols:          protocols,
		DisableCompression: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
}

func (c client) close() {
	c.transport.CloseIdleConnections()
}

// call sends a message and returns the answer's. It asks again for as long as ctx lasts while the server says that it
// is busy: the kubelet limits this socket's rate, and many pods start at once after a reboot.
func (c client) call(ctx context.Context, method string, message []byte) ([]byte, error) {
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		answer, err := c.once(ctx, method, message)
		refusal := (*statusError)(nil)
		if !errors.As(err, &refusal) || !refusal.in(codeResourceExhausted, codeUnavailable) {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), err)
		case <-time.After(pause):
		}
	}
}

func (c client) once(ctx context.Context, method string, message []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+method, bytes.NewReader(frame(message)))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("Te", "trailers")
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("HTTP status %s", response.Status)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, frameHeader+maxSize+1))
	if err != nil {
		return nil, err
	}
	if len(body) > frameHeader+maxSize {
		return nil, fmt.Errorf("more than %d bytes", maxSize)
	}
	if err := status(response); err != nil {
		return nil, err
	}
	return unframe(body)
}

// status reads the outcome of a call whose body was read to its end: from the trailers, or from the header of an
// answer that has nothing else.
func status(response *http.Response) error {
	outcome := response.Trailer
	if response.Header.Get("Grpc-Status") != "" {
		outcome = response.Header
	}
	code, err := strconv.Atoi(outcome.Get("Grpc-Status"))
	if err != nil {
		return errors.New("no gRPC status")
	}
	if code == 0 {
		return nil
	}
	text := outcome.Get("Grpc-Message")
	if plain, err := url.PathUnescape(text); err == nil {
		text = plain
	}
	return &statusError{code: code, message: text}
}

// frameHeader is the size of what comes before a message: one byte for compression, four for the length.
const frameHeader = 5

func frame(message []byte) []byte {
	header := make([]byte, frameHeader, frameHeader+len(message))
	binary.BigEndian.PutUint32(header[1:], uint32(len(message)))
	return append(header, message...)
}

func unframe(body []byte) ([]byte, error) {
	if len(body) < frameHeader {
		return nil, errors.New("no message")
	}
	header, message := body[:frameHeader], body[frameHeader:]
	if header[0] != 0 {
		return nil, errors.New("compressed message, which was not asked for")
	}
	if length := binary.BigEndian.Uint32(header[1:]); uint64(length) != uint64(len(message)) {
		return nil, fmt.Errorf("message of %d bytes, announced with %d", len(message), length)
	}
	return message, nil
}
