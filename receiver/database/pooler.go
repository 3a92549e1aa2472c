// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrPooler says that a connection was given up because it leads to a pooler; the next one is made for that.
var ErrPooler = errors.New("the connection leads to a pooler")

const (
	directKey = "hookonce.direct"
	pidQuery  = "SELECT pg_catalog.int4send(pg_catalog.pg_backend_pid())"
)

// Preparing lets the connections of a pool prepare statements as long as they lead to the server itself. What a pooler in
// transaction mode stands before may be another session each time, which knows nothing of them; it is known by the
// process id that it gives, which is not the server's. The first connection to one fails with ErrPooler: try again.
type Preparing struct{ pooled atomic.Bool }

// Set arranges for it, unless the URI has default_query_exec_mode.
func (p *Preparing) Set(config *pgxpool.Config) {
	if config.ConnConfig.DefaultQueryExecMode != pgx.QueryExecModeCacheDescribe {
		return
	}
	config.BeforeConnect = func(_ context.Context, c *pgx.ConnConfig) error {
		if !p.pooled.Load() {
			c.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
		}
		return nil
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if conn.Config().DefaultQueryExecMode != pgx.QueryExecModeCacheStatement {
			return nil
		}
		if p.pooled.Load() {
			// Another connection found out while this one was being made.
			return ErrPooler
		}
		pid, err := backend(ctx, conn.PgConn())
		if err != nil {
			return err
		}
		if pid != conn.PgConn().PID() {
			p.Pooled()
			return ErrPooler
		}
		conn.PgConn().CustomData()[directKey] = true
		return nil
	}
}

// Pooled is for when a prepared statement was not there: connections that are made from now on prepare none.
func (p *Preparing) Pooled() { p.pooled.Store(true) }

// Direct says that a connection may prepare statements.
func Direct(conn *pgconn.PgConn) bool {
	direct, _ := conn.CustomData()[directKey].(bool)
	return direct
}

// backend asks the server for its process id, without preparing anything.
func backend(ctx context.Context, conn *pgconn.PgConn) (uint32, error) {
	result := conn.ExecParams(ctx, pidQuery, nil, nil, nil, []int16{1}).Read()
	if result.Err != nil {
		return 0, fmt.Errorf("ask for the server's process: %w", result.Err)
	}
	if len(result.Rows) != 1 || len(result.Rows[0]) != 1 || len(result.Rows[0][0]) != 4 {
		return 0, errors.New("ask for the server's process: got " + strconv.Itoa(len(result.Rows)) + " rows")
	}
	return binary.BigEndian.Uint32(result.Rows[0][0]), nil
}
