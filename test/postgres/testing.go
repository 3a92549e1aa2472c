// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
)

var shared struct {
	once     sync.Once
	prepared bool
	server   *Server
	err      error
	count    atomic.Int64
}

// Main runs a package's tests and then stops the server that they shared, if any test asked for one. TestMain returns
// after it, and the process ends with the status of the tests.
func Main(m *testing.M) {
	shared.prepared = true
	m.Run()
	if shared.server != nil {
		if err := shared.server.StopImmediate(); err != nil {
			fmt.Fprintln(os.Stderr, "stop postgres:", err)
		}
	}
}

// Shared is the server that the tests of this process share; it is started at the first call.
func Shared(t testing.TB) *Server {
	t.Helper()
	if !shared.prepared {
		t.Fatal("postgres: call postgres.Main(m) in the package's TestMain")
	}
	shared.once.Do(func() {
		shared.server, shared.err = Start(Options{Settings: map[string]string{"max_connections": "200"}})
	})
	if shared.err != nil {
		t.Fatalf("postgres: %v", shared.err)
	}
	return shared.server
}

// NewRole makes a role on the shared server that can log in and has no rights, dropped when the test ends. Databases in
// which it gets rights must be made after it, so that they are gone before.
func NewRole(t testing.TB) string {
	t.Helper()
	server := Shared(t)
	name := fmt.Sprintf("role_%d", shared.count.Add(1))
	if err := server.CreateRole(t.Context(), name); err != nil {
		t.Fatalf("postgres: %v", err)
	}
	t.Cleanup(func() {
		if err := server.DropRole(context.Background(), name); err != nil {
			t.Errorf("postgres: %v", err)
		}
	})
	return name
}

// New makes an empty database on the shared server, dropped when the test ends, and returns its URI for the ordinary
// role, which owns the database and is no superuser.
func New(t testing.TB) string {
	t.Helper()
	server := Shared(t)
	name := fmt.Sprintf("test_%d", shared.count.Add(1))
	if err := server.CreateDatabase(t.Context(), name); err != nil {
		t.Fatalf("postgres: %v", err)
	}
	t.Cleanup(func() {
		if err := server.DropDatabase(context.Background(), name); err != nil {
			t.Errorf("postgres: %v", err)
		}
	})
	return server.URL(name)
}

// NewPgBouncer starts a PgBouncer in front of the shared server, which ends with the test.
func NewPgBouncer(t testing.TB, options PgBouncerOptions) *PgBouncer {
	t.Helper()
	options.Server = Shared(t)
	bouncer, err := StartPgBouncer(options)
	if err != nil {
		t.Fatalf("pgbouncer: %v", err)
	}
	t.Cleanup(func() {
		if err := bouncer.Stop(); err != nil {
			t.Errorf("pgbouncer: %v", err)
		}
	})
	return bouncer
}
