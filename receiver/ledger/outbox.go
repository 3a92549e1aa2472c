// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/receiver"
)

const maxReason = 256

// LeaseDue takes deliveries to the named destinations that are due and leased to nobody, for so long: at most limit to those
// that keep an order, and as many to the others. They are due retries, messages that functions enqueued, and what a process
// left that is gone. Deliveries to a destination that nobody names wait. Errors wrap receiver.ErrUnavailable.
func (l *Ledger) LeaseDue(
	ctx context.Context, destinations []string, limit int, lease time.Duration,
) ([]receiver.Delivery, error) {
	ordered, blocking := l.options.Ordering()
	var free, kept []string
	for _, name := range destinations {
		if slices.Contains(ordered, name) {
			kept = append(kept, name)
		} else {
			free = append(free, name)
		}
	}
	if len(kept) == 0 {
		return l.leaseDue(ctx, free, nil, nil, limit, lease)
	}
	var deliveries []receiver.Delivery
	if len(free) > 0 {
		var err error
		if deliveries, err = l.leaseDue(ctx, free, nil, nil, limit, lease); err != nil {
			return nil, err
		}
	}
	// By itself: many that wait for one make it slow, and must not keep the others.
	turns, err := l.leaseDue(ctx, kept, kept, blocking, limit, lease)
	if err != nil && len(deliveries) > 0 {
		l.options.Logger.WarnContext(ctx, "Leasing what is kept in order failed; the rest goes on", "error", err)
		return deliveries, nil
	}
	return append(deliveries, turns...), err
}

// leaseDue is LeaseDue for destinations of which some keep an order, and at some of these failed deliveries block.
func (l *Ledger) leaseDue(
	ctx context.Context, destinations, ordered, blocking []string, limit int, lease time.Duration,
) ([]receiver.Delivery, error) {
	token, err := uuid.NewRandom()
	if err != nil {
		return nil, fmt.Errorf("make a lease: %w", err)
	}
	var deliveries []receiver.Delivery
	err = l.inTransaction(ctx, "lease deliveries", func(batch *pgx.Batch, scope int32) {
		given := receiver.Lease{Token: token, Expires: l.options.Now().Add(lease)}
		lease := batch.Queue(l.sql.lease, scope, limit, token, lease, destinations, orEmpty(ordered), orEmpty(blocking))
		lease.Query(func(rows pgx.Rows) (err error) {
			deliveries, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (receiver.Delivery, error) {
				d := receiver.Delivery{Lease: given}
				err := row.Scan(&d.ID, &d.Destination, &d.IdempotencyKey, &d.EventID, &d.EventType, &d.ContentType,
					&d.Body, &d.Attempt, &d.Ordered)
				return d, err
			})
			return err
		})
	})
	if err != nil {
		return nil, err
	}
	return l.failLost(ctx, deliveries)
}

// failLost takes out the deliveries whose payload is gone, which a hand in the tables can bring about, or a prune that runs while
// a replay makes a delivery of it again: to post nothing in their name would be wrong, and to keep them pending would hide it.
func (l *Ledger) failLost(ctx context.Context, deliveries []receiver.Delivery) ([]receiver.Delivery, error) {
	kept := make([]receiver.Delivery, 0, len(deliveries))
	var lost []receiver.Settlement
	for _, d := range deliveries {
		if d.Body != nil {
			kept = append(kept, d)
			continue
		}
		lost = append(lost, receiver.Settlement{
			Delivery: d, Outcome: receiver.Exhausted, Started: l.options.Now(), Reason: "the event's payload is gone from the ledger",
		})
	}
	if len(lost) > 0 {
		if err := l.Settle(ctx, lost); err != nil {
			return kept, err
		}
	}
	return kept, nil
}

// Settle keeps the books of attempts, at most one per lease. Those whose lease was taken over meanwhile are left alone
// and told to Options.LeaseLost. A crash may lose what was settled in the last second: the delivery is then made again
// under the same key. Errors wrap receiver.ErrUnavailable.
func (l *Ledger) Settle(ctx context.Context, settlements []receiver.Settlement) error {
	if len(settlements) == 0 {
		return nil
	}
	settled := make([]bool, len(settlements))
	err := l.inTransaction(ctx, "settle deliveries", func(batch *pgx.Batch, _ int32) {
		clear(settled)
		batch.Queue("set local synchronous_commit = off")
		batch.Queue(l.sql.settle, settleArguments(settlements)...).Query(func(rows pgx.Rows) error {
			// Places in the batch, from 1.
			var n int
			_, err := pgx.ForEachRow(rows, []any{&n}, func() error {
				settled[n-1] = true
				return nil
			})
			return err
		})
	})
	if err != nil {
		return err
	}
	l.reportLost(ctx, settlements, settled)
	return nil
}

func settleArguments(settlements []receiver.Settlement) []any {
	n := len(settlements)
	ids, tokens := make([]uuid.UUID, n), make([]uuid.UUID, n)
	outcomes, delays, numbers := make([]int, n), make([]int64, n), make([]int, n)
	started, durations := make([]time.Time, n), make([]int64, n)
	statuses, reasons := make([]int, n), make([]string, n)
	for i, s := range settlements {
		ids[i], tokens[i] = s.Delivery.ID, s.Delivery.Lease.Token
		outcomes[i], delays[i], numbers[i] = int(s.Outcome), s.Delay.Microseconds(), s.Delivery.Attempt
		started[i], durations[i] = s.Started, min(s.Duration.Milliseconds(), math.MaxInt32)
		statuses[i], reasons[i] = s.StatusCode, storable(s.Reason[:min(len(s.Reason), maxReason)])
	}
	return []any{ids, tokens, outcomes, delays, numbers, started, durations, statuses, reasons}
}

func (l *Ledger) reportLost(ctx context.Context, settlements []receiver.Settlement, settled []bool) {
	var lost []receiver.Delivery
	for i, s := range settlements {
		if !settled[i] {
			lost = append(lost, s.Delivery)
		}
	}
	if len(lost) == 0 {
		return
	}
	l.options.Logger.WarnContext(ctx, "Attempts ended after their leases were taken over; they are made again under the same key",
		"attempts", len(lost), "destination", lost[0].Destination)
	if l.options.LeaseLost != nil {
		l.options.LeaseLost(lost)
	}
}
