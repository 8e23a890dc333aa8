package nad

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// source is text that positions are told in.
type source struct {
	text  string
	lines []int // the byte that each line begins at
}

func newSource(text string) source {
	lines := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			lines = append(lines, i+1)
		}
	}
	return source{text, lines}
}

// position tells a place: the byte counted from 0, line and column from 1.
func (s source) position(offset int) string {
	offset = min(max(offset, 0), len(s.text))
	line, found := slices.BinarySearch(s.lines, offset)
	if found {
		line++
	}
	return fmt.Sprintf("byte %d (line %d, column %d)", offset, line, offset-s.lines[line-1]+1)
}

// checkSyntax says whether the text is one JSON value, and else where it is not; what is the kind of value expected.
func (s source) checkSyntax(what string) error {
	if i := invalidUTF8(s.text); i >= 0 { // which encoding/json would replace without a word
		return fmt.Errorf("not valid UTF-8 at %s", s.position(i))
	}
	d := json.NewDecoder(strings.NewReader(s.text))
	var whole json.RawMessage
	if err := d.Decode(&whole); err != nil {
		return fmt.Errorf("not valid JSON: %w", s.located(err))
	}
	rest := strings.TrimLeft(s.text[d.InputOffset():], " \t\r\n")
	if rest == "" {
		return nil
	}
	return fmt.Errorf("JSON %s followed by text: %s at %s", what, quote(rest), s.position(len(s.text)-len(rest)))
}

// invalidUTF8 is the index of the first byte that is not valid UTF-8, or -1.
func invalidUTF8(text string) int {
	for i, r := range text {
		if r != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 { // not U+FFFD itself
			return i
		}
	}
	return -1
}

// located adds its position to an error of encoding/json.
func (s source) located(err error) error {
	var syntax *json.SyntaxError
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("%w at %s", err, s.position(int(syntax.Offset)-1))
	case errors.As(err, &wrongType):
		return fmt.Errorf("cannot unmarshal %s at %s", found(wrongType), s.position(int(wrongType.Offset)))
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("it ends too early, at %s", s.position(len(s.text)))
	default:
		return err
	}
}

// value is one JSON value as written, and the byte of the text that it begins at.
type value struct {
	json.RawMessage
	at int
}

// member is one key of a JSON object and its value.
type member struct {
	key   string
	value value
}

// elements gives the values in a list of valid JSON.
func elements(list value) ([]value, error) {
	d := json.NewDecoder(bytes.NewReader(list.RawMessage))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var all []value
	for d.More() {
		v, err := next(d, list.at)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// members gives the keys and values in an object of valid JSON, in order, a key as often as it is there.
func members(object value) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(object.RawMessage))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var all []member
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := next(d, object.at)
		if err != nil {
			return nil, err
		}
		all = append(all, member{key: fmt.Sprint(key), value: v})
	}
	return all, nil
}

// lastOf gives the value of a key: the last one where there are several, as everywhere in Go.
func lastOf(members []member, key string) (value, bool) {
	for _, m := range slices.Backward(members) {
		if m.key == key {
			return m.value, true
		}
	}
	return value{}, false
}

// next gives the value that d stands at. The text of d begins at base.
func next(d *json.Decoder, base int) (value, error) {
	var v value
	err := d.Decode(&v.RawMessage)
	v.at = base + int(d.InputOffset()) - len(v.RawMessage)
	return v, err
}

// kind names the type of a JSON value, to say what was found where something else belongs.
func kind(raw json.RawMessage) string {
	switch bytes.TrimLeft(raw, " \t\r\n")[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}
