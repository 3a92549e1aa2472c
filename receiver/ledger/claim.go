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

// States of a claim.
const (
	stateProcessed int16 = iota + 1
	stateRefused
)

const statusOK int16 = 200

// claim begins the transaction and says whether the event is ours to process. It waits for another transaction that is
// claiming the same key.
func (r *recording) claim(ctx context.Context) (won bool, err error) {
	batch := r.l.begin()
	insert := func(ct pgconn.CommandTag) error {
		won = ct.RowsAffected() == 1
		return nil
	}
	digest := r.event.BodyDigest[:]
	if r.event.ClaimBody {
		// A body may come again under an id that says nothing about this event, so its answer cannot be derived.
		standard, err := standardAnswer(r.event.ID)
		if err != nil {
			return false, err
		}
		batch.Queue(r.l.sql.claimBody, r.scope, r.keys[0], r.id, digest, stateProcessed, statusOK,
			r.l.scopeName(), r.keys[1], standard.Body).Exec(insert)
	} else {
		batch.Queue(r.l.sql.claim, r.scope, r.keys[0], r.id, digest, stateProcessed, statusOK, r.l.scopeName()).Exec(insert)
	}
	if err := r.conn.SendBatch(ctx, batch).Close(); err != nil {
		if database.Code(err) == database.CodeLockTimeout {
			return false, fmt.Errorf("claim: %w: %w", receiver.ErrInFlight, err)
		}
		return false, fmt.Errorf("claim: %w", err)
	}
	return won, nil
}

// claimed is what the ledger has under a key.
type claimed struct {
	key, digest, result []byte
	status              int16
	synchronous         bool
}

// loser answers for an event that is there already, from what its winner committed.
func (r *recording) loser(ctx context.Context) (receiver.Receipt, error) {
	found, err := r.lookup(ctx, r.l.sql.lookup, "rollback", &pgx.Batch{})
	if err != nil {
		return receiver.Receipt{}, err
	}
	if len(found) > 0 && found[0].synchronous {
		found, err = r.lookup(ctx, r.l.sql.lookupLocked, "commit", r.l.begin())
		if err != nil {
			return receiver.Receipt{}, err
		}
	}
	return r.judge(found)
}

func (r *recording) lookup(ctx context.Context, statement, end string, batch *pgx.Batch) ([]claimed, error) {
	var found []claimed
	batch.Queue(statement, r.scope, r.keys, r.id, r.l.scopeName()).Query(func(rows pgx.Rows) (err error) {
		found, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (c claimed, err error) {
			err = row.Scan(&c.key, &c.digest, &c.status, &c.result, &c.synchronous)
			return c, err
		})
		return err
	})
	r.conn.forgetWarning()
	batch.Queue(end)
	if err := r.conn.SendBatch(ctx, batch).Close(); err != nil {
		return nil, fmt.Errorf("look up the claim: %w", err)
	}
	if err := r.conn.warning(); err != nil {
		return nil, &unknownOutcomeError{err: err}
	}
	return found, nil
}

// judge decides between a duplicate and a conflict. The id speaks first; the body, where it is claimed, if the id is new.
func (r *recording) judge(found []claimed) (receiver.Receipt, error) {
	byKey := map[string]claimed{}
	for _, c := range found {
		byKey[string(c.key)] = c
	}
	c, sameID := byKey[string(r.keys[0])]
	switch {
	case sameID && !r.event.BodyMayChange && !bytes.Equal(c.digest, r.event.BodyDigest[:]):
		return receiver.Receipt{Kind: receiver.Conflict}, nil
	case !sameID && len(r.keys) == 2:
		c = byKey[string(r.keys[1])]
	}
	if c.key == nil {
		return receiver.Receipt{}, errGone
	}
	receipt := receiver.Receipt{Kind: receiver.Duplicate, Answer: receiver.Answer{Status: int(c.status), Body: c.result}}
	if c.result == nil {
		var err error
		if receipt.Answer, err = standardAnswer(r.event.ID); err != nil {
			return receiver.Receipt{}, err
		}
	}
	return receipt, nil
}
