// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package postgres_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/test/postgres"
)

func TestMain(m *testing.M) { postgres.Main(m) }

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func TestDatabasesAreSeparateAndDurable(t *testing.T) {
	a, b := connect(t, postgres.New(t)), connect(t, postgres.New(t))
	if _, err := a.Exec(t.Context(), "CREATE TABLE only_here ()"); err != nil {
		t.Fatal(err)
	}
	var elsewhere *string
	var fsync string
	var superuser bool
	row := b.QueryRow(t.Context(), `SELECT to_regclass('only_here')::text, current_setting('fsync'),
		(SELECT rolsuper FROM pg_roles WHERE rolname = current_user)`)
	if err := row.Scan(&elsewhere, &fsync, &superuser); err != nil {
		t.Fatal(err)
	}
	if elsewhere != nil || fsync != "on" || superuser {
		t.Errorf("table seen elsewhere %v, fsync %s, superuser %t", elsewhere, fsync, superuser)
	}
}

// TestTheServerIsTheOneThatWasChosen keeps a run of all tests on a newer server from being one on the packaged server.
func TestTheServerIsTheOneThatWasChosen(t *testing.T) {
	chosen := os.Getenv(postgres.EnvServer)
	var version int
	row := connect(t, postgres.New(t)).QueryRow(t.Context(), "SELECT current_setting('server_version_num')::int / 10000")
	if err := row.Scan(&version); err != nil {
		t.Fatal(err)
	}
	want, err := strconv.Atoi(chosen)
	if chosen == "" || err != nil {
		// The packaged server, or one that is known by its path.
		want = max(version, 15)
	}
	if version != want {
		t.Errorf("%s=%s runs Postgres %d", postgres.EnvServer, chosen, version)
	}
}

func TestAServerThatIsNotInstalledIsNamed(t *testing.T) {
	for _, chosen := range []string{"9", "eighteen", "/nowhere/bin"} {
		t.Setenv(postgres.EnvServer, chosen)
		if server, err := postgres.Start(postgres.Options{}); err == nil || !strings.Contains(err.Error(), chosen) {
			if err == nil {
				_ = server.Stop()
			}
			t.Errorf("%s: got %v", chosen, err)
		}
	}
}

func TestAServerSurvivesACrashAndLeavesNothing(t *testing.T) {
	dir := filepath.Join(os.TempDir(), filepath.Base(t.TempDir())+"-hookonce")
	t.Cleanup(func() { os.RemoveAll(dir) })
	first, err := postgres.Start(postgres.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, first.AdminURL("postgres"))
	if _, err := conn.Exec(t.Context(), "CREATE TABLE kept AS SELECT 42 AS n"); err != nil {
		t.Fatal(err)
	}
	if err := first.StopImmediate(); err != nil {
		t.Fatal(err)
	}
	second, err := postgres.Start(postgres.Options{Dir: dir, Port: first.Port})
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := connect(t, second.AdminURL("postgres")).QueryRow(t.Context(), "SELECT n FROM kept").Scan(&n); err != nil || n != 42 {
		t.Errorf("after the crash: n %d, %v", n, err)
	}
	attached, err := postgres.Attach(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := attached.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(second.Pid(), 0); err == nil {
		// A zombie would still answer; it is reaped by the goroutine that started it.
		if err := second.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := postgres.Attach(dir); err == nil {
		t.Error("a server still runs on the folder")
	}
}
