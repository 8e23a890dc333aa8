package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deep values may nest. It leaves room below the limit of encoding/json (10 000), which reads the
// same text again where a plan or a result holds it.
const maxDepth = 1000

var errDepth = fmt.Errorf("nested deeper than %d levels", maxDepth)

// scanner walks JSON text once, from front to back, so that a large configuration is neither decoded nor copied to
// find the few values that matter. Each method consumes one value, or the mark that it is named after.
type scanner struct {
	data  []byte
	pos   int
	depth int
}

// wholeObject lets read consume the object that must be all of the text.
func (s *scanner) wholeObject(read func() error) error {
	if c := s.next(); c != '{' && c != 0 {
		value, err := s.raw()
		if err != nil {
			return fmt.Errorf("not valid JSON: %w", err)
		}
		return fmt.Errorf("must be an object, is %s", kind(value))
	}
	if err := read(); err != nil {
		return fmt.Errorf("not valid JSON: %w", err)
	}
	if s.next(); s.pos < len(s.data) {
		return fmt.Errorf("not valid JSON: %w", s.unexpected("the end"))
	}
	return nil
}

// next skips blanks and tells the byte after them, 0 at the end.
func (s *scanner) next() byte {
	for ; s.pos < len(s.data); s.pos++ {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) unexpected(wanted string) error {
	if s.pos >= len(s.data) {
		return fmt.Errorf("ends at byte %d where %s is expected", s.pos, wanted)
	}
	r, _ := utf8.DecodeRune(s.data[s.pos:])
	return fmt.Errorf("%q at byte %d where %s is expected", r, s.pos, wanted)
}

func (s *scanner) mark(c byte) error {
	if s.next() != c {
		return s.unexpected(fmt.Sprintf("%q", c))
	}
	s.pos++
	return nil
}

// raw gives the text of one value.
func (s *scanner) raw() (json.RawMessage, error) {
	s.next()
	start := s.pos
	if err := s.skip(); err != nil {
		return nil, err
	}
	return s.data[start:s.pos:s.pos], nil
}

func (s *scanner) skip() error {
	switch c := s.next(); {
	case c == '{':
		return s.object(func([]byte) error { return s.skip() })
	case c == '[':
		return s.list(func() error { return s.skip() })
	case c == '"':
		_, err := s.text()
		return err
	case c == '-' || isDigit(c):
		return s.number()
	default:
		return s.literal()
	}
}

// object consumes an object. For each member it calls value with the text of the key; value consumes what follows.
func (s *scanner) object(value func(key []byte) error) error {
	return s.nested('{', '}', func() error {
		key, err := s.text()
		if err != nil {
			return err
		}
		if err := s.mark(':'); err != nil {
			return err
		}
		return value(key)
	})
}

// list consumes a list. It calls element at each element, to consume it.
func (s *scanner) list(element func() error) error {
	return s.nested('[', ']', element)
}

func (s *scanner) nested(begin, end byte, item func() error) error {
	if err := s.mark(begin); err != nil {
		return err
	}
	if s.depth++; s.depth > maxDepth {
		return errDepth
	}
	for more := s.next() != end; more; {
		if err := item(); err != nil {
			return err
		}
		if more = s.next() == ','; more {
			s.pos++
		}
	}
	s.depth--
	return s.mark(end)
}

// text consumes a string and gives it as written, quotes included.
func (s *scanner) text() ([]byte, error) {
	if s.next() != '"' {
		return nil, s.unexpected("a string")
	}
	start := s.pos
	for s.pos++; ; s.pos++ {
		s.pos += plain(s.data[s.pos:])
		switch {
		case s.pos >= len(s.data):
			return nil, s.unexpected("the end of a string")
		case s.data[s.pos] == '"':
			s.pos++
			return s.data[start:s.pos], nil
		case s.data[s.pos] != '\\':
			return nil, s.unexpected("a character or an escape")
		}
		if err := s.escape(); err != nil {
			return nil, err
		}
	}
}

// plain counts the bytes up to one that means something in a string.
func plain(text []byte) int {
	for i, c := range text {
		if c == '"' || c == '\\' || c < ' ' {
			return i
		}
	}
	return len(text)
}

// escape moves to the last byte of an escape sequence.
func (s *scanner) escape() error {
	s.pos++
	if s.pos >= len(s.data) || strings.IndexByte(`"\/bfnrtu`, s.data[s.pos]) < 0 {
		return s.unexpected("an escape")
	}
	if s.data[s.pos] != 'u' {
		return nil
	}
	for range 4 {
		s.pos++
		if s.pos >= len(s.data) || !isHex(s.data[s.pos]) {
			return s.unexpected("a hexadecimal digit")
		}
	}
	return nil
}

func (s *scanner) number() error {
	s.accept("-")
	if !s.accept("0") {
		if err := s.digits(); err != nil {
			return err
		}
	}
	if s.accept(".") {
		if err := s.digits(); err != nil {
			return err
		}
	}
	if s.accept("eE") {
		s.accept("+-")
		return s.digits()
	}
	return nil
}

// accept consumes one byte if it is in set.
func (s *scanner) accept(set string) bool {
	if s.pos < len(s.data) && strings.IndexByte(set, s.data[s.pos]) >= 0 {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) digits() error {
	start := s.pos
	for s.pos < len(s.data) && isDigit(s.data[s.pos]) {
		s.pos++
	}
	if s.pos == start {
		return s.unexpected("a digit")
	}
	return nil
}

func (s *scanner) literal() error {
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(s.data[s.pos:], []byte(word)) {
			s.pos += len(word)
			return nil
		}
	}
	return s.unexpected("a value")
}

func isDigit(c byte) bool {
	return '0' <= c && c <= '9'
}

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// unquote gives what the text of a JSON string means.
func unquote(text []byte) string {
	inner := text[1 : len(text)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var meant string
	if err := json.Unmarshal(text, &meant); err != nil {
		return string(inner)
	}
	return meant
}

// kind names the type of a JSON value, to say what was found where something else belongs.
func kind(raw json.RawMessage) string {
	switch c := bytes.TrimLeft(raw, " \t\r\n")[0]; c {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return string(raw)
	case 'n':
		return "null"
	default:
		return "a number"
	}
}
