// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"testing"
	"time"
)

// What is shown is what is enforced, to the second that a status can hold, and no overlap is shorter than what was asked.
func TestDeadlinesAreWholeSeconds(t *testing.T) {
	w := newWorld(t)
	w.to(300 * time.Millisecond).plan()
	if want := t0.Add(day + time.Hour + time.Second); !w.former().NotAfter.Equal(want) {
		t.Errorf("ceiling %v, want %v", w.former().NotAfter, want)
	}
	w.load(0, 1)
	d := w.to(90*time.Second + 300*time.Millisecond).plan()
	if want := t0.Add(91*time.Second + day); !w.former().NotAfter.Equal(want) || !d.OverlapEnd.Equal(want) {
		t.Errorf("enforced %v, shown %v, want %v", w.former().NotAfter, d.OverlapEnd, want)
	}
}
