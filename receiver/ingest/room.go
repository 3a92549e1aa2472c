// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"runtime"
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
	// turn is how long a body that is not small stands back, after each piece of it, for every other one: somewhat longer than
	// it takes to read a piece. It stands back for longestTurn at most.
	turn        = 100 * time.Microsecond
	longestTurn = 10 * time.Millisecond
)

// room bounds the bytes of the bodies that are held at once. It never waits: who sends is told to come back, or whoever has
// stopped sending makes room.
type room struct {
	// bytes are all that are held, and large are those of bodies that are not small.
	bytes, large atomic.Int64
	// readers are how many bodies are being read that are not small.
	readers atomic.Int64

	mu sync.Mutex
	// first and last are the ends of the list of bodies that are being read.
	first, last *arrival
}

// arrival is a body of which more is still to come. Its fields belong to the room while it is parked there.
type arrival struct {
	previous, next *arrival
	small          bool
	held           int64
	pace           pace
	// expire makes the read that waits for more fail.
	expire interface{ expire() }
	// parked says that it is in the list, and evicted that it had to make way.
	parked, evicted bool
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

// enter counts a body as being read; what it returns ends that.
func (r *room) enter(small bool) (leave func()) {
	if small {
		return func() {}
	}
	r.readers.Add(1)
	return func() { r.readers.Add(-1) }
}

// giveWay is called after each piece of a body. However many large bodies come, and however fast, they leave time for small
// ones: with one that is always ready to go on, the runtime hardly ever looks for what else has arrived.
func (r *room) giveWay(small bool) {
	if small {
		return
	}
	if others := r.readers.Load() - 1; others > 0 {
		time.Sleep(min(time.Duration(others)*turn, longestTurn)) //nolint:forbidigo // there is nothing to wait for, and it is short
		return
	}
	runtime.Gosched()
}

// park lets a body make way for others while more of it is to come.
func (r *room) park(a *arrival) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a.parked, a.previous = true, r.last
	if r.last == nil {
		r.first = a
	} else {
		r.last.next = a
	}
	r.last = a
}

// unpark ends that, and says whether it has made way.
func (r *room) unpark(a *arrival) (evicted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unlink(a)
	return a.evicted
}

func (r *room) unlink(a *arrival) {
	if !a.parked {
		return
	}
	if a.previous == nil {
		r.first = a.next
	} else {
		a.previous.next = a.next
	}
	if a.next == nil {
		r.last = a.previous
	} else {
		a.next.previous = a.previous
	}
	a.parked, a.previous, a.next = false, nil, nil
}

// update runs f, which changes the body or the deadline of its reads; false if the body has made way meanwhile.
func (r *room) update(a *arrival, f func()) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !a.evicted {
		f()
	}
	return !a.evicted
}

// behind returns those bodies whose senders have fallen behind, those furthest behind first.
func (r *room) behind(now time.Time) []*arrival {
	var late []*arrival
	for a := r.first; a != nil; a = a.next {
		if a.pace.behind(now) {
			late = append(late, a)
		}
	}
	slices.SortFunc(late, func(a, b *arrival) int { return a.pace.deadline.Compare(b.pace.deadline) })
	return late
}

func (r *room) expel(a *arrival) {
	r.unlink(a)
	a.evicted = true
	r.release(a.held, a.small)
	a.held = 0
	a.expire.expire()
}

// evict takes the room of other bodies whose senders are behind until there is enough of it for n bytes more of one. Small
// ones stay where they are while there is too much of those that are not.
func (r *room) evict(now time.Time, n, limit int64, of *arrival) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.behind(now) {
		if a == of || a.small && !of.small && r.large.Load()+n > limit-limit/smallShare {
			continue
		}
		r.expel(a)
		if r.hold(n, limit, of.small) {
			return true
		}
	}
	return r.hold(n, limit, of.small)
}

// evictOne lets the body make way whose sender is furthest behind; false if none is.
func (r *room) evictOne(now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	late := r.behind(now)
	if len(late) > 0 {
		r.expel(late[0])
	}
	return len(late) > 0
}
