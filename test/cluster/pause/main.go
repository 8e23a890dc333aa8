// Command pause is the process of every container of the cluster suite. It reaps children, answers each TCP connection to
// port 8080 with the host's name, and ends on SIGTERM, unless its argument is "stubborn".
package main

import (
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	go serve()
	stubborn := len(os.Args) > 1 && os.Args[1] == "stubborn"
	for received := range signals {
		switch {
		case received == syscall.SIGCHLD:
			reap()
		case !stubborn:
			return
		}
	}
}

// serve gives up silently where the port is taken: the sandbox's process has it, and the containers share its network.
func serve() {
	listener, err := net.Listen("tcp", ":8080")
	if err != nil {
		return
	}
	name, _ := os.Hostname()
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		io.WriteString(connection, name)
		connection.Close()
	}
}

func reap() {
	for {
		if pid, _ := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 {
			return
		}
	}
}
