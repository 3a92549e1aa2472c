// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/bench/load"
	"github.com/hookonce/hookonce/bench/measure"
)

// TestEveryFigureIsExplained in the document, in one of its tables.
func TestEveryFigureIsExplained(t *testing.T) {
	latencies := load.NewHistogram()
	if err := latencies.RecordValue(int64(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	all := round{}
	for _, name := range []string{
		"ours", "control", "empty", "one", "fifty", "effect", "river", "handwritten", "pgbench", "peak", "young", "old",
	} {
		all[name] = turns{{rate: 1, cpu: 1, span: time.Second, latency: latencies, refusals: latencies}}
	}
	rounds := []round{all}
	b := &bench{started: time.Now(), others: []float64{0}, syncs: []float64{1}, parts: []*part{
		{section: &ingest{rounds: rounds}},
		{section: &peers{rounds: rounds}},
		{section: &effect{rounds: rounds}},
		{section: &latency{quiet: rounds, half: rounds, rates: []float64{1}}},
		{section: &overload{rounds: rounds}},
		{section: &growth{rates: rounds, p99: rounds, retained: 1}},
		{section: &memory{found: []occupied{{
			minimal: measure.Memory{Resident: 1}, idle: measure.Memory{Resident: 1}, busy: measure.Memory{Peak: 1},
		}}}},
	}}
	if len(b.parts) != len(sections) {
		t.Errorf("%d sections are looked at, of %d", len(b.parts), len(sections))
	}
	found := b.result()
	text, err := found.Document()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range found.Lines {
		row := ""
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "| `"+l.Name+"` |") {
				row = strings.TrimSpace(line)
			}
		}
		if row == "" || strings.HasSuffix(row, "|  |") {
			t.Errorf("%s: its row is %q", l.Name, row)
		}
	}
	if missing := found.Short(1); len(missing) > 0 {
		t.Errorf("a whole run has no values for %v", missing)
	}
}
