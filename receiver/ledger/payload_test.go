// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/receiver"
)

func TestABodyThatJSONBCannotHoldIsRefused(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	for name, body := range map[string]string{
		"NUL": `{"a":"\u0000"}`, "lone surrogate": `{"a":"\ud800"}`, "large number": `{"a":1e400000}`,
		"invalid UTF-8": "{\"a\":\"\xff\"}", "no JSON": "a=b", "nested too deep": strings.Repeat("[", 1<<20),
	} {
		t.Run(name, func(t *testing.T) {
			e := event("evt", func(e *receiver.Event) { e.ID, e.Body = name, []byte(body) })
			receipt := record(t, l, e, work("shop.message"))
			want := receiver.Answer{Status: 200, Body: []byte(`{"event":"` + name + `","refused":"the body cannot be held as jsonb"}`)}
			if diff := cmp.Diff(want, receipt.Answer); diff != "" || receipt.Kind != receiver.Refused {
				t.Errorf("kind %d (-want +got):\n%s", receipt.Kind, diff)
			}
			if kept := value[[]byte](f, "SELECT body FROM hookonce.event WHERE event_id = $1", name); string(kept) != body {
				t.Errorf("the body is %q", kept)
			}
		})
	}
	if receipt := record(t, l, event("evt_1"), work("shop.message")); receipt.Kind != receiver.Processed {
		t.Errorf("got kind %d", receipt.Kind)
	}
}

func TestTheJSONOfAFormIsThePayload(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	form, payload := []byte("payload=%7B%22n%22%3A1%7D"), []byte(`{"n":1}`)
	e := event("evt_1", func(e *receiver.Event) { e.Body, e.Payload = form, payload })
	if receipt := record(t, l, e, work("shop.message")); receipt.Kind != receiver.Processed {
		t.Fatalf("got kind %d", receipt.Kind)
	}
	if got := value[string](f, "SELECT convert_from(body, 'UTF8') FROM hookonce.delivery"); got != `{"n": 1}` {
		t.Errorf("the function saw %s", got)
	}
	if got := value[[]byte](f, "SELECT body FROM hookonce.event"); string(got) != string(form) {
		t.Errorf("the body is %s", got)
	}
	record(t, l, event("evt_2"), receiver.Work{})
	if n := f.count("hookonce.event WHERE payload IS NULL"); n != 1 {
		t.Errorf("%d events have no payload of their own, want 1", n)
	}
}
