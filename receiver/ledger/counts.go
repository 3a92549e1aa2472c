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

// The names of counters; see receiver.Count.
const (
	countReceived   = "received"
	countProcessed  = "processed"
	countDuplicates = "duplicates"
	countRejected   = "rejected"
)

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
// it is. Errors wrap receiver.ErrUnavailable; every statement is bounded by 5 s.
func (l *Ledger) Counts(ctx context.Context) (receiverstatus.Deliveries, error) {
	var d receiverstatus.Deliveries
	err := l.inTransaction(ctx, "count deliveries", func(batch *pgx.Batch, scope int32) {
		d = receiverstatus.Deliveries{}
		batch.Queue(l.sql.counterTotals, scope).Query(func(rows pgx.Rows) error { return readTotals(rows, &d) })
		batch.Queue(l.sql.pending, scope).QueryRow(func(row pgx.Row) error {
			var oldest *time.Time
			err := row.Scan(&d.Pending, &oldest, &d.Observed)
			if oldest != nil {
				d.OldestPending = oldest.UTC()
			}
			d.Observed = d.Observed.UTC()
			return err
		})
		batch.Queue(l.sql.failed, scope).QueryRow(func(row pgx.Row) error { return row.Scan(&d.Failed) })
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
	return d, err
}

func readTotals(rows pgx.Rows, d *receiverstatus.Deliveries) error {
	fields := map[string]*int64{
		countReceived: &d.Received, countProcessed: &d.Processed, countDuplicates: &d.Duplicates, countRejected: &d.Rejected,
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
