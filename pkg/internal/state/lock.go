package state

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// ErrBusy says that another verb holds the lock of a container, and has not let go of it in time.
var ErrBusy = errors.New("another verb holds the lock")

// Pauses between two looks at a lock.
const (
	firstPause = time.Millisecond
	lastPause  = 50 * time.Millisecond
)

// errMoved says that a lock file was unlinked by its last holder before we had it.
var errMoved = errors.New("the lock file was replaced")

// Lock is the right to work on one container's sandbox. A nil Lock holds nothing.
type Lock struct {
	file *os.File
}

// Lock waits for the lock of a container (DEL-9), no longer than wait. The error is ErrBusy when the time is up, the
// context's if that ends first. A process that dies lets go of its locks.
func (s Store) Lock(ctx context.Context, containerID string, wait time.Duration) (*Lock, error) {
	if err := validateContainerID(containerID); err != nil {
		return nil, err
	}
	dir := filepath.Join(s.Dir, "locks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	path := filepath.Join(dir, containerID)
	limited, cancel := context.WithTimeoutCause(ctx, wait, ErrBusy)
	defer cancel()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		lock, err := tryLock(path)
		if err == nil {
			return lock, nil
		}
		if errors.Is(err, errMoved) {
			pause = firstPause
		} else if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-time.After(pause):
		case <-limited.Done():
			return nil, fmt.Errorf("lock %s: %w", path, context.Cause(limited))
		}
	}
}

// tryLock takes the lock if nobody has it; else the error is EWOULDBLOCK or errMoved.
func tryLock(path string) (*Lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := takeLock(file, path); err != nil {
		file.Close()
		return nil, err
	}
	return &Lock{file: file}, nil
}

// takeLock locks a file that is still at path when it is locked: who holds the lock unlinks the file, and a lock on
// one that is unlinked keeps nobody out.
func takeLock(file *os.File, path string) error {
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return err
	}
	ours, err := file.Stat()
	if err != nil {
		return err
	}
	current, err := os.Stat(path)
	if err != nil || !os.SameFile(ours, current) {
		return errMoved
	}
	return nil
}

// Release gives the lock back and leaves no file behind. It may be called on nil, and once on any other.
func (l *Lock) Release() {
	if l == nil {
		return
	}
	// Unlinked while it is still locked: whoever opened it meanwhile sees that it has moved.
	_ = os.Remove(l.file.Name())
	_ = l.file.Close()
}
