// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// gate bounds what is held at once. It never waits: a provider that is told to come back in a second is better off than
// one that is kept on the line.
type gate struct {
	requests *semaphore.Weighted
	bytes    atomic.Int64
}

func newGate(requests int64) *gate {
	return &gate{requests: semaphore.NewWeighted(requests)}
}

func (g *gate) enter() bool { return g.requests.TryAcquire(1) }

func (g *gate) leave() { g.requests.Release(1) }

// holdBytes holds so many bytes more if all that are held stay within the limit, which may differ from call to call.
func (g *gate) holdBytes(n, limit int64) bool {
	if g.bytes.Add(n) > limit {
		g.bytes.Add(-n)
		return false
	}
	return true
}

func (g *gate) releaseBytes(n int64) { g.bytes.Add(-n) }
