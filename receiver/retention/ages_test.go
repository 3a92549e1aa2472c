// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package retention_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/hookonce/hookonce/internal/replayrequest"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/retention"
)

// pruneAs prunes shop/payments with 30 days for claims and 7 for payloads, and what else is asked for.
func (f *fixture) pruneAs(options retention.Options) retention.Report {
	f.t.Helper()
	options.URL, options.Endpoint, options.Claims, options.Payloads, options.BatchSize = f.url, "shop/payments", 30*day, 7*day, 3
	report, err := retention.Prune(f.t.Context(), options)
	if err != nil {
		f.t.Fatal(err)
	}
	return report
}

func TestFailedDeliveriesGoOnlyByAnAgeOfTheirOwn(t *testing.T) {
	f := newFixture(t)
	l, other := f.open("shop/payments"), f.open("shop/other")
	for id, age := range map[string]time.Duration{"old": 100 * day, "young": 60 * day} {
		f.settle(l, f.receive(l, id, age), receiver.Exhausted)
	}
	f.settle(other, f.receive(other, "theirs", 100*day), receiver.Exhausted)
	f.exec("UPDATE hookonce.failed_delivery SET failed_at = failed_at - interval '91 days' WHERE event_id IN ('old', 'theirs')")
	f.exec("UPDATE hookonce.failed_delivery SET failed_at = failed_at - interval '89 days' WHERE event_id = 'young'")

	if report := f.pruneAs(retention.Options{}); report.FailedRemoved != 0 {
		t.Errorf("without an age: %+v", report)
	}
	f.wantCounts(map[string]int64{"hookonce.failed_delivery": 3, "hookonce.event": 3, "hookonce.claim": 3})

	if report := f.pruneAs(retention.Options{Failed: 90 * day}); report.FailedRemoved != 1 {
		t.Errorf("with an age: %+v", report)
	}
	f.wantCounts(map[string]int64{
		"hookonce.failed_delivery": 2, "hookonce.failed_delivery WHERE event_id = 'old'": 0,
		"hookonce.event WHERE event_id = 'old'": 0, "hookonce.event": 2, "hookonce.claim": 2,
	})
}

func TestAttemptsHaveAnAgeOfTheirOwn(t *testing.T) {
	for name, c := range map[string]struct {
		age, kept        time.Duration
		events, attempts int64
	}{
		"longer than payloads":  {10 * day, 20 * day, 0, 1},
		"past both":             {21 * day, 20 * day, 0, 0},
		"shorter than payloads": {3 * day, day, 1, 0},
		"as long as payloads":   {3 * day, 0, 1, 1},
		"past the common one":   {9 * day, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			l := f.open("shop/payments")
			f.settle(l, f.receive(l, "evt_1", c.age), receiver.Delivered)
			f.exec(`UPDATE hookonce.attempt SET settled_at = (SELECT received_at FROM hookonce.event e WHERE e.id = attempt.event)`)
			// Whole days go at once, and what is left of others row by row: both have to keep to the age.
			for range 2 {
				f.pruneAs(retention.Options{Attempts: c.kept})
			}
			f.wantCounts(map[string]int64{"hookonce.event": c.events, "hookonce.attempt": c.attempts})
		})
	}
}

func TestReplaysGoWithTheClaimsOfTheirTime(t *testing.T) {
	f := newFixture(t)
	l := f.open("shop/payments")
	begin := func(id string, send int) uuid.UUID {
		f.settle(l, f.receive(l, id, 0), receiver.Exhausted)
		request := &replayrequest.Request{ID: uuid.New(), Selector: replayrequest.Selector{State: replayrequest.Failed, EventIDs: []string{id}}}
		if _, err := l.PrepareReplay(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		if send > 0 {
			if _, err := l.SendReplay(t.Context(), request.ID, send); err != nil {
				t.Fatal(err)
			}
		}
		return request.ID
	}
	counted, sent, young := begin("counted", 0), begin("sent", 10), begin("young", 0)
	f.exec("UPDATE hookonce.replay SET created_at = created_at - interval '31 days' WHERE id <> $1", young)

	if report := f.pruneAs(retention.Options{}); report.ReplaysRemoved != 1 {
		t.Errorf("got %+v", report)
	}
	f.wantCounts(map[string]int64{
		"hookonce.replay": 2, "hookonce.replay WHERE id = '" + counted.String() + "'": 0, "hookonce.replay_item": 1,
		"hookonce.failed_delivery": 2, "hookonce.delivery WHERE replay = '" + sent.String() + "'": 1,
	})
	f.exec("DELETE FROM hookonce.delivery")
	if report := f.pruneAs(retention.Options{}); report.ReplaysRemoved != 1 {
		t.Errorf("when what it sent is done: %+v", report)
	}
	f.wantCounts(map[string]int64{"hookonce.replay": 1, "hookonce.replay WHERE id = '" + young.String() + "'": 1})
}
