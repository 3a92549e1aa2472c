// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/receiver"
)

func TestClaimEffectAndOutboxCommitTogether(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	w := work("shop.book")
	w.Destinations = []string{"fulfilment", "audit"}

	receipt := record(t, l, event("evt_1"), w)

	if receipt.Kind != receiver.Processed || len(receipt.Deliveries) != 2 {
		t.Errorf("got kind %d with %d deliveries", receipt.Kind, len(receipt.Deliveries))
	}
	want := `{"event":"evt_1","effects":{"book":{"a": "x", "z": 1.50, "order": 1}}}`
	if receipt.Answer.Status != 200 || string(receipt.Answer.Body) != want {
		t.Errorf("got answer %d %s, want %s", receipt.Answer.Status, receipt.Answer.Body, want)
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 1, "hookonce.event": 1, "hookonce.delivery": 2, "shop.orders": 1})
	d := receipt.Deliveries[0]
	if d.Destination != "fulfilment" || d.IdempotencyKey != d.ID.String() || d.Attempt != 1 || d.EventID != "evt_1" ||
		d.EventType != "invoice.paid" || d.ContentType != "application/json" || string(d.Body) != `{"id":"evt_1"}` {
		t.Errorf("unexpected delivery %+v", d)
	}
	if leased := value[bool](f, "SELECT bool_and(leased_until > clock_timestamp() + interval '30 s' AND lease_token = $1) FROM hookonce.delivery",
		d.Lease.Token); !leased {
		t.Error("the deliveries are not leased to the process that received the event")
	}
}

func TestAFailingFunctionLeavesNothing(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	w := work("shop.book", "shop.fail")
	w.Destinations = []string{"fulfilment"}

	_, err := l.Record(t.Context(), event("evt_1"), w)

	if !errors.Is(err, receiver.ErrUnavailable) {
		t.Fatalf("got %v, want ErrUnavailable", err)
	}
	if text := err.Error(); !strings.Contains(text, "22023") || !strings.Contains(text, "shop.fail") || strings.Contains(text, "4242") {
		t.Errorf("the error must name the function and the SQLSTATE, and not the data: %s", text)
	}
	f.wantCounts(map[string]int64{
		"hookonce.claim": 0, "hookonce.event": 0, "hookonce.delivery": 0, "hookonce.effect": 0, "shop.orders": 0,
	})

	f.exec(`CREATE OR REPLACE FUNCTION shop.fail(e hookonce.event) RETURNS jsonb LANGUAGE sql AS 'SELECT to_jsonb(7)'`)
	if receipt := record(t, l, event("evt_1"), w); receipt.Kind != receiver.Processed {
		t.Errorf("after the function was mended: got kind %d, want Processed", receipt.Kind)
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 1, "hookonce.delivery": 1, "shop.orders": 1})
}

func TestADuplicateGetsTheStoredAnswerByteForByte(t *testing.T) {
	for name, w := range map[string]receiver.Work{
		"with an effect":     work("shop.book"),
		"without":            {},
		"with a refused one": work("shop.refuse"),
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			id := `evt<"1\&>`
			e := event(id, func(e *receiver.Event) { e.Body = []byte("body") })
			first := record(t, f.open(), e, w)
			second := record(t, f.open(), e, receiver.Work{})
			if second.Kind != receiver.Duplicate || len(second.Deliveries) != 0 {
				t.Errorf("got kind %d with %d deliveries", second.Kind, len(second.Deliveries))
			}
			if diff := cmp.Diff(first.Answer, second.Answer); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnswersDoNotChangeBetweenReleases(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	for id, want := range map[string]string{
		"evt_1":       `{"event":"evt_1"}`,
		`a<b>&"c\d`:   `{"event":"a<b>&\"c\\d"}`,
		"00000000-ef": `{"event":"00000000-ef"}`,
	} {
		if got := string(record(t, l, event(id), receiver.Work{}).Answer.Body); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if stored := value[int64](f, "SELECT count(*) FROM hookonce.claim WHERE result IS NOT NULL"); stored != 0 {
		t.Errorf("%d answers are stored although they follow from the id", stored)
	}
}

func TestARefusedEventKeepsItsClaimAndNothingElse(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	w := receiver.Work{
		Effects: []receiver.Effect{
			{Name: "book", Function: "shop.book", OncePerResource: true}, {Name: "check", Function: "shop.refuse"},
		},
		Destinations: []string{"fulfilment"},
	}

	receipt := record(t, l, event("evt_1"), w)

	want := `{"event":"evt_1","refused":"the \"account\" is closed"}`
	if receipt.Kind != receiver.Refused || receipt.Answer.Status != 200 || string(receipt.Answer.Body) != want {
		t.Errorf("got kind %d, answer %d %s", receipt.Kind, receipt.Answer.Status, receipt.Answer.Body)
	}
	if len(receipt.Deliveries) != 0 {
		t.Errorf("got %d deliveries", len(receipt.Deliveries))
	}
	f.wantCounts(map[string]int64{
		"hookonce.claim": 1, "hookonce.event": 1, "hookonce.delivery": 0, "hookonce.effect": 0, "shop.orders": 0,
	})
}

func TestTheSameIDWithAnotherBodyIsAConflict(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	record(t, l, event("evt_1"), work("shop.book"))
	receipt := record(t, l, event("evt_1", func(e *receiver.Event) { e.Body = []byte("other") }), work("shop.book"))
	if receipt.Kind != receiver.Conflict || receipt.Answer.Body != nil {
		t.Errorf("got kind %d with answer %s", receipt.Kind, receipt.Answer.Body)
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 1, "hookonce.event": 1, "shop.orders": 1})
}

func TestAProviderMayChangeTheBodyBetweenAttempts(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	for _, claimBody := range []bool{false, true} {
		id := "evt_" + strconv.FormatBool(claimBody)
		attempt := func(n int) receiver.Event {
			return event(id, func(e *receiver.Event) {
				e.BodyMayChange, e.ClaimBody, e.Body = true, claimBody, []byte(id+" attempt "+strconv.Itoa(n))
			})
		}
		first := record(t, l, attempt(1), work("shop.book"))
		for n := 2; n < 5; n++ {
			again := record(t, l, attempt(n), work("shop.book"))
			if again.Kind != receiver.Duplicate || !cmp.Equal(again.Answer, first.Answer) {
				t.Errorf("%s, attempt %d: got kind %d, answer %s, want %s", id, n, again.Kind, again.Answer.Body, first.Answer.Body)
			}
		}
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 3, "hookonce.event": 2, "shop.orders": 2})
}

func TestABodyThatIsNotClaimedMayComeUnderManyIDs(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	for _, id := range []string{"evt_1", "evt_2"} {
		receipt := record(t, l, event(id, func(e *receiver.Event) { e.Body = []byte("the same") }), work("shop.book"))
		if receipt.Kind != receiver.Processed {
			t.Errorf("%s: got kind %d", id, receipt.Kind)
		}
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 2, "shop.orders": 2})
}

func TestABodyUnderAFreshIDIsADuplicateWhereIDsAreNotSigned(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	unsigned := func(body string) func(*receiver.Event) {
		return func(e *receiver.Event) { e.ClaimBody, e.Body = true, []byte(body) }
	}
	for _, w := range []receiver.Work{work("shop.book"), {}} {
		body := "body with " + strconv.Itoa(len(w.Effects)) + " effects"
		original := "original_" + body[10:11]
		first := record(t, l, event(original, unsigned(body)), w)
		for _, id := range []string{"fresh_1", "fresh_2", original} {
			again := record(t, l, event(id, unsigned(body)), w)
			if again.Kind != receiver.Duplicate || !cmp.Equal(again.Answer, first.Answer) {
				t.Errorf("%s: got kind %d, answer %s, want %s", id, again.Kind, again.Answer.Body, first.Answer.Body)
			}
		}
		if got := record(t, l, event(original, unsigned("a body of its own for "+original)), w); got.Kind != receiver.Conflict {
			t.Errorf("the same id with a new body: got kind %d, want Conflict", got.Kind)
		}
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 4, "hookonce.event": 2, "shop.orders": 1})
	// One event's body under another event's id is a conflict of the id, not a duplicate of the body.
	if got := record(t, l, event("original_1", unsigned("body with 0 effects")), receiver.Work{}); got.Kind != receiver.Conflict {
		t.Errorf("another event's body: got kind %d, want Conflict", got.Kind)
	}
}

func TestEndpointsDoNotShareIDs(t *testing.T) {
	f := newFixture(t)
	for _, name := range []string{"shop/payments", "shop/refunds", "bank/payments"} {
		if receipt := record(t, f.open(endpoint(name)), event("evt_1"), work("shop.book")); receipt.Kind != receiver.Processed {
			t.Errorf("%s: got kind %d, want Processed", name, receipt.Kind)
		}
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 3, "shop.orders": 3})
}

func TestAnEndpointThatIsMadeAgainKnowsItsEvents(t *testing.T) {
	f := newFixture(t)
	record(t, f.open(), event("evt_1"), receiver.Work{})
	if receipt := record(t, f.open(), event("evt_1"), receiver.Work{}); receipt.Kind != receiver.Duplicate {
		t.Errorf("got kind %d, want Duplicate", receipt.Kind)
	}
	f.wantCounts(map[string]int64{"hookonce.scope": 1})
}
