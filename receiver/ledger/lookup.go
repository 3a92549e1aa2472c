// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/hookonce/hookonce/receiver"
)

// claimed is what the ledger has under a key.
type claimed struct {
	event          uuid.UUID
	digest, result []byte
	status         int16
}

// committed looks up what winners have committed under the keys, after the steps given and before the statement end; where
// standbys are synchronous it asks a second time, and waits for them.
func (l *Ledger) committed(
	ctx context.Context, conn *connection, scope int32, keys [][]byte, start []step, end string,
) (map[claimKey]claimed, error) {
	lookup := step{name: "hookonce_lookup", text: l.sql.lookup}
	found, synchronous, err := l.lookup(ctx, conn, scope, keys, append(start, lookup), end)
	if err == nil && synchronous {
		again := beginSteps(l.sql, l.settings)
		lookup = step{name: "hookonce_lookup_locked", text: l.sql.lookupLocked}
		found, _, err = l.lookup(ctx, conn, scope, keys, append(again[:], lookup), commitStatement)
	}
	return found, err
}

// lookup sends the steps, of which the last is the one that looks up, and the statement end.
func (l *Ledger) lookup(
	ctx context.Context, conn *connection, scope int32, keys [][]byte, steps []step, end string,
) (found map[claimKey]claimed, synchronous bool, err error) {
	column := newColumn(pgtype.ByteaOID)
	column.reset()
	for _, key := range keys {
		column.addBytes(key)
	}
	found = make(map[claimKey]claimed, len(keys))
	last := &steps[len(steps)-1]
	number := binary.BigEndian.AppendUint32(nil, uint32(scope)) //nolint:gosec // The bits are kept.
	last.values = [][]byte{number, column.bytes(), []byte(l.scopeName())}
	last.read = func(row [][]byte) error {
		key, c, s, err := readClaimed(row)
		found[key], synchronous = c, s
		return err
	}
	conn.forgetWarning()
	if _, _, err := conn.run(ctx, append(steps, step{name: "hookonce_" + end, text: end})); err != nil {
		return nil, false, fmt.Errorf("look up the claim: %w", err)
	}
	if err := conn.warning(); err != nil {
		return nil, false, &unknownOutcomeError{err: err}
	}
	return found, synchronous, nil
}

// readClaimed reads a row of lookup.sql.
func readClaimed(row [][]byte) (key claimKey, c claimed, synchronous bool, err error) {
	const columns, statusSize = 6, 2
	if len(row) != columns || len(row[0]) != keySize || len(row[1]) != len(c.event) || len(row[3]) != statusSize || len(row[5]) != 1 {
		return key, c, false, errUnreadable
	}
	c = claimed{event: uuid.UUID(row[1]), digest: bytes.Clone(row[2]), result: bytes.Clone(row[4])}
	c.status = int16(binary.BigEndian.Uint16(row[3])) //nolint:gosec // The bits are kept.
	return claimKey(row[0]), c, row[5][0] == 1, nil
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
	if winner.status == statusOpen {
		return receiver.Receipt{}, errOpen
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
