// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/replayrequest"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
)

func request(selector replayrequest.Selector) *replayrequest.Request {
	if selector.State == "" {
		selector.State = replayrequest.Failed
	}
	return &replayrequest.Request{
		ID: uuid.New(), Name: "crm-outage", RequestedBy: "ops@shop.example", Reason: "the CRM was down", Selector: selector,
	}
}

func prepare(t *testing.T, l *ledger.Ledger, r *replayrequest.Request) receiverstatus.Replay {
	t.Helper()
	progress, err := l.PrepareReplay(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return progress
}

func send(t *testing.T, l *ledger.Ledger, r *replayrequest.Request, limit int) receiverstatus.Replay {
	t.Helper()
	progress, err := l.SendReplay(t.Context(), r.ID, limit)
	if err != nil {
		t.Fatal(err)
	}
	return progress
}

// replayAll chooses and sends.
func replayAll(t *testing.T, l *ledger.Ledger, selector replayrequest.Selector) receiverstatus.Replay {
	t.Helper()
	r := request(selector)
	prepare(t, l, r)
	return send(t, l, r, 1000)
}

// wantReplay compares what a replay's numbers are.
func wantReplay(t *testing.T, l *ledger.Ledger, r *replayrequest.Request, want receiverstatus.Replay) {
	t.Helper()
	got, err := l.FindReplay(t.Context(), r.ID)
	if err != nil {
		t.Fatal(err)
	}
	want.ID, want.Name = r.ID.String(), r.Name
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(receiverstatus.Replay{}, "Created")); diff != "" {
		t.Errorf("replay (-want +got):\n%s", diff)
	}
}

// failOf records events and lets their deliveries fail for a reason.
func failOf(t *testing.T, l *ledger.Ledger, reason string, events ...receiver.Event) {
	t.Helper()
	for _, e := range events {
		s := attempt(record(t, l, e, toFulfilment).Deliveries[0], receiver.Exhausted, 0)
		s.Reason = reason
		settle(t, l, s)
	}
}

func typed(id, eventType string) receiver.Event {
	e := event(id)
	e.Type = eventType
	return e
}

func TestASelectorChoosesFailedDeliveries(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	failOf(t, l, "answered 503", typed("evt_1", "invoice.paid"), typed("evt_2", "invoice.paid_over"), typed("evt_3", "invoice_paid"))
	failOf(t, l, "connection refused", typed("evt_4", "order.paid"), typed("evt_5", ""))
	f.exec("UPDATE hookonce.event SET received_at = received_at - interval '2 hours' WHERE event_id = 'evt_1'")
	f.exec("UPDATE hookonce.failed_delivery SET event_received_at = event_received_at - interval '2 hours' WHERE event_id = 'evt_1'")
	hourAgo := time.Now().Add(-time.Hour)
	tests := map[string]struct {
		selector replayrequest.Selector
		want     int64
	}{
		"everything":         {replayrequest.Selector{}, 5},
		"destination":        {replayrequest.Selector{Destination: "fulfilment"}, 5},
		"other destination":  {replayrequest.Selector{Destination: "audit"}, 0},
		"ids":                {replayrequest.Selector{EventIDs: []string{"evt_2", "evt_5", "evt_9"}}, 2},
		"type":               {replayrequest.Selector{EventTypes: []string{"invoice.paid"}}, 1},
		"prefix":             {replayrequest.Selector{EventTypes: []string{"invoice.*"}}, 2},
		"underscore is none": {replayrequest.Selector{EventTypes: []string{"invoice_*"}}, 1},
		"two types":          {replayrequest.Selector{EventTypes: []string{"order.*", "invoice.paid"}}, 2},
		"any type":           {replayrequest.Selector{EventTypes: []string{"order.*", "*"}}, 5},
		"percent is none":    {replayrequest.Selector{EventTypes: []string{"%.paid"}}, 0},
		"after":              {replayrequest.Selector{ReceivedAfter: hourAgo}, 4},
		"before":             {replayrequest.Selector{ReceivedBefore: hourAgo}, 1},
		"reason":             {replayrequest.Selector{Reason: "503"}, 3},
		"several":            {replayrequest.Selector{Reason: "503", EventTypes: []string{"invoice.*"}, ReceivedAfter: hourAgo}, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := prepare(t, l, request(tt.selector)); got.Matched != tt.want {
				t.Errorf("%d match, want %d", got.Matched, tt.want)
			}
		})
	}
	f.wantCounts(map[string]int64{"hookonce.delivery": 0, "hookonce.failed_delivery": 5})
}

func TestAReplayIsPreparedOnceAndSentInParts(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	failOf(t, l, "answered 503", event("evt_1"), event("evt_2"), event("evt_3"))
	r := request(replayrequest.Selector{})
	prepare(t, l, r)
	failOf(t, l, "answered 503", event("evt_4"))
	prepare(t, l, r)
	wantReplay(t, l, r, receiverstatus.Replay{Matched: 3})
	// Another replay takes one of them before.
	replayAll(t, l, replayrequest.Selector{EventIDs: []string{"evt_1"}})
	send(t, l, r, 2)
	wantReplay(t, l, r, receiverstatus.Replay{Matched: 3, Sent: 1, Skipped: 1})
	if _, err := l.EndReplay(t.Context(), r.ID); err != nil {
		t.Fatal(err)
	}
	send(t, l, r, 2)
	wantReplay(t, l, r, receiverstatus.Replay{Matched: 3, Sent: 1, Skipped: 1, Ended: true, Stopped: true})
	f.wantCounts(map[string]int64{"hookonce.delivery": 2, "hookonce.failed_delivery": 2, "hookonce.replay_item": 0})
	if _, err := l.FindReplay(t.Context(), uuid.New()); !errors.Is(err, ledger.ErrNoReplay) {
		t.Errorf("an unknown replay: %v", err)
	}
}

func TestWhatBecameOfAReplayIsCounted(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	failOf(t, l, "answered 503", event("evt_1"), event("evt_2"), event("evt_3"))
	r := request(replayrequest.Selector{})
	prepare(t, l, r)
	send(t, l, r, 10)
	due := lease(t, l)
	settle(t, l, attempt(due[0], receiver.Delivered, 0), attempt(due[1], receiver.Retry, 0), attempt(due[2], receiver.Exhausted, 0))
	wantReplay(t, l, r, receiverstatus.Replay{Matched: 3, Sent: 3, Succeeded: 1, Failed: 1, Failing: 2})
	settle(t, l, attempt(lease(t, l)[0], receiver.Delivered, 0))
	wantReplay(t, l, r, receiverstatus.Replay{Matched: 3, Sent: 3, Succeeded: 2, Failed: 1, Failing: 2})
	audit := value[string](f, "SELECT concat_ws(', ', name, requested_by, reason, selector ->> 'state') FROM hookonce.replay")
	if want := "crm-outage, ops@shop.example, the CRM was down, Failed"; audit != want {
		t.Errorf("the audit says %q, want %q", audit, want)
	}
	if n := value[int64](f, "SELECT count(*) FROM hookonce.attempt WHERE replay = $1", r.ID); n != 4 {
		t.Errorf("%d attempts are of the replay, want 4 of 7", n)
	}
	listed, err := l.Replays(t.Context())
	if err != nil || len(listed) != 1 || listed[0].ID != r.ID.String() {
		t.Errorf("listed %+v, %v", listed, err)
	}
}

func TestDeliveredOnesAreMadeAgainUnderTheirKeys(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	keys := map[string]string{}
	for i := range 3 {
		d := record(t, l, event(fmt.Sprintf("evt_%d", i)), toFulfilment).Deliveries[0]
		keys[d.EventID] = d.IdempotencyKey
		settle(t, l, attempt(d, receiver.Delivered, 0))
	}
	// A message of a function's own is gone with its delivery.
	record(t, l, event("evt_mail"), work("shop.message"))
	settle(t, l, attempt(lease(t, l, "mail")[0], receiver.Delivered, 0))
	failOf(t, l, "answered 503", event("evt_failed"))

	for round := range 2 {
		r := request(replayrequest.Selector{State: replayrequest.Delivered})
		if got := prepare(t, l, r); got.Matched != 3 {
			t.Fatalf("round %d: %d match, want 3", round, got.Matched)
		}
		send(t, l, r, 2)
		// One that is on its way already is not sent twice.
		other := request(replayrequest.Selector{State: replayrequest.Delivered, EventIDs: []string{"evt_0", "evt_1", "evt_2"}})
		prepare(t, l, other)
		send(t, l, other, 10)
		wantReplay(t, l, other, receiverstatus.Replay{Matched: 3, Sent: 1, Skipped: 2})
		due := lease(t, l, "fulfilment", "mail")
		if len(due) != 3 {
			t.Fatalf("round %d: %d are due, want 3", round, len(due))
		}
		for _, d := range due {
			if d.IdempotencyKey != keys[d.EventID] || d.Attempt != 1 || d.Body == nil {
				t.Errorf("round %d: %s has the key %s, want %s", round, d.EventID, d.IdempotencyKey, keys[d.EventID])
			}
			settle(t, l, attempt(d, receiver.Delivered, 0))
		}
	}
	f.wantCounts(map[string]int64{"hookonce.delivery": 0, "hookonce.claim": 5, "hookonce.event": 5})
}

func TestAReplayOfAnotherEndpointIsLeftAlone(t *testing.T) {
	f := newFixture(t)
	ours, theirs := f.open(), f.open(endpoint("bank/payments"))
	failOf(t, theirs, "answered 503", event("evt_1"))
	r := request(replayrequest.Selector{})
	prepare(t, theirs, r)
	for what, call := range map[string]func() error{
		"find": func() error { _, err := ours.FindReplay(t.Context(), r.ID); return err },
		"send": func() error { _, err := ours.SendReplay(t.Context(), r.ID, 10); return err },
		"end":  func() error { _, err := ours.EndReplay(t.Context(), r.ID); return err },
	} {
		if err := call(); !errors.Is(err, ledger.ErrNoReplay) {
			t.Errorf("%s: %v", what, err)
		}
	}
	wantReplay(t, theirs, r, receiverstatus.Replay{Matched: 1})
	if listed, err := ours.Replays(t.Context()); err != nil || len(listed) != 0 {
		t.Errorf("listed %+v, %v", listed, err)
	}
}
