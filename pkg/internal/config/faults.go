package config

import (
	"fmt"
	"strings"

	"github.com/containernetworking/cni/pkg/types"
)

// Fault is one thing wrong with a configuration.
type Fault struct {
	Path string // where in the JSON, as in "delegates[1].plugins[0].type"; empty for the whole of it
	Text string
}

func (f Fault) String() string {
	if f.Path == "" {
		return f.Text
	}
	return f.Path + ": " + f.Text
}

// Faults is all that is wrong with a configuration (CONF-2). As an error it is never empty.
type Faults []Fault

func (f Faults) Error() string {
	texts := make([]string, len(f))
	for i, fault := range f {
		texts[i] = fault.String()
	}
	return strings.Join(texts, "; ")
}

// CNICode is the code of the CNI error object: invalid network configuration.
func (f Faults) CNICode() uint {
	return types.ErrInvalidNetworkConfig
}

func (f *Faults) add(path, format string, args ...any) {
	*f = append(*f, Fault{Path: path, Text: fmt.Sprintf(format, args...)})
}

// under gives the same faults as seen from outside, where the configuration is found at path.
func (f Faults) under(path string) Faults {
	moved := make(Faults, len(f))
	for i, fault := range f {
		moved[i] = Fault{Path: join(path, fault.Path), Text: fault.Text}
	}
	return moved
}

// err is f as an error, nil if there is no fault.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

func join(outer, inner string) string {
	if outer == "" || inner == "" || strings.HasPrefix(inner, "[") {
		return outer + inner
	}
	return outer + "." + inner
}

func index(path string, i int) string {
	return fmt.Sprintf("%s[%d]", path, i)
}
