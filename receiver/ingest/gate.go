// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"container/list"
	"context"
	"sync"
	"time"
)

const (
	// tolerable is how long it may take from a verified request to its answer, as far as can be told when it comes. A provider
	// that is told at once to come back is better off than one that is kept on the line and then answered late.
	tolerable = 200 * time.Millisecond
	// aimed is how long a request may keep its place on average before there are fewer places. More of them than the database
	// can use only make each request take longer.
	aimed = 150 * time.Millisecond
	// fewest is the part of all places that there always are: one in so many. Some requests are slow for reasons of their own.
	fewest = 16
	// smoothing is how many requests it takes to forget how long others kept their places.
	smoothing = 32
)

// gate gives out places. While all are taken, requests wait for one in the order in which they came, but no more of them
// than will get one in time.
type gate struct {
	wait        time.Duration
	least, most int64
	mostWaiting int

	mu           sync.Mutex
	limit, taken int64
	waiting      list.List
	// kept is how long requests keep their places, smoothed.
	kept time.Duration
	// left counts the requests until the limit is looked at again, and crowded says that all places were taken meanwhile.
	left    int64
	crowded bool
}

func newGate(places, waiting int64, wait time.Duration) *gate {
	return &gate{wait: wait, least: max(places/fewest, 1), most: places, limit: places, mostWaiting: int(waiting)}
}

// enter takes a place. If there is none it waits for one, unless that would be in vain; waited says so.
func (g *gate) enter(ctx context.Context) (entered, waited bool) {
	g.mu.Lock()
	if g.taken < g.limit && g.waiting.Len() == 0 {
		g.taken++
		g.mu.Unlock()
		return true, false
	}
	g.crowded = true
	if before := g.waiting.Len(); before >= g.mostWaiting || g.expected(before) > tolerable {
		g.mu.Unlock()
		return false, false
	}
	given := make(chan struct{})
	place := g.waiting.PushBack(given)
	g.mu.Unlock()
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	select {
	case <-given:
		return true, true
	case <-timer.C:
	case <-ctx.Done():
	}
	return g.giveUp(place, given), true
}

// expected is the time until the answer to a request with so many before it. So many places as there are become free, one
// after the other, while one request keeps its own.
func (g *gate) expected(before int) time.Duration {
	return g.kept + time.Duration(before)*g.kept/time.Duration(g.limit)
}

// giveUp ends a wait; true if the place was given just then.
func (g *gate) giveUp(place *list.Element, given chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-given:
		return true
	default:
		g.waiting.Remove(place)
		return false
	}
}

// leave gives a place back. How long it was kept counts if the request was for a new event: copies of one that is slow say
// nothing of the database.
func (g *gate) leave(kept time.Duration, counts bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.taken--
	if counts {
		g.kept += (min(kept, 4*aimed) - g.kept) / smoothing
		g.adapt()
	}
	for g.taken < g.limit {
		next := g.waiting.Front()
		if next == nil {
			return
		}
		g.taken++
		if given, ok := g.waiting.Remove(next).(chan struct{}); ok {
			close(given)
		}
	}
}

// adapt changes the limit after about as many requests as there are places: in proportion when places are kept for too long,
// and otherwise by an eighth if more were wanted.
func (g *gate) adapt() {
	if g.left--; g.left > 0 {
		return
	}
	switch {
	case g.kept > aimed:
		g.limit = max(g.limit*int64(aimed)/int64(g.kept), g.least)
	case g.crowded:
		g.limit = min(g.limit+max(g.limit/8, 1), g.most)
	}
	g.left, g.crowded = max(g.limit, smoothing), false
}
