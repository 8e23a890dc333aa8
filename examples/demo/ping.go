package main

import (
	"bytes"
	"context"
	"errors"
	"net"
	"syscall"
	"time"

	"github.com/containernetworking/plugins/pkg/ns"
	"golang.org/x/sys/unix"
)

// ping sends one ICMP echo request from a network namespace through an interface, and waits for the reply. A small
// machine may have no program for it.
func ping(ctx context.Context, netns, ifname, address string) error {
	var conn *net.IPConn
	err := ns.WithNetNSPath(netns, func(ns.NetNS) (err error) {
		conn, err = dial(ctx, ifname, address) // a socket stays where it was made
		return err
	})
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	// Type, code, checksum, identifier, sequence number (RFC 792). The reply differs in type and checksum.
	request := []byte{8, 0, 0xf7, 0xf5, 0, 7, 0, 3}
	if _, err := conn.Write(request); err != nil {
		return err
	}
	for packet := make([]byte, 1500); ; {
		n, _, err := conn.ReadFromIP(packet)
		if err != nil {
			return err
		}
		if n == len(request) && packet[0] == 0 && bytes.Equal(packet[4:n], request[4:]) {
			return nil
		}
	}
}

func dial(ctx context.Context, ifname, address string) (*net.IPConn, error) {
	dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		var bound error
		err := raw.Control(func(socket uintptr) { bound = unix.BindToDevice(int(socket), ifname) })
		return errors.Join(err, bound)
	}}
	conn, err := dialer.DialContext(ctx, "ip4:icmp", address)
	if err != nil {
		return nil, err
	}
	return conn.(*net.IPConn), nil
}
