// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"testing"
	"time"
)

// TestWhoWaitedInVainLeavesRoomToWait: otherwise nobody could wait any more after a slow hour.
func TestWhoWaitedInVainLeavesRoomToWait(t *testing.T) {
	g := newGate(1, 1, time.Millisecond)
	if !g.enter(t.Context()) {
		t.Fatal("the place is taken")
	}
	if g.enter(t.Context()) {
		t.Fatal("the place was given twice")
	}
	if !g.waiting.TryAcquire(1) {
		t.Error("somebody still waits")
	}
}

// TestBytesKeptForSmallBodies: large bodies leave a quarter, small ones may take all, and what is given back is free again.
func TestBytesKeptForSmallBodies(t *testing.T) {
	g := newGate(1, 1, time.Millisecond)
	for range 2 {
		for _, step := range []struct {
			bytes       int64
			small, held bool
		}{{75, false, true}, {1, false, false}, {25, true, true}, {1, true, false}, {1, false, false}} {
			if held := g.holdBytes(step.bytes, 100, step.small); held != step.held {
				t.Errorf("%+v: held %v", step, held)
			}
		}
		g.releaseBytes(75, false)
		if !g.holdBytes(75, 100, true) || g.holdBytes(1, 100, true) {
			t.Error("small bodies cannot have all")
		}
		g.releaseBytes(100, true)
	}
	if g.bytes.Load() != 0 || g.large.Load() != 0 {
		t.Errorf("%d bytes are left, %d of them large", g.bytes.Load(), g.large.Load())
	}
}

// TestCopiesAreForgotten: events that are over occupy nothing.
func TestCopiesAreForgotten(t *testing.T) {
	c := newCopies(4)
	for range 2 {
		for copies, want := range []bool{true, true, false} {
			if got := c.enter("a"); got != want {
				t.Errorf("with %d copies under way, another one enters: %t", copies, got)
			}
		}
		if !c.enter("b") {
			t.Error("copies of one event keep another one out")
		}
		c.leave("a")
		c.leave("b")
		c.leave("a")
	}
	if len(c.open) != 0 {
		t.Errorf("left: %v", c.open)
	}
}
