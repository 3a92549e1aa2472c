// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/internal/sqlfile"
	"github.com/hookonce/hookonce/test/postgres"
)

// structureSQL describes everything in the schema: columns, indexes, constraints, settings of tables, and functions.
const structureSQL = `
SELECT line FROM (
  SELECT format('%s.%s %s %s %s %s', c.oid::regclass, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
    a.attstorage, pg_get_expr(d.adbin, d.adrelid)) AS line
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE c.relnamespace = 'hookonce'::regnamespace AND c.relkind IN ('r', 'p')
  UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'hookonce'
  UNION ALL SELECT conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
    WHERE connamespace = 'hookonce'::regnamespace
  UNION ALL SELECT oid::regclass || ' ' || reloptions::text FROM pg_class WHERE relnamespace = 'hookonce'::regnamespace
  UNION ALL SELECT pg_get_functiondef(oid) || coalesce(proacl::text, '') FROM pg_proc WHERE pronamespace = 'hookonce'::regnamespace
) AS lines WHERE line IS NOT NULL ORDER BY line COLLATE "C"`

func structure(t *testing.T, uri string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), uri)
	must(t, err)
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), structureSQL)
	must(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	return lines
}

func statements(t *testing.T, uri, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), uri)
	must(t, err)
	defer conn.Close(context.Background())
	must(t, conn.PgConn().Exec(t.Context(), sql).Close())
}

// TestMigrationsGoForwardFromEveryVersion starts from each number of migrations that some build may have run. Where that
// leads to is what a new installation gets.
func TestMigrationsGoForwardFromEveryVersion(t *testing.T) {
	s := newShop(t, "")
	s.exec("DROP SCHEMA shop CASCADE")
	texts, err := sqlfile.Load(os.DirFS(filepath.Join("..", "..", "receiver", "ledger", "migrations")), "*.sql", "hookonce")
	must(t, err)
	if len(texts) == 0 {
		t.Fatal("there are no migrations")
	}
	names := slices.Sorted(maps.Keys(texts))
	want := structure(t, s.url)
	for version := range len(names) + 1 {
		uri := postgres.New(t)
		begin := fmt.Sprintf(`CREATE SCHEMA hookonce; CREATE TABLE hookonce.schema_version (version int4 NOT NULL);
			INSERT INTO hookonce.schema_version VALUES (%d)`, version)
		statements(t, uri, begin)
		for _, name := range names[:version] {
			statements(t, uri, texts[name])
		}
		for range 2 {
			s.mustRun(uri, "migrate", "--wait", "0s")
		}
		if diff := cmp.Diff(want, structure(t, uri)); diff != "" {
			t.Errorf("from version %d (-new +migrated):\n%s", version, diff)
		}
	}
}

// TestANewerSchemaIsRefused: an old build neither migrates nor serves what a newer one has made, and says so.
func TestANewerSchemaIsRefused(t *testing.T) {
	s := newShop(t, "")
	before := s.serve(s.serveArgs(s.url)).ready(t)
	s.exec("UPDATE hookonce.schema_version SET version = 99")
	report := filepath.Join(t.TempDir(), "report")
	var log bytes.Buffer
	code := run(t.Context(), []string{
		"migrate", "--config-dir", s.configDir, "--database-url", s.url, "--report", report,
	}, streams{in: strings.NewReader(""), out: &log, err: &log})
	if code != exitFailed || !strings.Contains(log.String(), "version 99") {
		t.Errorf("migrate: exit code %d, %s", code, &log)
	}
	text, err := os.ReadFile(report)
	must(t, err)
	if !strings.Contains(string(text), "SchemaTooNew") || !strings.Contains(string(text), "run a newer build") {
		t.Errorf("the report: %s", text)
	}
	after := s.serve(s.serveArgs(s.url))
	for name, r := range map[string]*running{"a receiver that served before": before, "one that starts": after} {
		eventually(t, name+" says so", func() bool { return r.status(t).Database.Reason == "SchemaTooNew" })
		if answer := s.send(r, "--event-id", "evt_1")[0]; answer.Status != http.StatusServiceUnavailable || answer.RetryAfter == "" {
			t.Errorf("%s answers %+v, want 503 with Retry-After", name, answer)
		}
	}
	if ready := after.get("/readyz"); ready != http.StatusServiceUnavailable {
		t.Errorf("readyz %d of a receiver that starts", ready)
	}
	if n := s.count("SELECT count(*) FROM hookonce.claim"); n != 0 {
		t.Errorf("%d claims were written", n)
	}
}

// stopSQL makes a migration wait before its first function, while somebody holds the lock 42.
const stopSQL = `
CREATE FUNCTION public.stop() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_advisory_xact_lock_shared(42); END $$;
CREATE EVENT TRIGGER stop ON ddl_command_start WHEN TAG IN ('CREATE FUNCTION') EXECUTE FUNCTION public.stop();`

// TestOfTwoMigrationsOneIsKilled: two pods start at once, and the one that is at work dies half way.
func TestOfTwoMigrationsOneIsKilled(t *testing.T) {
	s := newShop(t, "")
	want := structure(t, s.url)
	s.exec("DROP SCHEMA hookonce CASCADE; DROP SCHEMA shop CASCADE")
	config, err := pgx.ParseConfig(s.url)
	must(t, err)
	admin := postgres.Shared(t).AdminURL(config.Database)
	statements(t, admin, stopSQL)
	gate, err := pgx.Connect(t.Context(), admin)
	must(t, err)
	defer gate.Close(context.Background())
	_, err = gate.Exec(t.Context(), "SELECT pg_advisory_lock(42)")
	must(t, err)

	waits := func(n int64) func() bool {
		return func() bool {
			return s.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`) == n
		}
	}
	victim := s.migrating()
	eventually(t, "the first is half way", waits(1))
	survivor := s.migrating()
	eventually(t, "the second waits for it", waits(2))
	must(t, victim.Process.Kill())
	_ = victim.Wait()
	if n := s.count("SELECT count(*) FROM pg_namespace WHERE nspname = 'hookonce'"); n != 0 {
		t.Error("half a migration can be seen")
	}
	must(t, gate.Close(t.Context()))
	if err := survivor.Wait(); err != nil {
		t.Errorf("the second: %v: %s", err, survivor.Stderr)
	}
	if diff := cmp.Diff(want, structure(t, s.url)); diff != "" {
		t.Errorf("the schema (-want +got):\n%s", diff)
	}
}

// migrating runs `receiver migrate` as a process of its own.
func (s *shop) migrating() *exec.Cmd {
	s.t.Helper()
	self, err := os.Executable()
	must(s.t, err)
	cmd := exec.Command(self, "migrate", "--config-dir", s.configDir, "--database-url", s.url, "--wait", "0s")
	cmd.Env = append(os.Environ(), asReceiver+"=1")
	cmd.Stderr = &bytes.Buffer{}
	must(s.t, cmd.Start())
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}
