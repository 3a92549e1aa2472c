// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"hash/maphash"
	"slices"
	"sync"
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
	if n := g.waiting.Len(); n != 0 {
		t.Errorf("%d still wait", n)
	}
}

// TestNobodyWaitsInVain: with places that are kept for long, fewer wait.
func TestNobodyWaitsInVain(t *testing.T) {
	for _, test := range []struct {
		kept   time.Duration
		before int
		waits  bool
	}{
		{0, 9, true},
		{0, 10, false},
		{20 * time.Millisecond, 8, true},
		{20 * time.Millisecond, 9, false},
		{50 * time.Millisecond, 2, true},
		{50 * time.Millisecond, 3, false},
		{101 * time.Millisecond, 0, false},
	} {
		g := newGate(2, 10, time.Millisecond)
		g.kept = test.kept
		g.enter(t.Context())
		g.enter(t.Context())
		for range test.before {
			g.waiting.PushBack(make(chan struct{}))
		}
		g.look()
		if g.shut.Load() == test.waits {
			t.Errorf("%+v: shut %t", test, !test.waits)
		}
		if _, waited := g.enter(t.Context()); waited != test.waits {
			t.Errorf("%+v: waits %t", test, waited)
		}
	}
}

// TestPlacesFollowTheDatabase: one that takes n ms for each of n requests at once gets as many as it answers in time, and all
// places again when it is fast. Copies that waited for others do not count.
func TestPlacesFollowTheDatabase(t *testing.T) {
	g := newGate(256, 1024, time.Second)
	serve := func(each time.Duration, counts bool) {
		for range 5000 {
			for g.taken < g.limit {
				g.enter(t.Context())
			}
			g.crowded = true
			g.leave(time.Duration(g.taken)*each, counts)
		}
	}
	for _, step := range []struct {
		each      time.Duration
		counts    bool
		low, high int64
	}{
		{100 * time.Microsecond, true, 256, 256},
		{time.Millisecond, true, 70, 110},
		{time.Second, false, 70, 110},
		{20 * time.Millisecond, true, 16, 16},
		{100 * time.Microsecond, true, 256, 256},
	} {
		serve(step.each, step.counts)
		if g.limit < step.low || g.limit > step.high {
			t.Errorf("with %v for each: %d places, want %d to %d", step.each, g.limit, step.low, step.high)
		}
	}
}

// TestPlacesOfASlowDatabase: where each commit takes long, for one request as for many, fewer places would only be fewer
// answers. To find that out now and then may cost a fifth of them.
func TestPlacesOfASlowDatabase(t *testing.T) {
	for _, commit := range []time.Duration{100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, 3 * time.Second} {
		g := newGate(256, 1024, time.Second)
		rounds, answers := 5000, 0
		for range rounds {
			// A round is one commit of all that have a place.
			for g.taken < g.limit {
				g.enter(t.Context())
			}
			g.crowded = true
			for range g.taken {
				g.leave(commit, true)
				answers++
			}
		}
		if least := rounds * 256 * 4 / 5; answers < least {
			t.Errorf("with commits of %v: %d answers, want %d", commit, answers, least)
		}
	}
}

// TestTheGateOpens: it is shut while one more would wait in vain, and whoever only looks at it takes nothing.
func TestTheGateOpens(t *testing.T) {
	g := newGate(2, 0, time.Millisecond)
	for taken, shut := range []bool{false, false, true} {
		if g.shut.Load() != shut {
			t.Errorf("with %d of 2 places taken: shut %t", taken, !shut)
		}
		if entered, _ := g.enter(t.Context()); entered == shut {
			t.Errorf("with %d of 2 places taken: entered %t", taken, !shut)
		}
	}
	g.leave(0, true)
	if g.shut.Load() || g.taken != 1 {
		t.Errorf("with a free place: shut %t, %d taken", g.shut.Load(), g.taken)
	}
	g.enter(t.Context())
	if g.mostWaiting = 1; g.giveUp(g.waiting.PushBack(make(chan struct{})), make(chan struct{})) || g.shut.Load() {
		t.Error("shut, with room to wait")
	}
}

// TestPlacesComeBackAfterAStall: within the second in which 3,000 requests come.
func TestPlacesComeBackAfterAStall(t *testing.T) {
	g := newGate(256, 1024, time.Second)
	for range 256 {
		g.enter(t.Context())
	}
	for range 256 {
		g.leave(2*time.Second, true)
	}
	answers := 0
	for ; g.limit < g.most && answers < 3000; answers++ {
		for g.taken < g.limit {
			g.enter(t.Context())
		}
		g.crowded = true
		g.leave(time.Duration(g.taken)*250*time.Microsecond, true)
	}
	t.Logf("all places were back after %d requests", answers)
	if answers > 1000 {
		t.Errorf("%d of %d places after %d requests", g.limit, g.most, answers)
	}
}

// TestPlacesAreGivenInOrder: and one that is given to somebody who gives up just then is not lost.
func TestPlacesAreGivenInOrder(t *testing.T) {
	g := newGate(1, 10, time.Hour)
	g.enter(t.Context())
	order := make(chan int, 3)
	var group sync.WaitGroup
	for i := range 3 {
		group.Go(func() {
			if entered, waited := g.enter(t.Context()); !entered || !waited {
				t.Errorf("%d did not get a place", i)
			}
			order <- i
			g.leave(0, true)
		})
		for waiting := 0; waiting <= i; {
			g.mu.Lock()
			waiting = g.waiting.Len()
			g.mu.Unlock()
		}
	}
	g.leave(0, true)
	group.Wait()
	for i := range 3 {
		if got := <-order; got != i {
			t.Errorf("%d came before %d", got, i)
		}
	}
	if g.taken != 0 {
		t.Errorf("%d places are taken", g.taken)
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
	if !r.evict(now, 20, 100, &arrival{small: true}) || !slices.Equal(all, []int{2}) {
		t.Errorf("for 20 bytes %v made way", all)
	}
	if r.evict(now, 90, 100, &arrival{small: true}) || !slices.Equal(all, []int{2, 0}) {
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
