// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/rotation"
)

// Of two former secrets whose rotations are deleted each has its own end.
func TestSweepEndsNothingEarly(t *testing.T) {
	k := adopted(t)
	for i, name := range []string{"beta", "gamma"} {
		next, _, err := k.Promote(candidate(name), t0, t0.Add(time.Hour+time.Duration(i)*30*time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		k = next
	}
	if swept, again := rotation.Sweep(t0, k, nil); swept != k || again != time.Hour {
		t.Errorf("before both: %d former secrets, again after %v", len(swept.Previous), again)
	}
	swept, again := rotation.Sweep(t0.Add(time.Hour), k, nil)
	if len(swept.Previous) != 1 || again != 30*time.Minute {
		t.Errorf("between: %d former secrets, again after %v", len(swept.Previous), again)
	}
}
