package script

import "encoding/json"

// Script is the content of "<binary>.json", beside a delegate's binary. Without that file the delegate behaves well
// and records nothing.
type Script struct {
	// Record is the path of the log that calls are appended to; empty: none.
	Record string `json:"record,omitempty"`
	// AllEnvironment records every variable, not only those named CNI_*.
	AllEnvironment bool `json:"allEnvironment,omitempty"`
	// Versions lists the CNI versions that the delegate speaks; empty: all of them.
	Versions []string `json:"versions,omitempty"`
	// Rules say what to do at a call. The first that matches and is not used up holds; with none the delegate
	// behaves well.
	Rules []Rule `json:"rules,omitempty"`
}

// Rule is what to do at certain calls: first everything from DeviceInfo to Stderr, in the order of the fields, then one
// end. Without an end the delegate answers as a plugin that works.
type Rule struct {
	// Command, ContainerID and Interface select calls; empty: any.
	Command     string `json:"command,omitempty"`
	ContainerID string `json:"containerID,omitempty"`
	Interface   string `json:"interface,omitempty"`
	// Times is for how many calls the rule holds, 0 for all: "fail twice, then succeed" is an Error with Times 2.
	Times int `json:"times,omitempty"`

	// DeviceInfo is written to the path that the capability argument CNIDeviceInfoFile gives.
	DeviceInfo string `json:"deviceInfo,omitempty"`
	// Deaf ignores SIGTERM and SIGINT from here on.
	Deaf bool `json:"deaf,omitempty"`
	// Create and Delete are paths of marker files.
	Create string `json:"create,omitempty"`
	Delete string `json:"delete,omitempty"`
	// WaitFor is the path of a file; the delegate goes on when it exists.
	WaitFor string `json:"waitFor,omitempty"`
	// KillParent sends SIGKILL to the process that called.
	KillParent bool `json:"killParent,omitempty"`
	// Stderr is printed there.
	Stderr string `json:"stderr,omitempty"`

	// Ends: the first one set, in this order.

	// Hang never returns.
	Hang bool `json:"hang,omitempty"`
	// Panic ends as a Go program that panics: exit code 2, a trace on stderr.
	Panic bool `json:"panic,omitempty"`
	// Die ends by SIGKILL.
	Die bool `json:"die,omitempty"`
	// Error prints a CNI error object and exits with 1, or with Exit.
	Error *Error `json:"error,omitempty"`
	// Output is printed as it is: garbage, half an object.
	Output string `json:"output,omitempty"`
	// Result is printed: a CNI result of any version, whether or not it suits the configuration.
	Result json.RawMessage `json:"result,omitempty"`
	// Nothing prints nothing.
	Nothing bool `json:"nothing,omitempty"`
	// Exit is the exit code. Set alone, it prints nothing.
	Exit int `json:"exit,omitempty"`
}

// Error is the CNI error object (CNI specification, section 5).
type Error struct {
	CNIVersion string `json:"cniVersion,omitempty"` // the configuration's where empty
	Code       uint   `json:"code"`
	Msg        string `json:"msg"`
	Details    string `json:"details,omitempty"`
}

// Event is one line of the log. A call writes one when it starts and one when it ends; one that is killed has no
// second line.
type Event struct {
	Event       string            `json:"event"` // Start or End
	PID         int               `json:"pid"`
	Name        string            `json:"name,omitempty"`        // base name of the binary
	ParentPID   int               `json:"ppid,omitempty"`        // at the start
	Environment map[string]string `json:"environment,omitempty"` // CNI_*, or all
	Stdin       string            `json:"stdin,omitempty"`       // every byte of it
	Exit        int               `json:"exit,omitempty"`        // at the end
}

// Values of Event.Event.
const (
	Start = "start"
	End   = "end"
)
