// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"cmp"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/receiver"
)

func taken(t *Tally) []receiver.Count {
	counts := t.Take()
	slices.SortFunc(counts, func(a, b receiver.Count) int {
		return cmp.Or(a.Minute.Compare(b.Minute), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Cause, b.Cause))
	})
	return counts
}

func TestTallyCountsByMinuteUntilTheLedgerHasThem(t *testing.T) {
	now := time.Date(2026, 10, 1, 12, 0, 59, 0, time.UTC)
	first, second := now.Truncate(time.Minute), now.Truncate(time.Minute).Add(time.Minute)
	tally := NewTally(func() time.Time { return now })
	tally.Add("received", "")
	tally.Add("received", "")
	tally.Add("rejected", "bad_signature")
	failed := tally.Take()
	tally.Restore(failed)
	now = now.Add(time.Second)
	tally.Add("received", "")
	want := []receiver.Count{
		{Name: "received", Minute: first, N: 2},
		{Name: "rejected", Cause: "bad_signature", Minute: first, N: 1},
		{Name: "received", Minute: second, N: 1},
	}
	if diff := gocmp.Diff(want, taken(tally)); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if left := tally.Take(); len(left) != 0 {
		t.Errorf("%v is taken twice", left)
	}
	if diff := gocmp.Diff(map[string]int64{"bad_signature": 1}, tally.Rejections()); diff != "" {
		t.Errorf("rejections since the start (-want +got):\n%s", diff)
	}
}

func TestTallyIsBoundedAndKeepsItsTotals(t *testing.T) {
	now := time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
	tally := NewTally(func() time.Time { return now })
	const minutes = 5 * maxPending
	for range minutes {
		tally.Add("received", "")
		now = now.Add(time.Minute)
	}
	var total int64
	counts := tally.Take()
	for _, c := range counts {
		total += c.N
	}
	if len(counts) > maxPending || total != minutes {
		t.Errorf("%d counts with total %d, want at most %d with total %d", len(counts), total, maxPending, minutes)
	}
}
