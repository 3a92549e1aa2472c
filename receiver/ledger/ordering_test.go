// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/replayrequest"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
)

// orderedLedger has the destination fulfilment, which keeps the order of each resource, and crm, which does not.
func orderedLedger(t *testing.T, blocking ...string) (*ledger.Ledger, *fixture) {
	t.Helper()
	f := newFixture(t)
	return f.open(func(o *ledger.Options) {
		o.Ordering = func() ([]string, []string) { return []string{"fulfilment"}, blocking }
	}), f
}

// of is an event of a resource.
func of(id, resource string) receiver.Event {
	return event(id, func(e *receiver.Event) { e.ResourceID = resource })
}

// due leases what may go to fulfilment, and returns the events' ids.
func due(t *testing.T, l *ledger.Ledger) ([]receiver.Delivery, string) {
	t.Helper()
	leased, err := l.LeaseDue(t.Context(), []string{"fulfilment"}, 100, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, d := range leased {
		ids = append(ids, d.EventID)
	}
	slices.Sort(ids)
	return leased, strings.Join(ids, " ")
}

func settleAs(t *testing.T, l *ledger.Ledger, d receiver.Delivery, outcome receiver.Outcome) {
	t.Helper()
	s := receiver.Settlement{Delivery: d, Outcome: outcome, Started: time.Now(), Reason: "answered 503"}
	if outcome == receiver.Delivered {
		s.Reason = ""
	}
	if err := l.Settle(t.Context(), []receiver.Settlement{s}); err != nil {
		t.Fatal(err)
	}
}

// Events without effects, with one function, and with two are written by different statements.
func TestTurnsComeInOrder(t *testing.T) {
	for name, functions := range map[string][]string{"batch": nil, "quick": {"shop.book"}, "effects": {"shop.book", "shop.book"}} {
		for _, claimBody := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", name, claimBody), func(t *testing.T) {
				l, _ := orderedLedger(t)
				w := work(functions...)
				for i := range w.Effects {
					w.Effects[i].Name = fmt.Sprint("book", i)
				}
				w.Destinations, w.Ordered = []string{"fulfilment", "crm"}, []string{"fulfilment"}
				for _, e := range []receiver.Event{of("a1", "a"), of("a2", "a"), of("b1", "b"), of("a3", "a"), of("c1", "")} {
					e.ClaimBody = claimBody
					receipt := record(t, l, e, w)
					first, second := receipt.Deliveries[0], receipt.Deliveries[1]
					ordered := e.ResourceID != ""
					if first.Ordered != ordered || first.Lease.Expires.IsZero() != ordered || second.Ordered || second.Lease.Expires.IsZero() {
						t.Errorf("%s: born with %+v and %+v", e.ID, first.Lease, second.Lease)
					}
				}
				for _, want := range []string{"a1 b1", "a2", "a3", ""} {
					leased, got := due(t, l)
					if got != want {
						t.Fatalf("due %q, want %q", got, want)
					}
					if _, again := due(t, l); again != "" {
						t.Errorf("%q may go while %q are under way", again, want)
					}
					for _, d := range leased {
						if !d.Ordered {
							t.Errorf("%s is not said to be ordered", d.EventID)
						}
						settleAs(t, l, d, receiver.Delivered)
					}
				}
			})
		}
	}
}

// One that is to be retried, or was left by a process that is gone, holds its resource up, and no other.
func TestRetriesHoldTheirResourceUp(t *testing.T) {
	l, f := orderedLedger(t)
	w := receiver.Work{Destinations: []string{"fulfilment"}, Ordered: []string{"fulfilment"}}
	for _, e := range []receiver.Event{of("a1", "a"), of("a2", "a"), of("b1", "b"), of("b2", "b")} {
		record(t, l, e, w)
	}
	leased, _ := due(t, l)
	a1 := leased[slices.IndexFunc(leased, func(d receiver.Delivery) bool { return d.EventID == "a1" })]
	if err := l.Settle(t.Context(), []receiver.Settlement{{
		Delivery: a1, Outcome: receiver.Retry, Delay: time.Hour, Started: time.Now(), Reason: "answered 503",
	}}); err != nil {
		t.Fatal(err)
	}
	if _, got := due(t, l); got != "" {
		t.Errorf("due %q while a1 is to be retried and b1 under way", got)
	}
	f.exec("UPDATE hookonce.delivery SET leased_until = now() - interval '1 second' WHERE leased_until IS NOT NULL")
	if _, got := due(t, l); got != "b1" {
		t.Errorf("due %q when the lease of b1 has run out, want b1", got)
	}
	f.exec("UPDATE hookonce.delivery SET next_attempt_at = now()")
	if _, got := due(t, l); got != "a1" {
		t.Errorf("due %q when the retry of a1 is due, want a1", got)
	}
}

func TestWhatIsExhaustedIsSkippedOrBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		blocking []string
		after    string
	}{"Skip": {nil, "a2 b2"}, "Block": {[]string{"fulfilment"}, "b2"}} {
		t.Run(name, func(t *testing.T) {
			l, _ := orderedLedger(t, c.blocking...)
			w := receiver.Work{Destinations: []string{"fulfilment"}, Ordered: []string{"fulfilment"}}
			for _, e := range []receiver.Event{of("a1", "a"), of("a2", "a"), of("b1", "b"), of("b2", "b")} {
				record(t, l, e, w)
			}
			leased, _ := due(t, l)
			for _, d := range leased {
				settleAs(t, l, d, map[string]receiver.Outcome{"a1": receiver.Exhausted, "b1": receiver.Delivered}[d.EventID])
			}
			_, got := due(t, l)
			if got != c.after {
				t.Fatalf("due %q after a1 was exhausted, want %q", got, c.after)
			}
			if c.blocking == nil {
				return
			}
			// Replayed, it has its old place.
			replayAll(t, l, replayrequest.Selector{})
			for _, want := range []string{"a1", "a2"} {
				leased, got := due(t, l)
				if got != want {
					t.Fatalf("due %q after the replay, want %q", got, want)
				}
				settleAs(t, l, leased[0], receiver.Delivered)
			}
		})
	}
}

// What a function enqueues keeps the order in which it did, before and after what others bring of the resource.
func TestEnqueuedMessagesKeepTheirOrder(t *testing.T) {
	l, f := orderedLedger(t)
	f.exec(`CREATE FUNCTION shop.command(e hookonce.event) RETURNS jsonb LANGUAGE plpgsql AS $$
		BEGIN
			FOR i IN 1..20 LOOP PERFORM hookonce.enqueue(e, 'fulfilment', e.event_id || '-' || i, to_jsonb(i)); END LOOP;
			PERFORM hookonce.enqueue(e, 'crm', e.event_id, '1');
			RETURN '{}';
		END $$`)
	record(t, l, of("e1", "a"), work("shop.command"))
	record(t, l, of("e2", "a"), work("shop.command"))
	var want, got []string
	for _, e := range []string{"e1", "e2"} {
		for i := range 20 {
			want = append(want, fmt.Sprintf("%s-%d", e, i+1))
		}
	}
	for range want {
		leased, _ := due(t, l)
		if len(leased) != 1 {
			t.Fatalf("%d may go at once, want 1", len(leased))
		}
		got = append(got, leased[0].IdempotencyKey)
		settleAs(t, l, leased[0], receiver.Delivered)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	// Both kinds of destinations are asked for at once, and one kind that is slow does not keep the other.
	record(t, l, of("e3", "a"), work("shop.command"))
	both := []string{"crm", "fulfilment"}
	refused := f.open(func(o *ledger.Options) {
		// What the server takes for no text fails the question in which it is.
		o.Ordering = func() ([]string, []string) { return []string{"fulfilment"}, []string{"\x00"} }
	})
	elsewhere, err := refused.LeaseDue(t.Context(), both, 10, time.Minute)
	if err != nil || len(elsewhere) != 3 || elsewhere[0].Ordered {
		t.Errorf("%d deliveries to a destination without an order, %v", len(elsewhere), err)
	}
	turns, err := l.LeaseDue(t.Context(), both, 10, time.Minute)
	if err != nil || len(turns) != 1 || !turns[0].Ordered {
		t.Errorf("%d deliveries have their turn, %v", len(turns), err)
	}
}
