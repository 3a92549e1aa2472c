// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/hookonce/hookonce/receiver"
)

const (
	// maxSettlements in one call of the outbox.
	maxSettlements = 256
	// maxUnsettled is how much bookkeeping may be owed before attempts wait for it.
	maxUnsettled    = 1024
	firstSettlePace = 100 * time.Millisecond
	lastSettlePace  = 5 * time.Second
)

// SettleTimeout bounds one call of the outbox that books attempts, and the bookkeeping at the end of Run.
const SettleTimeout = 5 * time.Second

// settler writes the bookkeeping of attempts in batches. It takes what there is as soon as it is free: one settlement
// never waits for company, and under load a batch is what came in during the call before.
type settler struct {
	outbox Outbox
	now    func() time.Time
	log    *slog.Logger
	lost   func([]receiver.Delivery)
	// next is called when deliveries that others wait for have been booked.
	next func()

	mu      sync.Mutex
	pending []receiver.Settlement
	// room is signaled when pending has become shorter.
	room *sync.Cond
	// wake holds a token while pending may not be empty.
	wake chan struct{}
	// unbounded lets add take everything, so that no slot waits for the database while the relay ends.
	unbounded bool
	// closing ends run when everything is written.
	closing bool
}

func newSettler(opts Options, next func()) *settler {
	s := &settler{outbox: opts.Outbox, now: opts.Now, log: opts.Log, lost: opts.LeaseLost, next: next, wake: make(chan struct{}, 1)}
	s.room = sync.NewCond(&s.mu)
	return s
}

// add takes a settlement. It waits while too many are owed, which is while the database is away.
func (s *settler) add(settlement receiver.Settlement) {
	s.mu.Lock()
	for len(s.pending) >= maxUnsettled && !s.unbounded {
		s.room.Wait()
	}
	s.pending = append(s.pending, settlement)
	s.mu.Unlock()
	s.signal()
}

func (s *settler) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// unbound lets every add that waits, and every later one, through.
func (s *settler) unbound() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unbounded = true
	s.room.Broadcast()
}

// close lets run end once everything is written. Nothing may be added after it.
func (s *settler) close() {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.signal()
}

// run writes until close has been called and nothing is owed, or until ctx is done.
func (s *settler) run(ctx context.Context) {
	pace := firstSettlePace
	for {
		batch, closing := s.take()
		if len(batch) == 0 {
			if closing {
				return
			}
			select {
			case <-s.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		err := s.settle(ctx, batch)
		if err == nil {
			pace = firstSettlePace
			continue
		}
		s.log.Warn("Settling attempts failed", "attempts", len(batch), "retryIn", pace, "error", err)
		s.giveBack(batch)
		if !pause(ctx, pace) {
			return
		}
		pace = min(2*pace, lastSettlePace)
	}
}

func (s *settler) settle(ctx context.Context, batch []receiver.Settlement) error {
	ctx, cancel := context.WithTimeout(ctx, SettleTimeout)
	defer cancel()
	if err := s.outbox.Settle(ctx, batch); err != nil {
		return err
	}
	if slices.ContainsFunc(batch, func(b receiver.Settlement) bool { return b.Delivery.Ordered }) {
		s.next()
	}
	return nil
}

func (s *settler) take() ([]receiver.Settlement, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := min(len(s.pending), maxSettlements)
	batch := s.pending[:n:n]
	s.pending = s.pending[n:]
	if len(s.pending) == 0 {
		s.pending = nil
	}
	s.room.Broadcast()
	return batch, s.closing
}

// giveBack keeps what is still worth writing: when a lease has run out, the next attempt may have begun elsewhere, and the
// outbox would refuse the settlement.
func (s *settler) giveBack(batch []receiver.Settlement) {
	now := s.now()
	kept := make([]receiver.Settlement, 0, len(batch))
	var lost []receiver.Delivery
	for _, settlement := range batch {
		if now.Before(settlement.Delivery.Lease.Expires) {
			kept = append(kept, settlement)
		} else {
			lost = append(lost, settlement.Delivery)
		}
	}
	if len(lost) > 0 {
		s.log.Warn("Attempts are made again: their leases ran out before they could be settled", "attempts", len(lost))
		s.lost(lost)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(kept, s.pending...)
}

// pause waits, and says whether it was not cut short by ctx.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
