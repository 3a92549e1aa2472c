// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"math"
	"os"
	"testing"
)

func TestMemoryIsReadByKind(t *testing.T) {
	m, err := parseMemory("Name:\tx\nVmHWM:\t    4096 kB\nVmRSS:\t    3072 kB\nRssAnon:\t    1024 kB\nRssFile:\t    2048 kB\nRssShmem:\t       0 kB\n")
	if err != nil {
		t.Fatal(err)
	}
	if want := (Memory{Resident: 3 << 20, Peak: 4 << 20, Anonymous: 1 << 20, File: 2 << 20}); m != want {
		t.Errorf("got %+v, want %+v", m, want)
	}
	if _, err := parseMemory("VmRSS:\tmuch\n"); err == nil {
		t.Error("what is no number was read")
	}
}

func TestMemoryOfThisProcess(t *testing.T) {
	m, err := ReadMemory(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if m.Anonymous <= 0 || m.File <= 0 || m.Resident < m.Anonymous+m.File || m.Peak < m.Resident {
		t.Errorf("got %+v", m)
	}
}

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []float64
		want   Spread
	}{
		{"one", []float64{3}, Spread{Median: 3, Least: 3, Most: 3, Rounds: 1}},
		{"odd", []float64{3, 1, 2}, Spread{Median: 2, Least: 1, Most: 3, Rounds: 3}},
		{"even", []float64{4, 1, 2, 3}, Spread{Median: 2.5, Least: 1, Most: 4, Rounds: 4}},
	} {
		if got := Summarize(c.values); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
	if got := Summarize(nil); !math.IsNaN(got.Median) || got.Rounds != 0 {
		t.Errorf("of nothing: got %+v", got)
	}
}

func TestHarmonic(t *testing.T) {
	if got := Harmonic(60, 30); got != 20 {
		t.Errorf("got %g, want 20", got)
	}
}

func TestSyncIsTimed(t *testing.T) {
	took, err := Sync(t.TempDir())
	if err != nil || took <= 0 {
		t.Errorf("got %s, %v", took, err)
	}
}
