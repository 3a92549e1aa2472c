// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import "sync"

// copies bounds how many places the requests of one event have at once. All but one of them only wait for that one, and
// while a slow event is being recorded its copies must not keep out all others.
type copies struct {
	most int64
	mu   sync.Mutex
	open map[string]int64
}

// newCopies leaves half of the places to other events.
func newCopies(places int64) *copies {
	return &copies{most: max(places/2, 1), open: map[string]int64{}}
}

func (c *copies) enter(eventID string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[eventID] >= c.most {
		return false
	}
	c.open[eventID]++
	return true
}

func (c *copies) leave(eventID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open[eventID]--; c.open[eventID] == 0 {
		delete(c.open, eventID)
	}
}
