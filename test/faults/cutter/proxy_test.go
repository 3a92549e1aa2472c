// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package cutter

import (
	"context"
	"net"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/test/postgres"
)

func TestMain(m *testing.M) { postgres.Main(m) }

// only cuts each commit of a claim at one point, so many times.
func only(p Point, times int) *Cuts {
	c := NewCuts(1, 1, 0)
	c.left[p] = times
	return c
}

func through(t *testing.T, cuts *Cuts) (proxied, direct string) {
	t.Helper()
	direct = postgres.New(t)
	u, err := url.Parse(direct)
	if err != nil {
		t.Fatal(err)
	}
	proxy, err := Listen("127.0.0.1:0", u.Host, cuts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Close)
	u.Host = proxy.Address()
	return u.String(), direct
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// The ways in which a client may commit.
var styles = map[string]func(ctx context.Context, conn *pgx.Conn, insert string) error{
	"simple queries": func(ctx context.Context, conn *pgx.Conn, insert string) error {
		for _, sql := range []string{"BEGIN", insert, "COMMIT"} {
			if err := conn.PgConn().Exec(ctx, sql).Close(); err != nil {
				return err
			}
		}
		return nil
	},
	"one simple query": func(ctx context.Context, conn *pgx.Conn, insert string) error {
		return conn.PgConn().Exec(ctx, "begin; "+insert+"; commit").Close()
	},
	"pipeline": func(ctx context.Context, conn *pgx.Conn, insert string) error {
		batch := &pgx.Batch{}
		batch.Queue("begin isolation level read committed read write")
		batch.Queue(insert)
		batch.Queue("select 1")
		batch.Queue("commit")
		return conn.SendBatch(ctx, batch).Close()
	},
	"two pipelines": func(ctx context.Context, conn *pgx.Conn, insert string) error {
		first, second := &pgx.Batch{}, &pgx.Batch{}
		first.Queue("begin")
		first.Queue(insert)
		if err := conn.SendBatch(ctx, first).Close(); err != nil {
			return err
		}
		second.Queue("select 1")
		second.Queue("commit")
		return conn.SendBatch(ctx, second).Close()
	},
}

func TestCutsAroundCommit(t *testing.T) {
	for p := range Points {
		for name, commit := range styles {
			t.Run(Point(p).String()+"/"+name, func(t *testing.T) { testCut(t, Point(p), commit) })
		}
	}
}

func testCut(t *testing.T, p Point, commit func(ctx context.Context, conn *pgx.Conn, insert string) error) {
	cuts := only(p, 1)
	proxied, direct := through(t, cuts)
	witness := connect(t, direct)
	if _, err := witness.Exec(t.Context(), "CREATE SCHEMA h; CREATE TABLE h.claim (n int)"); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, proxied)
	// Transactions that claim nothing pass.
	if err := commit(t.Context(), conn, "select count(*) from h.claim"); err != nil {
		t.Fatal(err)
	}
	err := commit(t.Context(), conn, "-- a claim\nINSERT INTO h.claim VALUES (1)")
	if told := err == nil; told != (p == AfterAnswer) {
		t.Errorf("the client was told of the commit: %t (%v)", told, err)
	}
	if _, err := conn.Exec(t.Context(), "select 1"); err == nil {
		t.Error("the connection was not cut")
	}
	// The server may still be at it, so the witness waits for the lock that the insert takes.
	rows := 0
	if _, err := witness.Exec(t.Context(), "BEGIN; LOCK TABLE h.claim; COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := witness.QueryRow(t.Context(), "SELECT count(*) FROM h.claim").Scan(&rows); err != nil {
		t.Fatal(err)
	}
	if want := map[Point]int{BeforeCommit: 0, BeforeAnswer: 1, MidAnswer: 1, AfterAnswer: 1}; p != AfterForward && rows != want[p] {
		t.Errorf("%d rows are committed, want %d", rows, want[p])
	}
	made, _ := cuts.Made()
	if made[p] != 1 || !cuts.Complete() {
		t.Errorf("cuts made: %v", made)
	}
	// Another commit passes.
	if err := commit(t.Context(), connect(t, proxied), "INSERT INTO h.claim VALUES (2)"); err != nil {
		t.Errorf("after the cut: %v", err)
	}
}

func TestFailedCommitIsNoCut(t *testing.T) {
	cuts := only(BeforeAnswer, 1)
	proxied, direct := through(t, cuts)
	if _, err := connect(t, direct).Exec(t.Context(), `CREATE SCHEMA h; CREATE TABLE h.claim (n int UNIQUE DEFERRABLE INITIALLY DEFERRED);
		INSERT INTO h.claim VALUES (1)`); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, proxied)
	if err := styles["pipeline"](t.Context(), conn, "INSERT INTO h.claim VALUES (1)"); err == nil {
		t.Fatal("the commit did not fail")
	}
	if made, _ := cuts.Made(); made[BeforeAnswer] != 0 {
		t.Errorf("cuts made: %v", made)
	}
	if err := styles["pipeline"](t.Context(), conn, "INSERT INTO h.claim VALUES (2)"); err == nil {
		t.Error("the next commit was not cut")
	}
}

func TestPurposes(t *testing.T) {
	for sql, want := range map[string]purpose{
		"begin isolation level read committed": begins, "START TRANSACTION": begins, "commit": commits, "END;": commits,
		"rollback": rollsBack, "ROLLBACK TO SAVEPOINT work": other, "rollback to work": other, "": other, "-- commit": other,
		"-- note\nINSERT INTO hookonce.claim (scope) SELECT 1": claims, `WITH b AS (INSERT INTO "h"."claim" VALUES (1)) SELECT 1`: claims,
		"select * from hookonce.claim": other, "insert into hookonce.event values (1)": other,
	} {
		if got := purposeOf(sql); got != want {
			t.Errorf("%q: %d, want %d", sql, got, want)
		}
	}
}

func TestCloseEndsEverything(t *testing.T) {
	proxied, _ := through(t, only(BeforeCommit, 0))
	conn := connect(t, proxied)
	u, err := url.Parse(proxied)
	if err != nil {
		t.Fatal(err)
	}
	idle, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if _, err := conn.Exec(t.Context(), "select 1"); err != nil {
		t.Fatal(err)
	}
}
