package logging

import (
	"context"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// handler writes each record as one line (LOG-1):
//
//	2026-01-02T15:04:05Z [verbose] attached pod=blue/web-0 network=blue/vlan7
type handler struct {
	threshold slog.Level
	out       *outputs
	attrs     string // of With, as they stand in the line
	group     string // of WithGroup, ends in "."
}

func (h *handler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= h.threshold
}

func (h *handler) Handle(_ context.Context, record slog.Record) error {
	var line strings.Builder
	line.WriteString(record.Time.Format(time.RFC3339))
	line.WriteString(label(record.Level))
	line.WriteString(oneLine(record.Message))
	line.WriteString(h.attrs)
	record.Attrs(func(attr slog.Attr) bool {
		write(&line, h.group, attr)
		return true
	})
	line.WriteByte('\n')
	h.out.write(line.String())
	return nil
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	var line strings.Builder
	line.WriteString(h.attrs)
	for _, attr := range attrs {
		write(&line, h.group, attr)
	}
	narrowed := *h
	narrowed.attrs = line.String()
	return &narrowed
}

func (h *handler) WithGroup(name string) slog.Handler {
	narrowed := *h
	if name != "" {
		narrowed.group += name + "."
	}
	return &narrowed
}

// label names a level as the configuration does. It knows no warnings: the message has to say so.
func label(level slog.Level) string {
	switch {
	case level >= slog.LevelError:
		return " [error] "
	case level >= slog.LevelWarn:
		return " [verbose] warning: "
	case level >= slog.LevelInfo:
		return " [verbose] "
	default:
		return " [debug] "
	}
}

func write(line *strings.Builder, group string, attr slog.Attr) {
	value := attr.Value.Resolve()
	if value.Kind() == slog.KindGroup {
		if attr.Key != "" {
			group += attr.Key + "."
		}
		for _, member := range value.Group() {
			write(line, group, member)
		}
		return
	}
	if attr.Equal(slog.Attr{}) {
		return // a handler ignores them, says package slog
	}
	line.WriteString(" " + oneLine(group+attr.Key) + "=" + quoted(value.String()))
}

// quoted puts a value in quotes where a reader could not see its end.
func quoted(value string) string {
	if value == "" || strings.ContainsFunc(value, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '"' || r == '='
	}) {
		return strconv.Quote(value)
	}
	return value
}

// oneLine escapes what would end the line or command a terminal.
func oneLine(text string) string {
	if !strings.ContainsFunc(text, unprintable) {
		return text
	}
	var line strings.Builder
	for _, r := range text {
		if unprintable(r) {
			line.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			line.WriteRune(r)
		}
	}
	return line.String()
}

func unprintable(r rune) bool {
	return r != ' ' && !unicode.IsPrint(r)
}

// outputs is where lines go. Goroutines may share it.
type outputs struct {
	mutex   sync.Mutex
	writers []io.Writer
}

// write hands over the line in one write each, so that lines of several processes do not mix. An output that does not
// take it is passed over: log trouble never fails a verb.
func (o *outputs) write(line string) {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	for _, writer := range o.writers {
		_, _ = writer.Write([]byte(line))
	}
}
