// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package pgbench

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// output is pgbench's after 3 s. In the first it connected for half a second, and did 1,000 transactions; then 3,000 a second.
const output = `transaction type: one.pgbench
number of transactions actually processed: 7000
number of failed transactions: 0 (0.000%)
latency average = 1.2 ms
initial connection time = 500.000 ms
tps = 2800.000000 (without initial connection time)
`

func TestTheWarmupIsNotCounted(t *testing.T) {
	begun := 0
	warmup, said, err := Plan{Begin: func() { begun++ }}.follow(strings.NewReader(
		"progress: 1.0 s, 1000.0 tps, lat 8.0 ms stddev 1.0, 0 failed\nprogress: 2.0 s, 3000.0 tps, lat 2.0 ms\npgbench: a warning\n"))
	if err != nil || begun != 1 || said != "pgbench: a warning\n" {
		t.Fatalf("%v, begun %d times, said %q", err, begun, said)
	}
	got, err := counted(output, warmup)
	if err != nil || math.Abs(got-3000) > 1 {
		t.Errorf("got %g, %v; want 3000", got, err)
	}
}

func TestWhatPgbenchDoesNotSay(t *testing.T) {
	if _, _, err := (Plan{}).follow(strings.NewReader("pgbench: error: no server\n")); err == nil {
		t.Error("a run without an end of its warmup passes")
	}
	if _, err := counted(strings.Replace(output, "transactions: 0 ", "transactions: 3 ", 1), lap{1, 1000}); err == nil {
		t.Error("failed transactions pass")
	}
}

func TestOnlyWhatWasDueAfterTheWarmupIsTimed(t *testing.T) {
	prefix := filepath.Join(t.TempDir(), "log")
	// Due at 100.0 s, 100.9 s, 101.0 s, 101.5 s and 102.0 s.
	lines := "0 1 200000 0 100 200000 0\n1 1 300000 0 101 200000 0\n0 2 1000 0 101 1000 0\n1 2 2000 0 101 502000 0\n0 3 9000 0 102 9000 0\n"
	if err := os.WriteFile(prefix+".1", []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	latency, err := readLogs(prefix, time.Second, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if n, most := latency.TotalCount(), time.Duration(latency.Max()).Round(time.Millisecond); n != 2 || most != 2*time.Millisecond {
		t.Errorf("%d transactions, the longest took %s", n, most)
	}
	if _, err := os.Stat(prefix + ".1"); !os.IsNotExist(err) {
		t.Errorf("the log is still there: %v", err)
	}
	if _, err := parseTransaction("0 1 skipped 0 1 1"); err == nil {
		t.Error("a transaction without a time passes")
	}
}
