// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// smallBody is how many bytes a body may be declared to have and still use the room that is kept for small ones.
	smallBody = 64 << 10
	// smallShare is the part of all bytes that is kept for small bodies: one in so many.
	smallShare = 4
	// lag is how far a sender may fall behind its pace before it has to make room for others. One that keeps the pace, or is
	// faster, is never behind.
	lag = 100 * time.Millisecond
)

// room bounds the bytes of the bodies that are held at once. It never waits: who sends is told to come back, or whoever has
// stopped sending makes room.
type room struct {
	// bytes are all that are held, and large are those of bodies that are not small.
	bytes, large atomic.Int64

	mu sync.Mutex
	// slow are the bodies of which more is still to come.
	slow []*slowBody
}

// slowBody is a body that did not arrive at once. Its fields belong to the room.
type slowBody struct {
	small bool
	held  int64
	pace  pace
	// expire makes the read that waits for more fail.
	expire func()
	// evicted says that others have its room.
	evicted bool
}

// hold holds so many bytes more if all that are held stay within the limit, which may differ from call to call. Those
// of bodies that are not small stay within the part of it that is not kept for small ones.
func (r *room) hold(n, limit int64, small bool) bool {
	if !small && r.large.Add(n) > limit-limit/smallShare {
		r.large.Add(-n)
		return false
	}
	if r.bytes.Add(n) > limit {
		r.release(n, small)
		return false
	}
	return true
}

func (r *room) release(n int64, small bool) {
	r.bytes.Add(-n)
	if !small {
		r.large.Add(-n)
	}
}

// park lets a body give way to others while more of it is to come.
func (r *room) park(b *slowBody) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.slow = append(r.slow, b)
}

// unpark ends that. It returns the bytes that the body still holds, and whether it had to give way.
func (r *room) unpark(b *slowBody) (held int64, evicted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.Index(r.slow, b); i >= 0 {
		r.slow = slices.Delete(r.slow, i, i+1)
	}
	return b.held, b.evicted
}

// update runs f, which changes the body or the deadline of its reads; false if the body had to give way meanwhile.
func (r *room) update(b *slowBody, f func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !b.evicted {
		f()
	}
	return !b.evicted
}

// evict takes the room of bodies whose senders are behind, those furthest behind first, until there is enough of it for n
// bytes more.
func (r *room) evict(now time.Time, n, limit int64, small bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	slices.SortFunc(r.slow, func(a, b *slowBody) int { return a.pace.deadline.Compare(b.pace.deadline) })
	for i, b := range r.slow {
		if r.hold(n, limit, small) {
			r.slow = slices.Delete(r.slow, 0, i)
			return true
		}
		if !b.pace.behind(now) {
			r.slow = slices.Delete(r.slow, 0, i)
			return false
		}
		b.evicted = true
		r.release(b.held, b.small)
		b.held = 0
		b.expire()
	}
	clear(r.slow)
	r.slow = r.slow[:0]
	return r.hold(n, limit, small)
}
