// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package retention

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/database"
)

//go:embed sql/*.sql
var files embed.FS

const (
	// DefaultBatchSize is about how many rows one transaction removes.
	DefaultBatchSize = 10_000
	connectTimeout   = 10 * time.Second
)

// Options says what to prune.
type Options struct {
	// URL is the connection URI. Required.
	URL string
	// Schema that holds the ledger. Default database.DefaultSchema.
	Schema string
	// Endpoint is namespace/name. Only its rows are removed. Required.
	Endpoint string
	// Claims and Payloads are the ages past which claims and replays, and events, are removed. Required.
	Claims, Payloads time.Duration
	// Attempts is the age past which attempts are removed. Default: that of payloads.
	Attempts time.Duration
	// Failed is the age past which failed deliveries are removed, by when they failed. Default: none, and they are kept until
	// they are replayed.
	Failed time.Duration
	// Horizon is how long after the first attempt the provider may still send an event, with what an overlap and clocks
	// add to it. Claims must be at least as long.
	Horizon time.Duration
	// BatchSize is about how many rows one transaction removes. Default DefaultBatchSize.
	BatchSize int
}

// Report is what a prune did.
type Report struct {
	ClaimsRemoved  int64
	EffectsRemoved int64
	// FailedRemoved are deliveries that nobody has replayed in time.
	FailedRemoved  int64
	ReplaysRemoved int64
	// EventsRemoved and AttemptsRemoved do not count the rows of partitions that were dropped whole.
	EventsRemoved     int64
	AttemptsRemoved   int64
	PartitionsDropped int64
	PartitionsMade    int64
}

// ClaimsTooShortError says that claims would be forgotten while the provider may still send their events again.
type ClaimsTooShortError struct{ Claims, Horizon time.Duration }

func (e *ClaimsTooShortError) Error() string {
	return fmt.Sprintf("claims are kept for %s, and the provider may send an event again for %s: raise retention.claims",
		e.Claims, e.Horizon)
}

// Prune removes what is past its age and makes the partitions of the coming days. Several at once do no harm: they take
// turns. After an error the report says what was done before; running it again goes on. Errors are
// *ClaimsTooShortError, *sqlfile.InvalidNameError, database.ErrURI and its like, or those of the database.
func Prune(ctx context.Context, options Options) (Report, error) {
	p, err := newPrune(&options)
	if err != nil {
		return Report{}, fmt.Errorf("prune: %w", err)
	}
	if err := p.connect(ctx); err != nil {
		return Report{}, fmt.Errorf("prune: %w", err)
	}
	defer p.conn.Close(context.WithoutCancel(ctx))
	for _, step := range []struct {
		name string
		do   func(context.Context) error
	}{
		{"note the retention", p.noteRetention},
		{"make partitions", p.makePartitions},
		{"remove failed deliveries", p.removeFailed},
		{"remove events and attempts", p.removeDays},
		{"remove claims", p.removeClaims},
		{"remove effects", p.removeEffects},
		{"remove replays", p.removeReplays},
		{"roll up counters", p.rollUpCounters},
	} {
		if err := step.do(ctx); err != nil {
			return p.report, fmt.Errorf("prune: %s: %w", step.name, err)
		}
	}
	return p.report, nil
}

// prune is one run.
type prune struct {
	options Options
	sql     map[string]string
	conn    *pgx.Conn
	scope   int32
	cutoffs cutoffs
	report  Report
}

// cutoffs are the moments before which rows are past their age.
type cutoffs struct {
	claims, payloads, attempts, minutes, days time.Time
	// failed is nil while failed deliveries have no age.
	failed *time.Time
	// effects is nil while the retention of an endpoint that shares them is not known.
	effects *time.Time
}

func newPrune(options *Options) (*prune, error) {
	if options.URL == "" || options.Endpoint == "" || options.Claims <= 0 || options.Payloads <= 0 {
		return nil, errors.New("the options URL, Endpoint, Claims and Payloads are required")
	}
	if options.Claims < options.Horizon {
		return nil, &ClaimsTooShortError{Claims: options.Claims, Horizon: options.Horizon}
	}
	if options.Attempts <= 0 {
		options.Attempts = options.Payloads
	}
	if options.Schema == "" {
		options.Schema = database.DefaultSchema
	}
	if options.BatchSize <= 0 {
		options.BatchSize = DefaultBatchSize
	}
	sql, err := database.Statements(files, options.Schema)
	if err != nil {
		return nil, err
	}
	return &prune{options: *options, sql: sql}, nil
}

func (p *prune) connect(ctx context.Context) error {
	config, err := database.Parse(p.options.URL, database.Settings{
		ConnectTimeout: connectTimeout, Application: "hookonce-prune",
	})
	if err != nil {
		return err
	}
	if p.conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return nil
}

// noteRetention tells the prunes of other endpoints how long this one keeps its rows, and asks the database's clock.
func (p *prune) noteRetention(ctx context.Context) error {
	name := database.EndpointPrefix + p.options.Endpoint
	return p.turn(ctx, lockTimeout, func(tx pgx.Tx) error {
		note := func() error {
			return tx.QueryRow(ctx, p.sql["scope_note"], name, p.options.Claims, p.options.Payloads, p.options.Attempts).Scan(&p.scope)
		}
		err := note()
		if errors.Is(err, pgx.ErrNoRows) {
			if _, err := tx.Exec(ctx, p.sql["scope_add"], name, p.options.Claims, p.options.Payloads); err != nil {
				return fmt.Errorf("add the scope: %w", err)
			}
			err = note()
		}
		if err != nil {
			return fmt.Errorf("find the scope: %w", err)
		}
		var failed *time.Duration
		if p.options.Failed > 0 {
			failed = &p.options.Failed
		}
		c := &p.cutoffs
		return tx.QueryRow(ctx, p.sql["cutoffs"], p.options.Claims, p.options.Payloads, p.options.Attempts, failed, receiver.CountMinutesKept,
			receiver.CountDaysKept,
			database.EndpointPrefix).Scan(&c.claims, &c.payloads, &c.attempts, &c.failed, &c.minutes, &c.days, &c.effects)
	})
}

func (p *prune) makePartitions(ctx context.Context) error {
	return p.turn(ctx, lockTimeout, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, p.sql["partitions"], database.PartitionsAhead).Scan(&p.report.PartitionsMade)
	})
}

// removeFailed removes failed deliveries where they have an age; their events may go then.
func (p *prune) removeFailed(ctx context.Context) error {
	if p.cutoffs.failed == nil {
		return nil
	}
	return p.sweep(ctx, "failed_delivery", p.sql["failed_delete"], 30, *p.cutoffs.failed, &p.report.FailedRemoved)
}

// removeReplays removes replays as old as claims that are forgotten.
func (p *prune) removeReplays(ctx context.Context) error {
	var items int64
	if err := p.sweep(ctx, "replay_item", p.sql["replay_items_delete"], 60, p.cutoffs.claims, &items); err != nil {
		return err
	}
	return p.sweep(ctx, "replay", p.sql["replays_delete"], 30, p.cutoffs.claims, &p.report.ReplaysRemoved)
}

func (p *prune) removeClaims(ctx context.Context) error {
	return p.sweep(ctx, "claim", p.sql["claims_delete"], 50, p.cutoffs.claims, &p.report.ClaimsRemoved)
}

func (p *prune) removeEffects(ctx context.Context) error {
	if p.cutoffs.effects == nil {
		return nil
	}
	return p.sweep(ctx, "effect", p.sql["effects_delete"], 50, *p.cutoffs.effects, &p.report.EffectsRemoved)
}

func (p *prune) rollUpCounters(ctx context.Context) error {
	return p.turn(ctx, lockTimeout, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, p.sql["counters_roll"], p.scope, p.cutoffs.minutes, p.cutoffs.days)
		return err
	})
}
