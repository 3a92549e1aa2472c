// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
)

const (
	// The event named held waits at the gate, with its claim.
	holdOne = `CREATE FUNCTION shop.hold() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN IF NEW.event_id = 'held' THEN SET LOCAL lock_timeout = 0; PERFORM pg_advisory_xact_lock(42); END IF; RETURN NEW; END $$;
		CREATE TRIGGER hold BEFORE INSERT ON hookonce.event FOR EACH ROW EXECUTE FUNCTION shop.hold()`
	// The first transaction to claim evt_0 is told of a deadlock.
	deadlockOnce = `CREATE SEQUENCE shop.tries;
		CREATE FUNCTION shop.deadlock() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN IF NEW.event_id = 'evt_0' AND nextval('shop.tries') = 1 THEN RAISE EXCEPTION 'no' USING ERRCODE = '40P01'; END IF;
			RETURN NEW; END $$;
		CREATE TRIGGER deadlock BEFORE INSERT ON hookonce.event FOR EACH ROW EXECUTE FUNCTION shop.deadlock()`
	dropPartitions = `DO $$ DECLARE p regclass; BEGIN FOR p IN SELECT inhrelid::regclass FROM pg_inherits
		WHERE inhparent = 'hookonce.event'::regclass LOOP EXECUTE 'DROP TABLE ' || p; END LOOP; END $$`
	transactions = "SELECT count(DISTINCT xmin::text) FROM hookonce.claim"
)

func numbered(n int) []receiver.Event {
	events := make([]receiver.Event, n)
	for i := range events {
		events[i] = event(fmt.Sprintf("evt_%d", i))
	}
	return events
}

// later records an event while the test goes on.
func later(ctx context.Context, l *ledger.Ledger, e receiver.Event) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		receipt, err := l.Record(ctx, e, receiver.Work{})
		done <- outcome{receipt, err}
	}()
	return done
}

// oneBatch records the events as one batch: they gather while the only connection is held.
func (f *fixture) oneBatch(sql string, events []receiver.Event) []outcome {
	f.t.Helper()
	f.exec(holdOne)
	f.exec(sql)
	gate := f.closeGate()
	l := f.open(func(o *ledger.Options) { o.MaxConns = 1 })
	held := later(f.t.Context(), l, event("held"))
	gate.awaitVisitor()
	done := make(chan []outcome, 1)
	go func() { done <- atOnce(f.t, events, receiver.Work{}, only(l)) }()
	eventually(f.t, "all wait for a batch", func() bool { return l.Waiting() == len(events) })
	gate.open()
	if o := <-held; o.err != nil {
		f.t.Error(o.err)
	}
	return <-done
}

func TestOneRefusedEventDoesNotSendAllAlone(t *testing.T) {
	f := newFixture(t)
	events := append(numbered(200), event("bad"))
	for i, o := range f.oneBatch(poison, events) {
		if bad := events[i].ID == "bad"; bad == (o.err == nil) {
			t.Errorf("%s: %v", events[i].ID, o.err)
		}
	}
	// One for the held event, 12 or 13 parts, and the events of the part with the bad one.
	if n := value[int64](f, transactions); n > 30 {
		t.Errorf("200 events took %d transactions", n)
	}
}

func TestADeadlockDoesNotTakeABatchApart(t *testing.T) {
	f := newFixture(t)
	for _, o := range f.oneBatch(deadlockOnce, numbered(200)) {
		if o.err != nil {
			t.Error(o.err)
		}
	}
	if n := value[int64](f, transactions); n != 2 {
		t.Errorf("the batch took %d transactions", n-1)
	}
}

func TestADayWithoutAPartitionIsMadeWithOneConnection(t *testing.T) {
	f := newFixture(t)
	f.exec(dropPartitions)
	l := f.open(func(o *ledger.Options) { o.MaxConns = 1 })
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()
	if receipt, err := l.Record(ctx, event("evt_1"), receiver.Work{}); err != nil || receipt.Kind != receiver.Processed {
		t.Errorf("got %v, kind %d", err, receipt.Kind)
	}
}

func TestASessionThatIsEndedBeforeItsCommitIsRunAgain(t *testing.T) {
	f := newFixture(t)
	f.exec(holdOne)
	gate := f.closeGate()
	l := f.open()
	held := later(t.Context(), l, event("held"))
	value[bool](f, "SELECT pg_terminate_backend($1)", gate.awaitVisitor())
	gate.open()
	if o := <-held; o.err != nil || o.receipt.Kind != receiver.Processed {
		t.Errorf("got %v, kind %d", o.err, o.receipt.Kind)
	}
}

// A copy of an event whose batch is under way waits for that, and its neighbors do not wait with it.
func TestACopyDoesNotMakeItsBatchWait(t *testing.T) {
	for name, claimBody := range map[string]bool{"by id": false, "by body": true} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.exec(holdOne)
			gate := f.closeGate()
			l := f.open()
			claimed := func(e *receiver.Event) { e.ClaimBody = claimBody }
			first := later(t.Context(), l, event("held", claimed))
			gate.awaitVisitor()
			copied := event("held", claimed)
			if claimBody {
				copied.ID = "again"
			}
			second := later(t.Context(), l, copied)
			eventually(t, "the copy waits", func() bool { return l.Waiting() == 1 })
			for _, o := range atOnce(t, numbered(40), receiver.Work{}, only(l)) {
				if o.err != nil || o.receipt.Kind != receiver.Processed {
					t.Errorf("a neighbor: %v, kind %d", o.err, o.receipt.Kind)
				}
			}
			if n := value[int64](f, transactions); n > 6 || l.Waiting() != 1 {
				t.Errorf("40 neighbors took %d transactions; %d wait", n, l.Waiting())
			}
			gate.open()
			if o := <-first; o.err != nil || o.receipt.Kind != receiver.Processed {
				t.Errorf("the first: %v, kind %d", o.err, o.receipt.Kind)
			}
			if o := <-second; o.err != nil || o.receipt.Kind != receiver.Duplicate {
				t.Errorf("the copy: %v, kind %d", o.err, o.receipt.Kind)
			}
		})
	}
}

func TestOneEventDoesNotWaitForASlowBatch(t *testing.T) {
	f := newFixture(t)
	f.exec(holdOne)
	gate := f.closeGate()
	l := f.open()
	record(t, l, event("evt_0"), receiver.Work{})
	held := later(t.Context(), l, event("held"))
	// Sooner than patience, usually: nothing is added after it.
	gate.awaitVisitor()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	if receipt, err := l.Record(ctx, event("evt_1"), receiver.Work{}); err != nil || receipt.Kind != receiver.Processed {
		t.Errorf("got %v, kind %d", err, receipt.Kind)
	}
	gate.open()
	<-held
}

// The first batch asks for the scope's number, which is not part of its transaction.
func TestABatchKeepsToItsDeadlineBeforeItsTransaction(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	holder, err := pgx.Connect(t.Context(), f.url)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close(context.Background())
	if _, err := holder.Exec(t.Context(), "BEGIN; LOCK TABLE hookonce.scope IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
	defer cancel()
	done := later(ctx, l, event("evt_1"))
	select {
	case o := <-done:
		if !errors.Is(o.err, receiver.ErrUnavailable) {
			t.Errorf("got %v", o.err)
		}
	case <-time.After(8 * time.Second):
		t.Fatal("nothing after 8 s, with a deadline of 3.5 s")
	}
	l.Close()
}

type contextKey struct{}

// marks keeps what the contexts of log records have under contextKey.
type marks struct {
	slog.Handler
	mu   sync.Mutex
	seen []any
}

func (m *marks) Enabled(context.Context, slog.Level) bool { return true }

func (m *marks) Handle(ctx context.Context, _ slog.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = append(m.seen, ctx.Value(contextKey{}))
	return nil
}

func TestAWriterHasNothingOfARequestsContext(t *testing.T) {
	f := newFixture(t)
	f.exec(dropPartitions)
	f.exec("DROP FUNCTION hookonce.ensure_partitions")
	logged := &marks{}
	l := f.open(func(o *ledger.Options) { o.Logger = slog.New(logged) })
	if _, err := l.Record(context.WithValue(t.Context(), contextKey{}, "a request"), event("evt_1"), receiver.Work{}); err == nil {
		t.Error("an event without a partition was recorded")
	}
	logged.mu.Lock()
	defer logged.mu.Unlock()
	if !slices.Contains(logged.seen, any(nil)) {
		t.Errorf("got %v, want one of the writer's own", logged.seen)
	}
}
