// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/receiver"
)

// What one look at the ledger may read. Beyond the first, numbers of deliveries are those limits; beyond the last, which
// is after months without a prune, totals stand still until the next one.
const (
	maxCounted     = 100_000
	maxCounterRows = 500_000
)

// countTimeout is for each of the questions of Counts: longer than the statement's, so that it is the server that gives up.
const countTimeout = statementTimeout + time.Second

// AddCounts adds to the endpoint's counters. Errors wrap receiver.ErrUnavailable; it is then unknown whether they were
// added, so that adding them again may count twice.
func (l *Ledger) AddCounts(ctx context.Context, counts []receiver.Count) error {
	sums := map[receiver.Count]int64{}
	for _, c := range counts {
		key := receiver.Count{Name: storable(c.Name), Cause: storable(c.Cause), Minute: c.Minute.UTC().Truncate(time.Minute)}
		sums[key] += c.N
	}
	if len(sums) == 0 {
		return nil
	}
	keys := make([]receiver.Count, 0, len(sums))
	for key := range sums {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b receiver.Count) int {
		return cmp.Or(a.Minute.Compare(b.Minute), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Cause, b.Cause))
	})
	var minutes []time.Time
	var names, causes []string
	var ns []int64
	for _, key := range keys {
		minutes, names = append(minutes, key.Minute), append(names, key.Name)
		causes, ns = append(causes, key.Cause), append(ns, sums[key])
	}
	return l.inTransaction(ctx, "add counts", func(batch *pgx.Batch, scope int32) {
		batch.Queue(l.sql.counterAdd, scope, minutes, names, causes, ns)
	})
}

// Counts are what the ledger holds of the endpoint, over all its receivers: the totals as last flushed, and the outbox as
// it is. Up to 100,000 pending and failed deliveries are counted; more are shown as that number. Each of three questions
// takes at most 6 s. Errors wrap receiver.ErrUnavailable.
func (l *Ledger) Counts(ctx context.Context) (receiverstatus.Deliveries, error) {
	var d receiverstatus.Deliveries
	err := l.ask(ctx, "sum up counters", func(batch *pgx.Batch, scope int32) {
		batch.Queue(l.sql.counterTotals, scope, maxCounterRows).Query(func(rows pgx.Rows) error { return readTotals(rows, &d) })
	})
	if err != nil {
		return d, err
	}
	err = l.ask(ctx, "count failed deliveries", func(batch *pgx.Batch, scope int32) {
		batch.Queue(l.sql.failed, scope, maxCounted).QueryRow(func(row pgx.Row) error { return row.Scan(&d.Failed) })
		d.LastFailure = nil
		batch.Queue(l.sql.lastFailure, scope).QueryRow(func(row pgx.Row) error {
			f := &receiverstatus.Failure{}
			err := row.Scan(&f.Time, &f.Destination, &f.EventID, &f.Reason)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			f.Time = f.Time.UTC()
			d.LastFailure = f
			return err
		})
	})
	if err != nil {
		return d, err
	}
	err = l.ask(ctx, "count pending deliveries", func(batch *pgx.Batch, scope int32) {
		batch.Queue(l.sql.pending, scope, maxCounted).QueryRow(func(row pgx.Row) error {
			var oldest *time.Time
			err := row.Scan(&d.Pending, &oldest, &d.Observed)
			d.OldestPending = time.Time{}
			if oldest != nil {
				d.OldestPending = oldest.UTC()
			}
			d.Observed = d.Observed.UTC()
			return err
		})
	})
	return d, err
}

// ask is a transaction with a time limit of its own.
func (l *Ledger) ask(ctx context.Context, doing string, fill func(batch *pgx.Batch, scope int32)) error {
	ctx, cancel := context.WithTimeout(ctx, countTimeout)
	defer cancel()
	return l.inTransaction(ctx, doing, fill)
}

func readTotals(rows pgx.Rows, d *receiverstatus.Deliveries) error {
	fields := map[string]*int64{
		receiver.CountReceived: &d.Received, receiver.CountProcessed: &d.Processed,
		receiver.CountDuplicates: &d.Duplicates, receiver.CountRejected: &d.Rejected,
	}
	for _, field := range fields {
		*field = 0
	}
	var name string
	var n int64
	_, err := pgx.ForEachRow(rows, []any{&name, &n}, func() error {
		if field := fields[name]; field != nil {
			*field = n
		}
		return nil
	})
	return err
}
