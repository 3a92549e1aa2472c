// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/hookonce/hookonce/internal/replayrequest"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
)

var toFulfilment = receiver.Work{Destinations: []string{"fulfilment"}}

// expireLeases lets every lease end now.
func (f *fixture) expireLeases() {
	f.t.Helper()
	f.exec("UPDATE hookonce.delivery SET leased_until = clock_timestamp() - interval '1 s' WHERE leased_until IS NOT NULL")
}

func lease(t *testing.T, l *ledger.Ledger, destinations ...string) []receiver.Delivery {
	t.Helper()
	if len(destinations) == 0 {
		destinations = []string{"fulfilment"}
	}
	due, err := l.LeaseDue(t.Context(), destinations, 100, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	return due
}

func settle(t *testing.T, l *ledger.Ledger, settlements ...receiver.Settlement) {
	t.Helper()
	if err := l.Settle(t.Context(), settlements); err != nil {
		t.Fatal(err)
	}
}

func attempt(d receiver.Delivery, outcome receiver.Outcome, delay time.Duration) receiver.Settlement {
	s := receiver.Settlement{
		Delivery: d, Outcome: outcome, Delay: delay, Started: time.Now(), Duration: 30 * time.Millisecond, StatusCode: 200,
	}
	if outcome != receiver.Delivered {
		s.StatusCode, s.Reason = 503, "status 503"
	}
	return s
}

func TestADeliveryIsLeasedToOneAtATime(t *testing.T) {
	f := newFixture(t)
	a, b := f.open(), f.open()
	var born []receiver.Delivery
	for i := range 30 {
		born = append(born, record(t, a, event(fmt.Sprintf("evt_%d", i)), toFulfilment).Deliveries...)
	}
	if due := lease(t, b); len(due) != 0 {
		t.Errorf("%d deliveries were taken from the process that they were born leased to", len(due))
	}
	f.expireLeases()

	// Two processes take them in small bites, at once.
	var mu sync.Mutex
	taken := map[uuid.UUID]int{}
	var done sync.WaitGroup
	for _, l := range []*ledger.Ledger{a, b, a, b} {
		done.Go(func() {
			for range 10 {
				due, err := l.LeaseDue(t.Context(), []string{"fulfilment"}, 5, time.Minute)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				for _, d := range due {
					taken[d.ID]++
					if d.Attempt != 1 || d.IdempotencyKey != d.ID.String() || d.Body == nil || d.EventType != "invoice.paid" {
						t.Errorf("unexpected delivery %+v", d)
					}
				}
				mu.Unlock()
			}
		})
	}
	done.Wait()
	if len(taken) != len(born) || slices.Max(slices.Collect(maps.Values(taken))) != 1 {
		t.Errorf("%d deliveries of %d taken, as often as %v", len(taken), len(born), taken)
	}
}

func TestALateWriterChangesNothing(t *testing.T) {
	f := newFixture(t)
	var lost []receiver.Delivery
	slow := f.open(func(o *ledger.Options) { o.LeaseLost = func(d []receiver.Delivery) { lost = append(lost, d...) } })
	quick := f.open()
	for _, outcome := range []receiver.Outcome{receiver.Delivered, receiver.Retry, receiver.Exhausted} {
		lost = nil
		late := record(t, slow, event(fmt.Sprintf("evt_%d", outcome)), toFulfilment).Deliveries[0]
		f.expireLeases()
		current := lease(t, quick)
		if len(current) != 1 {
			t.Fatalf("%d deliveries leased", len(current))
		}
		settle(t, slow, attempt(late, outcome, 0))
		if len(lost) != 1 || lost[0].ID != late.ID {
			t.Errorf("outcome %d: told of %d lost leases", outcome, len(lost))
		}
		held := value[int64](f, "SELECT count(*) FROM hookonce.delivery WHERE lease_token = $1", current[0].Lease.Token)
		if held != 1 || f.count("hookonce.failed_delivery") != 0 {
			t.Errorf("outcome %d: the late writer changed something", outcome)
		}
		settle(t, quick, attempt(current[0], receiver.Delivered, 0))
	}
	f.wantCounts(map[string]int64{"hookonce.delivery": 0, "hookonce.attempt": 3})
}

func TestTheLadderIsCountedToItsEnd(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	d := record(t, l, event("evt_1"), toFulfilment).Deliveries[0]
	key := d.IdempotencyKey
	for n := 1; n <= 10; n++ {
		if d.Attempt != n || d.IdempotencyKey != key {
			t.Fatalf("attempt %d with key %s, want %d with %s", d.Attempt, d.IdempotencyKey, n, key)
		}
		settle(t, l, attempt(d, receiver.Retry, time.Hour))
		if due := lease(t, l); len(due) != 0 {
			t.Fatal("a delivery was leased before it was due")
		}
		if early := value[bool](f, "SELECT next_attempt_at BETWEEN now() + interval '59 min' AND now() + interval '61 min' FROM hookonce.delivery"); !early {
			t.Fatal("the retry is not due in an hour")
		}
		f.exec("UPDATE hookonce.delivery SET next_attempt_at = now()")
		d = lease(t, l)[0]
	}
	settle(t, l, attempt(d, receiver.Exhausted, 0))
	f.wantCounts(map[string]int64{"hookonce.delivery": 0, "hookonce.failed_delivery": 1, "hookonce.attempt": 11})
	got := value[string](f, "SELECT concat_ws(' ', attempts, status_code, reason, destination, event_id) FROM hookonce.failed_delivery")
	if want := "11 503 status 503 fulfilment evt_1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if numbers := value[string](f, "SELECT string_agg(number || ':' || outcome, ' ' ORDER BY number) FROM hookonce.attempt"); numbers != "1:2 2:2 3:2 4:2 5:2 6:2 7:2 8:2 9:2 10:2 11:3" {
		t.Errorf("the history is %s", numbers)
	}
}

func TestABatchOfAllOutcomesIsSettledAtOnce(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	var settlements []receiver.Settlement
	for i := range 9 {
		d := record(t, l, event(fmt.Sprintf("evt_%d", i)), toFulfilment).Deliveries[0]
		s := attempt(d, receiver.Outcome(i%3+1), time.Hour)
		s.Reason = strings.Repeat("é", 200) + "\x00"
		settlements = append(settlements, s)
	}
	settle(t, l, settlements...)
	settle(t, l)
	f.wantCounts(map[string]int64{"hookonce.delivery": 3, "hookonce.failed_delivery": 3, "hookonce.attempt": 9})
	if leased := value[int64](f, "SELECT count(*) FROM hookonce.delivery WHERE lease_token IS NOT NULL OR leased_until IS NOT NULL"); leased != 0 {
		t.Errorf("%d deliveries to be retried are still leased", leased)
	}
}

func TestFailedDeliveriesAreReplayedAsOftenAsAsked(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	var keys []string
	for _, id := range []string{"evt_1", "evt_2", "evt_3"} {
		w := receiver.Work{Destinations: []string{"fulfilment", "audit"}}
		for _, d := range record(t, l, event(id), w).Deliveries {
			settle(t, l, attempt(d, receiver.Exhausted, 0))
			keys = append(keys, d.IdempotencyKey)
		}
	}
	replay := func(s replayrequest.Selector, want int64) {
		t.Helper()
		if got := replayAll(t, l, s); got.Sent != want || got.Matched != want {
			t.Fatalf("%+v: %+v, want %d sent", s, got, want)
		}
	}
	replay(replayrequest.Selector{Destination: "fulfilment", EventIDs: []string{"evt_2"}}, 1)
	replay(replayrequest.Selector{Destination: "nowhere"}, 0)
	replay(replayrequest.Selector{Destination: "audit"}, 3)
	replay(replayrequest.Selector{}, 2)
	replay(replayrequest.Selector{}, 0)
	for round := range 2 {
		due := lease(t, l, "fulfilment", "audit")
		if len(due) != 6 {
			t.Fatalf("round %d: %d deliveries are due", round, len(due))
		}
		for _, d := range due {
			if d.Attempt != 1 || !slices.Contains(keys, d.IdempotencyKey) || d.IdempotencyKey != d.ID.String() {
				t.Errorf("round %d: attempt %d with key %s", round, d.Attempt, d.IdempotencyKey)
			}
			settle(t, l, attempt(d, receiver.Exhausted, 0))
		}
		replay(replayrequest.Selector{}, 6)
	}
	f.wantCounts(map[string]int64{"hookonce.attempt": 18, "hookonce.delivery": 6, "hookonce.failed_delivery": 0})
}

func TestAnotherEndpointsDeliveriesAreLeftAlone(t *testing.T) {
	f := newFixture(t)
	ours, theirs := f.open(), f.open(endpoint("bank/payments"))
	settle(t, theirs, attempt(record(t, theirs, event("evt_1"), toFulfilment).Deliveries[0], receiver.Exhausted, 0))
	record(t, theirs, event("evt_2"), toFulfilment)
	f.expireLeases()
	if due := lease(t, ours); len(due) != 0 {
		t.Errorf("leased %d", len(due))
	}
	if got := replayAll(t, ours, replayrequest.Selector{}); got.Matched != 0 {
		t.Errorf("replayed %+v", got)
	}
	if c, err := ours.Counts(t.Context()); err != nil || c.Pending != 0 || c.Failed != 0 {
		t.Errorf("counts %+v, %v", c, err)
	}
}

func TestARowThatCommitsLateIsFound(t *testing.T) {
	f := newFixture(t)
	gate := f.closeGate()
	l := f.open()
	done := make(chan outcome, 1)
	go func() {
		w := work("shop.gate")
		w.Destinations = []string{"fulfilment"}
		receipt, err := l.Record(t.Context(), event("evt_early"), w)
		done <- outcome{receipt, err}
	}()
	gate.awaitVisitor()
	settle(t, l, attempt(record(t, l, event("evt_late"), toFulfilment).Deliveries[0], receiver.Delivered, 0))
	gate.open()
	if o := <-done; o.err != nil {
		t.Fatal(o.err)
	}
	f.expireLeases()
	if due := lease(t, l); len(due) != 1 || due[0].EventID != "evt_early" {
		t.Errorf("got %+v", due)
	}
}

func TestFunctionsEnqueueMessagesOfTheirOwn(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	record(t, l, event("evt_1"), work("shop.message"))
	due := lease(t, l, "mail")
	if len(due) != 1 || due[0].IdempotencyKey != "mail-evt_1" || string(due[0].Body) != `{"id": "evt_1"}` ||
		due[0].ContentType != "application/json" || due[0].EventID != "evt_1" {
		t.Errorf("got %+v", due)
	}
	settle(t, l, attempt(due[0], receiver.Exhausted, 0))
	replayAll(t, l, replayrequest.Selector{})
	if again := lease(t, l, "mail"); len(again) != 1 || again[0].IdempotencyKey != "mail-evt_1" || string(again[0].Body) != `{"id": "evt_1"}` {
		t.Errorf("after the replay: %+v", again)
	}
	// A key goes into a header: one that cannot is refused where it is made.
	f.exec(`CREATE FUNCTION shop.bad_key(e hookonce.event) RETURNS jsonb LANGUAGE sql AS
		$$ SELECT to_jsonb(hookonce.enqueue(e, 'mail', E'a\nb', '{}')) $$`)
	if _, err := l.Record(t.Context(), event("evt_2"), work("shop.bad_key")); err == nil || !strings.Contains(err.Error(), "23514") {
		t.Errorf("got %v", err)
	}
}

func TestADeliveryWithoutItsPayloadFailsInsteadOfHanging(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	record(t, l, event("evt_1"), toFulfilment)
	f.expireLeases()
	f.exec("DELETE FROM hookonce.event")
	if due := lease(t, l); len(due) != 0 {
		t.Errorf("leased %+v", due)
	}
	f.wantCounts(map[string]int64{"hookonce.delivery": 0, "hookonce.failed_delivery": 1})
}
