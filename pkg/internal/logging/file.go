package logging

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gopkg.in/natefinch/lumberjack.v2"
)

var errNoFile = errors.New("not a file that can be appended to")

// file is a log file. It is looked at and opened at the first line, so that a silent run does not touch it.
type file struct {
	path   string
	opened bool
	lines  io.Writer // nil if the file cannot be used
	rotate Rotation
}

func newFile(path string, rotation Rotation) *file {
	return &file{path: path, rotate: rotation}
}

func (f *file) Write(line []byte) (int, error) {
	if !f.opened {
		f.opened = true
		f.open()
	}
	if f.lines == nil {
		return 0, errNoFile
	}
	return f.lines.Write(line)
}

func (f *file) open() {
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		// Its user is root alone, as the file's (SEC-2); lumberjack would let everybody look. It reports failure.
		_ = os.MkdirAll(filepath.Dir(f.path), 0o700)
	}
	if err == nil && !appendable(info) {
		return
	}
	f.lines = &lumberjack.Logger{
		Filename:   f.path,
		MaxAge:     f.rotate.MaxAge,
		MaxSize:    f.rotate.MaxSize,
		MaxBackups: f.rotate.MaxBackups,
		Compress:   f.rotate.Compress,
	}
}

// appendable keeps lumberjack from a directory, which it would move out of its way, and from a pipe, whose opening
// waits for a reader.
func appendable(info fs.FileInfo) bool {
	return info.Mode().IsRegular() || info.Mode()&fs.ModeCharDevice != 0
}
