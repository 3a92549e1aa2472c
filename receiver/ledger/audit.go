// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/receiver"
)

// Audit is what came to an endpoint since a moment, as its receivers have counted it and the ledger has kept it.
type Audit struct {
	// Since is the moment; zero for all that is known.
	Since time.Time `json:"since,omitzero"`
	// Received are the events of requests whose signature held; Duplicates those that were there already; Conflicts those
	// that had another body than before; Rejected the requests that were not accepted, conflicts not among them. What a receiver
	// has counted in its last ten seconds may be missing, and so may what one had counted that was killed.
	Received   int64 `json:"received"`
	Duplicates int64 `json:"duplicates"`
	Conflicts  int64 `json:"conflicts"`
	Rejected   int64 `json:"rejected"`
	// Events are the distinct event ids, by their claims.
	Events int64 `json:"events"`
	// Double are events that are there a second time, of those whose payloads are kept: their effects were booked twice.
	Double int64 `json:"double"`
}

// Audit sums up what came since a moment; since the ledger's beginning if it is zero. A moment more than
// receiver.CountMinutesKept ago counts from the beginning of its day (UTC), which Since then says. It may take a minute. Errors
// wrap receiver.ErrUnavailable.
func (l *Ledger) Audit(ctx context.Context, now, since time.Time) (*Audit, error) {
	a := &Audit{Since: since.UTC()}
	if !since.IsZero() && now.Sub(since) > receiver.CountMinutesKept {
		a.Since = a.Since.Truncate(24 * time.Hour)
	}
	var from *time.Time
	if !since.IsZero() {
		from = &a.Since
	}
	return a, l.look(ctx, "audit", func(batch *pgx.Batch, scope int32) {
		batch.Queue(l.sql.auditCounts, scope, from).Query(func(rows pgx.Rows) error {
			a.Received, a.Duplicates, a.Conflicts, a.Rejected = 0, 0, 0, 0
			var name, cause string
			var n int64
			_, err := pgx.ForEachRow(rows, []any{&name, &cause, &n}, func() error {
				a.count(name, cause, n)
				return nil
			})
			return err
		})
		batch.Queue(l.sql.auditEvents, scope, from).QueryRow(func(row pgx.Row) error { return row.Scan(&a.Events, &a.Double) })
	})
}

func (a *Audit) count(name, cause string, n int64) {
	switch {
	case name == receiver.CountReceived:
		a.Received += n
	case name == receiver.CountDuplicates:
		a.Duplicates += n
	case name == receiver.CountRejected && cause == receiver.CauseBodyDiffers:
		a.Conflicts += n
	case name == receiver.CountRejected:
		a.Rejected += n
	}
}
