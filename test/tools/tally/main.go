package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: tally FILE ARGUMENT…")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "tally:", err)
		os.Exit(1)
	}
}

// run runs "go test" to its end, and appends what it counted to the file.
func run(file string, arguments []string) error {
	// An interrupt reaches the tests too, which clean up and end. We count until then.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	command := exec.Command("go", append([]string{"test", "-json"}, arguments...)...)
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	total, err := tally(output, os.Stdout)
	if command.Wait() != nil && total.failed == 0 { // "go test" could not start any
		total.add(count{cases: 1, failed: 1})
	}
	return errors.Join(err, save(file, total))
}

func save(file string, total count) error {
	target, err := os.OpenFile(file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(target, total.cases, total.failed)
	return errors.Join(err, target.Close())
}

// count is how many cases ran, how many of them failed, and how many there were beside.
type count struct{ cases, failed, skipped int }

func (c *count) add(other count) {
	c.cases += other.cases
	c.failed += other.failed
	c.skipped += other.skipped
}

// event is one line of "go test -json" (go doc test2json).
type event struct {
	Action, Package, Test, Output, FailedBuild string
}

// result is what is known of one package.
type result struct {
	output strings.Builder
	tests  map[string]*test
}

type test struct {
	action string // how it ended
	output strings.Builder
}

func tally(in io.Reader, out io.Writer) (count, error) {
	var total count
	packages := map[string]*result{}
	decoder := json.NewDecoder(in)
	for {
		var e event
		err := decoder.Decode(&e)
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
		if e.Action == "build-output" {
			fmt.Fprint(out, e.Output)
		}
		if e.Package == "" {
			continue
		}
		if packages[e.Package] == nil {
			packages[e.Package] = &result{tests: map[string]*test{}}
		}
		if packages[e.Package].note(e) {
			total.add(packages[e.Package].report(e, out))
		}
	}
}

// note reports whether the package has ended with this event.
func (r *result) note(e event) bool {
	r.output.WriteString(e.Output)
	ended := e.Action == "pass" || e.Action == "fail" || e.Action == "skip"
	if e.Test == "" {
		return ended
	}
	if r.tests[e.Test] == nil {
		r.tests[e.Test] = &test{}
	}
	r.tests[e.Test].output.WriteString(e.Output)
	if ended {
		r.tests[e.Test].action = e.Action
	}
	return false
}

func (r *result) report(end event, out io.Writer) count {
	var sum count
	for name, test := range r.tests {
		if !r.hasChildren(name) {
			sum.add(test.count())
		}
	}
	if end.Action == "fail" {
		if sum.failed == 0 { // it did not compile, or ended in the middle
			sum.add(count{cases: 1, failed: 1})
		}
		fmt.Fprintf(out, "%sFAIL %s: %d of %d cases\n", r.output.String(), end.Package, sum.failed, sum.cases)
		return sum
	}
	if sum.cases+sum.skipped > 0 {
		fmt.Fprintf(out, "ok   %s: %d cases", end.Package, sum.cases)
		if sum.skipped > 0 {
			fmt.Fprintf(out, ", %d skipped", sum.skipped)
		}
		fmt.Fprintln(out)
	}
	return sum
}

func (r *result) hasChildren(name string) bool {
	for other := range r.tests {
		if strings.HasPrefix(other, name+"/") {
			return true
		}
	}
	return false
}

// count takes Ginkgo's word for a suite, which is one Go test.
func (t *test) count() count {
	text := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(t.output.String(), "")
	summary := regexp.MustCompile(`Ran (\d+) of (\d+) Specs in .*\n.*?(\d+) Passed \| (\d+) Failed`).FindStringSubmatch(text)
	switch {
	case summary != nil:
		ran, all, failed := number(summary[1]), number(summary[2]), number(summary[4])
		if failed == 0 && t.action == "fail" { // a BeforeSuite failed, or the race detector spoke
			ran, failed = ran+1, 1
		}
		return count{cases: ran, failed: failed, skipped: max(0, all-ran)}
	case t.action == "skip":
		return count{skipped: 1}
	case t.action == "pass":
		return count{cases: 1}
	default: // failed, or cut off in the middle
		return count{cases: 1, failed: 1}
	}
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // the expression matches nothing else
	return n
}
