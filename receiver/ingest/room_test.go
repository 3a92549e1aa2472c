// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"testing"
	"time"
)

// TestOnlyThoseMakeWayWhoHelp: of bodies that are behind, neither the one that needs room makes way, nor small ones while
// there is too much of the others.
func TestOnlyThoseMakeWayWhoHelp(t *testing.T) {
	const limit = 1000
	start := time.Unix(1_700_000_000, 0)
	// What is kept for small ones is 250: 750 are there for the others.
	for _, held := range []int64{750, 0} {
		r := &room{}
		park := func(held int64, small bool) *arrival {
			a := &arrival{small: small, held: held, pace: newPace(start), expire: expired{all: new([]int)}}
			if !r.hold(held, limit, small) {
				t.Fatal("no room to begin with")
			}
			r.park(a)
			return a
		}
		small, self, other := park(100, true), park(0, false), park(held, false)
		// With nothing to make way the need is more than there ever is.
		if need := 800 - held; r.evict(start.Add(time.Second), need, limit, self) != (held > 0) {
			t.Errorf("with %d bytes of others there is room, or none", held)
		}
		if self.evicted || small.evicted || !other.evicted {
			t.Errorf("with %d bytes of others: itself made way %v, the small one %v, the other one %v", held, self.evicted, small.evicted, other.evicted)
		}
	}
}

// TestSmallOnesMakeWayForAll: if all room is taken, whoever is behind makes way.
func TestSmallOnesMakeWayForAll(t *testing.T) {
	r, now := &room{}, time.Unix(1_700_000_000, 0)
	small := &arrival{small: true, held: 900, pace: newPace(now), expire: expired{all: new([]int)}}
	r.hold(small.held, 1000, true)
	r.park(small)
	if self := (&arrival{}); !r.evict(now.Add(time.Second), 200, 1000, self) || !small.evicted || r.bytes.Load() != 200 {
		t.Errorf("evicted %v, %d bytes are held", small.evicted, r.bytes.Load())
	}
}
