// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
)

// idsPerRead is how many ids are made of one read of random bytes: a read for each would cost more than the id.
const idsPerRead = 64

// ids makes ids of events and deliveries: UUIDs of version 7, which grow, so that new rows are side by side in an index.
type ids struct {
	mu     sync.Mutex
	random [idsPerRead * 8]byte
	// left are the random bytes that have not been used.
	left int
	// last is the moment of the last id, in nanoseconds.
	last int64
}

// next returns an id that is larger than those before, even if the clock stands still or goes back.
func (g *ids) next(now time.Time) (uuid.UUID, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.left == 0 {
		if _, err := rand.Read(g.random[:]); err != nil {
			return uuid.UUID{}, fmt.Errorf("make an id: %w", err)
		}
		g.left = len(g.random)
	}
	// What an id holds of a moment is this fine.
	const step = int64(time.Millisecond) >> 12 // 244 ns
	g.last = max(now.UnixNano(), g.last+step+1)
	milliseconds, rest := g.last/int64(time.Millisecond), g.last%int64(time.Millisecond)
	var id uuid.UUID
	//nolint:gosec // neither is negative
	binary.BigEndian.PutUint64(id[:8], uint64(milliseconds)<<16|0x7000|uint64(rest<<12/int64(time.Millisecond)))
	copy(id[8:], g.random[len(g.random)-g.left:][:8])
	g.left -= 8
	id[8] = id[8]&0x3f | 0x80
	return id, nil
}
