// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/database"
)

// commit writes an answer that is not the standard one, or that the claim is open without, and commits. Only the server's
// word that it did counts, and not if it warns: a wait for a standby that was cut short is a warning.
func (r *recording) commit(ctx context.Context, state int16, answer receiver.Answer) error {
	batch := &pgx.Batch{}
	standard, err := standardAnswer(r.event.ID)
	if err != nil {
		return err
	}
	if state != stateProcessed || r.inGo() || !bytes.Equal(standard.Body, answer.Body) {
		batch.Queue(r.l.sql.claimSettle, r.scope, r.keys, state, answer.Status, answer.Body)
	}
	r.conn.forgetWarning()
	if len(r.calls) > 0 {
		r.undoSettings(batch)
	}
	var tag pgconn.CommandTag
	batch.Queue(commitStatement).Exec(func(ct pgconn.CommandTag) error {
		tag = ct
		return nil
	})
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), r.commitBy)
	defer cancel()
	ctx, cancelCommit := context.WithTimeout(ctx, commitTimeout)
	defer cancelCommit()
	if err := r.conn.SendBatch(ctx, batch).Close(); err != nil {
		if rolledBack(err) {
			return fmt.Errorf("commit: %w", err)
		}
		return &unknownOutcomeError{err: err}
	}
	if err := r.conn.warning(); err != nil {
		return &unknownOutcomeError{err: err}
	}
	if tag.String() != "COMMIT" {
		return fmt.Errorf("commit: the server answered %s", tag)
	}
	return nil
}

// undoSettings takes back what functions have set: for the transaction, so that it is committed as durably as it was
// begun, and for the session, which other events get next. What they deferred runs first, for it may set something too.
func (r *recording) undoSettings(batch *pgx.Batch) {
	batch.Queue(constraintsStatement).Query(func(rows pgx.Rows) error {
		rows.Close()
		err := rows.Err()
		if err == nil || !rolledBack(err) {
			return err
		}
		// Which function deferred it is not known; the last is the first to look at.
		if failed := r.calls[len(r.calls)-1].failure(err); failed != nil {
			return failed
		}
		return err
	})
	batch.Queue(resetStatement)
	batch.Queue(r.l.sql.durable, database.Milliseconds(statementTimeout)).Query(func(rows pgx.Rows) error {
		rows.Close()
		// Functions may warn as they like.
		r.conn.forgetWarning()
		return rows.Err()
	})
}
