package main

import (
	"strings"
	"testing"
)

func TestTally(t *testing.T) {
	for _, step := range []struct {
		name, in string
		want     count
		shows    string
	}{
		{
			"Go tests, sub-tests instead of their parents",
			`{"Action":"pass","Package":"p","Test":"TestA"}
			{"Action":"pass","Package":"p","Test":"TestB/x"}
			{"Action":"pass","Package":"p","Test":"TestB/y"}
			{"Action":"pass","Package":"p","Test":"TestB"}
			{"Action":"skip","Package":"p","Test":"TestC"}
			{"Action":"pass","Package":"p"}`,
			count{cases: 3, skipped: 1}, "ok   p: 3 cases, 1 skipped\n",
		},
		{
			"Ginkgo specs instead of their suite",
			`{"Action":"output","Package":"p","Test":"TestP","Output":"\u001b[1mRan 17 of 19 Specs in 0.1 seconds\u001b[0m\n"}
			{"Action":"output","Package":"p","Test":"TestP","Output":"FAIL! -- \u001b[1m15 Passed\u001b[0m | \u001b[1m2 Failed\u001b[0m | 0 Pending | 2 Skipped\n"}
			{"Action":"fail","Package":"p","Test":"TestP"}
			{"Action":"fail","Package":"p"}`,
			count{cases: 17, failed: 2, skipped: 2}, "FAIL p: 2 of 17 cases\n",
		},
		{
			"a suite that fails with no spec to blame",
			`{"Action":"output","Package":"p","Test":"TestP","Output":"Ran 0 of 3 Specs in 0.1 seconds\nFAIL! -- 0 Passed | 0 Failed\n"}
			{"Action":"fail","Package":"p","Test":"TestP"}
			{"Action":"fail","Package":"p"}`,
			count{cases: 1, failed: 1, skipped: 2}, "FAIL p: 1 of 1 cases\n",
		},
		{
			"a package that does not compile",
			`{"ImportPath":"p","Action":"build-output","Output":"p.go:1: no\n"}
			{"Action":"fail","Package":"p","FailedBuild":"p"}`,
			count{cases: 1, failed: 1}, "p.go:1: no\nFAIL p: 1 of 1 cases\n",
		},
		{
			"a test that never ended",
			`{"Action":"run","Package":"p","Test":"TestA"}
			{"Action":"output","Package":"p","Output":"panic: timed out\n"}
			{"Action":"fail","Package":"p"}`,
			count{cases: 1, failed: 1}, "panic: timed out\nFAIL p: 1 of 1 cases\n",
		},
		{"a package without tests", `{"Action":"skip","Package":"p"}`, count{}, ""},
	} {
		t.Run(step.name, func(t *testing.T) {
			var out strings.Builder
			got, err := tally(strings.NewReader(step.in), &out)
			if err != nil || got != step.want {
				t.Errorf("got %+v, %v, want %+v", got, err, step.want)
			}
			if !strings.HasSuffix(out.String(), step.shows) {
				t.Errorf("shows %q, want %q at the end", out.String(), step.shows)
			}
		})
	}
}
