// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/database"
)

// batchLockTimeout is short, because one event that is being processed elsewhere holds up its whole batch: after that it
// waits alone.
const batchLockTimeout = 200 * time.Millisecond

// batchNames are the prepared statements of a connection that is not pooled by somebody else.
var batchNames = [...]string{"hookonce_begin", "hookonce_session", "hookonce_batch", "hookonce_commit"}

const (
	stepBatch  = 2
	stepCommit = 3
)

// binaryFormat is the format of all parameters and results.
var binaryFormat = []int16{1}

// sendBatch commits the batch, and gives outcomes to its events; those of unfinished are left when it fails.
func (l *Ledger) sendBatch(ctx context.Context, conn *connection, b *batch) error {
	now := time.Now()
	b.sort(now)
	if len(b.sent) == 0 {
		return nil
	}
	scope, err := l.endpoint(ctx, conn)
	if err != nil {
		return err
	}
	if err := b.fill(l.options.Endpoint, l.scopeName(), scope, l.options.Now()); err != nil {
		return err
	}
	ctx, cancel := context.WithDeadline(ctx, b.answerBy(now))
	defer cancel()
	won, err := l.commitBatch(ctx, conn, b.parameters)
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
	found, err := l.committed(ctx, conn, scope, keys, l.begin(), "rollback")
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
func (l *Ledger) commitBatch(ctx context.Context, conn *connection, parameters [][]byte) (won [][16]byte, err error) {
	if err := l.prepareBatch(ctx, conn); err != nil {
		return nil, err
	}
	pipeline := conn.Conn.Conn().PgConn().StartPipeline(ctx)
	for step, name := range batchNames {
		var values [][]byte
		var formats []int16
		switch step {
		case 1:
			values = l.batchSettings
		case stepBatch:
			values, formats = parameters, binaryFormat
		}
		if conn.direct() {
			pipeline.SendQueryPrepared(name, values, formats, binaryFormat)
		} else {
			pipeline.SendQueryParams(l.batchTexts[step], values, nil, formats, binaryFormat)
		}
	}
	if err := pipeline.Sync(); err != nil {
		_ = pipeline.Close()
		return nil, sent(err)
	}
	won, tag, err := readBatch(conn, pipeline)
	if closeErr := pipeline.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, sent(err)
	}
	if err := conn.warning(); err != nil {
		return nil, &unknownOutcomeError{err: err}
	}
	if tag.String() != "COMMIT" {
		return nil, fmt.Errorf("commit a batch: the server answered %s", tag)
	}
	return won, nil
}

// sent is the error of a transaction that was sent as a whole.
func sent(err error) error {
	if rolledBack(err) || pgconn.SafeToRetry(err) {
		return fmt.Errorf("commit a batch: %w", err)
	}
	return &unknownOutcomeError{err: err}
}

func readBatch(conn *connection, pipeline *pgconn.Pipeline) (won [][16]byte, tag pgconn.CommandTag, err error) {
	for step := range batchNames {
		if step == stepCommit {
			// Triggers of the user's may warn as they like.
			conn.forgetWarning()
		}
		results, err := pipeline.GetResults()
		if err != nil {
			return nil, tag, err
		}
		reader, is := results.(*pgconn.ResultReader)
		if !is {
			return nil, tag, fmt.Errorf("the server answered a batch with %T", results)
		}
		for reader.NextRow() {
			if step != stepBatch {
				continue
			}
			if won, is = uuidsOf(reader.Values()[0]); !is {
				return nil, tag, errors.New("the server answered a batch with something else than ids")
			}
		}
		if tag, err = reader.Close(); err != nil {
			return nil, tag, err
		}
	}
	return won, tag, nil
}

// prepareBatch prepares the statements on a connection that has not got them yet.
func (l *Ledger) prepareBatch(ctx context.Context, conn *connection) error {
	if !conn.direct() || conn.prepared() {
		return nil
	}
	for step, name := range batchNames {
		if _, err := conn.Conn.Conn().PgConn().Prepare(ctx, name, l.batchTexts[step], nil); err != nil {
			return fmt.Errorf("prepare a batch: %w", err)
		}
	}
	conn.setPrepared()
	return nil
}

// batchSettings are the parameters of session.sql for a batch.
func batchSettings() [][]byte {
	return [][]byte{
		[]byte(database.Milliseconds(batchLockTimeout)), []byte(database.Milliseconds(statementTimeout)),
		[]byte(database.Milliseconds(idleTimeout)),
	}
}
