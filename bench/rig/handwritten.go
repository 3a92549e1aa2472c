// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// HandwrittenSchema is what the rig handwritten keeps: the same three rows for an event as Hookonce, in the shape that
// people write.
const HandwrittenSchema = `
CREATE TABLE claim (event_id text PRIMARY KEY, received_at timestamptz NOT NULL DEFAULT now());
CREATE TABLE event (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id text NOT NULL, event_type text NOT NULL, body jsonb NOT NULL, received_at timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event bigint NOT NULL, destination text NOT NULL, status text NOT NULL DEFAULT 'pending',
  attempts int NOT NULL DEFAULT 0, next_attempt_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outbox_due ON outbox (next_attempt_at) WHERE status = 'pending';
`

// handwritten has a transaction for each request: begin, claim, event, outbox, commit.
func handwritten(ctx context.Context, o Options) (http.Handler, func() error, error) {
	pool, err := connect(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	store := func(ctx context.Context, e event, body []byte) error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			tag, err := tx.Exec(ctx, "INSERT INTO claim (event_id) VALUES ($1) ON CONFLICT DO NOTHING", e.ID)
			if err != nil || tag.RowsAffected() == 0 {
				return err
			}
			var id int64
			err = tx.QueryRow(ctx, "INSERT INTO event (event_id, event_type, body) VALUES ($1, $2, $3) RETURNING id",
				e.ID, e.Type, body).Scan(&id)
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, "INSERT INTO outbox (event, destination) VALUES ($1, $2)", id, "fulfilment")
			return err
		})
	}
	return signed(o.Secret, store), nothing, nil
}

// connect opens a pool with all its connections, so that none is opened while the load runs.
func connect(ctx context.Context, o Options) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(o.Database)
	if err != nil {
		return nil, fmt.Errorf("read the connection URI: %w", err)
	}
	config.MaxConns, config.MinConns = int32(o.Connections), int32(o.Connections)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	if err := pool.Ping(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("connect: %w", err)
	}
	return pool, nil
}
