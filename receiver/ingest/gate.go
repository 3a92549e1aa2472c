// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import "golang.org/x/sync/semaphore"

// gate bounds what is held at once. It never waits: a provider that is told to come back in a second is better off than
// one that is kept on the line.
type gate struct {
	requests *semaphore.Weighted
	bytes    *semaphore.Weighted
}

func newGate(requests, bytes int64) gate {
	return gate{requests: semaphore.NewWeighted(requests), bytes: semaphore.NewWeighted(bytes)}
}

func (g gate) enter() bool { return g.requests.TryAcquire(1) }

func (g gate) leave() { g.requests.Release(1) }

func (g gate) holdBytes(n int64) bool { return g.bytes.TryAcquire(n) }

func (g gate) releaseBytes(n int64) { g.bytes.Release(n) }
