// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/database"
)

// Limits of one transaction. A duplicate waits at most lockTimeout for the delivery that is in flight; providers give up
// after 5 to 10 s.
const (
	lockTimeout      = 2 * time.Second
	statementTimeout = 5 * time.Second
	idleTimeout      = 10 * time.Second
	connectTimeout   = 3 * time.Second
	// recordTimeout is for everything that Record does, unless its context ends sooner. The last commitReserve of it is for
	// the commit alone, which takes at most commitTimeout.
	recordTimeout = 10 * time.Second
	commitReserve = 3 * time.Second
	commitTimeout = 5 * time.Second
	// abandonTimeout bounds what is done after a failure, when nobody may wait any longer.
	abandonTimeout = time.Second
)

// DefaultLease is how long a delivery is leased to the process that took it: more than twice the longest attempt.
const DefaultLease = time.Minute

// DefaultMaxConns is how many connections a ledger opens at most, unless the URI has pool_max_conns.
const DefaultMaxConns = 8

// Options says which ledger to open, and for whom.
type Options struct {
	// URL returns the connection URI. It is called by Open, by Reload, and when the database refuses the password, which
	// may have been changed since. Required.
	URL func() (string, error)
	// Schema that holds the tables. Default database.DefaultSchema.
	Schema string
	// Endpoint is namespace/name: the scope in which event ids are claimed. Required.
	Endpoint string
	// Lease returns how long the deliveries of an event are leased to this process, by the configuration in force; it is
	// asked for each event. Default: DefaultLease.
	Lease func() time.Duration
	// Ordering returns the destinations that get the events of each resource in their order, and those of them at which a failed
	// delivery blocks later ones of its resource. Default: none.
	Ordering func() (ordered, blocking []string)
	// MaxConns to the database. Default DefaultMaxConns.
	MaxConns int32
	// Kept returns the endpoint's retention, which is noted when its scope is made; from then on pruning keeps the note
	// current. Zero: not known yet, so that nothing that endpoints share is removed before it is. Default: zero.
	Kept func() (claims, payloads time.Duration)
	// Functions are effects in Go, by the name that receiver.Effect.Function has; all other names are of functions in SQL.
	// It is not changed after Open.
	Functions map[string]EffectFunc
	// Now is this process's clock, by which leases are given to it. Default time.Now.
	Now func() time.Time
	// Logger for what no caller is told. Default slog.Default().
	Logger *slog.Logger
	// LeaseLost is told of attempts whose bookkeeping came after their lease had been taken over: the destination may
	// have got the delivery twice, under the same key. Optional.
	LeaseLost func([]receiver.Delivery)
	// EffectFailed is told of each event that could not be recorded because the named effect's function failed. Optional.
	EffectFailed func(effect string)
}

// StaticURL is an Options.URL that never changes.
func StaticURL(url string) func() (string, error) {
	return func() (string, error) { return url, nil }
}

// Ledger records the events of one endpoint and keeps its outbox. It is safe for concurrent use.
type Ledger struct {
	options Options
	sql     *statements
	db      *source
	flights flights
	ids     ids
	health  health

	queue queue
	// calls are the callTexts of functions.
	calls sync.Map
	// settings and batchSettings are the parameters of session.sql, for most transactions and for batches.
	settings, batchSettings [][]byte
}

// Open prepares a ledger without connecting: a database that is away is reported by what needs it. Errors are those of
// the options. Call Close when done.
func Open(ctx context.Context, options Options) (*Ledger, error) {
	if options.URL == nil || options.Endpoint == "" {
		return nil, errors.New("open ledger: the options URL and Endpoint are required")
	}
	if options.Schema == "" {
		options.Schema = database.DefaultSchema
	}
	if options.Lease == nil {
		options.Lease = func() time.Duration { return DefaultLease }
	}
	if options.Ordering == nil {
		options.Ordering = func() (ordered, blocking []string) { return nil, nil }
	}
	if options.Kept == nil {
		options.Kept = func() (claims, payloads time.Duration) { return 0, 0 }
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
	l := &Ledger{
		options: options, sql: sql, settings: sessionSettings(lockTimeout), batchSettings: sessionSettings(batchLockTimeout),
	}
	// Writers work for many requests, so they have nothing of the context of one.
	own := context.WithoutCancel(ctx)
	l.queue.write = func() { l.write(own) }
	l.db, err = openSource(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	return l, nil
}

// Close ends the connections, after events that were taken for recording are done and the connections in use given back.
func (l *Ledger) Close() {
	l.queue.close()
	l.db.close()
}

// Reload reads the connection URI again. If it has changed, new transactions go to where it leads from now on, and those
// under way finish where they are. After an error the one before it stays in force: it is one of reading, or
// database.ErrURI and its like.
func (l *Ledger) Reload(ctx context.Context) error { return l.db.reload(ctx) }

const (
	beginStatement    = "begin isolation level read committed read write"
	commitStatement   = "commit"
	rollbackStatement = "rollback"

	// What undoes what functions have set: see undoSettings.
	constraintsStatement = "set constraints all immediate"
	resetStatement       = "reset all"
)

// begin starts a batch with a transaction that asserts for itself what it needs.
func (l *Ledger) begin() *pgx.Batch {
	batch := &pgx.Batch{}
	batch.Queue(beginStatement)
	l.assert(batch)
	return batch
}

// assert queues the settings of a transaction.
func (l *Ledger) assert(batch *pgx.Batch) *pgx.QueuedQuery {
	return batch.Queue(l.sql.session, database.Milliseconds(lockTimeout), database.Milliseconds(statementTimeout),
		database.Milliseconds(idleTimeout))
}
