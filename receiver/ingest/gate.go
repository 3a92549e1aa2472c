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
	// smallBody is how many bytes a body may be declared to have and still use the room that is kept for small ones.
	smallBody = 64 << 10
	// smallShare is the part of all bytes that is kept for small bodies: one in so many.
	smallShare = 4
)

// gate bounds what is held at once. For bytes it never waits, and for a place only for a moment: a provider that is told
// to come back in a second is better off than one that is kept on the line.
type gate struct {
	places  *semaphore.Weighted
	waiting *semaphore.Weighted
	wait    time.Duration
	// bytes are all that are held, and large are those of bodies that are not small.
	bytes, large atomic.Int64
}

func newGate(places, waiting int64, wait time.Duration) *gate {
	return &gate{places: semaphore.NewWeighted(places), waiting: semaphore.NewWeighted(waiting), wait: wait}
}

// enter takes a place. If there is none it waits for one, unless enough others do.
func (g *gate) enter(ctx context.Context) bool {
	if g.places.TryAcquire(1) {
		return true
	}
	if !g.waiting.TryAcquire(1) {
		return false
	}
	defer g.waiting.Release(1)
	ctx, cancel := context.WithTimeout(ctx, g.wait)
	defer cancel()
	return g.places.Acquire(ctx, 1) == nil
}

func (g *gate) leave() { g.places.Release(1) }

// holdBytes holds so many bytes more if all that are held stay within the limit, which may differ from call to call. Those
// of bodies that are not small stay within the part of it that is not kept for small ones.
func (g *gate) holdBytes(n, limit int64, small bool) bool {
	if !small && g.large.Add(n) > limit-limit/smallShare {
		g.large.Add(-n)
		return false
	}
	if g.bytes.Add(n) > limit {
		g.releaseBytes(n, small)
		return false
	}
	return true
}

func (g *gate) releaseBytes(n int64, small bool) {
	g.bytes.Add(-n)
	if !small {
		g.large.Add(-n)
	}
}
