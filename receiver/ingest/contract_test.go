// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ingest"
)

// says makes every request say what it is told, so that these tests are about what becomes of it.
func says(v receiver.Verified) ingest.VerifyFunc {
	v.Fingerprint = "fp-current"
	return func(scheme.Scheme, []receiver.Secret, *receiver.Request, time.Time, time.Duration) (receiver.Verified, error) {
		return v, nil
	}
}

// batchOf is an endpoint whose requests are batches of events with these ids.
func batchOf(t *testing.T, ids ...string) *endpoint {
	t.Helper()
	var events []receiver.VerifiedEvent
	for _, id := range ids {
		events = append(events, receiver.VerifiedEvent{ID: id, Body: []byte(`{"item":"` + id + `"}`)})
	}
	return newEndpoint(t, func(e *endpoint) {
		e.settings.Scheme.Signature = scheme.Signature{Path: []string{"hmac"}}
		e.settings.Scheme.Batch = &scheme.Batch{Path: []string{"items"}}
		e.options.Verify = says(receiver.Verified{Events: events})
	})
}

func postWire(t *testing.T, address, target, headers, content string) (int, string, http.Header) {
	t.Helper()
	w := dial(t, address)
	w.write(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n%s", target, len(content), headers, content))
	return w.answer()
}

// TestBatches: each event is recorded, whatever becomes of the others, and the answer has theirs in order, or is that of the
// worst.
func TestBatches(t *testing.T) {
	answers := map[string]receiver.Receipt{
		"new":      {Kind: receiver.Processed, Answer: receiver.Answer{Status: 201, Body: []byte(`{"n":1}`)}},
		"old":      {Kind: receiver.Duplicate, Answer: receiver.Answer{Status: 200, Body: []byte(`{"n":0}`)}},
		"silent":   {Kind: receiver.Processed, Answer: receiver.Answer{Status: 200}},
		"conflict": {Kind: receiver.Conflict},
	}
	for ids, want := range map[string]struct {
		status  int
		content string
	}{
		"":                  {200, `[]`},
		"new":               {200, `[{"n":1}]`},
		"new old silent":    {200, `[{"n":1},{"n":0},null]`},
		"conflict new":      {422, `{"error":"body_differs"}`},
		"away conflict new": {503, `{"error":"unavailable"}`},
		"conflict busy old": {503, `{"error":"in_flight"}`},
		"new away":          {503, `{"error":"unavailable"}`},
	} {
		e := batchOf(t, strings.Fields(ids)...)
		e.ledger.answer = func(_ context.Context, event receiver.Event) (receiver.Receipt, error) {
			switch event.ID {
			case "away":
				return receiver.Receipt{}, receiver.ErrUnavailable
			case "busy":
				return receiver.Receipt{}, receiver.ErrInFlight
			}
			return answers[event.ID], nil
		}
		status, content, header := postWire(t, e.serve(t).Listener.Addr().String(), path, "", "{}")
		if status != want.status || content != want.content || (header.Get("Retry-After") != "") != (status == 503) {
			t.Errorf("%q: got %d %s, want %d %s", ids, status, content, want.status, want.content)
		}
		var recorded []string
		for _, event := range e.ledger.events {
			recorded = append(recorded, event.ID)
			if string(event.Body) != `{"item":"`+event.ID+`"}` {
				t.Errorf("%q: the body of %s is %s", ids, event.ID, event.Body)
			}
		}
		slices.Sort(recorded)
		if !slices.Equal(recorded, slices.Sorted(slices.Values(strings.Fields(ids)))) || e.count("received/") != len(recorded) || len(e.used) != 1 {
			t.Errorf("%q: recorded %v, counts %v, used %v", ids, recorded, e.counts, e.used)
		}
	}
}

// TestAcknowledgmentIsTheBodyOfEverySuccess: of duplicates too, and of nothing else.
func TestAcknowledgmentIsTheBodyOfEverySuccess(t *testing.T) {
	for _, batch := range []*scheme.Batch{nil, {}} {
		for kind, want := range map[receiver.Kind]string{
			receiver.Processed: "[accepted]", receiver.Refused: "[accepted]", receiver.Duplicate: "[accepted]",
			receiver.Conflict: `{"error":"body_differs"}`,
		} {
			e := batchOf(t, "evt_1")
			e.settings.Scheme.Batch, e.settings.Scheme.Acknowledgment = batch, "[accepted]"
			e.ledger.answer = func(context.Context, receiver.Event) (receiver.Receipt, error) {
				return receiver.Receipt{Kind: kind, Answer: receiver.Answer{Status: 202, Body: []byte("{}")}}, nil
			}
			status, content, header := postWire(t, e.serve(t).Listener.Addr().String(), path, "", "{}")
			if content != want || (status < 300) != (want == "[accepted]") || header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("kind %d: got %d %s", kind, status, content)
			}
			if kind := header.Get("Content-Type"); strings.HasPrefix(kind, "text/plain") != (want == "[accepted]") {
				t.Errorf("%s is said to be %s", content, kind)
			}
		}
	}
}

// TestSignedHandshakesAreAnswered: and are no events.
func TestSignedHandshakesAreAnswered(t *testing.T) {
	e := newEndpoint(t, func(e *endpoint) {
		e.options.Verify = says(receiver.Verified{Handshake: &receiver.Reply{
			Status: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(`{"challenge":"c"}`),
		}})
	})
	status, content, header := postWire(t, e.serve(t).Listener.Addr().String(), path, forged, "{}")
	if status != 200 || content != `{"challenge":"c"}` || header.Get("Content-Type") != "application/json" || header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("got %d %s, %v", status, content, header)
	}
	if diff := cmp.Diff(map[string]int{"handshakes/": 1}, e.counts); diff != "" || e.ledger.calls() != 0 || len(e.used) != 1 {
		t.Errorf("used %v, %d calls, counts (-want +got):\n%s", e.used, e.ledger.calls(), diff)
	}
}

// TestUnsignedHandshakes: what is asked with other methods than POST.
func TestUnsignedHandshakes(t *testing.T) {
	var asked receiver.Request
	e := newEndpoint(t, func(e *endpoint) {
		e.settings.PublicURL = "https://hooks.example.com" + path
		e.options.Methods = func(scheme.Scheme) []string { return []string{"GET", "POST"} }
		e.options.Challenge = func(_ scheme.Scheme, r *receiver.Request) (*receiver.Reply, error) {
			asked = *r
			switch {
			case r.Method != http.MethodGet:
				return nil, nil
			case !strings.HasSuffix(r.URL, "?token=good"):
				return nil, &receiver.Rejection{Cause: receiver.CauseBadHandshake, Status: http.StatusForbidden}
			}
			return &receiver.Reply{Status: 200, Body: []byte("<script>")}, nil
		}
	})
	address := e.serve(t).Listener.Addr().String()
	for line, want := range map[string]struct {
		status                int
		content, allow, count string
	}{
		"GET " + path + "?token=good": {200, "<script>", "", "handshakes/"},
		"GET " + path + "?token=bad":  {403, `{"error":"bad_handshake"}`, "", "rejected/bad_handshake"},
		"OPTIONS " + path:             {405, `{"error":"method_not_allowed"}`, "POST, GET", ""},
		"PUT " + path:                 {405, `{"error":"method_not_allowed"}`, "POST, GET", ""},
		"GET /other?token=good":       {404, `{"error":"not_found"}`, "", ""},
	} {
		clear(e.counts)
		w := dial(t, address)
		w.write(line + " HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n")
		status, content, header := w.answer()
		if status != want.status || content != want.content || header.Get("Allow") != want.allow || header.Get("Connection") != "close" {
			t.Errorf("%s: got %d %s, Allow %q, Connection %q", line, status, content, header.Get("Allow"), header.Get("Connection"))
		}
		if status == 200 && (header.Get("Content-Type") != "text/plain; charset=utf-8" || header.Get("X-Content-Type-Options") != "nosniff") {
			t.Errorf("%s: what a sender chose may be taken for more than text: %v", line, header)
		}
		if counted := len(e.counts) == 1 && e.counts[want.count] == 1; counted != (want.count != "") {
			t.Errorf("%s: counts %v", line, e.counts)
		}
	}
	if e.ledger.calls() != 0 || len(e.used) != 0 || asked.Body != nil {
		t.Error("an unsigned request got further than it should")
	}
}

// TestThePublicURLIsWhatTheProviderUsed: with the query as it was written, and without the host that the request names.
func TestThePublicURLIsWhatTheProviderUsed(t *testing.T) {
	const public = "https://hooks.example.com" + path
	var got string
	e := newEndpoint(t, func(e *endpoint) {
		verify := e.options.Verify
		e.options.Verify = func(s scheme.Scheme, secrets []receiver.Secret, r *receiver.Request, now time.Time, tolerance time.Duration) (receiver.Verified, error) {
			got = r.Method + " " + r.URL
			return verify(s, secrets, r, now, tolerance)
		}
	})
	address := e.serve(t).Listener.Addr().String()
	for _, test := range []struct{ public, target, want string }{
		{public, path, "POST " + public},
		{public, path + "?", "POST " + public},
		{public, path + "?a=%2F&a=b+c&&=", "POST " + public + "?a=%2F&a=b+c&&="},
		{public, "http://elsewhere" + path + "?a=1", "POST " + public + "?a=1"},
		{"", path + "?a=1", "POST "},
	} {
		e.settings.PublicURL = test.public
		if status, content, _ := postWire(t, address, test.target, signatureLine(t, body), body); status != 200 || got != test.want {
			t.Errorf("%s: got %d %s, %q, want %q", test.target, status, content, got, test.want)
		}
	}
}

// TestOtherNamesOfHeaders: a scheme's aliases are used together, and what is stored has the names that were received.
func TestOtherNamesOfHeaders(t *testing.T) {
	e := newEndpoint(t, func(e *endpoint) {
		e.settings.Scheme = scheme.Scheme{
			Name: "HMAC", Signature: scheme.Signature{Header: "webhook-signature"}, Timestamp: &scheme.Timestamp{Header: "Webhook-Timestamp"},
			EventID:   []scheme.Source{{Compose: []scheme.Source{{Header: "Webhook-Id"}, {Header: "Authorization"}}}},
			EventType: []scheme.Source{{Header: "Webhook-Signature"}},
			HeaderAliases: map[string]string{
				"Webhook-Signature": "svix-signature", "webhook-id": "Svix-Id", "Webhook-Timestamp": "Svix-Timestamp",
			},
		}
		e.options.Verify = says(receiver.Verified{Events: []receiver.VerifiedEvent{{ID: "evt_1", Body: []byte("{}")}}})
	})
	address := e.serve(t).Listener.Addr().String()
	const both = "Webhook-Id: own\r\nSvix-Id: other\r\nWebhook-Timestamp: 1\r\nAuthorization: secret\r\n"
	for headers, want := range map[string]string{
		both + "Webhook-Signature: s\r\n": `{"webhook-id":["own"],"webhook-timestamp":["1"]}`,
		both + "Svix-Signature: s\r\n":    `{"svix-id":["other"]}`,
		both + "Svix-Signature: \r\n":     "",
		both:                              "",
	} {
		e.ledger.events = nil
		status, _, _ := postWire(t, address, path, headers, "{}")
		if status != map[bool]int{true: 401, false: 200}[want == ""] || len(e.ledger.events) != len(want[:min(1, len(want))]) {
			t.Fatalf("%q: got %d", headers, status)
		}
		if want != "" && string(e.ledger.events[0].Headers) != want {
			t.Errorf("%q: stored %s, want %s", headers, e.ledger.events[0].Headers, want)
		}
	}
}

// TestPayloadsOfForms: what a form carries goes on beside the form.
func TestPayloadsOfForms(t *testing.T) {
	e := newEndpoint(t, func(e *endpoint) {
		e.options.Verify = says(receiver.Verified{Events: []receiver.VerifiedEvent{{ID: "evt_1", Body: []byte("payload=%7B%7D"), Payload: []byte("{}")}}})
	})
	if status, _, _ := postWire(t, e.serve(t).Listener.Addr().String(), path, forged, "payload=%7B%7D"); status != 200 {
		t.Fatalf("got %d", status)
	}
	if got := e.ledger.events[0]; string(got.Payload) != "{}" || string(got.Body) != "payload=%7B%7D" {
		t.Errorf("got %+v", got)
	}
}
