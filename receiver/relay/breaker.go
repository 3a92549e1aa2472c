// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import "time"

const (
	// tripAfter failures in a row, a destination gets no attempts for a while.
	tripAfter = 8
	// firstPause and lastPause are how long it then gets none: twice as long each time that the probe fails too.
	firstPause = time.Second
	lastPause  = time.Minute
)

// breaker keeps attempts from a destination that does not work: they would use up its deliveries' ladders, and its
// strength when it comes back. When a pause is over, one attempt probes; a success lets all others through.
type breaker struct {
	// failures in a row.
	failures int
	// until is when the pause is over; zero while attempts go through.
	until time.Time
	pause time.Duration
}

// closed says that attempts go through.
func (b *breaker) closed() bool { return b.until.IsZero() }

// probes says that one attempt may be made, to see.
func (b *breaker) probes(now time.Time) bool { return !b.closed() && !now.Before(b.until) }

// record learns from an attempt whether the destination works. asked is how long it wants to be left alone; 0 if it did
// not say. It says whether the state has changed.
func (b *breaker) record(now time.Time, works bool, asked time.Duration) bool {
	switch {
	case works:
		changed := !b.closed()
		*b = breaker{}
		return changed
	case !b.closed() && now.Before(b.until):
		// It began before the pause, and says nothing new.
		return false
	case b.closed():
		b.failures++
		if b.failures < tripAfter && asked == 0 {
			return false
		}
		b.pause = firstPause
	default:
		b.pause = min(2*b.pause, lastPause)
	}
	changed := b.closed()
	b.until = now.Add(max(b.pause, min(asked, lastPause)))
	return changed
}
