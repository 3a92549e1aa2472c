// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"
)

// gate holds the lock that shop.gate waits for.
type gate struct {
	f    *fixture
	open func()
}

func (f *fixture) closeGate() *gate {
	f.t.Helper()
	conn, err := pgx.Connect(f.t.Context(), f.url)
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := conn.Exec(f.t.Context(), "SELECT pg_advisory_lock(42)"); err != nil {
		f.t.Fatal(err)
	}
	open := sync.OnceFunc(func() {
		if err := conn.Close(context.Background()); err != nil {
			f.t.Error(err)
		}
	})
	f.t.Cleanup(open)
	return &gate{f: f, open: open}
}

// awaitVisitor waits until a session waits at the gate, and returns its pid.
func (g *gate) awaitVisitor() int32 {
	g.f.t.Helper()
	return g.f.awaitWaiters("advisory", 1)[0]
}

// awaitWaiters waits until so many sessions of this database wait for a lock of the type, and returns their pids.
func (f *fixture) awaitWaiters(lockType string, n int) []int32 {
	f.t.Helper()
	var pids []int32
	eventually(f.t, "sessions wait for a lock of type "+lockType, func() bool {
		pids = value[[]int32](f, `SELECT coalesce(array_agg(l.pid), '{}') FROM pg_locks l JOIN pg_stat_activity a USING (pid)
			WHERE NOT l.granted AND l.locktype = $1 AND a.datname = current_database()`, lockType)
		return len(pids) >= n
	})
	return pids
}
