// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"crypto/sha256"
	"slices"
	"testing"

	"github.com/google/uuid"
)

// The endpoints of the histories here: ids are signed at the first, and not at the second.
const (
	signed = iota
	unsigned
)

func digest(text string) Digest { return sha256.Sum256([]byte(text)) }

func id(n byte) uuid.UUID { return uuid.UUID{15: n} }

// sound is a history in which every promise is kept: evt_1 with a duplicate, evt_2 refused, evt_3 unacknowledged and in the
// ledger, evt_4 unacknowledged and not there, a conflict under evt_1, and at the other endpoint a body under two ids.
func sound() *History {
	expected := map[content]Expected{
		{signed, digest("one")}: {
			Type: "paid", Resource: "inv_1", Effects: []string{"book"}, Guarded: []string{"charge"},
			Deliveries: []ExpectedDelivery{
				{Destination: "copy", Body: digest("one")}, {Destination: "orders", Key: "ship-1", Body: digest("ship 1")},
			},
		},
		{signed, digest("two")}:   {Type: "void", Resource: "inv_1", Refused: true},
		{signed, digest("three")}: {Type: "paid", Resource: "inv_1", Effects: []string{"book"}, Guarded: []string{"charge"}},
		{signed, digest("four")}:  {Type: "paid", Effects: []string{"book"}},
		{signed, digest("other")}: {Type: "paid", Resource: "inv_1", Effects: []string{"book"}},
		{unsigned, digest("push")}: {
			Type: "push", Effects: []string{"book"}, Deliveries: []ExpectedDelivery{{Destination: "copy", Body: digest("push")}},
		},
	}
	return &History{
		Endpoints: []Endpoint{{Name: "shop/payments"}, {Name: "shop/repo", BodyClaimed: true}},
		Expect: func(endpoint int, body Digest) (Expected, bool) {
			e, ok := expected[content{endpoint, body}]
			return e, ok
		},
		Attempts: []Attempt{
			{Endpoint: signed, EventID: "evt_1", Body: digest("one")},
			{Endpoint: signed, EventID: "evt_1", Body: digest("one"), Status: 200, Answer: `{"n":1}`},
			{Endpoint: signed, EventID: "evt_1", Body: digest("one"), Status: 200, Answer: `{"n":1}`},
			{Endpoint: signed, EventID: "evt_1", Body: digest("other"), Status: 422, Answer: `{}`},
			{Endpoint: signed, EventID: "evt_2", Body: digest("two"), Status: 200, Answer: `{"event":"evt_2"}`},
			{Endpoint: signed, EventID: "evt_3", Body: digest("three"), Status: 503, RetryAfter: true},
			{Endpoint: signed, EventID: "evt_4", Body: digest("four")},
			{Endpoint: unsigned, EventID: "a", Body: digest("push"), Status: 200, Answer: `{"p":1}`},
			{Endpoint: unsigned, EventID: "b", Body: digest("push"), Status: 200, Answer: `{"p":1}`},
		},
		Claims: []Claim{
			{Endpoint: signed, Event: id(1), Body: digest("one"), Status: 200, Result: `{"n":1}`, HasResult: true},
			{Endpoint: signed, Event: id(2), Body: digest("two"), Status: 200},
			{Endpoint: signed, Event: id(3), Body: digest("three"), Status: 200, Result: `{"n":3}`, HasResult: true},
			{Endpoint: unsigned, Event: id(9), Body: digest("push"), Status: 200, Result: `{"p":1}`, HasResult: true},
			{Endpoint: unsigned, Event: id(9), Body: digest("push"), Status: 200, Result: `{"p":1}`, HasResult: true},
		},
		Events: []Event{
			{ID: id(1), Endpoint: signed, EventID: "evt_1", Type: "paid", Resource: "inv_1", Body: digest("one")},
			{ID: id(2), Endpoint: signed, EventID: "evt_2", Type: "void", Resource: "inv_1", Body: digest("two")},
			{ID: id(3), Endpoint: signed, EventID: "evt_3", Type: "paid", Resource: "inv_1", Body: digest("three")},
			{ID: id(9), Endpoint: unsigned, EventID: "a", Type: "push", Body: digest("push")},
		},
		Effects: []Effect{
			{Name: "book", Endpoint: signed, Event: id(1), EventID: "evt_1", Type: "paid", Resource: "inv_1", Body: digest("one")},
			{Name: "charge", Endpoint: signed, Event: id(1), EventID: "evt_1", Type: "paid", Resource: "inv_1", Body: digest("one")},
			{Name: "book", Endpoint: signed, Event: id(3), EventID: "evt_3", Type: "paid", Resource: "inv_1", Body: digest("three")},
			{Name: "book", Endpoint: unsigned, Event: id(9), EventID: "a", Type: "push", Body: digest("push")},
		},
		Booked: []Booked{{id(51), 1}, {id(51), 2}, {id(52), 1}},
		Counters: []Counts{
			{Received: 6, Processed: 2, Refused: 1, Duplicates: 0}, {Received: 2, Processed: 1, Duplicates: 1},
		},
		CountersExact: true,
		Arrivals: []Arrival{
			{Endpoint: signed, Destination: "copy", Key: "k1", EventID: "evt_1", Body: digest("one"), Accepted: true},
			{Endpoint: signed, Destination: "orders", Key: "ship-1", EventID: "evt_1", Body: digest("ship 1"), Accepted: true},
			{Endpoint: unsigned, Destination: "copy", Key: "k9", EventID: "a", Body: digest("push"), Accepted: true},
		},
	}
}

func TestSoundHistory(t *testing.T) {
	report := Check(sound())
	if report.Total() != 0 {
		t.Fatalf("violations: %v", report.Violations)
	}
	if report.Acknowledged != 3 || report.Unacknowledged != 2 || report.Whole != 1 {
		t.Errorf("acknowledged %d, unacknowledged %d, of them whole %d; want 3, 2, 1",
			report.Acknowledged, report.Unacknowledged, report.Whole)
	}
}

// TestEveryViolationIsFound breaks the sound history in one way at a time.
func TestEveryViolationIsFound(t *testing.T) {
	double := func(list *[]Effect, i int) { *list = append(*list, (*list)[i]) }
	cases := []struct {
		name string
		want Kind
		harm func(*History)
	}{
		{"event and claim are gone", Lost, func(h *History) { h.Events, h.Claims = h.Events[1:], h.Claims[1:] }},
		{"body and claim are gone", Lost, func(h *History) { h.Events, h.Claims = h.Events[:3], h.Claims[:3] }},
		{"one id twice", DoubleClaim, func(h *History) {
			e, c := h.Events[0], h.Claims[0]
			e.ID, c.Event = id(7), id(7)
			h.Events, h.Claims = append(h.Events, e), append(h.Claims, c)
		}},
		{"one body twice", DoubleClaim, func(h *History) {
			e, c := h.Events[3], h.Claims[3]
			e.ID, e.EventID, c.Event = id(7), "b", id(7)
			h.Events, h.Claims = append(h.Events, e), append(h.Claims, c, c)
		}},
		{"event without claim", PartialEvent, func(h *History) { h.Claims = h.Claims[1:] }},
		{"unacknowledged event without claim", PartialEvent, func(h *History) { h.Claims = slices.Delete(h.Claims, 2, 3) }},
		{"claim without event", PartialEvent, func(h *History) { h.Events = slices.Delete(h.Events, 2, 3) }},
		{"claim of another body", PartialEvent, func(h *History) { h.Claims[0].Body = digest("other") }},
		{"only one of two keys", PartialEvent, func(h *History) { h.Claims = h.Claims[:4] }},
		{"effect missing", MissingEffect, func(h *History) { h.Effects = h.Effects[1:] }},
		{"effect of an unacknowledged event missing", MissingEffect, func(h *History) { h.Effects = slices.Delete(h.Effects, 2, 3) }},
		{"guarded effect missing", MissingEffect, func(h *History) { h.Effects = slices.Delete(h.Effects, 1, 2) }},
		{"effect twice", DoubleEffect, func(h *History) { double(&h.Effects, 0) }},
		{"effect of a claimed body twice", DoubleEffect, func(h *History) { double(&h.Effects, 3) }},
		{"effect of a claimed body under two ids", DoubleEffect, func(h *History) {
			double(&h.Effects, 3)
			h.Effects[4].EventID, h.Effects[4].Event = "b", id(7)
		}},
		{"effect of a second, unclaimed event", DoubleEffect, func(h *History) {
			double(&h.Effects, 0)
			h.Effects[4].Event = id(7)
		}},
		{"guarded effect twice", DoubleEffect, func(h *History) {
			h.Effects = append(h.Effects, Effect{
				Name: "charge", Endpoint: signed, Event: id(3), EventID: "evt_3", Type: "paid", Resource: "inv_1", Body: digest("three"),
			})
		}},
		{"effect without event", UnclaimedEffect, func(h *History) {
			h.Effects = append(h.Effects, Effect{Name: "book", Event: id(8), EventID: "evt_4", Type: "paid", Body: digest("four")})
		}},
		{"effect of a refused event", UnclaimedEffect, func(h *History) {
			h.Effects = append(h.Effects, Effect{
				Name: "book", Event: id(2), EventID: "evt_2", Type: "void", Resource: "inv_1", Body: digest("two"),
			})
		}},
		{"effect for another type", UnclaimedEffect, func(h *History) { h.Effects[3].Name = "charge" }},
		{"effect of the conflicting body", ForeignEffect, func(h *History) { h.Effects[0].Body = digest("other") }},
		{"answers differ", DifferingAnswers, func(h *History) { h.Attempts[2].Answer = `{"n":2}` }},
		{"answers to one body differ", DifferingAnswers, func(h *History) { h.Attempts[8].Answer = `{"p":2}` }},
		{"statuses differ", DifferingAnswers, func(h *History) { h.Attempts[2].Status = 202 }},
		{"answer is not the stored one", WrongAnswer, func(h *History) { h.Claims[0].Result = `{"n":0}` }},
		{"answer does not follow from the id", WrongAnswer, func(h *History) { h.Attempts[4].Answer = `{"event":"evt_1"}` }},
		{"conflict is acknowledged", ConflictAccepted, func(h *History) { h.Attempts[3].Status = 200 }},
		{"duplicate is a conflict", FalseConflict, func(h *History) { h.Attempts[2].Status = 422 }},
		{"unknown id is a conflict", FalseConflict, func(h *History) { h.Attempts[6].Status = 422 }},
		{"signed and refused", WrongStatus, func(h *History) { h.Attempts[5].Status = 401 }},
		{"unavailable, and not said for how long", WrongStatus, func(h *History) { h.Attempts[5].RetryAfter = false }},
		{"server error", WrongStatus, func(h *History) { h.Attempts[5].Status = 500 }},
		{"stored body is another", WrongEvent, func(h *History) {
			h.Events[2].Body, h.Claims[2].Body, h.Effects[2].Body = digest("?"), digest("?"), digest("?")
		}},
		{"stored type is another", WrongEvent, func(h *History) { h.Events[2].Type, h.Effects[2].Type = "sent", "sent" }},
		{"delivery never arrived", DeliveryLost, func(h *History) { h.Arrivals = h.Arrivals[1:] }},
		{"delivery was never accepted", DeliveryLost, func(h *History) { h.Arrivals[0].Accepted = false }},
		{"delivery is pending", DeliveryStuck, func(h *History) {
			h.Deliveries = append(h.Deliveries, Delivery{ID: id(60), Event: id(1), Destination: "copy"})
		}},
		{"delivery failed", DeliveryStuck, func(h *History) {
			h.Deliveries = append(h.Deliveries, Delivery{ID: id(60), Event: id(1), Destination: "copy", Failed: true})
		}},
		{"delivery under two keys", ManyKeys, func(h *History) {
			again := h.Arrivals[0]
			again.Key = "k2"
			h.Arrivals = append(h.Arrivals, again)
		}},
		{"one key for two deliveries", ManyKeys, func(h *History) { h.Arrivals[2].Key = "k1" }},
		{"outbox without event", WrongDelivery, func(h *History) {
			h.Deliveries = append(h.Deliveries, Delivery{ID: id(60), Event: id(8), Destination: "copy"})
		}},
		{"arrival without event", WrongDelivery, func(h *History) {
			h.Arrivals = append(h.Arrivals, Arrival{Endpoint: signed, Destination: "copy", Key: "k4", EventID: "evt_4", Body: digest("four")})
		}},
		{"arrival of a refused event", WrongDelivery, func(h *History) {
			h.Arrivals = append(h.Arrivals, Arrival{Endpoint: signed, Destination: "copy", Key: "k2", EventID: "evt_2", Body: digest("two")})
		}},
		{"arrival changed", WrongDelivery, func(h *History) { h.Arrivals[0].Body = digest("other") }},
		{"command under another key", WrongDelivery, func(h *History) { h.Arrivals[1].Key = "ship-2" }},
		{"arrival at another destination", WrongDelivery, func(h *History) { h.Arrivals[2].Destination = "orders" }},
		{"late writer", LateWriter, func(h *History) { h.Booked = append(h.Booked, Booked{id(51), 2}) }},
		{"counters are not exact", WrongCounters, func(h *History) { h.Counters[unsigned].Processed++ }},
		{"counters are far too high", WrongCounters, func(h *History) {
			h.CountersExact, h.Counters[unsigned].Processed = false, 1000
		}},
		{"counters are far too low", WrongCounters, func(h *History) {
			h.CountersExact, h.Counters[signed] = false, Counts{}
			for range 200 {
				h.Attempts = append(h.Attempts, h.Attempts[1])
			}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := sound()
			c.harm(h)
			report := Check(h)
			if report.Count[c.want] == 0 {
				t.Errorf("%q was not found; found: %v", c.want, report.Violations)
			}
		})
	}
}

func TestManyViolationsAreCountedAndNotKept(t *testing.T) {
	h := sound()
	for range 1000 {
		h.Booked = append(h.Booked, Booked{id(51), 1})
	}
	report := Check(h)
	if report.Total(LateWriter) != 1000 || len(report.Violations) != mostPerKind {
		t.Errorf("%d counted and %d kept, want 1000 and %d", report.Total(LateWriter), len(report.Violations), mostPerKind)
	}
	if got := report.Kinds(); !slices.Equal(got, []Kind{LateWriter}) {
		t.Errorf("kinds %q", got)
	}
}
