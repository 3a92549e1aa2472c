// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
	"github.com/hookonce/hookonce/test/postgres"
)

func TestMain(m *testing.M) { postgres.Main(m) }

// shop is what a user has: a table, and functions that write to it.
const shop = `
CREATE SCHEMA shop;
CREATE TABLE shop.orders (id bigint GENERATED ALWAYS AS IDENTITY, event_id text, resource_id text, endpoint text);
CREATE FUNCTION shop.book(e hookonce.event) RETURNS jsonb LANGUAGE sql AS $$
  INSERT INTO shop.orders (event_id, resource_id, endpoint) VALUES (e.event_id, e.resource_id, e.endpoint)
  RETURNING jsonb_build_object('order', id, 'z', 1.50, 'a', 'x')
$$;
CREATE FUNCTION shop.refuse(e hookonce.event) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  PERFORM shop.book(e);
  RAISE EXCEPTION 'the "account" is closed' USING ERRCODE = 'HK001';
END $$;
CREATE FUNCTION shop.fail(e hookonce.event) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  PERFORM shop.book(e);
  RAISE EXCEPTION 'card 4242 is broken' USING ERRCODE = '22023';
END $$;
CREATE FUNCTION shop.message(e hookonce.event) RETURNS jsonb LANGUAGE sql AS $$
  SELECT to_jsonb(hookonce.enqueue(e, 'mail', 'mail-' || e.event_id, hookonce.payload(e)))
$$;
-- gate waits while the advisory lock 42 is held by somebody else, and then books.
CREATE FUNCTION shop.gate(e hookonce.event) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  SET LOCAL lock_timeout = 0;
  PERFORM pg_advisory_xact_lock(42);
  RETURN shop.book(e);
END $$;
`

// fixture is a migrated database with a shop in it.
type fixture struct {
	t   *testing.T
	url string
	// db looks at the tables from outside.
	db *pgxpool.Pool
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, url: postgres.New(t)}
	if err := ledger.Migrate(t.Context(), f.url, "hookonce"); err != nil {
		t.Fatal(err)
	}
	db, err := pgxpool.New(t.Context(), f.url)
	if err != nil {
		t.Fatal(err)
	}
	f.db = db
	t.Cleanup(db.Close)
	f.exec(shop)
	return f
}

func (f *fixture) exec(sql string) {
	f.t.Helper()
	execOn(f.t, f.url, sql)
}

// execOn runs statements on a database.
func execOn(t testing.TB, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if err := conn.PgConn().Exec(t.Context(), sql).Close(); err != nil {
		t.Fatal(err)
	}
}

// value is the one value that a query returns.
func value[T any](f *fixture, sql string, args ...any) T {
	f.t.Helper()
	rows, err := f.db.Query(f.t.Context(), sql, args...)
	if err != nil {
		f.t.Fatal(err)
	}
	v, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[T])
	if err != nil {
		f.t.Fatalf("%s: %v", sql, err)
	}
	return v
}

func (f *fixture) count(table string) int64 {
	f.t.Helper()
	return value[int64](f, "SELECT count(*) FROM "+table)
}

func (f *fixture) wantCounts(want map[string]int64) {
	f.t.Helper()
	for table, n := range want {
		if got := f.count(table); got != n {
			f.t.Errorf("%s has %d rows, want %d", table, got, n)
		}
	}
}

func (f *fixture) open(changes ...func(*ledger.Options)) *ledger.Ledger {
	f.t.Helper()
	options := ledger.Options{
		URL: ledger.StaticURL(f.url), Endpoint: "shop/payments", Logger: slog.New(slog.DiscardHandler),
	}
	for _, change := range changes {
		change(&options)
	}
	l, err := ledger.Open(f.t.Context(), options)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(l.Close)
	return l
}

func endpoint(name string) func(*ledger.Options) {
	return func(o *ledger.Options) { o.Endpoint = name }
}

// event is an invoice.paid with the id, about the invoice inv_<id>.
func event(id string, changes ...func(*receiver.Event)) receiver.Event {
	e := receiver.Event{
		ID: id, Type: "invoice.paid", ResourceID: "inv_" + id, ContentType: "application/json",
		Headers: []byte(`{"X-Id":["` + id + `"]}`), Body: []byte(`{"id":"` + id + `"}`),
	}
	for _, change := range changes {
		change(&e)
	}
	e.BodyDigest = sha256.Sum256(e.Body)
	return e
}

func work(functions ...string) receiver.Work {
	var w receiver.Work
	for _, f := range functions {
		w.Effects = append(w.Effects, receiver.Effect{Name: "book", Function: f})
	}
	return w
}

func record(t *testing.T, l *ledger.Ledger, e receiver.Event, w receiver.Work) receiver.Receipt {
	t.Helper()
	receipt, err := l.Record(t.Context(), e, w)
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

// eventually waits until the condition holds, at most 10 s.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within 10 s: %s", what)
		}
	}
}
