package install

import (
	"bytes"
	order "encoding/binary"
	"os"
	"path/filepath"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"
)

// event is something that happened to a name in a directory.
type event struct {
	path string
	mask uint32
}

// watcher sees what a runtime sees that watches its directory.
type watcher struct {
	file  *os.File
	names map[int32]string
	on    func(event)
	mutex sync.Mutex
	seen  []event
	over  chan struct{}
}

// watch begins at once; on, if any, is called with each event as it comes.
func watch(on func(event), dirs ...string) *watcher {
	GinkgoHelper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	Expect(err).NotTo(HaveOccurred())
	w := &watcher{file: os.NewFile(uintptr(fd), "inotify"), names: map[int32]string{}, on: on, over: make(chan struct{})}
	for _, dir := range dirs {
		id, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MODIFY|unix.IN_ATTRIB|unix.IN_MOVED_TO|unix.IN_MOVED_FROM|unix.IN_DELETE)
		Expect(err).NotTo(HaveOccurred())
		w.names[int32(id)] = dir
	}
	go func() {
		defer close(w.over)
		w.read()
	}()
	DeferCleanup(w.close)
	return w
}

// close waits until on has seen its last event.
func (w *watcher) close() {
	_ = w.file.Close() // may be closed
	<-w.over
}

func (w *watcher) read() {
	buffer := make([]byte, 64<<10)
	for {
		n, err := w.file.Read(buffer)
		if err != nil {
			return
		}
		for rest := buffer[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			id, mask := int32(order.NativeEndian.Uint32(rest)), order.NativeEndian.Uint32(rest[4:])
			end := unix.SizeofInotifyEvent + int(order.NativeEndian.Uint32(rest[12:]))
			name := string(bytes.TrimRight(rest[unix.SizeofInotifyEvent:end], "\x00"))
			w.note(event{filepath.Join(w.names[id], name), mask})
			rest = rest[end:]
		}
	}
}

func (w *watcher) note(e event) {
	w.mutex.Lock()
	w.seen = append(w.seen, e)
	w.mutex.Unlock()
	if w.on != nil {
		w.on(e)
	}
}

// of gives what happened to a path.
func (w *watcher) of(path string) []uint32 {
	var masks []uint32
	for _, e := range w.events() {
		if e.path == path {
			masks = append(masks, e.mask)
		}
	}
	return masks
}

func (w *watcher) events() []event {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return append([]event(nil), w.seen...)
}

// renamed lists the paths that files were renamed to, in order.
func (w *watcher) renamed() []string {
	var paths []string
	for _, e := range w.events() {
		if e.mask == unix.IN_MOVED_TO {
			paths = append(paths, e.path)
		}
	}
	return paths
}
