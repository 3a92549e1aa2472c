// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// tolerableWait is how long a request may have to wait for a place, as far as can be told when it comes. A provider that
	// is told at once to come back is better off than one that is kept on the line and then answered late.
	tolerableWait = 100 * time.Millisecond
	// smoothing is how many requests it takes to forget how long others kept their places.
	smoothing = 32
)

// gate gives out places. While all are taken, requests wait for one, but no more of them than will get one in time.
type gate struct {
	places *semaphore.Weighted
	count  int64
	wait   time.Duration
	// most is how many wait at most, and waiting how many do.
	most    int64
	waiting atomic.Int64
	// kept is how long a request keeps its place, in nanoseconds, smoothed.
	kept atomic.Int64
}

func newGate(places, waiting int64, wait time.Duration) *gate {
	return &gate{places: semaphore.NewWeighted(places), count: places, wait: wait, most: waiting}
}

// enter takes a place. If there is none it waits for one, unless too many others do; waited says so.
func (g *gate) enter(ctx context.Context) (entered, waited bool) {
	if g.places.TryAcquire(1) {
		return true, false
	}
	before := g.waiting.Add(1)
	defer g.waiting.Add(-1)
	// So many places become free, one after the other, while one request keeps its own.
	if before > g.most || time.Duration(before*(g.kept.Load()/g.count)) > tolerableWait {
		return false, false
	}
	ctx, cancel := context.WithTimeout(ctx, g.wait)
	defer cancel()
	return g.places.Acquire(ctx, 1) == nil, true
}

// leave gives a place back that was kept for so long. Two that leave at once may count as one; it is an average.
func (g *gate) leave(kept time.Duration) {
	g.places.Release(1)
	old := g.kept.Load()
	g.kept.Store(old + (int64(kept)-old)/smoothing)
}
