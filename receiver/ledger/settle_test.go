// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"testing"
	"time"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
)

// A process that lost a lease may have taken the delivery again itself: then both attempts may be booked in one batch.
func TestALateAttemptAndTheCurrentOneInOneBatch(t *testing.T) {
	for name, c := range map[string]struct {
		late, current receiver.Outcome
		lateFirst     bool
	}{
		"both exhausted":       {receiver.Exhausted, receiver.Exhausted, true},
		"both exhausted, back": {receiver.Exhausted, receiver.Exhausted, false},
		"retry and delivered":  {receiver.Retry, receiver.Delivered, true},
		"delivered and retry":  {receiver.Delivered, receiver.Retry, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			var lost []receiver.Delivery
			l := f.open(func(o *ledger.Options) { o.LeaseLost = func(d []receiver.Delivery) { lost = append(lost, d...) } })
			stale := record(t, l, event("evt_1"), toFulfilment).Deliveries[0]
			f.expireLeases()
			held := lease(t, l)[0]
			batch := []receiver.Settlement{attempt(stale, c.late, time.Hour), attempt(held, c.current, time.Hour)}
			batch[1].Duration = 77 * time.Millisecond
			if !c.lateFirst {
				batch[0], batch[1] = batch[1], batch[0]
			}
			other := record(t, l, event("evt_2"), toFulfilment).Deliveries[0]
			settle(t, l, append(batch, attempt(other, receiver.Delivered, 0))...)

			if len(lost) != 1 || lost[0].Lease.Token != stale.Lease.Token {
				t.Errorf("told of %+v, want the late attempt alone", lost)
			}
			left := map[receiver.Outcome][2]int64{receiver.Exhausted: {0, 1}, receiver.Delivered: {0, 0}, receiver.Retry: {1, 0}}[c.current]
			f.wantCounts(map[string]int64{
				"hookonce.delivery": left[0], "hookonce.failed_delivery": left[1], "hookonce.attempt": 2,
				"hookonce.attempt WHERE duration_ms = 77": 1,
			})
		})
	}
}

func TestLeasesFollowTheConfiguration(t *testing.T) {
	f := newFixture(t)
	term := 30 * time.Second
	l := f.open(func(o *ledger.Options) { o.Lease = func() time.Duration { return term } })
	for _, term = range []time.Duration{30 * time.Second, 3 * time.Minute, 10 * time.Minute} {
		d := record(t, l, event("evt_"+term.String()), toFulfilment).Deliveries[0]
		if left := time.Until(d.Lease.Expires); left > term || left < term-20*time.Second {
			t.Errorf("leased for %s more by our clock, want %s", left, term)
		}
		seconds := value[float64](f, "SELECT extract(epoch FROM leased_until - clock_timestamp())::float8 FROM hookonce.delivery WHERE id = $1", d.ID)
		if left := time.Duration(seconds * float64(time.Second)); left > term || left < term-20*time.Second {
			t.Errorf("leased for %s more by the database's clock, want %s", left, term)
		}
	}
}

func TestCountsAreBounded(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	record(t, l, event("evt_1"), receiver.Work{})
	f.exec(`INSERT INTO hookonce.failed_delivery (id, event, event_received_at, scope, attempts, status_code, destination, event_id, reason)
		SELECT gen_random_uuid(), gen_random_uuid(), now(), 1, 11, 503, 'fulfilment', 'evt_' || n, 'status 503' FROM generate_series(1, 100100) n`)
	f.exec(`INSERT INTO hookonce.delivery (id, event, event_received_at, next_attempt_at, scope, destination)
		SELECT gen_random_uuid(), gen_random_uuid(), now(), now(), 1, 'fulfilment' FROM generate_series(1, 100100) n`)
	f.exec(`INSERT INTO hookonce.counter SELECT 1, timestamptz '2001-01-01' + n * interval '1 min', 'received', '', 1 FROM generate_series(1, 500500) n`)
	counts, err := l.Counts(t.Context())
	if err != nil || counts.Failed != 100_000 || counts.Pending != 100_000 || counts.Received != 500_000 ||
		counts.OldestPending.IsZero() || counts.LastFailure == nil {
		t.Errorf("got %+v, %v", counts, err)
	}
}
