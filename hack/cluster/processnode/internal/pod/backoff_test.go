// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package pod

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBackoff(t *testing.T) {
	delays := series{Backoff: DefaultBackoff}
	runs := []time.Duration{0, 0, 0, 0, 0, 0, 0, 59 * time.Second, time.Minute, 0}
	want := []int{1, 2, 4, 8, 16, 30, 30, 30, 1, 2}
	var got []int
	for _, ran := range runs {
		got = append(got, int(delays.after(ran).Seconds()))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("delays in seconds (-want +got):\n%s", diff)
	}
}
