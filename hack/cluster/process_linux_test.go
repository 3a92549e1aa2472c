// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"testing"
	"time"
)

func TestParseStartTime(t *testing.T) {
	const rest = " 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20 21"
	for name, tc := range map[string]struct {
		stat, want string
		fails      bool
	}{
		"plain":         {stat: "7 (sleep) S" + rest, want: "4242"},
		"odd name":      {stat: "7 (a) b (c)) S" + rest, want: "4242"},
		"zombie":        {stat: "7 (sleep) Z" + rest, fails: true},
		"cut off":       {stat: "7 (sleep) S 1", fails: true},
		"not a process": {stat: "", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseStartTime(tc.stat)
			if got != tc.want || (err != nil) != tc.fails {
				t.Errorf("got %q, %v; want %q, fails: %t", got, err, tc.want, tc.fails)
			}
		})
	}
}

func TestMarkedProcesses(t *testing.T) {
	state := t.TempDir()
	ours := recordOf(t, startSleeper(t, markerEnv+"="+state).Process.Pid)
	recordOf(t, startSleeper(t, markerEnv+"="+state+"-other").Process.Pid)
	// A process is there for a moment before its environment is: the kernel fills it in late in exec.
	deadline := time.After(10 * time.Second)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		found := markedProcesses(state)
		if slices.Equal(found, []pidRecord{ours}) {
			return
		}
		select {
		case <-deadline:
			t.Fatalf("found %v, want %v", found, ours)
		case <-tick.C:
		}
	}
}
