// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/receiver/database"
)

// endpoint is the scope of this ledger's endpoint.
func (l *Ledger) endpoint(ctx context.Context, conn *connection) (int32, error) {
	claims, payloads := l.options.Kept()
	return l.scope(ctx, conn, l.scopeName(), claims, payloads)
}

func (l *Ledger) scopeName() string { return database.EndpointPrefix + l.options.Endpoint }

// scope returns the number of a scope, and makes it if it is new. It is asked for once: numbers do not change, unless the
// ledger is put back to an earlier state, which the statements that use them find out.
func (l *Ledger) scope(ctx context.Context, conn *connection, name string, kept ...time.Duration) (int32, error) {
	if id, known := conn.target.scope(name); known {
		return id, nil
	}
	id, err := l.findScope(ctx, conn, name)
	if errors.Is(err, pgx.ErrNoRows) {
		var claims, payloads *time.Duration
		if len(kept) == 2 && kept[0] > 0 && kept[1] > 0 {
			claims, payloads = &kept[0], &kept[1]
		}
		if _, err := conn.Exec(ctx, l.sql.scopeAdd, name, claims, payloads); err != nil {
			return 0, fmt.Errorf("add scope: %w", err)
		}
		id, err = l.findScope(ctx, conn, name)
	}
	if err != nil {
		return 0, fmt.Errorf("find scope: %w", err)
	}
	conn.target.keepScope(name, id)
	return id, nil
}

func (t *target) scope(name string) (int32, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id, known := t.scopes[name]
	return id, known
}

func (t *target) keepScope(name string, id int32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.scopes[name] = id
}

// forget is for when the tables may have been made anew, or put back to an earlier state.
func (t *target) forget() {
	t.admitted.Store(false)
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.scopes)
}

func (l *Ledger) findScope(ctx context.Context, conn *connection, name string) (int32, error) {
	var id int32
	err := conn.QueryRow(ctx, l.sql.scopeFind, name).Scan(&id)
	return id, err
}

// prove fails the transaction with errGone unless the number is still that of the endpoint's scope.
func (l *Ledger) prove(batch *pgx.Batch, scope int32) {
	batch.Queue(l.sql.scopeProve, scope, l.scopeName()).QueryRow(func(row pgx.Row) error {
		var one int64
		err := row.Scan(&one)
		if database.Code(err) == codeDivisionByZero {
			return fmt.Errorf("%w: %w", errGone, err)
		}
		return err
	})
}
