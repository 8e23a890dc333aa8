package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/seed-2ba21eab/multus-cni/test/fake/delegate/script"
)

func main() {
	call, err := newCall()
	if err != nil {
		fmt.Fprintln(os.Stderr, "recording delegate:", err)
		os.Exit(1)
	}
	os.Exit(call.run())
}

// call is the one call that this process answers.
type call struct {
	binary string // path by which we were called
	script script.Script
	stdin  []byte
}

func newCall() (*call, error) {
	c := &call{binary: os.Args[0]}
	raw, err := os.ReadFile(c.binary + ".json")
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	if err == nil {
		if err := json.Unmarshal(raw, &c.script); err != nil {
			return nil, fmt.Errorf("%s.json: %w", c.binary, err)
		}
	}
	c.stdin, err = io.ReadAll(os.Stdin)
	return c, err
}

// run returns the exit code.
func (c *call) run() int {
	if err := c.record(c.start()); err != nil {
		fmt.Fprintln(os.Stderr, "recording delegate:", err)
		return 1
	}
	rule := c.rule()
	c.describe(rule)
	prepare(rule)
	exit := c.end(rule)
	if err := c.record(script.Event{Event: script.End, PID: os.Getpid(), Exit: exit}); err != nil {
		fmt.Fprintln(os.Stderr, "recording delegate:", err)
	}
	return exit
}

func (c *call) start() script.Event {
	environment := map[string]string{}
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if c.script.AllEnvironment || strings.HasPrefix(name, "CNI_") {
			environment[name] = value
		}
	}
	return script.Event{
		Event: script.Start, PID: os.Getpid(), ParentPID: os.Getppid(),
		Name: filepath.Base(c.binary), Environment: environment, Stdin: string(c.stdin),
	}
}

// record appends a line in one write, so that the lines of delegates that run at once stay whole and in order.
func (c *call) record(event script.Event) error {
	if c.script.Record == "" {
		return nil
	}
	line, err := json.Marshal(event)
	if err != nil {
		return err
	}
	_, err = appendTo(c.script.Record, append(line, '\n'))
	return err
}

// appendTo returns the size of the file with what was appended, whoever else appends at the same time.
func appendTo(path string, content []byte) (int64, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	if _, err := file.Write(content); err != nil {
		return 0, err
	}
	return file.Seek(0, io.SeekCurrent)
}

func (c *call) rule() script.Rule {
	for i, rule := range c.script.Rules {
		if c.matches(rule) && c.left(i, rule) {
			return rule
		}
	}
	return script.Rule{}
}

func (c *call) matches(rule script.Rule) bool {
	is := func(want, variable string) bool { return want == "" || want == os.Getenv(variable) }
	return is(rule.Command, "CNI_COMMAND") && is(rule.ContainerID, "CNI_CONTAINERID") && is(rule.Interface, "CNI_IFNAME")
}

// left counts the call in a file of one byte for each.
func (c *call) left(i int, rule script.Rule) bool {
	if rule.Times == 0 {
		return true
	}
	count, err := appendTo(fmt.Sprintf("%s.rule%d", c.binary, i), []byte("x"))
	return err == nil && count <= int64(rule.Times)
}

// describe writes a device information file.
func (c *call) describe(rule script.Rule) {
	if rule.DeviceInfo == "" {
		return
	}
	var config struct {
		RuntimeConfig struct{ CNIDeviceInfoFile string }
	}
	_ = json.Unmarshal(c.stdin, &config)
	path := config.RuntimeConfig.CNIDeviceInfoFile
	_ = os.MkdirAll(filepath.Dir(path), 0o755)
	if err := os.WriteFile(path, []byte(rule.DeviceInfo), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, "recording delegate:", err)
	}
}

func prepare(rule script.Rule) {
	if rule.Deaf {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	}
	if rule.Create != "" {
		_, _ = appendTo(rule.Create, nil)
	}
	if rule.Delete != "" {
		_ = os.Remove(rule.Delete)
	}
	for rule.WaitFor != "" && !exists(rule.WaitFor) {
		time.Sleep(time.Millisecond)
	}
	if rule.KillParent {
		_ = syscall.Kill(os.Getppid(), syscall.SIGKILL)
	}
	_, _ = os.Stderr.WriteString(rule.Stderr)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// end prints the answer and returns the exit code, if the rule lets it come so far.
func (c *call) end(rule script.Rule) int {
	switch {
	case rule.Hang:
		for {
			time.Sleep(time.Hour)
		}
	case rule.Panic:
		panic("as the script says")
	case rule.Die:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case rule.Error != nil:
		return c.fail(*rule.Error, rule.Exit)
	case rule.Output != "":
		_, _ = os.Stdout.WriteString(rule.Output)
	case rule.Result != nil:
		_, _ = os.Stdout.Write(rule.Result)
	case rule.Nothing, rule.Exit != 0:
	default:
		return c.behave()
	}
	return rule.Exit
}
