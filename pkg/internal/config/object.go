package config

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Object is a JSON object that keeps what it is given: the order of its keys and the bytes of each key and value.
// Where a key is given twice the last value counts, as everywhere in Go. The zero Object is empty.
type Object struct {
	members []member
}

type member struct {
	name  string
	key   []byte // name as written, quotes included
	value json.RawMessage
}

// ParseObject reads a JSON object. The Object refers to raw, which must not change afterwards.
func ParseObject(raw []byte) (Object, error) {
	s := scanner{data: raw}
	var object Object
	err := s.wholeObject(func() (err error) {
		object, err = s.members()
		return err
	})
	return object, err
}

// members consumes an object and keeps its members.
func (s *scanner) members() (Object, error) {
	var object Object
	err := s.object(func(key []byte) error {
		value, err := s.raw()
		object.members = append(object.members, member{name: unquote(key), key: key, value: value})
		return err
	})
	return object, err
}

// Get gives the value of key, as written.
func (o Object) Get(key string) (json.RawMessage, bool) {
	if i := o.last(key); i >= 0 {
		return o.members[i].value, true
	}
	return nil, false
}

// Set gives key a value: in place if there is one, else at the end. The value must be valid JSON.
func (o *Object) Set(key string, value json.RawMessage) {
	if i := o.last(key); i >= 0 {
		o.members[i].value = value
		return
	}
	o.members = append(o.members, member{name: key, key: quote(key), value: value})
}

// Delete removes key.
func (o *Object) Delete(key string) {
	o.members = slices.DeleteFunc(o.members, func(m member) bool { return m.name == key })
}

// Keys lists the keys in order, each once.
func (o Object) Keys() []string {
	var keys []string
	seen := make(map[string]bool, len(o.members))
	for _, m := range o.members {
		if !seen[m.name] {
			keys = append(keys, m.name)
		}
		seen[m.name] = true
	}
	return keys
}

// Bytes is the JSON of the object, on one line but for the line breaks inside of values.
func (o Object) Bytes() []byte {
	size := 2
	for _, m := range o.members {
		size += len(m.key) + len(m.value) + 2
	}
	text := append(make([]byte, 0, size), '{')
	for i, m := range o.members {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, m.key...), ':'), m.value...)
	}
	return append(text, '}')
}

// Clone gives an Object that can be changed without changing o.
func (o Object) Clone() Object {
	return Object{members: slices.Clone(o.members)}
}

func (o Object) last(key string) int {
	for i := len(o.members) - 1; i >= 0; i-- {
		if o.members[i].name == key {
			return i
		}
	}
	return -1
}

func (o Object) has(key string) bool {
	return o.last(key) >= 0
}

func (o Object) hasAnyCase(key string) bool {
	return slices.ContainsFunc(o.members, func(m member) bool { return strings.EqualFold(m.name, key) })
}

// rename gives the network that the object describes its name, in place of an empty one, however that is spelled.
func (o *Object) rename(name string) {
	for i := len(o.members) - 1; i >= 0; i-- {
		if strings.EqualFold(o.members[i].name, "name") {
			o.members[i].value = quote(name)
			return
		}
	}
	o.Set("name", quote(name))
}

// inner gives the object that key holds, an empty one if there is none.
func (o Object) inner(key string) (Object, error) {
	raw, ok := o.Get(key)
	if !ok || string(raw) == "null" {
		return Object{}, nil
	}
	object, err := ParseObject(raw)
	if err != nil {
		return Object{}, fmt.Errorf("%s: %w", key, err)
	}
	return object, nil
}
