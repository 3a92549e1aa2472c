// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// database is where connections come from; its URI may change while it is used.
type database struct {
	options Options

	mu      sync.Mutex
	current *target
}

// target is one database: its connections, and the numbers of the scopes there.
type target struct {
	url  string
	pool *pgxpool.Pool

	mu     sync.Mutex
	scopes map[string]int32
}

// connection is a connection in use; Release gives it back.
type connection struct {
	*pgxpool.Conn
	target *target
}

func openDatabase(ctx context.Context, options Options) (*database, error) {
	url, err := options.URL()
	if err != nil {
		return nil, fmt.Errorf("read the database URI: %w", err)
	}
	d := &database{options: options}
	d.current, err = d.open(ctx, url)
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (d *database) open(ctx context.Context, url string) (*target, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("database URI: %w", err)
	}
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = d.options.MaxConns
	}
	config.MinConns, config.MinIdleConns = 0, 0
	config.MaxConnLifetimeJitter = config.MaxConnLifetime / 10
	config.MaxConnIdleTime = 5 * time.Minute
	if err := harden(config.ConnConfig, url); err != nil {
		return nil, err
	}
	// The pool outlives the call that opens it.
	pool, err := pgxpool.NewWithConfig(context.WithoutCancel(ctx), config)
	if err != nil {
		return nil, fmt.Errorf("open connection pool: %w", err)
	}
	return &target{url: url, pool: pool, scopes: map[string]int32{}}, nil
}

// harden sets what the ledger relies on and the URI leaves open.
func harden(config *pgx.ConnConfig, url string) error {
	if config.DefaultQueryExecMode == pgx.QueryExecModeSimpleProtocol {
		return errors.New("database URI: default_query_exec_mode=simple_protocol is not supported, because it builds " +
			"statements as text; use cache_describe or exec")
	}
	if !strings.Contains(url, "default_query_exec_mode") {
		// Named prepared statements do not survive a pooler in transaction mode; descriptions do.
		config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	if config.ValidateConnect == nil {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if config.ConnectTimeout == 0 || !strings.Contains(url, "connect_timeout") {
		config.ConnectTimeout = connectTimeout
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "hookonce"
	}
	dialer := &net.Dialer{Timeout: config.ConnectTimeout, KeepAlive: 15 * time.Second}
	config.DialFunc = dialer.DialContext
	return nil
}

// acquire takes a connection. If the database refuses the credentials, they are read again and tried once more.
func (d *database) acquire(ctx context.Context) (*connection, error) {
	t := d.target()
	conn, err := t.pool.Acquire(ctx)
	if authFailed(err) {
		if reloadErr := d.reload(ctx); reloadErr != nil {
			return nil, errors.Join(err, reloadErr)
		}
		if t = d.target(); t.pool != nil {
			conn, err = t.pool.Acquire(ctx)
		}
	}
	if err != nil {
		return nil, err
	}
	return &connection{Conn: conn, target: t}, nil
}

func (d *database) target() *target {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.current
}

func (d *database) reload(ctx context.Context) error {
	url, err := d.options.URL()
	if err != nil {
		return fmt.Errorf("read the database URI: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if url == d.current.url {
		return nil
	}
	next, err := d.open(ctx, url)
	if err != nil {
		return err
	}
	// Closing waits for the connections in use.
	go d.current.pool.Close()
	d.current = next
	return nil
}

func (d *database) close() { d.target().pool.Close() }
