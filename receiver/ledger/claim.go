// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/database"
)

// States of a claim.
const (
	stateProcessed int16 = iota + 1
	stateRefused
	// stateOpen is that of a claim whose work is not done. Only a function in Go that ends the transaction can have it
	// committed.
	stateOpen
)

const (
	statusOK int16 = 200
	// statusOpen is the status of an open claim: there is no answer yet.
	statusOpen int16 = 0
)

// errOpen says that an event's claim has been committed before its work was done.
var errOpen = errors.New("the event's claim was committed by a function that ended the transaction, without the event's answer")

// claim begins the transaction and says whether the event is ours to process. It waits for another transaction that is
// claiming the same key.
func (r *recording) claim(ctx context.Context) (won bool, err error) {
	batch := r.l.begin()
	insert := func(ct pgconn.CommandTag) error {
		won = ct.RowsAffected() == 1
		return nil
	}
	digest := r.event.BodyDigest[:]
	state, status := stateProcessed, statusOK
	if r.inGo() {
		state, status = stateOpen, statusOpen
	}
	if r.event.ClaimBody {
		// A body may come again under an id that says nothing about this event, so its answer cannot be derived.
		standard, err := standardAnswer(r.event.ID)
		if err != nil {
			return false, err
		}
		batch.Queue(r.l.sql.claimBody, r.scope, r.keys[0], r.id, digest, state, status,
			r.l.scopeName(), r.keys[1], standard.Body).Exec(insert)
	} else {
		batch.Queue(r.l.sql.claim, r.scope, r.keys[0], r.id, digest, state, status, r.l.scopeName()).Exec(insert)
	}
	if err := r.conn.SendBatch(ctx, batch).Close(); err != nil {
		if database.Code(err) == database.CodeLockTimeout {
			return false, fmt.Errorf("claim: %w: %w", receiver.ErrInFlight, err)
		}
		return false, fmt.Errorf("claim: %w", err)
	}
	return won, nil
}

// inGo says that one of the event's effects is a function in Go, which can send the server what it likes.
func (r *recording) inGo() bool {
	return slices.ContainsFunc(r.calls, func(c call) bool { return c.function != nil })
}

// loser answers for an event that is there already, from what its winner committed.
func (r *recording) loser(ctx context.Context) (receiver.Receipt, error) {
	found, err := r.l.committed(ctx, r.conn, r.scope, r.keys, nil, rollbackStatement)
	if err != nil {
		return receiver.Receipt{}, err
	}
	return r.candidate.judge(found)
}
