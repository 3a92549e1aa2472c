// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hookonce/hookonce/receiver/database"
)

// errClosed says that the ledger has been closed.
var errClosed = errors.New("the ledger is closed")

// settings of every connection of this package.
func settings(maxConns int32) database.Settings {
	return database.Settings{ConnectTimeout: connectTimeout, Application: "hookonce", MaxConns: maxConns}
}

// source is where connections come from; the connection URI may change while it is used.
type source struct {
	options Options
	current atomic.Pointer[target]

	// mu serializes changes of current.
	mu     sync.Mutex
	closed bool
	// problem is why the URI as it is now cannot be used, while the one before it stays in force; nil if it can.
	problem error
	// leaving are the replaced pools whose connections are not all given back yet.
	leaving sync.WaitGroup
}

// target is one database: its connections, and what is known of the schema there.
type target struct {
	url, address string
	pool         *pgxpool.Pool
	// replace is called when another target has taken the place of this one; whenReplaced arranges for a function to be
	// called then, and returns what calls that off.
	replace      func()
	whenReplaced func(func()) (stop func() bool)
	preparing    *database.Preparing
	// admitted says that the schema was last seen at the version that this build writes to.
	admitted atomic.Bool

	mu     sync.Mutex
	scopes map[string]int32
}

// connection is a connection in use; Release gives it back.
type connection struct {
	*pgxpool.Conn
	target *target
}

func openSource(ctx context.Context, options Options) (*source, error) {
	url, err := options.URL()
	if err != nil {
		return nil, fmt.Errorf("read the database URI: %w", err)
	}
	s := &source{options: options}
	first, err := s.open(ctx, url)
	if err != nil {
		return nil, err
	}
	s.current.Store(first)
	return s, nil
}

func (s *source) open(ctx context.Context, url string) (*target, error) {
	config, err := database.ParsePool(url, settings(s.options.MaxConns))
	if err != nil {
		return nil, err
	}
	config.MinConns, config.MinIdleConns = 0, 0
	config.ConnConfig.OnNotice = noteWarning
	config.MaxConnLifetimeJitter = config.MaxConnLifetime / 10
	config.MaxConnIdleTime = 5 * time.Minute
	preparing := &database.Preparing{}
	preparing.Set(config)
	// The pool outlives the call that opens it.
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), config)
	if err != nil {
		return nil, fmt.Errorf("open connection pool: %w", err)
	}
	replaced, replace := context.WithCancel(context.WithoutCancel(ctx))
	return &target{
		url: url, address: database.Address(config.ConnConfig), pool: pool, replace: replace,
		whenReplaced: func(f func()) func() bool { return context.AfterFunc(replaced, f) },
		preparing:    preparing, scopes: map[string]int32{},
	}, nil
}

// acquire takes a connection. If the database refuses the credentials, the URI is read again; if the URI has changed
// meanwhile, the connection is to where it leads now.
func (s *source) acquire(ctx context.Context) (*connection, error) {
	var err error
	for range maxRuns {
		t := s.current.Load()
		var conn *pgxpool.Conn
		if conn, err = t.acquire(ctx); err == nil {
			return &connection{Conn: conn, target: t}, nil
		}
		if authFailed(err) {
			if reloadErr := s.reload(ctx); reloadErr != nil {
				return nil, errors.Join(err, reloadErr)
			}
		}
		if s.current.Load() == t {
			return nil, err
		}
	}
	return nil, err
}

// acquire waits for a connection, but not for one of a database that has been replaced.
func (t *target) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer t.whenReplaced(cancel)()
	return t.pool.Acquire(ctx)
}

// reload reads the URI again. If it has changed, new transactions go to where it leads from now on, and those under way
// finish where they are.
func (s *source) reload(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	err := s.follow(ctx)
	if err != nil && (s.problem == nil || s.problem.Error() != err.Error()) {
		s.options.Logger.WarnContext(ctx, "The database's new connection URI cannot be used; the one before it stays in force",
			"database", s.current.Load().address, "error", err)
	}
	s.problem = err
	return err
}

func (s *source) follow(ctx context.Context) error {
	url, err := s.options.URL()
	if err != nil {
		return fmt.Errorf("read the database URI: %w", err)
	}
	before := s.current.Load()
	if url == before.url {
		return nil
	}
	next, err := s.open(ctx, url)
	if err != nil {
		return err
	}
	s.current.Store(next)
	before.replace()
	// Closing waits for the connections in use.
	s.leaving.Go(before.pool.Close)
	s.options.Logger.InfoContext(ctx, "The database's connection URI has changed", "database", next.address, "before", before.address)
	return nil
}

// trouble is why the URI as it was last read cannot be used; nil if it can.
func (s *source) trouble() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.problem
}

// close ends the connections, after those in use are given back.
func (s *source) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	last := s.current.Load()
	last.replace()
	last.pool.Close()
	s.leaving.Wait()
}
