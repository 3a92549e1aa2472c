// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package database

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	directKey = "hookonce.direct"
	pidQuery  = "SELECT pg_catalog.int4send(pg_catalog.pg_backend_pid())"
)

// Preparing finds out which connections of a pool may prepare statements: those that lead to the server itself. A pooler
// in transaction mode stands before another session each time, which knows nothing of what was prepared in the last; it is
// known by the process id that it gives, which is not the server's.
type Preparing struct{ pooled atomic.Bool }

// Set arranges for it, unless the URI has a default_query_exec_mode of its own.
func (p *Preparing) Set(config *pgxpool.Config) {
	if config.ConnConfig.DefaultQueryExecMode != pgx.QueryExecModeCacheDescribe {
		return
	}
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if p.pooled.Load() {
			return nil
		}
		pid, err := backend(ctx, conn.PgConn())
		if err != nil {
			return err
		}
		if pid == conn.PgConn().PID() {
			conn.PgConn().CustomData()[directKey] = true
		}
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

// backend asks the server for its process id, without preparing anything; 0 is none.
func backend(ctx context.Context, conn *pgconn.PgConn) (uint32, error) {
	result := conn.ExecParams(ctx, pidQuery, nil, nil, nil, []int16{1}).Read()
	if result.Err != nil {
		return 0, fmt.Errorf("ask for the server's process: %w", result.Err)
	}
	const size = 4
	if len(result.Rows) != 1 || len(result.Rows[0]) != 1 || len(result.Rows[0][0]) != size {
		return 0, nil
	}
	return binary.BigEndian.Uint32(result.Rows[0][0]), nil
}
