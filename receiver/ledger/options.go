// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/receiver"
)

// Limits of one transaction. A duplicate waits at most lockTimeout for the delivery that is in flight; providers give up
// after 5 to 10 s.
const (
	lockTimeout      = 2 * time.Second
	statementTimeout = 5 * time.Second
	idleTimeout      = 10 * time.Second
	recordTimeout    = 9 * time.Second
	commitTimeout    = 5 * time.Second
	connectTimeout   = 3 * time.Second
)

// DefaultLease is how long a delivery is leased to the process that took it: more than twice the longest attempt.
const DefaultLease = time.Minute

// DefaultMaxConns is how many connections a ledger opens at most, unless the URI has pool_max_conns.
const DefaultMaxConns = 8

// DefaultSchema holds the ledger's tables.
const DefaultSchema = "hookonce"

// Options says which ledger to open, and for whom.
type Options struct {
	// URL returns the connection URI. It is called by Open and again when the database refuses the password, which may
	// have been changed since. Required.
	URL func() (string, error)
	// Schema that holds the tables. Default DefaultSchema.
	Schema string
	// Endpoint is namespace/name: the scope in which event ids are claimed. Required.
	Endpoint string
	// Lease on the deliveries that Record returns. Default DefaultLease.
	Lease time.Duration
	// MaxConns to the database. Default DefaultMaxConns.
	MaxConns int32
	// ClaimsKept and PayloadsKept are the endpoint's retention, noted when its scope is made; from then on pruning keeps
	// the note current. Zero: not known yet, so that nothing that endpoints share is removed before it is.
	ClaimsKept, PayloadsKept time.Duration
	// Now is this process's clock, by which leases are given to it. Default time.Now.
	Now func() time.Time
	// Logger for what no caller is told. Default slog.Default().
	Logger *slog.Logger
	// LeaseLost is told of attempts whose bookkeeping came after their lease had been taken over: the destination may
	// have got the delivery twice, under the same key. Optional.
	LeaseLost func([]receiver.Delivery)
}

// StaticURL is an Options.URL that never changes.
func StaticURL(url string) func() (string, error) {
	return func() (string, error) { return url, nil }
}

// Ledger records the events of one endpoint and keeps its outbox. It is safe for concurrent use.
type Ledger struct {
	options Options
	sql     *statements
	db      *database
	flights flights
}

// Open prepares a ledger without connecting: a database that is away is reported by what needs it. Errors are those of
// the options. Call Close when done.
func Open(ctx context.Context, options Options) (*Ledger, error) {
	if options.URL == nil || options.Endpoint == "" {
		return nil, errors.New("open ledger: the options URL and Endpoint are required")
	}
	if options.Schema == "" {
		options.Schema = DefaultSchema
	}
	if options.Lease <= 0 {
		options.Lease = DefaultLease
	}
	if options.MaxConns <= 0 {
		options.MaxConns = DefaultMaxConns
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	sql, err := loadStatements(options.Schema)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	l := &Ledger{options: options, sql: sql}
	l.db, err = openDatabase(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	return l, nil
}

// Close ends the connections, after those in use are given back.
func (l *Ledger) Close() { l.db.close() }

// Reload reads the connection URI again and, if it changed, uses it from now on.
func (l *Ledger) Reload(ctx context.Context) error { return l.db.reload(ctx) }

// begin starts a batch with a transaction that asserts for itself what it needs.
func (l *Ledger) begin() *pgx.Batch {
	batch := &pgx.Batch{}
	batch.Queue("begin isolation level read committed read write")
	batch.Queue(l.sql.session, milliseconds(lockTimeout), milliseconds(statementTimeout), milliseconds(idleTimeout))
	return batch
}

func milliseconds(d time.Duration) string {
	return strconv.FormatInt(d.Milliseconds(), 10)
}
