package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
)

// reader takes values out of an object. A value of the wrong type is a fault and reads as if it were not there, and so
// does null. Letter case of keys does not matter, as wherever Go decodes into a struct.
type reader struct {
	object Object
	path   string // of the object, in faults
	faults *Faults
	asked  map[string]bool // every key that something was asked of, in lower case
}

func newReader(object Object, path string, faults *Faults) *reader {
	return &reader{object: object, path: path, faults: faults, asked: map[string]bool{}}
}

func (r *reader) raw(key string) (json.RawMessage, bool) {
	r.asked[strings.ToLower(key)] = true
	members := r.object.members
	for i := len(members) - 1; i >= 0; i-- {
		if strings.EqualFold(members[i].name, key) {
			return members[i].value, string(members[i].value) != "null"
		}
	}
	return nil, false
}

func (r *reader) fault(key, format string, args ...any) {
	r.faults.add(join(r.path, key), format, args...)
}

func (r *reader) wrong(key, wanted string, raw json.RawMessage) {
	r.fault(key, "must be %s, is %s", wanted, kind(raw))
}

func (r *reader) text(key string) string {
	raw, ok := r.raw(key)
	if !ok {
		return ""
	}
	if raw[0] != '"' {
		r.wrong(key, "a string", raw)
		return ""
	}
	return unquote(raw)
}

// textOr is text with a default, which an empty string leaves as it is (CONF-1).
func (r *reader) textOr(key, unset string) string {
	if value := r.text(key); value != "" {
		return value
	}
	return unset
}

func (r *reader) flagOr(key string, unset bool) bool {
	raw, ok := r.raw(key)
	if !ok {
		return unset
	}
	if raw[0] != 't' && raw[0] != 'f' {
		r.wrong(key, "true or false", raw)
		return unset
	}
	return raw[0] == 't'
}

// countOr reads a number of days, files and the like.
func (r *reader) countOr(key string, unset int) int {
	raw, ok := r.raw(key)
	if !ok {
		return unset
	}
	if raw[0] != '-' && !isDigit(raw[0]) {
		r.wrong(key, "a number", raw)
		return unset
	}
	var count int32
	if err := json.Unmarshal(raw, &count); err != nil || count < 0 {
		r.fault(key, "must be a whole number from 0 to %d, is %s", math.MaxInt32, raw)
		return unset
	}
	return int(count)
}

// elements gives the elements of a list.
func (r *reader) elements(key string) []json.RawMessage {
	raw, ok := r.raw(key)
	if !ok {
		return nil
	}
	if raw[0] != '[' {
		r.wrong(key, "a list", raw)
		return nil
	}
	var elements []json.RawMessage
	s := scanner{data: raw}
	err := s.list(func() error {
		element, err := s.raw()
		elements = append(elements, element)
		return err
	})
	if err != nil {
		r.fault(key, "%v", err)
	}
	return elements
}

// textsOr reads a list of strings. Empty ones count as not given (CONF-1).
func (r *reader) textsOr(key string, unset []string) []string {
	var texts []string
	for i, raw := range r.elements(key) {
		if raw[0] != '"' {
			r.wrong(index(key, i), "a string", raw)
			continue
		}
		if text := unquote(raw); text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return unset
	}
	return texts
}

// within gives a reader of the object that key holds, of an empty one if there is none.
func (r *reader) within(key string) *reader {
	path := join(r.path, key)
	raw, ok := r.raw(key)
	if !ok {
		return newReader(Object{}, path, r.faults)
	}
	object, err := ParseObject(raw)
	if err != nil {
		r.wrong(key, "an object", raw)
	}
	return newReader(object, path, r.faults)
}

// flags reads an object of booleans, as "capabilities" is one.
func (r *reader) flags(key string) map[string]bool {
	inner := r.within(key)
	if len(inner.object.members) == 0 {
		return nil
	}
	flags := make(map[string]bool, len(inner.object.members))
	for _, m := range inner.object.members {
		switch m.value[0] {
		case 't', 'f', 'n':
			flags[m.name] = m.value[0] == 't'
		default:
			inner.wrong(m.name, "true or false", m.value)
		}
	}
	return flags
}

// unknown lists the keys that nothing was asked of.
func (r *reader) unknown() []string {
	unknown := map[string]bool{}
	for _, m := range r.object.members {
		if !r.asked[strings.ToLower(m.name)] {
			unknown[m.name] = true
		}
	}
	return slices.Sorted(maps.Keys(unknown))
}

// quote writes text as a JSON string.
func quote(text string) json.RawMessage {
	raw, _ := encode(text) // a string cannot fail
	return raw
}

// encode is json.Marshal without escapes for HTML.
func encode(value any) (json.RawMessage, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), nil
}
