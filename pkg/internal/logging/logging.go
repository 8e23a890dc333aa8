package logging

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"strings"
)

// Options says what is logged, and where.
type Options struct {
	Level    string // "panic", "error", "verbose" or "debug", in any letter case; empty: "panic"
	File     string // path of the log file; empty: none
	Stderr   bool
	Rotation Rotation
}

// Rotation says when the log file is rotated, and what is kept. A zero MaxAge or MaxBackups keeps everything.
type Rotation struct {
	MaxAge     int // days
	MaxSize    int // MB; 0: 100
	MaxBackups int // files
	Compress   bool
}

// silence is above every level.
const silence = slog.Level(math.MaxInt)

// Threshold gives the lowest level of the records that a configured level lets through. The error names the levels
// that there are.
func Threshold(level string) (slog.Level, error) {
	switch strings.ToLower(level) {
	case "panic", "":
		return silence, nil
	case "error":
		return slog.LevelError, nil
	case "verbose":
		return slog.LevelInfo, nil
	case "debug":
		return slog.LevelDebug, nil
	default:
		return silence, fmt.Errorf("%q is not one of panic, error, verbose, debug", level)
	}
}

// New makes a logger that writes lines (LOG-1) to stderr and to the log file, as far as o asks for them. A level that
// does not exist logs nothing.
func New(o Options, stderr io.Writer) *slog.Logger {
	threshold, _ := Threshold(o.Level) // its error is for the configuration's reader
	out := &outputs{}
	if o.Stderr {
		out.writers = append(out.writers, stderr)
	}
	if o.File != "" {
		out.writers = append(out.writers, newFile(o.File, o.Rotation))
	}
	return slog.New(&handler{threshold: threshold, out: out})
}
