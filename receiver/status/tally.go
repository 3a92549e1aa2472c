// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"maps"
	"sync"
	"time"

	"github.com/hookonce/hookonce/receiver"
)

// maxPending is how many different counts are kept for the ledger. Beyond it, which is after hours without a database,
// minutes are merged: totals stay right, and only their time becomes coarse.
const maxPending = 1024

// Tally counts what happens to requests, until the ledger has taken the counts.
type Tally struct {
	now func() time.Time

	mu      sync.Mutex
	pending map[counter]int64
	// minute is the one of the last count, and unix its number.
	minute time.Time
	unix   int64
	// rejections by cause since the start.
	rejections map[string]int64
}

type counter struct {
	name, cause string
	minute      time.Time
}

// NewTally returns an empty tally with the clock now.
func NewTally(now func() time.Time) *Tally {
	return &Tally{now: now, pending: map[counter]int64{}, rejections: map[string]int64{}}
}

// Add counts one. The cause is empty unless the name is rejected; both come from a fixed set, never from a request.
func (t *Tally) Add(name, cause string) {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	if unix := now.Unix() / 60; unix != t.unix || t.minute.IsZero() {
		t.unix, t.minute = unix, now.UTC().Truncate(time.Minute)
	}
	t.add(counter{name, cause, t.minute}, 1)
	if name == receiver.CountRejected {
		t.rejections[cause]++
	}
}

func (t *Tally) add(c counter, n int64) {
	if _, known := t.pending[c]; !known && len(t.pending) >= maxPending {
		t.merge(c.minute)
	}
	t.pending[c] += n
}

// merge moves every pending count into one minute.
func (t *Tally) merge(minute time.Time) {
	merged := map[counter]int64{}
	for c, n := range t.pending {
		merged[counter{c.name, c.cause, minute}] += n
	}
	t.pending = merged
}

// Take returns what was counted since the last Take, and forgets it.
func (t *Tally) Take() []receiver.Count {
	t.mu.Lock()
	defer t.mu.Unlock()
	counts := make([]receiver.Count, 0, len(t.pending))
	for c, n := range t.pending {
		counts = append(counts, receiver.Count{Name: c.name, Cause: c.cause, Minute: c.minute, N: n})
	}
	clear(t.pending)
	return counts
}

// Restore gives back counts that could not be written.
func (t *Tally) Restore(counts []receiver.Count) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range counts {
		t.add(counter{c.Name, c.Cause, c.Minute}, c.N)
	}
}

// Rejections returns the counts of rejected requests by cause since the start.
func (t *Tally) Rejections() map[string]int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.rejections)
}
