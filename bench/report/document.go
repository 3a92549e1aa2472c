// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/template"
)

//go:embed performance.md.tmpl
var page string

// Facts are what a reader must know besides the figures.
type Facts struct {
	Date, Commit, Command, Machine, Postgres, River string
}

// row is a figure in the table.
type row struct{ Name, Value, Range, Goal, Verdict, Meaning string }

// meanings of figures, by the beginnings of their names; the longest that fits counts.
var meanings = map[string]string{
	"ingest.vs_limit":          "events/s against the limit with batches of 50",
	"ingest.vs_pgbench_single": "events/s against pgbench with one event in a transaction",
	"ingest.vs_river":          "events/s against River",
	"ingest.vs_handwritten":    "events/s against the handwritten handler",
	"effect.vs_limit":          "events/s with an effect against the limit with one",
	"latency.p50":              "median against pgbench's, 100/s or half of the rate at saturation",
	"latency.p99":              "99th percentile against pgbench's",
	"latency_ms":               "milliseconds",
	"overload.accepted_p99_ms": "milliseconds until an acknowledgment, 99th percentile",
	"overload.refused_p99_ms":  "milliseconds until a 503, 99th percentile",
	"overload.refused_share":   "part that was answered 503",
	"overload.kept":            "acknowledged against what it acknowledges without overload",
	"overload.rate":            "acknowledged a second",
	"growth.rate":              "events/s with many claims against few",
	"growth.rate.":             "events/s",
	"growth.p99":               "99th percentile with many claims against few, at half of the rate at saturation",
	"growth.retained":          "claims",
	"memory.idle":              "resident memory against the least program's",
	"memory.in_flight":         "growth of resident memory against the bytes in flight",
	"memory_mib":               "MiB",
	"rate.":                    "events/s",
	"cpu_us.":                  "microseconds of CPU for each event",
	"cpu.effect_vs_limit":      "CPU of the limit with an effect against Hookonce's",
	"cpu.vs_limit":             "CPU of the limit against Hookonce's",
	"cpu.vs_":                  "CPU of the other against Hookonce's",
	"refused.":                 "part that was answered 503 at saturation",
	"machine.others":           "part of the processors' time that other programs took",
	"machine.discarded_rounds": "rounds discarded",
	"machine.seconds":          "seconds that all took",
}

func meaning(name string) string {
	for _, beginning := range slices.Backward(slices.SortedFunc(maps.Keys(meanings), func(a, b string) int { return len(a) - len(b) })) {
		if strings.HasPrefix(name, beginning) {
			return meanings[beginning]
		}
	}
	return ""
}

// Write writes the document.
func (r *Report) Write(file string, facts Facts) error {
	tmpl, err := template.New("performance").Parse(page)
	if err != nil {
		return fmt.Errorf("read the document's template: %w", err)
	}
	data := struct {
		Facts
		Goals, Figures []row
	}{Facts: facts}
	for _, l := range r.Lines {
		entry := row{Name: l.Name, Value: Number(l.Median), Meaning: meaning(l.Name)}
		if l.Rounds > 1 {
			entry.Range = Number(l.Least) + " to " + Number(l.Most)
		}
		if l.Operator == "" {
			data.Figures = append(data.Figures, entry)
			continue
		}
		entry.Goal, entry.Verdict = l.Operator+" "+Number(l.Goal), "ok"
		if !l.Met() {
			entry.Verdict = "**missed**"
		}
		data.Goals = append(data.Goals, entry)
	}
	var text bytes.Buffer
	if err := tmpl.Execute(&text, data); err != nil {
		return fmt.Errorf("make the document: %w", err)
	}
	if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
		return fmt.Errorf("write the document: %w", err)
	}
	return nil
}
