package cluster

import (
	"fmt"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
)

// report prints what a person needs to see first of a scenario that failed, and says where the rest is.
func (b *bench) report() {
	if !CurrentSpecReport().Failed() || b.reported {
		return
	}
	b.reported = true
	_ = b.ThawAPIServer() // which events come from
	if kept, err := b.KeepLogs(); err == nil {
		AddReportEntry("all logs", kept)
	}
	events, err := b.Events(b.ctx, b.namespace, "")
	AddReportEntry("events", fmt.Sprintln(strings.Join(events, "\n"), err))
	for _, log := range []string{"multus", "kubelet", "containerd"} {
		AddReportEntry(log+" on "+b.namespace, tail(b.Path("logs", log+".log"), b.namespace))
	}
	left, err := b.Leftovers()
	AddReportEntry("on the node", fmt.Sprintln(strings.Join(left, "\n"), err))
}

// tail gives the last lines of a log that have a text.
func tail(path, text string) string {
	const most, width = 20, 400
	content, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	var lines []string
	for line := range strings.SplitSeq(string(content), "\n") {
		if strings.Contains(line, text) {
			lines = append(lines, line[:min(len(line), width)])
		}
	}
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
