// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// tolerable is how long it may take from a verified request to its answer, as far as can be told when it comes. A provider
	// that is told at once to come back is better off than one that is kept on the line and then answered late.
	tolerable = 100 * time.Millisecond
	// aimed is how long a request may keep its place on average before there are fewer places. More of them than the database
	// can use only make each request take longer.
	aimed = 100 * time.Millisecond
	// slowest is what a request counts as, at most, when others are told how long they would wait.
	slowest = 8 * aimed
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

	// shut says that a request that came now would be turned away. Who only looks at it takes nothing.
	shut atomic.Bool

	mu           sync.Mutex
	limit, taken int64
	waiting      list.List
	// kept is how long requests keep their places, smoothed.
	kept time.Duration
	// left counts the requests until the limit is looked at again: first those that had a place when it was set, which say
	// nothing of it, and then the window. Meanwhile at most peak places were taken, and crowded says that more were wanted.
	left, window, peak int64
	crowded            bool
	// spent is the time in which requests of the window kept their places.
	spent time.Duration
	// alone is how long requests keep their places with hardly any others, if fewer places have not made it shorter.
	alone time.Duration
	// before is the last window in which all places were taken and more were wanted, at another limit; zero if there is none.
	before struct {
		limit int64
		kept  time.Duration
	}
}

func newGate(places, waiting int64, wait time.Duration) *gate {
	return &gate{wait: wait, least: max(places/fewest, 1), most: places, limit: places, mostWaiting: int(waiting)}
}

// enter takes a place. If there is none it waits for one, unless that would be in vain; waited says so.
func (g *gate) enter(ctx context.Context) (entered, waited bool) {
	g.mu.Lock()
	if g.taken < g.limit && g.waiting.Len() == 0 {
		g.take()
		g.look()
		g.mu.Unlock()
		return true, false
	}
	g.crowded = true
	if g.inVain() {
		g.mu.Unlock()
		return false, false
	}
	given := make(chan struct{})
	place := g.waiting.PushBack(given)
	g.look()
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

func (g *gate) take() {
	g.taken++
	g.peak = max(g.peak, g.taken)
}

// look shuts the gate, or opens it.
func (g *gate) look() {
	shut := (g.taken >= g.limit || g.waiting.Len() > 0) && g.inVain()
	if g.crowded = g.crowded || shut; shut != g.shut.Load() {
		g.shut.Store(shut)
	}
}

// inVain says whether one more would wait in vain.
func (g *gate) inVain() bool {
	before := g.waiting.Len()
	return before >= g.mostWaiting || g.expected(before) > tolerable
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
		g.look()
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
		g.kept += (min(kept, slowest) - g.kept) / smoothing
		g.adapt(kept)
	}
	for next := g.waiting.Front(); next != nil && g.taken < g.limit; next = g.waiting.Front() {
		g.take()
		if given, ok := g.waiting.Remove(next).(chan struct{}); ok {
			close(given)
		}
	}
	g.look()
}

// adapt changes the limit after about as many requests as there are at once: if places are kept for too long, in proportion
// to how many were taken, and otherwise, if more were wanted, by as much as can do no harm.
func (g *gate) adapt(kept time.Duration) {
	if g.left--; g.left < g.window {
		g.spent += kept
	}
	if g.left > 0 {
		return
	}
	average, used := g.spent/time.Duration(max(g.window, 1)), min(g.limit, g.peak)
	g.learn(average)
	within, before := max(aimed, 2*g.alone), g.limit
	switch {
	case average > within && used > g.least:
		g.limit = max(min(used*int64(within)/int64(average), used-used/4), g.least)
	case average > within || !g.crowded:
	case 2*average <= within:
		g.limit = min(2*g.limit, g.most)
	default:
		g.limit = min(g.limit+max(g.limit/8, 1), g.most)
	}
	g.window = max(min(g.limit, used), smoothing)
	if g.left = g.window; g.limit != before {
		g.left += g.taken
	}
	g.peak, g.spent, g.crowded = g.taken, 0, false
}

// learn looks at what fewer places have changed. If requests did not keep them for less time, by half as much at least as
// there were fewer, then fewer were answered each second: they do not wait for each other, but all of them for something else,
// as when each commit takes long, or the processor has other things to do. Then so many places as before are given again.
// That is forgotten bit by bit, and so tried again.
func (g *gate) learn(average time.Duration) {
	g.alone -= g.alone / 8
	if b := g.before; g.crowded && b.limit > g.limit {
		if fewer := b.kept * time.Duration(b.limit-g.limit) / time.Duration(2*b.limit); average > b.kept-fewer {
			g.alone = average
		}
	}
	g.before.limit, g.before.kept = 0, 0
	if g.crowded {
		g.before.limit, g.before.kept = g.limit, average
	}
}
