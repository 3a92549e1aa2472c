// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookonce/hookonce/receiver"
)

// batchLockTimeout is short, because one event that is being processed elsewhere holds up its whole batch: after that it
// waits alone.
const batchLockTimeout = 200 * time.Millisecond

// sendBatch commits the batch, and gives outcomes to its events; those of unfinished are left when it fails.
func (l *Ledger) sendBatch(ctx context.Context, conn *connection, b *batch) error {
	now := wallClock()
	b.sort(now)
	if len(b.sent) == 0 {
		return nil
	}
	ctx, cancel := context.WithDeadline(ctx, b.answerBy(now))
	defer cancel()
	scope, err := l.endpoint(ctx, conn)
	if err != nil {
		return err
	}
	if err := b.fill(l.options.Endpoint, l.scopeName(), scope, l.options.Now()); err != nil {
		return err
	}
	won, err := l.commitBatch(ctx, conn, b)
	if err != nil {
		return err
	}
	b.acknowledge(won)
	return l.answerLosers(ctx, conn, scope, b)
}

// acknowledge gives the events that have won their receipts, and leaves in sent those that have not.
func (b *batch) acknowledge(won [][16]byte) {
	all := len(won) == len(b.sent)
	winners := map[[16]byte]struct{}{}
	if !all {
		for _, id := range won {
			winners[id] = struct{}{}
		}
	}
	lost := b.sent[:0]
	for _, w := range b.sent {
		if _, winner := winners[w.id]; winner || all {
			w.finish(receiver.Receipt{Kind: receiver.Processed, Answer: w.answer, Deliveries: w.outbox}, nil)
			continue
		}
		lost = append(lost, w)
	}
	b.sent = lost
}

// answerLosers answers for events that were there already, from what their winners have committed.
func (l *Ledger) answerLosers(ctx context.Context, conn *connection, scope int32, b *batch) error {
	losers := b.unfinished()
	if len(losers) == 0 {
		return nil
	}
	keys := make([][]byte, 0, 2*len(losers))
	for _, w := range losers {
		keys = append(keys, w.key[:])
		if w.event.ClaimBody {
			keys = append(keys, w.body[:])
		}
	}
	start := beginSteps(l.sql, l.settings)
	found, err := l.committed(ctx, conn, scope, keys, start[:], rollbackStatement)
	if err != nil {
		return err
	}
	gone := false
	for _, w := range losers {
		receipt, err := candidate{event: &w.event, id: w.id, key: w.key, body: w.body}.judge(found)
		if errors.Is(err, errGone) {
			gone, err = true, errAlone
		}
		w.finish(receipt, err)
	}
	b.sent, b.behind = b.sent[:0], b.behind[:0]
	if gone {
		return errGone
	}
	return nil
}

// commitBatch sends the whole transaction at once, and returns the events that have won their claims. Unless the server
// says that it did nothing, an error means that the outcome is unknown: the commit is already on its way.
func (l *Ledger) commitBatch(ctx context.Context, conn *connection, b *batch) (won [][16]byte, err error) {
	start := beginSteps(l.sql, l.batchSettings)
	steps := [...]step{start[0], start[1], {
		name: "hookonce_batch", text: l.sql.batch, values: b.parameters,
		read: func(row [][]byte) (err error) {
			won, err = readUUIDs(row[0])
			return err
		},
	}, {
		// Triggers of the user's may warn as they like, until here.
		name: "hookonce_commit", text: commitStatement, before: conn.forgetWarning,
	}}
	tag, failed, err := conn.run(ctx, steps[:])
	if err != nil {
		if conn.undone(err, failed < len(steps)-1) {
			return nil, fmt.Errorf("commit a batch: %w", err)
		}
		return nil, &unknownOutcomeError{err: err}
	}
	if err := conn.warning(); err != nil {
		return nil, &unknownOutcomeError{err: err}
	}
	if tag.String() != "COMMIT" {
		return nil, fmt.Errorf("commit a batch: the server answered %s", tag)
	}
	return won, nil
}
