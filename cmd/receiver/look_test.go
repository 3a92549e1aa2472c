// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/hookonce/hookonce/internal/replayrequest"
	"github.com/hookonce/hookonce/receiver/ledger"
)

// look runs a command that reads the ledger, and returns what it printed, or what it complained of.
func (s *shop) look(t *testing.T, want int, args ...string) string {
	t.Helper()
	var out, problems bytes.Buffer
	args = append(args, "--config-dir", s.configDir, "--database-url", s.url)
	if code := run(t.Context(), args, streams{in: strings.NewReader(""), out: &out, err: &problems}); code != want {
		t.Fatalf("%v: exit code %d, want %d: %s%s", args, code, want, out.String(), problems.String())
	}
	if want != exitOK {
		return problems.String()
	}
	return out.String()
}

// lookJSON is look for a document.
func (s *shop) lookJSON(t *testing.T, into any, args ...string) {
	t.Helper()
	out := s.look(t, exitOK, append(args, "-o", "json")...)
	if err := json.Unmarshal([]byte(out), into); err != nil {
		t.Fatalf("%v: %v: %s", args, err, out)
	}
}

// An event that failed, was replayed and came three times: what people see of it.
func TestHistoryOfAnEvent(t *testing.T) {
	out := newSink(t)
	out.status.Store(http.StatusBadRequest)
	s := newShop(t, out.URL)
	s.config.Destinations[0].Delays = s.config.Destinations[0].Delays[:1]
	s.writeConfig()
	r := s.serve(s.serveArgs(s.url)).ready(t)
	s.send(r, "--event-id", "evt_1", "--event-type", "invoice.paid", "--resource-id", "inv_1", "--repeat", "3")
	eventually(t, "the delivery has failed", func() bool { return s.count("SELECT count(*) FROM hookonce.failed_delivery") == 1 })
	var failed []ledger.Delivery
	s.lookJSON(t, &failed, "deliveries", "--state", "Failed", "--destination", "fulfilment")
	if len(failed) != 1 || failed[0].EventID != "evt_1" || failed[0].Reason != "answered 400" || failed[0].Attempts != 2 {
		t.Errorf("failed deliveries %+v", failed)
	}
	out.status.Store(http.StatusOK)
	request := &replayrequest.Request{
		ID: uuid.New(), Name: "crm-outage", Selector: replayrequest.Selector{State: replayrequest.Failed}, Send: true,
	}
	if code, text := s.replay(t, request); code != exitOK {
		t.Fatal(text)
	}
	eventually(t, "nothing is pending", func() bool { return s.count("SELECT count(*) FROM hookonce.delivery") == 0 })

	var h ledger.History
	s.lookJSON(t, &h, "deliveries", "--event-id", "evt_1")
	want := ledger.History{
		EventID: "evt_1", StatusCode: 200, EventType: "invoice.paid", ResourceID: "inv_1", PayloadKept: true,
		Deliveries: []ledger.Delivery{{
			State: "Delivered", Destination: "fulfilment", EventID: "evt_1", EventType: "invoice.paid", Attempts: 1, StatusCode: 200,
		}},
		Attempts: []ledger.Attempt{
			{Destination: "fulfilment", Number: 1, Outcome: "Retried", StatusCode: 400, Reason: "answered 400"},
			{Destination: "fulfilment", Number: 2, Outcome: "Failed", StatusCode: 400, Reason: "answered 400"},
			{Destination: "fulfilment", Number: 1, Outcome: "Delivered", StatusCode: 200, Replay: "crm-outage"},
		},
	}
	ids := cmpopts.IgnoreTypes(uuid.UUID{}, time.Time{}, time.Duration(0))
	keys := cmpopts.IgnoreFields(ledger.Attempt{}, "IdempotencyKey")
	if diff := cmp.Diff(want, h, ids, keys, cmpopts.IgnoreFields(ledger.Delivery{}, "IdempotencyKey")); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	for _, a := range h.Attempts {
		if a.IdempotencyKey != h.Deliveries[0].IdempotencyKey {
			t.Errorf("keys %s and %s", a.IdempotencyKey, h.Deliveries[0].IdempotencyKey)
		}
	}
	text := s.look(t, exitOK, "deliveries", "--event-id", "evt_1")
	for _, part := range []string{"evt_1 received ", "answered 200", "Delivered to fulfilment", "attempt 2", "replay crm-outage"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in\n%s", part, text)
		}
	}
	if got := s.look(t, exitOK, "deliveries", "--state", "Failed"); !strings.Contains(got, "No deliveries") {
		t.Errorf("failed deliveries after the replay: %s", got)
	}
	if got := s.look(t, exitFailed, "deliveries", "--event-id", "evt_\x1b[2Jnone"); strings.Contains(got, "\x1b") || !strings.Contains(got, "no event of this id") {
		t.Errorf("of an unknown event: %q", got)
	}
}

// What came is counted once the receiver has told the ledger, and distinct ids by their claims.
func TestAuditCountsWhatCame(t *testing.T) {
	s := newShop(t, "")
	r := s.serve(s.serveArgs(s.url)).ready(t)
	for _, id := range []string{"evt_1", "evt_2", "evt_1", "evt_1"} {
		s.send(r, "--event-id", id, "--event-type", "invoice.paid", "--resource-id", "inv_1")
	}
	if code, _ := s.trySend(r, "--event-id", "evt_2", "--event-type", "invoice.paid", "--resource-id", "inv_9"); code == exitOK {
		t.Fatal("another body under a known id was accepted")
	}
	eventually(t, "the counts are in the ledger", func() bool {
		return s.count("SELECT coalesce(sum(n), 0) FROM hookonce.counter WHERE name = 'received'") == 5
	})
	var got ledger.Audit
	s.lookJSON(t, &got, "audit", "--since", "1h")
	want := ledger.Audit{Since: got.Since, Received: 5, Duplicates: 2, Conflicts: 1, Events: 2}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
	// A second event of an id, as no receiver writes it.
	s.exec(`INSERT INTO hookonce.event SELECT gen_random_uuid(), received_at, scope, endpoint, event_id, event_type, resource_id,
		content_type, headers, body, payload FROM hookonce.event WHERE event_id = 'evt_1'`)
	text := s.look(t, exitOK, "audit", "--since", "all")
	for _, line := range []string{
		"shop/payments since the ledger's beginning", "5  events received", "2  distinct event ids", "2  duplicate deliveries (40.0 %)",
		"1  conflicts", "0  requests rejected", "1  events processed twice",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not in\n%s", line, text)
		}
	}
	for flag, value := range map[string]string{"--since": "1x", "-o": "yaml"} {
		if got := s.look(t, exitUsage, "audit", flag, value); !strings.Contains(got, "must be") {
			t.Errorf("%s %s: %s", flag, value, got)
		}
	}
	for _, args := range [][]string{
		{"--state", "failed"}, {"--limit", "0"}, {"--event-id", "evt_1", "--state", "Failed"}, {"--since", "-1h"}, {"--since", "0d"},
	} {
		if got := s.look(t, exitUsage, append([]string{"deliveries"}, args...)...); got == "" {
			t.Errorf("%v: nothing is said", args)
		}
	}
}
