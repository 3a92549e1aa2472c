// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"hash/maphash"
	"slices"
	"testing"
	"time"
)

// TestWhoWaitedInVainLeavesRoomToWait: otherwise nobody could wait any more after a slow hour.
func TestWhoWaitedInVainLeavesRoomToWait(t *testing.T) {
	g := newGate(1, 1, time.Millisecond)
	if entered, waited := g.enter(t.Context()); !entered || waited {
		t.Fatal("the place is taken")
	}
	for range 2 {
		if entered, waited := g.enter(t.Context()); entered || !waited {
			t.Fatal("the place was given twice, or there was no room to wait")
		}
	}
	if n := g.waiting.Load(); n != 0 {
		t.Errorf("%d still wait", n)
	}
}

// TestNobodyWaitsInVain: with places that are kept for long, fewer wait.
func TestNobodyWaitsInVain(t *testing.T) {
	for _, test := range []struct {
		kept   time.Duration
		before int64
		waits  bool
	}{
		{0, 9, true}, {0, 10, false},
		{40 * time.Millisecond, 4, true}, {40 * time.Millisecond, 5, false},
		{300 * time.Millisecond, 0, false}, {200 * time.Millisecond, 0, true},
	} {
		g := newGate(2, 10, time.Millisecond)
		g.kept.Store(int64(test.kept))
		g.enter(t.Context())
		g.enter(t.Context())
		g.waiting.Store(test.before)
		if _, waited := g.enter(t.Context()); waited != test.waits {
			t.Errorf("%+v: waits %t", test, waited)
		}
	}
}

// TestPlacesAreKeptOnAverage: one slow request is forgotten.
func TestPlacesAreKeptOnAverage(t *testing.T) {
	g := newGate(1, 1, time.Millisecond)
	for _, step := range []struct {
		kept, low, high time.Duration
	}{{time.Second, 0, 50 * time.Millisecond}, {time.Millisecond, 0, 2 * time.Millisecond}, {time.Second, 990 * time.Millisecond, time.Second}} {
		requests := 300
		if step.high == 50*time.Millisecond {
			requests = 1
		}
		for range requests {
			g.enter(t.Context())
			g.leave(step.kept)
		}
		if kept := time.Duration(g.kept.Load()); kept < step.low || kept > step.high {
			t.Errorf("%+v: %v", step, kept)
		}
	}
}

// TestBytesKeptForSmallBodies: large bodies leave a quarter, small ones may take all, and what is given back is free again.
func TestBytesKeptForSmallBodies(t *testing.T) {
	r := &room{}
	for range 2 {
		for _, step := range []struct {
			bytes       int64
			small, held bool
		}{{75, false, true}, {1, false, false}, {25, true, true}, {1, true, false}, {1, false, false}} {
			if held := r.hold(step.bytes, 100, step.small); held != step.held {
				t.Errorf("%+v: held %v", step, held)
			}
		}
		r.release(75, false)
		if !r.hold(75, 100, true) || r.hold(1, 100, true) {
			t.Error("small bodies cannot have all")
		}
		r.release(100, true)
	}
	if r.bytes.Load() != 0 || r.large.Load() != 0 {
		t.Errorf("%d bytes are left, %d of them large", r.bytes.Load(), r.large.Load())
	}
}

type expired struct {
	all  *[]int
	this int
}

func (e expired) expire() { *e.all = append(*e.all, e.this) }

// TestWhoIsBehindMakesWay: the one furthest behind first, no more of them than need be, and nobody who keeps the pace.
func TestWhoIsBehindMakesWay(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	r := &room{}
	bodies := make([]*arrival, 4)
	var all []int
	for i, behind := range []time.Duration{110 * time.Millisecond, 0, time.Second, 90 * time.Millisecond} {
		if !r.hold(25, 100, true) {
			t.Fatal("no room")
		}
		bodies[i] = &arrival{small: true, held: 25, pace: newPace(now.Add(-behind)), expire: expired{&all, i}}
		r.park(bodies[i])
	}
	if !r.evict(now, 20, 100, true) || !slices.Equal(all, []int{2}) {
		t.Errorf("for 20 bytes %v made way", all)
	}
	if r.evict(now, 90, 100, true) || !slices.Equal(all, []int{2, 0}) {
		t.Errorf("for 90 bytes more %v made way", all)
	}
	if n := r.bytes.Load(); n != 70 {
		t.Errorf("%d bytes are held, want 70", n)
	}
	if r.evictOne(now) || !r.evictOne(now.Add(20*time.Millisecond)) || !slices.Equal(all, []int{2, 0, 3}) {
		t.Errorf("for a connection %v made way", all)
	}
	for i, want := range []int64{0, 25, 0, 0} {
		if r.update(bodies[i], func() {}) != (want > 0) {
			t.Errorf("body %d may go on, or not", i)
		}
		if evicted := r.unpark(bodies[i]); bodies[i].held != want || evicted != (want == 0) {
			t.Errorf("body %d holds %d, evicted %t", i, bodies[i].held, evicted)
		}
	}
	if r.first != nil || r.last != nil {
		t.Error("some are still parked")
	}
}

// TestCopiesAreForgotten: events that are over occupy nothing.
func TestCopiesAreForgotten(t *testing.T) {
	c := newCopies(4)
	for range 2 {
		for copies, want := range []bool{true, true, false} {
			if _, got := c.enter("a"); got != want {
				t.Errorf("with %d copies under way, another one enters: %t", copies, got)
			}
		}
		other, entered := c.enter("b")
		if !entered {
			t.Fatal("copies of one event keep another one out")
		}
		other.Add(-1)
		c.open[maphash.String(c.seed, "a")%copyCounters].Add(-2)
	}
	for i := range c.open {
		if n := c.open[i].Load(); n != 0 {
			t.Errorf("left: %d", n)
		}
	}
}
