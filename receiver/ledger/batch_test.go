// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
)

// Triggers that hold up, or break, the transaction that claims.
const (
	waitAtClaim = `CREATE FUNCTION shop.wait() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN SET LOCAL lock_timeout = 0; PERFORM pg_advisory_xact_lock(42); RETURN NULL; END $$;
		CREATE TRIGGER wait AFTER INSERT ON hookonce.claim FOR EACH ROW EXECUTE FUNCTION shop.wait()`
	waitAtCommit = `CREATE FUNCTION shop.wait() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN SET LOCAL lock_timeout = 0; PERFORM pg_advisory_xact_lock(42); RETURN NULL; END $$;
		CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON hookonce.claim DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION shop.wait()`
	poison = `CREATE FUNCTION shop.poison() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN IF NEW.event_id LIKE 'bad%' THEN RAISE EXCEPTION 'poison' USING ERRCODE = '22023'; END IF; RETURN NEW; END $$;
		CREATE TRIGGER poison BEFORE INSERT ON hookonce.event FOR EACH ROW EXECUTE FUNCTION shop.poison()`
)

// only always picks the one ledger.
func only(l *ledger.Ledger) func(int) *ledger.Ledger { return func(int) *ledger.Ledger { return l } }

func TestI2CopiesInABatchHaveOneClaimAndOneAnswer(t *testing.T) {
	for name, receivers := range map[string]int{"one receiver": 1, "two receivers": 2} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			ledgers := []*ledger.Ledger{f.open(), f.open()}[:receivers]
			events := make([]receiver.Event, 300)
			for i := range events {
				events[i] = event(fmt.Sprintf("evt_%d", i%100))
			}
			outcomes := atOnce(t, events, toFulfilment, func(i int) *ledger.Ledger { return ledgers[i%receivers] })
			kinds := map[receiver.Kind]int{}
			for i, o := range outcomes {
				if o.err != nil {
					t.Fatal(o.err)
				}
				kinds[o.receipt.Kind]++
				if diff := cmp.Diff(outcomes[i%100].receipt.Answer, o.receipt.Answer); diff != "" {
					t.Error(diff)
				}
			}
			if kinds[receiver.Processed] != 100 || kinds[receiver.Duplicate] != 200 {
				t.Errorf("got kinds %v", kinds)
			}
			f.wantCounts(map[string]int64{"hookonce.claim": 100, "hookonce.event": 100, "hookonce.delivery": 100})
		})
	}
}

func TestI3AnotherBodyInTheSameBatchIsAConflict(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	events := make([]receiver.Event, 60)
	for i := range events {
		events[i] = event(fmt.Sprintf("evt_%d", i/3), func(e *receiver.Event) { e.Body = fmt.Appendf(nil, "body %d", i) })
	}
	kinds := map[receiver.Kind]int{}
	for _, o := range atOnce(t, events, receiver.Work{}, only(l)) {
		if o.err != nil {
			t.Error(o.err)
		}
		kinds[o.receipt.Kind]++
	}
	if kinds[receiver.Processed] != 20 || kinds[receiver.Conflict] != 40 {
		t.Errorf("got kinds %v", kinds)
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 20, "hookonce.event": 20})
}

// Every id meets every body, in batches of two receivers and in transactions of single events.
func TestI2BodiesAndIDsCrossedInBatches(t *testing.T) {
	f := newFixture(t)
	receivers := []*ledger.Ledger{f.open(), f.open()}
	var events []receiver.Event
	for i := range 240 {
		id, body := fmt.Sprintf("evt_%d", i%12), fmt.Sprintf("body %d", (i/12)%10)
		events = append(events, event(id, func(e *receiver.Event) { e.ClaimBody, e.Body = true, []byte(body) }))
	}
	processed := 0
	for _, o := range atOnce(t, events, receiver.Work{}, func(i int) *ledger.Ledger { return receivers[i%2] }) {
		if o.err != nil {
			t.Error(o.err)
		}
		if o.receipt.Kind == receiver.Processed {
			processed++
		}
	}
	f.wantCounts(map[string]int64{"hookonce.event": int64(processed), "hookonce.claim": int64(2 * processed)})
	if n := value[int64](f, "SELECT count(DISTINCT body_digest) FROM hookonce.claim"); n != int64(processed) {
		t.Errorf("%d bodies claimed by %d events", n, processed)
	}
}

func TestAPoisonedEventDoesNotFailItsNeighbours(t *testing.T) {
	f := newFixture(t)
	f.exec(poison)
	l := f.open()
	events := make([]receiver.Event, 200)
	for i := range events {
		events[i] = event(fmt.Sprintf("evt_%d", i))
	}
	events[77] = event("bad")
	for i, o := range atOnce(t, events, toFulfilment, only(l)) {
		if bad := events[i].ID == "bad"; bad != errors.Is(o.err, receiver.ErrUnavailable) || !bad && o.receipt.Kind != receiver.Processed {
			t.Errorf("%s: got %v, kind %d", events[i].ID, o.err, o.receipt.Kind)
		}
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 199, "hookonce.event": 199, "hookonce.delivery": 199})
}

// An event that another transaction holds waits its 2 s alone.
func TestAClaimThatIsHeldDoesNotHoldUpItsNeighbours(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	record(t, l, event("held"), receiver.Work{})
	holder, err := pgx.Connect(t.Context(), f.url)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Close(context.Background())
	// Not yet committed by a transaction that goes on.
	for _, sql := range []string{
		"CREATE TABLE shop.kept AS SELECT * FROM hookonce.claim", "DELETE FROM hookonce.claim",
		"BEGIN", "INSERT INTO hookonce.claim SELECT * FROM shop.kept",
	} {
		if _, err := holder.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	events := make([]receiver.Event, 51)
	for i := range events {
		events[i] = event(fmt.Sprintf("evt_%d", i))
	}
	events[0] = event("held")
	began := time.Now()
	outcomes := atOnce(t, events, receiver.Work{}, only(l))
	// After the batch has given up, the one that is held waits its 2 s. If batches were as patient, that would be 4 s.
	if took := time.Since(began); took > 3500*time.Millisecond {
		t.Errorf("all took %s", took)
	}
	for i, o := range outcomes {
		if i == 0 && !errors.Is(o.err, receiver.ErrInFlight) {
			t.Errorf("the one that is held: got %v, want ErrInFlight", o.err)
		}
		if i > 0 && (o.err != nil || o.receipt.Kind != receiver.Processed) {
			t.Errorf("a neighbor: %v, kind %d", o.err, o.receipt.Kind)
		}
	}
}

func TestI9ABatchWhoseCommitIsLostIsNotAcknowledged(t *testing.T) {
	f := newFixture(t)
	f.exec(waitAtCommit)
	gate := f.closeGate()
	l := f.open()
	events := make([]receiver.Event, 50)
	for i := range events {
		events[i] = event(fmt.Sprintf("evt_%d", i))
	}
	done := make(chan []outcome, 1)
	go func() { done <- atOnce(t, events, receiver.Work{}, only(l)) }()
	// The first batch waits in its commit, and the others behind it; each session that gets there is ended.
	ended := 0
	for ended < 1 {
		for _, pid := range f.awaitWaiters("advisory", 1) {
			value[bool](f, "SELECT pg_terminate_backend($1)", pid)
			ended++
		}
	}
	gate.open()
	unknown := 0
	for _, o := range <-done {
		if errors.Is(o.err, receiver.ErrUnavailable) && o.receipt.Answer.Status == 0 {
			unknown++
		}
	}
	if unknown == 0 {
		t.Error("events were acknowledged although the answer to their commit was lost")
	}
	for _, o := range atOnce(t, events, receiver.Work{}, only(l)) {
		if o.err != nil || (o.receipt.Kind != receiver.Processed && o.receipt.Kind != receiver.Duplicate) {
			t.Errorf("the retry: %v, kind %d", o.err, o.receipt.Kind)
		}
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 50, "hookonce.event": 50})
}

func TestADayWithoutAPartitionIsMadeForABatch(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	f.exec(`DO $$ DECLARE p regclass; BEGIN FOR p IN SELECT inhrelid::regclass FROM pg_inherits
		WHERE inhparent = 'hookonce.event'::regclass LOOP EXECUTE 'DROP TABLE ' || p; END LOOP; END $$`)
	events := make([]receiver.Event, 40)
	for i := range events {
		events[i] = event(fmt.Sprintf("evt_%d", i))
	}
	for _, o := range atOnce(t, events, receiver.Work{}, only(l)) {
		if o.err != nil || o.receipt.Kind != receiver.Processed {
			t.Errorf("got %v, kind %d", o.err, o.receipt.Kind)
		}
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 40, "hookonce.event": 40})
}

// What waits for a batch can be given up until a batch has it; then a disconnect changes nothing.
func TestWhoWaitsForABatchMayLeaveUntilItIsTaken(t *testing.T) {
	f := newFixture(t)
	f.exec(waitAtClaim)
	gate := f.closeGate()
	// Another writer, which the time calls for, finds no connection.
	l := f.open(func(o *ledger.Options) { o.MaxConns = 1 })
	ctx, disconnect := context.WithCancel(t.Context())
	taken := make(chan outcome, 1)
	go func() {
		receipt, err := l.Record(ctx, event("taken"), receiver.Work{})
		taken <- outcome{receipt, err}
	}()
	gate.awaitVisitor()
	waiting := make(chan outcome, 1)
	go func() {
		receipt, err := l.Record(ctx, event("waiting"), receiver.Work{})
		waiting <- outcome{receipt, err}
	}()
	// The last 3 s of it are for the commit.
	late, cancel := context.WithTimeout(t.Context(), 3100*time.Millisecond)
	defer cancel()
	if _, err := l.Record(late, event("late"), receiver.Work{}); !errors.Is(err, receiver.ErrUnavailable) || late.Err() != nil {
		t.Errorf("one whose time to be sent is up: got %v", err)
	}
	disconnect()
	if o := <-waiting; !errors.Is(o.err, receiver.ErrUnavailable) {
		t.Errorf("one that left: got %v", o.err)
	}
	gate.open()
	if o := <-taken; o.err != nil || o.receipt.Kind != receiver.Processed {
		t.Errorf("the one that was taken: %v, kind %d", o.err, o.receipt.Kind)
	}
	l.Close()
	f.wantCounts(map[string]int64{"hookonce.claim": 1, "hookonce.event": 1})
}

func TestCloseWaitsForTheEventsInTheQueue(t *testing.T) {
	f := newFixture(t)
	f.exec(waitAtClaim)
	gate := f.closeGate()
	l := f.open()
	done := make(chan outcome, 1)
	go func() {
		receipt, err := l.Record(t.Context(), event("evt_1"), receiver.Work{})
		done <- outcome{receipt, err}
	}()
	gate.awaitVisitor()
	closed := make(chan struct{})
	go func() {
		l.Close()
		close(closed)
	}()
	eventually(t, "nothing more is let in", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := l.Record(ctx, event("evt_2"), receiver.Work{})
		return errors.Is(err, receiver.ErrUnavailable)
	})
	gate.open()
	if o := <-done; o.err != nil || o.receipt.Kind != receiver.Processed {
		t.Errorf("got %v, kind %d", o.err, o.receipt.Kind)
	}
	<-closed
	f.wantCounts(map[string]int64{"hookonce.claim": 1})
}
