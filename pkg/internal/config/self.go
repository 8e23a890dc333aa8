package config

import (
	"strings"
)

// CallsItself finds the plugins of the network that are this plugin, which would call itself without end (CONF-3):
// "multus", and self, the base name of our executable. The error is Faults.
func (n *Network) CallsItself(self string) error {
	return n.selfCalls(self).err()
}

func (n *Network) selfCalls(self string) Faults {
	search := &selfSearch{self: self}
	for i, plugin := range n.Plugins {
		path := index("plugins", i)
		if n.single {
			path = ""
		}
		search.judge(join(path, "type"), plugin.Type)
		nested, _ := newReader(plugin.object, path, &search.faults).raw("plugins")
		search.nested(join(path, "plugins"), nested)
	}
	return search.faults
}

type selfSearch struct {
	scanner
	self   string
	faults Faults
}

func (s *selfSearch) judge(path, plugin string) {
	if plugin == "multus" || plugin == s.self && plugin != "" {
		s.faults.add(path, "%q is this plugin, which would call itself without end", plugin)
	}
}

// nested searches the lists of other meta-plugins, where anything else may be, too.
func (s *selfSearch) nested(path string, raw []byte) {
	if raw == nil {
		return
	}
	s.scanner = scanner{data: raw}
	if err := s.plugins(path); err != nil {
		s.faults.add(path, "%v", err)
	}
}

func (s *selfSearch) plugins(path string) error {
	if s.next() != '[' {
		return s.skip()
	}
	i := -1
	return s.list(func() error {
		i++
		if s.next() != '{' {
			return s.skip()
		}
		return s.object(func(key []byte) error { return s.member(index(path, i), unquote(key)) })
	})
}

func (s *selfSearch) member(path, name string) error {
	switch {
	case strings.EqualFold(name, "plugins"):
		return s.plugins(join(path, "plugins"))
	case strings.EqualFold(name, "type"):
		raw, err := s.raw()
		if err == nil && raw[0] == '"' {
			s.judge(join(path, "type"), unquote(raw))
		}
		return err
	default:
		return s.skip()
	}
}
