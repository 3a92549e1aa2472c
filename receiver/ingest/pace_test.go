// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"testing"
	"time"
)

// TestPace says of senders when they are given up.
func TestPace(t *testing.T) {
	start := time.Unix(1_700_000_000, 0)
	for name, test := range map[string]struct {
		first, size int
		every, want time.Duration
	}{
		"nothing arrives":                  {size: 0, every: time.Hour, want: 2 * time.Second},
		"all but a byte at once":           {first: 1<<20 - 1, every: time.Hour, want: 2 * time.Second},
		"a byte a second":                  {size: 1, every: time.Second, want: 2 * time.Second},
		"much, and then a byte a second":   {first: 1 << 20, size: 1, every: time.Second, want: 2 * time.Second},
		"half of the rate":                 {size: 32 << 10, every: time.Second, want: 3 * time.Second},
		"the rate, for as long as allowed": {size: 64 << 10, every: time.Second, want: ReadTimeout},
		"bursts with pauses":               {size: 256 << 10, every: 1900 * time.Millisecond, want: ReadTimeout},
		"faster, and without end":          {size: 1 << 20, every: 100 * time.Millisecond, want: ReadTimeout},
	} {
		now := start
		p := newPace(now)
		p.advance(now, test.first)
		for range 1000 {
			if next := now.Add(test.every); next.Before(p.deadline) {
				now = next
				p.advance(now, test.size)
			}
		}
		if got := p.deadline.Sub(start).Round(time.Second); got != test.want {
			t.Errorf("%s: given up after %v, want %v", name, got, test.want)
		}
	}
}
