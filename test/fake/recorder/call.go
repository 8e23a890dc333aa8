package recorder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
)

// Call is one call of a delegate.
type Call struct {
	Name        string // of the delegate
	Command     string // ADD, DEL, …
	ContainerID string
	NetNS       string
	IfName      string
	Args        [][2]string // CNI_ARGS, in order
	Path        string      // CNI_PATH
	Stdin       json.RawMessage
	Environment map[string]string // CNI_*, or all where the script asked for it
	PID         int
	ParentPID   int
	// Start and End are places in one order over all calls: a call whose Start is after another's End began when that
	// one was done. End is 0 while the call runs, or where it was killed.
	Start, End int
	Exit       int // exit code, where it ended
}

// Arg returns the value of a key of CNI_ARGS, empty without.
func (c Call) Arg(key string) string {
	for _, pair := range c.Args {
		if pair[0] == key {
			return pair[1]
		}
	}
	return ""
}

// Config decodes the configuration on stdin.
func (c Call) Config() (map[string]any, error) {
	var config map[string]any
	err := json.Unmarshal(c.Stdin, &config)
	return config, err
}

// String is short enough for a list of what happened: "ADD macvlan net1".
func (c Call) String() string {
	return c.Command + " " + c.Name + " " + c.IfName
}

// Calls returns the calls so far, by their start.
func (r *Recorder) Calls() ([]Call, error) {
	raw, err := os.ReadFile(r.log)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseLog(raw)
}

// Of returns the calls so far with that command, by their start; VERSION is no part of what most tests are about.
func (r *Recorder) Of(commands ...string) ([]Call, error) {
	calls, err := r.Calls()
	var chosen []Call
	for _, call := range calls {
		for _, command := range commands {
			if call.Command == command {
				chosen = append(chosen, call)
			}
		}
	}
	return chosen, err
}

func parseLog(raw []byte) ([]Call, error) {
	var calls []Call
	running := map[int]int{} // index in calls, by process
	place := 0
	for line := range bytes.Lines(raw) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // still being written
		}
		place++
		var event script.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("log of the recording delegates: line %d: %w", place, err)
		}
		if event.Event == script.Start {
			running[event.PID] = len(calls)
			calls = append(calls, newCall(event, place))
			continue
		}
		if i, known := running[event.PID]; known {
			calls[i].End, calls[i].Exit = place, event.Exit
		}
	}
	return calls, nil
}

func newCall(event script.Event, place int) Call {
	environment := event.Environment
	return Call{
		Name:        event.Name,
		Command:     environment["CNI_COMMAND"],
		ContainerID: environment["CNI_CONTAINERID"],
		NetNS:       environment["CNI_NETNS"],
		IfName:      environment["CNI_IFNAME"],
		Args:        args(environment["CNI_ARGS"]),
		Path:        environment["CNI_PATH"],
		Stdin:       json.RawMessage(event.Stdin),
		Environment: environment,
		PID:         event.PID,
		ParentPID:   event.ParentPID,
		Start:       place,
	}
}
