// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/hookonce/hookonce/internal/receiverstatus"
)

const (
	// firstInterval is the longest between two looks at the ledger until it has answered for the first time.
	firstInterval = time.Second
	// sampleTimeout bounds one look.
	sampleTimeout = 3 * time.Second
)

// Ledger is what the sampler asks.
type Ledger interface {
	// Check says how the connection to the database is, and how durable it is. It never fails: what went wrong is in the
	// answer.
	Check(ctx context.Context) receiverstatus.Database
	// Counts returns the counts of deliveries over all receivers of the endpoint.
	Counts(ctx context.Context) (receiverstatus.Deliveries, error)
}

// Sampler looks at the ledger now and then, so that nobody who asks for the status waits for the database.
type Sampler struct {
	ledger   Ledger
	interval time.Duration
	log      *slog.Logger
	latest   atomic.Pointer[sample]
}

type sample struct {
	database receiverstatus.Database
	// deliveries of the last look that had an answer; nil if none had.
	deliveries *receiverstatus.Deliveries
	// answered says that the ledger has been reached at least once.
	answered bool
}

// NewSampler returns a sampler that has not looked yet, and then looks at each interval.
func NewSampler(ledger Ledger, interval time.Duration, log *slog.Logger) *Sampler {
	s := &Sampler{ledger: ledger, interval: interval, log: log}
	s.latest.Store(&sample{database: receiverstatus.Database{Message: "not checked yet"}})
	return s
}

// Run looks at the ledger until ctx is done: at least every second until it has answered once, then at each interval.
func (s *Sampler) Run(ctx context.Context) {
	for {
		s.Sample(ctx)
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

// Sample looks once. While the ledger is away, the last counts stay.
func (s *Sampler) Sample(parent context.Context) {
	ctx, cancel := context.WithTimeout(parent, sampleTimeout)
	defer cancel()
	before := s.latest.Load()
	next := &sample{database: s.ledger.Check(ctx), deliveries: before.deliveries, answered: before.answered}
	if parent.Err() != nil {
		// What failed because we are leaving says nothing of the database.
		return
	}
	s.logChange(before.database, next.database)
	if next.database.Reachable {
		next.answered = true
		counts, err := s.ledger.Counts(ctx)
		if err == nil {
			next.deliveries = &counts
		} else if ctx.Err() == nil {
			s.log.Warn("Counting deliveries failed; the last counts stay", "error", err)
		}
	}
	s.latest.Store(next)
}

func (s *Sampler) logChange(before, next receiverstatus.Database) {
	switch {
	case before.Reachable == next.Reachable && before.Reason == next.Reason:
	case next.Reachable:
		s.log.Info("Database is reachable", "durable", next.Durable)
	default:
		s.log.Warn("Database cannot be used", "reason", next.Reason, "message", next.Message)
	}
}

// Answered says whether the ledger has been reached since the start.
func (s *Sampler) Answered() bool {
	return s.latest.Load().answered
}

// Report fills in what the status document says of the ledger.
func (s *Sampler) Report(status *receiverstatus.Status) {
	latest := s.latest.Load()
	status.Database, status.Deliveries = latest.database, latest.deliveries
}
