// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDelaySet(t *testing.T) {
	for text, want := range map[string]string{"0s": "0s", "30s": "30s", "0s-120s": "0s-2m0s", "1s-1s": "1s"} {
		var delay Delay
		if err := delay.Set(text); err != nil {
			t.Errorf("Set(%q): %v", text, err)
		}
		if got := delay.String(); got != want {
			t.Errorf("Set(%q) is shown as %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"", "x", "-1s", "2s-1s", "1s-", "1s-x"} {
		if err := new(Delay).Set(text); err == nil {
			t.Errorf("Set(%q) was accepted", text)
		}
	}
}

func TestDelayIsSeeded(t *testing.T) {
	series := func(seed uint64) []time.Duration {
		var delay Delay
		if err := delay.Set("1s-120s"); err != nil {
			t.Fatal(err)
		}
		delay.Seed(seed)
		var out []time.Duration
		for range 100 {
			next := delay.Next()
			if next < time.Second || next > 120*time.Second {
				t.Fatalf("delay %s is out of its range", next)
			}
			out = append(out, next)
		}
		return out
	}
	if diff := cmp.Diff(series(7), series(7)); diff != "" {
		t.Errorf("the same seed gave different delays:\n%s", diff)
	}
	if cmp.Equal(series(7), series(8)) {
		t.Error("another seed gave the same delays")
	}
}
