// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package retention

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/internal/sqlfile"
	"github.com/hookonce/hookonce/receiver/database"
)

const (
	lockTimeout      = 20 * time.Second
	statementTimeout = time.Minute
	// dropLockTimeout bounds how long a drop may make events wait behind it; they wait at most 2 s themselves.
	dropLockTimeout = time.Second

	day = 24 * time.Hour
)

// turn runs one transaction, alone among the prunes of the schema.
func (p *prune) turn(ctx context.Context, lock time.Duration, work func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, p.conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite},
		func(tx pgx.Tx) error {
			if err := p.limit(ctx, tx, lockTimeout); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, p.sql["turn"]); err != nil {
				return fmt.Errorf("wait for other prunes: %w", err)
			}
			if lock != lockTimeout {
				if err := p.limit(ctx, tx, lock); err != nil {
					return err
				}
			}
			return work(tx)
		})
}

func (p *prune) limit(ctx context.Context, tx pgx.Tx, lock time.Duration) error {
	_, err := tx.Exec(ctx, p.sql["session"], database.Milliseconds(lock), database.Milliseconds(statementTimeout))
	if err != nil {
		return fmt.Errorf("set limits: %w", err)
	}
	return nil
}

// sweep removes rows from a table in one pass over its pages, some pages in each transaction. Rows that are added
// meanwhile are young. What else the statement takes follows its first four arguments.
func (p *prune) sweep(
	ctx context.Context, table, statement string, rowsPerPage int, cutoff time.Time, removed *int64, more ...any,
) error {
	quoted, err := sqlfile.Quote(p.options.Schema + "." + table)
	if err != nil {
		return err
	}
	var pages int64
	if err := p.conn.QueryRow(ctx, p.sql["pages"], quoted).Scan(&pages); err != nil {
		return fmt.Errorf("measure %s: %w", table, err)
	}
	step := int64(max(1, p.options.BatchSize/rowsPerPage))
	for page := int64(0); page < pages; page += step {
		err := p.turn(ctx, lockTimeout, func(tx pgx.Tx) error {
			from, to := fmt.Sprintf("(%d,0)", page), fmt.Sprintf("(%d,0)", page+step)
			tag, err := tx.Exec(ctx, statement, append([]any{from, to, p.scope, cutoff}, more...)...)
			if err != nil {
				return err
			}
			*removed += tag.RowsAffected()
			return nil
		})
		if err != nil {
			return fmt.Errorf("sweep %s: %w", table, err)
		}
	}
	return nil
}

// partition is one day of events or of attempts.
type partition struct {
	name  string
	begin time.Time
}

// events says that it is one of events.
func (d partition) events() bool { return strings.HasPrefix(d.name, "event_") }

// removeDays drops the days in which all is past its age, and removes this endpoint's old rows from the others.
func (p *prune) removeDays(ctx context.Context) error {
	rows, err := p.conn.Query(ctx, p.sql["partitions_list"])
	if err != nil {
		return fmt.Errorf("list partitions: %w", err)
	}
	partitions, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (d partition, err error) {
		err = row.Scan(&d.name, &d.begin)
		return d, err
	})
	if err != nil {
		return fmt.Errorf("list partitions: %w", err)
	}
	for _, d := range partitions {
		if !d.begin.Before(p.cutoff(d)) {
			continue
		}
		dropped, err := p.drop(ctx, d)
		switch {
		case dropped:
			p.report.PartitionsDropped++
		case err == nil:
			err = p.removeFrom(ctx, d)
		}
		// Another prune may have dropped it since it was listed.
		if err != nil && database.Code(err) != database.CodeNoTable {
			return fmt.Errorf("clear %s: %w", d.name, err)
		}
	}
	return nil
}

func (p *prune) removeFrom(ctx context.Context, d partition) error {
	statement, rowsPerPage, removed := p.sql["attempts_delete"], 60, &p.report.AttemptsRemoved
	if d.events() {
		statement, rowsPerPage, removed = p.sql["events_delete"], 8, &p.report.EventsRemoved
	}
	return p.sweep(ctx, d.name, statement, rowsPerPage, p.cutoff(d), removed, d.begin, d.begin.Add(day))
}

// cutoff is the moment before which the rows of a day are past their age.
func (p *prune) cutoff(d partition) time.Time {
	if d.events() {
		return p.cutoffs.payloads
	}
	return p.cutoffs.attempts
}

// drop drops a day if all in it is past its age. If somebody reads the table for longer than we may wait, the next prune
// tries again.
func (p *prune) drop(ctx context.Context, d partition) (dropped bool, err error) {
	if d.begin.Add(day).After(p.cutoff(d)) {
		return false, nil
	}
	err = p.turn(ctx, dropLockTimeout, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, p.sql["drop_day"], d.name).Scan(&dropped)
	})
	if database.Code(err) == database.CodeLockTimeout {
		return false, nil
	}
	return dropped && err == nil, err
}
