// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// inTransaction runs what fill queues in one transaction and one round trip, and again if that is safe and may help.
// fill may be called more than once. Errors wrap receiver.ErrUnavailable.
func (l *Ledger) inTransaction(ctx context.Context, doing string, fill func(batch *pgx.Batch, scope int32)) error {
	var err error
	for run := range maxRuns {
		err = l.transactOnce(ctx, fill)
		if err == nil || !rerunnable(err) || run == maxRuns-1 || !pause(ctx, run) {
			break
		}
		l.prepareRerun(ctx, err)
	}
	if err != nil {
		return unavailable(doing, err)
	}
	return nil
}

func (l *Ledger) transactOnce(ctx context.Context, fill func(batch *pgx.Batch, scope int32)) error {
	conn, err := l.connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	scope, err := l.endpoint(ctx, conn)
	if err == nil {
		batch := l.begin()
		l.prove(batch, scope)
		fill(batch, scope)
		var tag pgconn.CommandTag
		batch.Queue("commit").Exec(func(ct pgconn.CommandTag) error {
			tag = ct
			return nil
		})
		err = conn.SendBatch(ctx, batch).Close()
		if err == nil && tag.String() != "COMMIT" {
			err = fmt.Errorf("commit: the server answered %s", tag)
		}
	}
	if err != nil {
		conn.abandon(ctx, err)
	}
	return err
}
