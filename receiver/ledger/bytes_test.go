// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/receiver"
)

func TestBytesAreKeptAsReceived(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	bodies := [][]byte{
		[]byte(`{"a":"\u0000"}`),
		[]byte(`{"a":"\ud800"}`),
		[]byte("\xff\xfe\x00 not UTF-8"),
		[]byte(`{"n": 123456789012345678901234567890.10, "n":1}`),
		{},
		nil,
		bytes.Repeat([]byte("0123456789abcdef"), 1<<16),
	}
	for i, body := range bodies {
		id := fmt.Sprintf("evt_%d", i)
		w := receiver.Work{Destinations: []string{"fulfilment"}}
		receipt := record(t, l, event(id, func(e *receiver.Event) { e.Body = body }), w)
		stored := value[[]byte](f, "SELECT body FROM hookonce.event WHERE event_id = $1", id)
		if !bytes.Equal(stored, body) || !bytes.Equal(receipt.Deliveries[0].Body, body) {
			t.Errorf("%s: stored %d bytes and delivers %d, of %d received", id, len(stored), len(receipt.Deliveries[0].Body), len(body))
		}
	}
	f.exec("UPDATE hookonce.delivery SET leased_until = NULL")
	due, err := l.LeaseDue(t.Context(), []string{"fulfilment"}, 100, 0)
	if err != nil || len(due) != len(bodies) {
		t.Fatalf("got %d deliveries, %v", len(due), err)
	}
	for _, d := range due {
		var i int
		if _, err := fmt.Sscanf(d.EventID, "evt_%d", &i); err != nil || !bytes.Equal(d.Body, bodies[i]) {
			t.Errorf("%s: leased %d bytes, %v", d.EventID, len(d.Body), err)
		}
	}
}

// Postgres cannot keep NUL or invalid UTF-8 as text. An event must not be refused for ever because of that.
func TestTextThatPostgresCannotKeepIsNoReasonToFail(t *testing.T) {
	f := newFixture(t)
	receipt := record(t, f.open(), event("evt_1", func(e *receiver.Event) {
		e.Type, e.ResourceID, e.ContentType = "a\x00b", "\xff\xfe", "text/\xc3plain"
		e.Headers = []byte("{\"a\":[\"\xff\"]}")
	}), work("shop.book"))
	if receipt.Kind != receiver.Processed {
		t.Errorf("got kind %d", receipt.Kind)
	}
	if got := value[string](f, "SELECT event_type || resource_id || content_type FROM hookonce.event"); got != "a\uFFFDb\uFFFDtext/\uFFFDplain" {
		t.Errorf("stored %q", got)
	}
}

func TestFunctionsSeeTheEvent(t *testing.T) {
	f := newFixture(t)
	f.exec(`CREATE FUNCTION shop.look(e hookonce.event) RETURNS jsonb LANGUAGE sql AS $$
		SELECT jsonb_build_array(e.event_id, e.event_type, e.resource_id, e.endpoint, e.content_type,
			hookonce.payload(e)->'n', hookonce.headers(e)->'X-Id'->>0, e.received_at = now()) $$`)
	receipt := record(t, f.open(), event("evt_1", func(e *receiver.Event) {
		e.Body, e.ResourceID = []byte(`{"n":12345678901234567890}`), ""
	}), work("shop.look"))
	want := `["evt_1", "invoice.paid", null, "shop/payments", "application/json", 12345678901234567890, "evt_1", true]`
	if !strings.Contains(string(receipt.Answer.Body), want) {
		t.Errorf("got %s, want it to have %s", receipt.Answer.Body, want)
	}
}

func TestAFunctionMayAnswerNullAndMustAnswerJSON(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	f.exec(`CREATE FUNCTION shop.nothing(e hookonce.event) RETURNS jsonb LANGUAGE sql AS 'SELECT NULL::jsonb';
		CREATE FUNCTION shop.number(e hookonce.event) RETURNS int LANGUAGE sql AS 'SELECT 1'`)
	w := receiver.Work{Effects: []receiver.Effect{{Name: "n", Function: "shop.nothing", OncePerResource: true}}}
	for _, id := range []string{"evt_1", "evt_2"} {
		receipt := record(t, l, event(id, func(e *receiver.Event) { e.ResourceID = "inv_1" }), w)
		if want := `{"event":"` + id + `","effects":{"n":null}}`; string(receipt.Answer.Body) != want {
			t.Errorf("got %s, want %s", receipt.Answer.Body, want)
		}
	}
	for function, problem := range map[string]string{
		"shop.number": "42846", "shop.missing": "42883", "shop.book(e); drop table x; --": "is not a name", "a.b.c": "SQLSTATE",
	} {
		_, err := l.Record(t.Context(), event("evt_9"), work(function))
		if err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: got %v, want an error with %s", function, err, problem)
		}
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 2})
}
