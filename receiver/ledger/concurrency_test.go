// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
)

// outcome of one of several calls made at once.
type outcome struct {
	receipt receiver.Receipt
	err     error
}

// atOnce records the events at once, each by the ledger that pick chooses.
func atOnce(t *testing.T, events []receiver.Event, w receiver.Work, pick func(i int) *ledger.Ledger) []outcome {
	t.Helper()
	outcomes := make([]outcome, len(events))
	start := make(chan struct{})
	var done sync.WaitGroup
	for i, e := range events {
		done.Go(func() {
			<-start
			outcomes[i].receipt, outcomes[i].err = pick(i).Record(t.Context(), e, w)
		})
	}
	close(start)
	done.Wait()
	return outcomes
}

func TestCopiesAtOnceOverThreeReceiversHaveOneEffect(t *testing.T) {
	for _, copies := range []int{20, 200} {
		for _, claimBody := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d copies, claim body %t", copies, claimBody), func(t *testing.T) {
				f := newFixture(t)
				receivers := []*ledger.Ledger{f.open(), f.open(), f.open()}
				events := make([]receiver.Event, copies)
				for i := range events {
					events[i] = event("evt_1", func(e *receiver.Event) { e.ClaimBody = claimBody })
				}
				w := work("shop.book")
				w.Destinations = []string{"fulfilment"}

				outcomes := atOnce(t, events, w, func(i int) *ledger.Ledger { return receivers[i%len(receivers)] })

				kinds := map[receiver.Kind]int{}
				for _, o := range outcomes {
					if o.err != nil {
						t.Fatal(o.err)
					}
					kinds[o.receipt.Kind]++
					if diff := cmp.Diff(outcomes[0].receipt.Answer, o.receipt.Answer); diff != "" {
						t.Error(diff)
					}
				}
				if kinds[receiver.Processed] != 1 || kinds[receiver.Duplicate] != copies-1 {
					t.Errorf("got kinds %v", kinds)
				}
				f.wantCounts(map[string]int64{"shop.orders": 1, "hookonce.event": 1, "hookonce.delivery": 1})
			})
		}
	}
}

func TestBodiesAndIDsCrossedAtOnceDoNotDeadlock(t *testing.T) {
	f := newFixture(t)
	receivers := []*ledger.Ledger{f.open(), f.open()}
	var events []receiver.Event
	for i := range 60 {
		// Every id meets every body.
		id, body := fmt.Sprintf("evt_%d", i%6), fmt.Sprintf("body %d", (i/6)%5)
		events = append(events, event(id, func(e *receiver.Event) { e.ClaimBody, e.Body = true, []byte(body) }))
	}
	outcomes := atOnce(t, events, work("shop.book"), func(i int) *ledger.Ledger { return receivers[i%2] })
	processed := 0
	for _, o := range outcomes {
		if o.err != nil {
			t.Error(o.err)
		}
		if o.receipt.Kind == receiver.Processed {
			processed++
		}
	}
	f.wantCounts(map[string]int64{"shop.orders": int64(processed), "hookonce.claim": int64(2 * processed)})
	if ids := value[int64](f, "SELECT count(DISTINCT event_id) FROM shop.orders"); ids != int64(processed) {
		t.Errorf("%d events processed for %d ids", processed, ids)
	}
}

// oncePerResource is work whose effect is booked once per resource.
func oncePerResource() receiver.Work {
	return receiver.Work{Effects: []receiver.Effect{{Name: "book", Function: "shop.book", OncePerResource: true}}}
}

func TestAResourceIsBookedOnceWhicheverEndpointBroughtIt(t *testing.T) {
	f := newFixture(t)
	a, b := f.open(endpoint("shop/a")), f.open(endpoint("shop/b"))
	events := make([]receiver.Event, 20)
	for i := range events {
		events[i] = event(fmt.Sprintf("evt_%d", i), func(e *receiver.Event) { e.ResourceID = "inv_9" })
	}
	outcomes := atOnce(t, events, oncePerResource(), func(i int) *ledger.Ledger {
		return []*ledger.Ledger{a, b}[i%2]
	})
	for i, o := range outcomes {
		want := fmt.Sprintf(`{"event":"evt_%d","effects":{"book":{"a": "x", "z": 1.50, "order": 1}}}`, i)
		if o.err != nil || o.receipt.Kind != receiver.Processed || string(o.receipt.Answer.Body) != want {
			t.Errorf("got %v, kind %d, %s, want %s", o.err, o.receipt.Kind, o.receipt.Answer.Body, want)
		}
	}
	f.wantCounts(map[string]int64{"shop.orders": 1, "hookonce.claim": 20, "hookonce.effect": 1})
}

func TestResourceKeysDoNotMeet(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	pairs := [][2]string{{"ab", "c"}, {"a", "bc"}, {"abc", ""}, {"", "abc"}, {"", "abd"}, {"a\x00b", "c"}, {"a", "b\x00c"}}
	for i, pair := range pairs {
		record(t, l, event(fmt.Sprintf("evt_%d", i), func(e *receiver.Event) { e.ResourceID, e.Type = pair[0], pair[1] }),
			oncePerResource())
	}
	// Two events without a resource are two events.
	record(t, l, event("evt_x", func(e *receiver.Event) { e.ResourceID, e.Type = "", "abc" }), oncePerResource())
	f.wantCounts(map[string]int64{"shop.orders": int64(len(pairs)) + 1})
}

func TestTwoEffectsWithOneFunctionShareItsBooking(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	w := oncePerResource()
	w.Effects = append(w.Effects, receiver.Effect{Name: "again", Function: "shop.book", OncePerResource: true})
	for _, id := range []string{"evt_1", "evt_2"} {
		receipt := record(t, l, event(id, func(e *receiver.Event) { e.ResourceID = "inv_9" }), w)
		stored := `{"a": "x", "z": 1.50, "order": 1}`
		want := `{"event":"` + id + `","effects":{"book":` + stored + `,"again":` + stored + `}}`
		if string(receipt.Answer.Body) != want {
			t.Errorf("got %s, want %s", receipt.Answer.Body, want)
		}
	}
	f.wantCounts(map[string]int64{"shop.orders": 1})
}

func TestADuplicateInFlightWaitsTwoSecondsAndIsAskedToRetry(t *testing.T) {
	f := newFixture(t)
	gate := f.closeGate()
	first := make(chan outcome, 1)
	l := f.open()
	go func() {
		receipt, err := l.Record(t.Context(), event("evt_1"), work("shop.gate"))
		first <- outcome{receipt, err}
	}()
	gate.awaitVisitor()
	// Another receiver waits for the database's lock, the same one for its own first call.
	for name, other := range map[string]*ledger.Ledger{"another receiver": f.open(), "the same receiver": l} {
		began := time.Now()
		_, err := other.Record(t.Context(), event("evt_1"), work("shop.gate"))
		// The upper bound is only that of a provider's patience: a machine may be slow.
		if waited := time.Since(began); !errors.Is(err, receiver.ErrInFlight) || waited < 1900*time.Millisecond || waited > 10*time.Second {
			t.Errorf("%s: got %v after %s, want ErrInFlight after 2 s", name, err, waited)
		}
	}
	gate.open()
	if o := <-first; o.err != nil || o.receipt.Kind != receiver.Processed {
		t.Errorf("the first: %v, kind %d", o.err, o.receipt.Kind)
	}
	f.wantCounts(map[string]int64{"shop.orders": 1})
}

func TestADuplicateWaitsForAWinnerThatRollsBackAndTakesItsPlace(t *testing.T) {
	f := newFixture(t)
	gate := f.closeGate()
	f.exec(`CREATE FUNCTION shop.gate_and_fail(e hookonce.event) RETURNS jsonb LANGUAGE plpgsql AS $$
		BEGIN PERFORM shop.gate(e); RAISE EXCEPTION 'no'; END $$`)
	first, second := make(chan outcome, 1), make(chan outcome, 1)
	a, b := f.open(), f.open()
	go func() {
		receipt, err := a.Record(t.Context(), event("evt_1"), work("shop.gate_and_fail"))
		first <- outcome{receipt, err}
	}()
	gate.awaitVisitor()
	go func() {
		receipt, err := b.Record(t.Context(), event("evt_1"), work("shop.book"))
		second <- outcome{receipt, err}
	}()
	f.awaitWaiters("transactionid", 1)
	gate.open()
	if o := <-first; !errors.Is(o.err, receiver.ErrUnavailable) {
		t.Errorf("the first: %v", o.err)
	}
	if o := <-second; o.err != nil || o.receipt.Kind != receiver.Processed {
		t.Errorf("the second: %v, kind %d", o.err, o.receipt.Kind)
	}
	f.wantCounts(map[string]int64{"shop.orders": 1, "hookonce.claim": 1})
}

func TestDuplicatesInFlightLeaveConnectionsToOthers(t *testing.T) {
	f := newFixture(t)
	gate := f.closeGate()
	l := f.open(func(o *ledger.Options) { o.MaxConns = 2 })
	copies := make([]receiver.Event, 20)
	for i := range copies {
		copies[i] = event("evt_1")
	}
	done := make(chan []outcome, 1)
	go func() { done <- atOnce(t, copies, work("shop.gate"), func(int) *ledger.Ledger { return l }) }()
	gate.awaitVisitor()

	// If the copies held connections, the queue for the second one would be 18 copies long, of 2 s each.
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
	defer cancel()
	if receipt, err := l.Record(ctx, event("evt_2"), work("shop.book")); err != nil || receipt.Kind != receiver.Processed {
		t.Errorf("another event: %v, kind %d", err, receipt.Kind)
	}
	gate.open()
	for _, o := range <-done {
		if o.err != nil {
			t.Error(o.err)
		}
	}
	f.wantCounts(map[string]int64{"shop.orders": 2})
}

func TestGuardsAreTakenInOneOrder(t *testing.T) {
	f := newFixture(t)
	// The trigger widens the moment between one guard and the next.
	f.exec(`CREATE FUNCTION shop.other(e hookonce.event) RETURNS jsonb LANGUAGE sql AS 'SELECT shop.book(e)';
		CREATE FUNCTION shop.slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.005); RETURN NEW; END';
		CREATE TRIGGER slow BEFORE INSERT ON hookonce.effect FOR EACH ROW EXECUTE FUNCTION shop.slow()`)
	forth := oncePerResource()
	forth.Effects = append(forth.Effects, receiver.Effect{Name: "other", Function: "shop.other", OncePerResource: true})
	back := receiver.Work{Effects: []receiver.Effect{forth.Effects[1], forth.Effects[0]}}
	a, b := f.open(endpoint("shop/a")), f.open(endpoint("shop/b"))
	var done sync.WaitGroup
	for i := range 60 {
		for l, w := range map[*ledger.Ledger]receiver.Work{a: forth, b: back} {
			done.Go(func() {
				e := event(fmt.Sprintf("evt_%d", i), func(e *receiver.Event) { e.ResourceID = fmt.Sprintf("inv_%d", i) })
				if _, err := l.Record(t.Context(), e, w); err != nil {
					t.Error(err)
				}
			})
		}
	}
	done.Wait()
	// Sessions report what they counted when they end, at the latest.
	a.Close()
	b.Close()
	if n := value[int64](f, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"); n != 0 {
		t.Errorf("%d deadlocks", n)
	}
	f.wantCounts(map[string]int64{"shop.orders": 120})
}
