// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/hookonce/hookonce/receiver/ledger"
)

// Rows that are new are side by side in an index only if ids grow, and an id that is made twice is an event that is lost.
func TestIDsGrow(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 123_456_789, time.UTC)
	next := ledger.IDs()
	last := uuid.UUID{}
	random := map[[8]byte]bool{}
	for i := range 10_000 {
		now := start.Add(time.Duration(i/10) * time.Microsecond)
		if i%100 == 0 {
			now = start.Add(-time.Hour)
		}
		id, err := next(now)
		if err != nil {
			t.Fatal(err)
		}
		if id.Version() != 7 || id.Variant() != uuid.RFC4122 {
			t.Fatalf("%s is of version %d, variant %s", id, id.Version(), id.Variant())
		}
		if bytes.Compare(id[:], last[:]) <= 0 {
			t.Fatalf("%s comes after %s", id, last)
		}
		last = id
		random[[8]byte(id[8:])] = true
	}
	if len(random) != 10_000 {
		t.Errorf("of 10,000 ids %d have random parts of their own", len(random))
	}
	// As other makers of such ids put it: ten ids in a microsecond are a little more than a clock says.
	seconds, nanoseconds := last.Time().UnixTime()
	if off := time.Unix(seconds, nanoseconds).Sub(start); off < 0 || off > 10*time.Millisecond {
		t.Errorf("the last id is of %v after the first", off)
	}
}

func TestIDsOfManyAtOnceDiffer(t *testing.T) {
	const makers, each = 8, 5000
	next := ledger.IDs()
	now := time.Now()
	made := make([][]uuid.UUID, makers)
	var done sync.WaitGroup
	for i := range made {
		done.Go(func() {
			for range each {
				id, err := next(now)
				if err != nil {
					t.Error(err)
					return
				}
				made[i] = append(made[i], id)
			}
		})
	}
	done.Wait()
	seen := map[uuid.UUID]bool{}
	for _, ids := range made {
		for _, id := range ids {
			seen[id] = true
		}
	}
	if len(seen) != makers*each {
		t.Errorf("%d ids, want %d", len(seen), makers*each)
	}
}
