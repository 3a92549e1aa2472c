// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"sync"
	"time"

	"github.com/hookonce/hookonce/receiver"
)

// flights lets one delivery of an event at a time go to the database while its outcome is open. Without it twenty
// copies that arrive at once would hold twenty connections, all waiting for the same lock.
type flights struct {
	mu   sync.Mutex
	open map[string]*flight
}

type flight struct {
	landed  chan struct{}
	settled bool
}

// enter returns when the caller may go to the database: as the first for the key, or after the first has settled it. It
// waits at most so long and then returns receiver.ErrInFlight. The function returned must be called with whether the
// outcome is settled.
func (f *flights) enter(ctx context.Context, key string, wait time.Duration) (leave func(settled bool), err error) {
	var timer *time.Timer
	for {
		other, own := f.join(key)
		if other == nil {
			return func(settled bool) { f.land(key, own, settled) }, nil
		}
		// Nearly all events are alone: only a copy has to wait.
		if timer == nil {
			timer = time.NewTimer(wait)
			defer timer.Stop()
		}
		select {
		case <-other.landed:
			if other.settled {
				return func(bool) {}, nil
			}
		case <-timer.C:
			return nil, receiver.ErrInFlight
		case <-ctx.Done():
			return nil, unavailable("wait for another delivery", ctx.Err())
		}
	}
}

func (f *flights) join(key string) (other, own *flight) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if other := f.open[key]; other != nil {
		return other, nil
	}
	if f.open == nil {
		f.open = map[string]*flight{}
	}
	own = &flight{landed: make(chan struct{})}
	f.open[key] = own
	return nil, own
}

func (f *flights) land(key string, own *flight, settled bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, key)
	own.settled = settled
	close(own.landed)
}
