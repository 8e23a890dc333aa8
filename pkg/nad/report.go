package nad

import (
	"errors"
	"fmt"
	"strconv"
)

const (
	maxNotes = 50 // messages about one annotation
	maxQuote = 80 // bytes of a value in a message
)

// notes collects messages about an annotation: all of them, unless they are more than anybody reads.
type notes struct {
	kept []string
	left int
}

func (n *notes) add(format string, args ...any) {
	if len(n.kept) == maxNotes {
		n.left++
		return
	}
	n.kept = append(n.kept, fmt.Sprintf(format, args...))
}

func (n *notes) list() []string {
	if n.left == 0 {
		return n.kept
	}
	return append(n.kept, fmt.Sprintf("and %d more", n.left))
}

// err is nil if there are no messages.
func (n *notes) err() error {
	var all []error
	for _, note := range n.list() {
		all = append(all, errors.New(note))
	}
	return errors.Join(all...)
}

// fault says what is wrong with the value of a key.
type fault struct {
	key string
	err error
}

// quote is a value as messages show it.
func quote(value string) string {
	if len(value) <= maxQuote {
		return strconv.Quote(value)
	}
	return strconv.Quote(value[:maxQuote]) + "…"
}
