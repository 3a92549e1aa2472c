// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookonce/hookonce/internal/receiverstatus"
)

const (
	// firstInterval is the longest between two looks at the ledger until it could be used for the first time.
	firstInterval = time.Second
	// checkTimeout bounds one check. Counts have limits of their own.
	checkTimeout = 3 * time.Second
)

// Ledger is what the sampler asks.
type Ledger interface {
	// Check says how the connection to the database is, and how durable it is. It never fails: what went wrong is in the
	// answer.
	Check(ctx context.Context) receiverstatus.Database
	// Counts returns the counts of deliveries over all receivers of the endpoint. It bounds itself.
	Counts(ctx context.Context) (receiverstatus.Deliveries, error)
	// Replays returns how far the endpoint's latest replays are. It bounds itself.
	Replays(ctx context.Context) ([]receiverstatus.Replay, error)
}

// Sampler looks at the ledger now and then, so that nobody who asks for the status waits for the database. Counts, which
// may be slow, are taken beside the checks and say nothing about the database.
type Sampler struct {
	ledger   Ledger
	interval time.Duration
	log      *slog.Logger
	database atomic.Pointer[receiverstatus.Database]
	// deliveries of the last count that had an answer; nil if none had.
	deliveries atomic.Pointer[receiverstatus.Deliveries]
	// replays of the last time that they were asked for.
	replays atomic.Pointer[[]receiverstatus.Replay]
	// answered says that the ledger could be used at least once.
	answered atomic.Bool
	// usable holds a token after each check that found the ledger usable.
	usable chan struct{}
}

// NewSampler returns a sampler that has not looked yet, and then looks at each interval.
func NewSampler(ledger Ledger, interval time.Duration, log *slog.Logger) *Sampler {
	s := &Sampler{ledger: ledger, interval: interval, log: log, usable: make(chan struct{}, 1)}
	s.database.Store(&receiverstatus.Database{Message: "not checked yet"})
	return s
}

// Run looks at the ledger until ctx is done: at least every second until it could be used once, then at each interval.
func (s *Sampler) Run(ctx context.Context) {
	var counting sync.WaitGroup
	defer counting.Wait()
	counting.Go(func() { s.count(ctx) })
	for {
		s.check(ctx)
		interval := s.interval
		if !s.Answered() {
			interval = min(interval, firstInterval)
		}
		timer := time.NewTimer(interval)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

func (s *Sampler) check(parent context.Context) {
	ctx, cancel := context.WithTimeout(parent, checkTimeout)
	defer cancel()
	next := s.ledger.Check(ctx)
	if parent.Err() != nil {
		// What failed because we are leaving says nothing of the database.
		return
	}
	s.logChange(*s.database.Swap(&next), next)
	if next.Reachable {
		s.answered.Store(true)
		select {
		case s.usable <- struct{}{}:
		default:
		}
	}
}

// count counts after each check that found the ledger usable, and skips those that come while it counts. While the ledger
// is away, the last counts stay.
func (s *Sampler) count(ctx context.Context) {
	for {
		select {
		case <-s.usable:
		case <-ctx.Done():
			return
		}
		counts, err := s.ledger.Counts(ctx)
		switch {
		case err == nil:
			s.deliveries.Store(&counts)
		case ctx.Err() == nil:
			s.log.Warn("Counting deliveries failed; the last counts stay", "error", err)
		}
		replays, err := s.ledger.Replays(ctx)
		switch {
		case err == nil:
			s.replays.Store(&replays)
		case ctx.Err() == nil:
			s.log.Warn("Listing replays failed; the last list stays", "error", err)
		}
	}
}

func (s *Sampler) logChange(before, next receiverstatus.Database) {
	switch {
	case before.Reachable == next.Reachable && before.Reason == next.Reason:
	case next.Reachable:
		s.log.Info("Database can be used", "durable", next.Durable)
	default:
		s.log.Warn("Database cannot be used", "reason", next.Reason, "message", next.Message)
	}
}

// Answered says whether the ledger could be used since the start.
func (s *Sampler) Answered() bool { return s.answered.Load() }

// Report fills in what the status document says of the ledger.
func (s *Sampler) Report(status *receiverstatus.Status) {
	status.Database, status.Deliveries = *s.database.Load(), s.deliveries.Load()
	if replays := s.replays.Load(); replays != nil {
		status.Replays = *replays
	}
}
