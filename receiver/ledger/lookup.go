// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/receiver"
)

// claimed is what the ledger has under a key.
type claimed struct {
	event          uuid.UUID
	digest, result []byte
	status         int16
}

// committed looks up what winners have committed under the keys. It sends what is queued in batch, and end after it; where
// standbys are synchronous it asks a second time, and waits for them.
func (l *Ledger) committed(
	ctx context.Context, conn *connection, scope int32, keys [][]byte, batch *pgx.Batch, end string,
) (map[claimKey]claimed, error) {
	found, synchronous, err := l.lookup(ctx, conn, batch, l.sql.lookup, scope, keys, end)
	if err == nil && synchronous {
		found, _, err = l.lookup(ctx, conn, l.begin(), l.sql.lookupLocked, scope, keys, "commit")
	}
	return found, err
}

func (l *Ledger) lookup(
	ctx context.Context, conn *connection, batch *pgx.Batch, statement string, scope int32, keys [][]byte, end string,
) (found map[claimKey]claimed, synchronous bool, err error) {
	found = make(map[claimKey]claimed, len(keys))
	batch.Queue(statement, scope, keys, l.scopeName()).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var c claimed
			var key []byte
			if err := rows.Scan(&key, &c.event, &c.digest, &c.status, &c.result, &synchronous); err != nil {
				return fmt.Errorf("read a claim: %w", err)
			}
			if len(key) == keySize {
				found[claimKey(key)] = c
			}
		}
		return rows.Err()
	})
	conn.forgetWarning()
	batch.Queue(end)
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		return nil, false, fmt.Errorf("look up the claim: %w", err)
	}
	if err := conn.warning(); err != nil {
		return nil, false, &unknownOutcomeError{err: err}
	}
	return found, synchronous, nil
}

// candidate is an event that has not won its claim.
type candidate struct {
	event     *receiver.Event
	id        uuid.UUID
	key, body claimKey
}

// judge decides between a duplicate and a conflict. The id speaks first; the body, where it is claimed, if the id is new.
func (c candidate) judge(found map[claimKey]claimed) (receiver.Receipt, error) {
	// Not the row of this very event: its body may have been claimed before its id was found taken, and is rolled back.
	winner, sameID := found[c.key]
	known := sameID && winner.event != c.id
	switch {
	case known && !c.event.BodyMayChange && !bytes.Equal(winner.digest, c.event.BodyDigest[:]):
		return receiver.Receipt{Kind: receiver.Conflict}, nil
	case !known && c.event.ClaimBody:
		winner, known = found[c.body]
		known = known && winner.event != c.id
	}
	if !known {
		return receiver.Receipt{}, errGone
	}
	receipt := receiver.Receipt{Kind: receiver.Duplicate, Answer: receiver.Answer{Status: int(winner.status), Body: winner.result}}
	if winner.result == nil {
		var err error
		if receipt.Answer, err = standardAnswer(c.event.ID); err != nil {
			return receiver.Receipt{}, err
		}
	}
	return receipt, nil
}
