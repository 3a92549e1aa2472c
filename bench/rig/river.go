// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// delivery is a job: post the body to a destination. Its uniqueness is that of the event's id alone, which is the
// cheapest that River has.
type delivery struct {
	EventID string          `json:"event_id" river:"unique"`
	Body    json.RawMessage `json:"body"`
}

// Kind names the jobs.
func (delivery) Kind() string { return "delivery" }

// riverJobs inserts a unique job for each request, in a transaction: begin, insert, commit. The client only inserts, as
// River recommends for web servers whose workers run elsewhere: what receiving costs is measured here, not working.
func riverJobs(ctx context.Context, o Options) (http.Handler, func() error, error) {
	pool, err := connect(ctx, o)
	if err != nil {
		return nil, nil, err
	}
	client, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		FetchCooldown: 50 * time.Millisecond,
		Logger:        slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return nil, nil, fmt.Errorf("make River's client: %w", err)
	}
	options := &river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true}}
	store := func(ctx context.Context, e event, body []byte) error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			_, err := client.InsertTx(ctx, tx, delivery{EventID: e.ID, Body: body}, options)
			return err
		})
	}
	return signed(o.Secret, store), nothing, nil
}

// MigrateRiver makes River's tables.
func MigrateRiver(ctx context.Context, url string) error {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return fmt.Errorf("make River's tables: %w", err)
	}
	defer pool.Close()
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("make River's tables: %w", err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("make River's tables: %w", err)
	}
	return nil
}
