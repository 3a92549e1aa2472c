// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
	"github.com/hookonce/hookonce/test/postgres"
)

func TestADuplicateWritesNothing(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	for name, e := range map[string]receiver.Event{
		"signed id":   event("evt_1"),
		"unsigned id": event("evt_2", func(e *receiver.Event) { e.ClaimBody = true }),
	} {
		record(t, l, e, work("shop.book"))
		// The server writes now and then for itself, so one quiet round in ten is asked for. If a duplicate wrote, none
		// of them would be.
		var bytes, ids int64
		for range 10 {
			lsn := value[string](f, "SELECT pg_current_wal_insert_lsn()::text")
			next := value[int64](f, "SELECT txid_snapshot_xmax(txid_current_snapshot())")
			for i := range 50 {
				if e.ClaimBody {
					e.ID = fmt.Sprintf("fresh_%d", i)
				}
				if receipt := record(t, l, e, work("shop.book")); receipt.Kind != receiver.Duplicate {
					t.Fatalf("%s: got kind %d", name, receipt.Kind)
				}
			}
			ids = value[int64](f, "SELECT txid_snapshot_xmax(txid_current_snapshot())") - next
			bytes = value[int64](f, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1::pg_lsn)::bigint", lsn)
			if bytes == 0 && ids == 0 {
				break
			}
		}
		if bytes != 0 || ids != 0 {
			t.Errorf("%s: 50 duplicates wrote %d bytes and took %d transaction ids", name, bytes, ids)
		}
	}
}

func TestAConnectionLostDuringAnEffectIsRunAgain(t *testing.T) {
	f := newFixture(t)
	gate := f.closeGate()
	l := f.open()
	done := make(chan outcome, 1)
	go func() {
		receipt, err := l.Record(t.Context(), event("evt_1"), work("shop.gate"))
		done <- outcome{receipt, err}
	}()
	first := gate.awaitVisitor()
	value[bool](f, "SELECT pg_terminate_backend($1)", first)
	eventually(t, "another session is at the gate", func() bool { return gate.awaitVisitor() != first })
	gate.open()
	if o := <-done; o.err != nil || o.receipt.Kind != receiver.Processed {
		t.Errorf("got %v, kind %d", o.err, o.receipt.Kind)
	}
	f.wantCounts(map[string]int64{"shop.orders": 1, "hookonce.claim": 1})
}

func TestADisconnectDoesNotStopTheWork(t *testing.T) {
	f := newFixture(t)
	gate := f.closeGate()
	l := f.open()
	ctx, disconnect := context.WithCancel(t.Context())
	done := make(chan outcome, 1)
	go func() {
		receipt, err := l.Record(ctx, event("evt_1"), work("shop.gate"))
		done <- outcome{receipt, err}
	}()
	visitor := gate.awaitVisitor()
	disconnect()
	gate.open()
	if o := <-done; o.err != nil || o.receipt.Kind != receiver.Processed {
		t.Errorf("got %v, kind %d", o.err, o.receipt.Kind)
	}
	if still := value[int64](f, "SELECT count(*) FROM pg_stat_activity WHERE pid = $1", visitor); still != 1 {
		t.Error("the connection was given up")
	}
}

func TestAConnectionLostDuringCommitIsNeverAcknowledged(t *testing.T) {
	f := newFixture(t)
	// A deferred trigger runs when the transaction commits, and waits there.
	f.exec(`CREATE FUNCTION shop.wait() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN SET LOCAL lock_timeout = 0; PERFORM pg_advisory_xact_lock(42); RETURN NULL; END $$;
		CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON shop.orders DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION shop.wait()`)
	gate := f.closeGate()
	l := f.open()
	done := make(chan outcome, 1)
	go func() {
		receipt, err := l.Record(t.Context(), event("evt_1"), work("shop.book"))
		done <- outcome{receipt, err}
	}()
	value[bool](f, "SELECT pg_terminate_backend($1)", gate.awaitVisitor())
	if o := <-done; !errors.Is(o.err, receiver.ErrUnavailable) || o.receipt.Answer.Status != 0 {
		t.Errorf("got %v and an answer %d", o.err, o.receipt.Answer.Status)
	}
	gate.open()
	if receipt := record(t, l, event("evt_1"), work("shop.book")); receipt.Kind != receiver.Processed {
		t.Errorf("the retry: kind %d", receipt.Kind)
	}
	f.wantCounts(map[string]int64{"shop.orders": 1, "hookonce.claim": 1})
}

func TestAFailureAtCommitIsAFailure(t *testing.T) {
	f := newFixture(t)
	f.exec(`CREATE FUNCTION shop.object() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
		CREATE CONSTRAINT TRIGGER object AFTER INSERT ON shop.orders DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION shop.object()`)
	if _, err := f.open().Record(t.Context(), event("evt_1"), work("shop.book")); !errors.Is(err, receiver.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	f.wantCounts(map[string]int64{"shop.orders": 0, "hookonce.claim": 0})
}

// A commit that waits for a standby may be cut short: the claim is visible then, and would be lost with the primary.
func TestADuplicateWaitsForTheStandbyThatItsWinnerDidNotReach(t *testing.T) {
	server, err := postgres.Start(postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.StopImmediate(); err != nil {
			t.Error(err)
		}
	})
	if err := server.CreateDatabase(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	url := server.URL("shop")
	if err := ledger.Migrate(t.Context(), url, ""); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), ledger.Options{
		URL: ledger.StaticURL(url), Endpoint: "shop/payments", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	record(t, l, event("evt_0"), receiver.Work{})

	setStandbys(t, server.AdminURL("shop"), "missing")
	for _, what := range []string{"the first", "the duplicate"} {
		if _, err := l.Record(t.Context(), event("evt_1"), receiver.Work{}); !errors.Is(err, receiver.ErrUnavailable) {
			t.Errorf("%s, without the standby: got %v, want ErrUnavailable", what, err)
		}
	}
	setStandbys(t, server.AdminURL("shop"), "")
	receipt := record(t, l, event("evt_1"), receiver.Work{})
	want := receiver.Answer{Status: 200, Body: []byte(`{"event":"evt_1"}`)}
	if diff := cmp.Diff(want, receipt.Answer); diff != "" || receipt.Kind != receiver.Duplicate {
		t.Errorf("kind %d, %s", receipt.Kind, diff)
	}
}

func setStandbys(t *testing.T, url, names string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, sql := range []string{"ALTER SYSTEM SET synchronous_standby_names = '" + names + "'", "SELECT pg_reload_conf()"} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the server has read its configuration", func() bool {
		var now string
		if err := conn.QueryRow(t.Context(), "SHOW synchronous_standby_names").Scan(&now); err != nil {
			t.Fatal(err)
		}
		return now == names
	})
	// A server's process of its own, the checkpointer, reads it later and decides whether commits wait.
	eventually(t, "commits wait as they should", func() bool { return commitWaits(t, url) == (names != "") })
}

func commitWaits(t *testing.T, url string) bool {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = conn.Exec(ctx, "SELECT pg_logical_emit_message(true, 'test', 'commit')")
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	return err != nil
}
