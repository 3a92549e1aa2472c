// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"hash/maphash"
	"sync/atomic"
)

// copyCounters is how many counters there are. Two events that share one only matter to each other while half of all places
// are theirs.
const copyCounters = 4096

// copies bounds how many places the requests of one event have at once. All but one of them only wait for that one, and
// while a slow event is being recorded its copies must not keep out all others.
type copies struct {
	most int32
	seed maphash.Seed
	open [copyCounters]atomic.Int32
}

// newCopies leaves half of the places to other events.
func newCopies(places int64) *copies {
	return &copies{most: int32(max(places/2, 1)), seed: maphash.MakeSeed()} //nolint:gosec // there are never so many places
}

// enter counts one copy more; false if there are too many. What it returns is given to leave.
func (c *copies) enter(eventID string) (*atomic.Int32, bool) {
	open := &c.open[maphash.String(c.seed, eventID)%copyCounters]
	if open.Add(1) > c.most {
		open.Add(-1)
		return nil, false
	}
	return open, true
}
