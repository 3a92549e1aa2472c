// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/bench/report"
)

func sample() *report.Report {
	r := report.New(report.Facts{Date: "2026-12-01", Commit: "0123456789ab", Rounds: 3, Retained: 1_000_000})
	r.Goal("ingest.vs_limit", []float64{0.9, 0.7, 0.8}, ">=", 0.75)
	r.Goal("memory.idle", []float64{2}, "<=", 1.5)
	r.Goal("overload.refused_p99_ms", nil, "<=", 50)
	r.Figure("control.ingest", 1.0123456, 0.98)
	r.Figure("ingest.rate.ours", 12345.678)
	return r
}

func TestLines(t *testing.T) {
	r := sample()
	r.Figure("nothing")
	r.Figure("nothing.finite", math.Inf(1), math.NaN())
	var out bytes.Buffer
	r.Print(&out)
	want := `ingest.vs_limit 0.80 >= 0.75 ok min=0.70 max=0.90 rounds=3
memory.idle 2 <= 1.50 missed
overload.refused_p99_ms - <= 50 unmeasured
control.ingest 1.00 - - - min=0.98 max=1.01 rounds=2
ingest.rate.ours 12346 - - -
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	if got := strings.Join(r.Missed(), " "); got != "memory.idle overload.refused_p99_ms" {
		t.Errorf("missed: %s", got)
	}
	if got := strings.Join(r.Short(1), " "); got != "overload.refused_p99_ms" {
		t.Errorf("unmeasured: %s", got)
	}
	if got := strings.Join(r.Short(3), " "); got != "memory.idle overload.refused_p99_ms" {
		t.Errorf("measured in fewer than three rounds: %s", got)
	}
}

func TestTheDocumentHasTheFigures(t *testing.T) {
	text, err := sample().Document()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"| `ingest.vs_limit` | 0.80 | 0.70 to 0.90 | 3 | ≥ 0.75 | ok | events/s against the limit with batches of 50 |",
		"| `memory.idle` | 2 |  | 1 | ≤ 1.50 | **missed** | resident memory against the least program's |",
		"| `overload.refused_p99_ms` | - |  | 0 | ≤ 50 | not measured | milliseconds until a 503, 99th percentile |",
		"## Noise",
		"| `control.ingest` | 1.00 | 0.98 to 1.01 | events/s of Hookonce against Hookonce; 1 without noise |",
		"Missed: `memory.idle`, `overload.refused_p99_ms`. Of 3 rounds some are missing,",
		"one with 1,000,000, the former",
	} {
		if !strings.Contains(string(text), line) {
			t.Errorf("there is no %q in\n%s", line, text)
		}
	}
	if strings.Contains(string(text), "<no value>") || strings.Contains(string(text), "No run is recorded") {
		t.Errorf("something is missing in\n%s", text)
	}
}

func TestCheckFindsWhatWasWrittenByHand(t *testing.T) {
	document := filepath.Join(t.TempDir(), "performance.md")
	if err := report.Check(document); err == nil {
		t.Error("a document that is not there passes")
	}
	if err := sample().Write(document); err != nil {
		t.Fatal(err)
	}
	if err := report.Check(document); err != nil {
		t.Errorf("a document as it was written: %v", err)
	}
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(document, bytes.Replace(text, []byte("| 0.80 |"), []byte("| 0.81 |"), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if report.Check(document) == nil {
		t.Error("a figure that was edited passes")
	}
}

func TestARecordIsReadAsItWasWritten(t *testing.T) {
	document := filepath.Join(t.TempDir(), "performance.md")
	want := sample()
	if err := want.Write(document); err != nil {
		t.Fatal(err)
	}
	got, err := report.Read(document)
	if err != nil {
		t.Fatal(err)
	}
	var a, b bytes.Buffer
	want.Print(&a)
	got.Print(&b)
	if a.String() != b.String() || got.Facts != want.Facts {
		t.Errorf("got %+v\n%swant %+v\n%s", got.Facts, b.String(), want.Facts, a.String())
	}
}

// TestADocumentWithoutARun has only the text, and no record.
func TestADocumentWithoutARun(t *testing.T) {
	document := filepath.Join(t.TempDir(), "performance.md")
	r, err := report.Read(document)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Write(document); err != nil {
		t.Fatal(err)
	}
	if err := report.Check(document); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(document)
	if err != nil || !strings.Contains(string(text), "No run is recorded yet") {
		t.Errorf("%v in\n%s", err, text)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(document), "performance.json")); !os.IsNotExist(err) {
		t.Errorf("there is a record: %v", err)
	}
}

// TestTheDocumentOfThisTree is what its record and the text make.
func TestTheDocumentOfThisTree(t *testing.T) {
	if err := report.Check("../../docs/performance.md"); err != nil {
		t.Error(err)
	}
}
