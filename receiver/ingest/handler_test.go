// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ingest"
)

func TestNewNeedsItsParts(t *testing.T) {
	if handler, err := ingest.New(ingest.Options{}); err == nil || handler != nil {
		t.Errorf("got %v, %v", handler, err)
	}
}

// TestEventReachesTheLedger pins what the ledger is given.
func TestEventReachesTheLedger(t *testing.T) {
	e := newEndpoint(t)
	r := signed(t, body)
	r.Header.Set("User-Agent", "provider/1")
	wantAnswer(t, e.post(r), 200, `{"status":"processed"}`)
	want := []receiver.Event{{
		ID: "evt_1", Type: "invoice.paid", ResourceID: "inv_1", ContentType: "application/json",
		Headers: []byte(`{"content-type":["application/json"],"user-agent":["provider/1"]}`),
		Body:    []byte(body), BodyDigest: sha256.Sum256([]byte(body)),
	}}
	if diff := cmp.Diff(want, e.ledger.events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]receiver.Work{{Destinations: []string{"fulfilment"}}}, e.ledger.works); diff != "" {
		t.Errorf("work (-want +got):\n%s", diff)
	}
	if !cmp.Equal(e.used, []string{"fp-current"}) || e.count("received/") != 1 || e.count("processed/") != 1 {
		t.Errorf("used %v, counts %v", e.used, e.counts)
	}
	if want := []ingest.Outcome{{Status: 200, Verified: true}}; !cmp.Equal(e.outcomes, want) {
		t.Errorf("outcomes %+v", e.outcomes)
	}
}

func TestUnsignedIDClaimsTheBody(t *testing.T) {
	github, _ := scheme.Preset(scheme.GitHub)
	e := newEndpoint(t, func(e *endpoint) { e.settings.Scheme, e.settings.Route = github, nil })
	r := signedAs(t, github, "\xff\x00 not JSON")
	r.Header.Set("Content-Type", "application/json")
	e.post(r)
	if e.ledger.calls() != 1 || !e.ledger.events[0].ClaimBody || string(e.ledger.events[0].Body) != "\xff\x00 not JSON" {
		t.Errorf("got %+v", e.ledger.events)
	}
	if headers := string(e.ledger.events[0].Headers); headers != `{"content-type":["application/json"],"x-github-delivery":["evt_1"],"x-github-event":["push"]}` {
		t.Errorf("headers %s", headers)
	}
}

// TestSchemesSayWhatBodiesMean: a provider may send identical bodies on purpose, or another body with each attempt.
func TestSchemesSayWhatBodiesMean(t *testing.T) {
	github, _ := scheme.Preset(scheme.GitHub)
	reused, changing := github, github
	reused.BodyReuse = true
	changing.Behavior.BodyChanges = true
	for name, test := range map[string]struct {
		scheme             scheme.Scheme
		claimed, mayChange bool
	}{
		"as a rule": {github, true, false}, "identical on purpose": {reused, false, false}, "changing": {changing, true, true},
	} {
		e := newEndpoint(t, func(e *endpoint) { e.settings.Scheme, e.settings.Route = test.scheme, nil })
		e.post(signedAs(t, test.scheme, body))
		if e.ledger.calls() != 1 || e.ledger.events[0].ClaimBody != test.claimed || e.ledger.events[0].BodyMayChange != test.mayChange {
			t.Errorf("%s: got %+v", name, e.ledger.events)
		}
	}
}

func TestAnswersOfTheLedger(t *testing.T) {
	stored := receiver.Answer{Status: 202, Body: []byte("{\"n\": 1 , \"é\":\"\\u0000\"}\n")}
	deliveries := []receiver.Delivery{{ID: uuid.MustParse("7d444840-9dc0-11d1-b245-5ffdce74fad2"), Destination: "fulfilment"}}
	for name, test := range map[string]struct {
		receipt receiver.Receipt
		err     error
		status  int
		content string
		retry   string
		counted string
	}{
		"processed":            {receipt: receiver.Receipt{Kind: receiver.Processed, Answer: stored, Deliveries: deliveries}, status: 202, content: string(stored.Body), counted: "processed/"},
		"refused":              {receipt: receiver.Receipt{Kind: receiver.Refused, Answer: stored}, status: 202, content: string(stored.Body), counted: "refused/"},
		"duplicate":            {receipt: receiver.Receipt{Kind: receiver.Duplicate, Answer: stored}, status: 202, content: string(stored.Body), counted: "duplicates/"},
		"empty body":           {receipt: receiver.Receipt{Kind: receiver.Duplicate, Answer: receiver.Answer{Status: 200}}, status: 200, counted: "duplicates/"},
		"conflict":             {receipt: receiver.Receipt{Kind: receiver.Conflict, Answer: stored}, status: 422, content: `{"error":"body_differs"}`, counted: "rejected/body_differs"},
		"in flight":            {err: fmt.Errorf("claim: %w", receiver.ErrInFlight), status: 503, content: `{"error":"in_flight"}`, retry: "1"},
		"unavailable":          {err: fmt.Errorf("commit: %w", receiver.ErrUnavailable), status: 503, content: `{"error":"unavailable"}`, retry: "5"},
		"any error":            {err: errors.New("something else"), status: 503, content: `{"error":"unavailable"}`, retry: "5"},
		"error with a receipt": {receipt: receiver.Receipt{Kind: receiver.Processed, Answer: stored, Deliveries: deliveries}, err: receiver.ErrUnavailable, status: 503, content: `{"error":"unavailable"}`, retry: "5"},
		"no kind":              {receipt: receiver.Receipt{Answer: stored}, status: 503, content: `{"error":"internal"}`, retry: "5"},
		"stored 409":           {receipt: receiver.Receipt{Kind: receiver.Duplicate, Answer: receiver.Answer{Status: 409, Body: []byte("{}")}}, status: 200, content: `{}`, counted: "duplicates/"},
		"stored 302":           {receipt: receiver.Receipt{Kind: receiver.Processed, Answer: receiver.Answer{Status: 302, Body: []byte("{}")}}, status: 200, content: `{}`, counted: "processed/"},
		"stored nothing":       {receipt: receiver.Receipt{Kind: receiver.Processed}, status: 200, counted: "processed/"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t)
			e.ledger.answer = func(context.Context, receiver.Event) (receiver.Receipt, error) { return test.receipt, test.err }
			w := e.post(signed(t, body))
			wantAnswer(t, w, test.status, test.content)
			if got := w.Header().Get("Retry-After"); got != test.retry {
				t.Errorf("Retry-After %q, want %q", got, test.retry)
			}
			want := map[string]int{"received/": 1}
			if test.counted != "" {
				want[test.counted] = 1
			}
			if diff := cmp.Diff(want, e.counts); diff != "" {
				t.Errorf("counts (-want +got):\n%s", diff)
			}
			// Keys and messages are as everywhere else, so that one search finds an event in all logs.
			if log := e.log.String(); test.err != nil && test.retry == "5" && (!strings.Contains(log, `"msg":"An event`) || !strings.Contains(log, `"eventID":"evt_1"`)) {
				t.Errorf("the log: %s", log)
			}
			handed := name == "processed"
			if (len(e.committed) == 1) != handed {
				t.Errorf("handed over %v", e.committed)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		change  func(*endpoint, *http.Request)
		status  int
		cause   string
		counted bool
		header  string
	}{
		"other path":        {func(_ *endpoint, r *http.Request) { r.URL.Path = "/" }, 404, "not_found", false, ""},
		"one slash more":    {func(_ *endpoint, r *http.Request) { r.URL.Path = path + "/" }, 404, "not_found", false, ""},
		"GET":               {func(_ *endpoint, r *http.Request) { r.Method = "GET" }, 405, "method_not_allowed", false, "Allow: POST"},
		"PUT":               {func(_ *endpoint, r *http.Request) { r.Method = "PUT" }, 405, "method_not_allowed", false, "Allow: POST"},
		"lower case":        {func(_ *endpoint, r *http.Request) { r.Method = "post" }, 405, "method_not_allowed", false, "Allow: POST"},
		"gzip":              {func(_ *endpoint, r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }, 415, "unsupported_encoding", true, "Accept-Encoding: identity"},
		"GZIP":              {func(_ *endpoint, r *http.Request) { r.Header.Set("Content-Encoding", "GZIP") }, 415, "unsupported_encoding", true, ""},
		"identity and br":   {func(_ *endpoint, r *http.Request) { r.Header["Content-Encoding"] = []string{"identity", "br"} }, 415, "unsupported_encoding", true, ""},
		"declared too long": {func(_ *endpoint, r *http.Request) { r.ContentLength = 4097 }, 413, "body_too_large", true, ""},
		"no signature":      {func(_ *endpoint, r *http.Request) { r.Header.Del("X-Webhook-Signature") }, 401, receiver.CauseMissingHeader, true, ""},
		"two signatures":    {func(_ *endpoint, r *http.Request) { r.Header.Add("X-Webhook-Signature", "v1=00") }, 400, receiver.CauseDuplicateHeader, true, ""},
		"wrong signature":   {func(_ *endpoint, r *http.Request) { r.Header.Set("X-Webhook-Signature", "t=1700000000,v1=00") }, 401, receiver.CauseBadSignature, true, ""},
		"no secret":         {func(e *endpoint, _ *http.Request) { e.settings.Secrets = nil }, 503, receiver.CauseNoSecret, false, "Retry-After: 5"},
		"no scheme":         {func(e *endpoint, _ *http.Request) { e.settings.Scheme = scheme.Scheme{} }, 503, receiver.CauseUnusableScheme, false, "Retry-After: 5"},
		"no configuration":  {func(e *endpoint, _ *http.Request) { e.settings = ingest.Settings{} }, 503, "not_configured", false, "Retry-After: 5"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t)
			r := signed(t, body)
			test.change(e, r)
			w := e.post(r)
			wantAnswer(t, w, test.status, `{"error":"`+test.cause+`"}`)
			if header, value, _ := strings.Cut(test.header, ": "); header != "" && w.Header().Get(header) != value {
				t.Errorf("%s: %q, want %q", header, w.Header().Get(header), value)
			}
			unread := test.status == 404 || test.status == 405 || test.status == 413 || test.status == 415 || test.cause == "not_configured" || test.cause == receiver.CauseMissingHeader
			if closed := w.Header().Get("Connection") == "close"; closed != unread {
				t.Errorf("the body was not read: %v, the connection is closed: %v", unread, closed)
			}
			if e.ledger.calls() != 0 || len(e.used) != 0 || e.count("received/") != 0 {
				t.Error("it got further than it should")
			}
			if counted := e.count("rejected/"+test.cause) == 1; counted != test.counted || len(e.counts) > 1 {
				t.Errorf("counts %v", e.counts)
			}
			if len(e.outcomes) != 1 || e.outcomes[0].Cause != test.cause || e.outcomes[0].Status != test.status {
				t.Errorf("outcomes %+v", e.outcomes)
			}
		})
	}
}

func TestAcceptedVariants(t *testing.T) {
	for name, change := range map[string]func(*http.Request){
		"query":             func(r *http.Request) { r.URL.RawQuery = "x=1" },
		"identity":          func(r *http.Request) { r.Header.Set("Content-Encoding", "identity") },
		"Identity":          func(r *http.Request) { r.Header.Set("Content-Encoding", "Identity") },
		"blank encoding":    func(r *http.Request) { r.Header.Set("Content-Encoding", "") },
		"no content type":   func(r *http.Request) { r.Header.Del("Content-Type") },
		"odd content type":  func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") },
		"length is unknown": func(r *http.Request) { r.ContentLength = -1 },
	} {
		e := newEndpoint(t)
		r := signed(t, body)
		change(r)
		if w := e.post(r); w.Code != 200 || e.ledger.calls() != 1 {
			t.Errorf("%s: got %d %s", name, w.Code, w.Body)
		}
	}
}

// TestSettingsChangeBetweenRequests: the handler asks for them each time.
func TestSettingsChangeBetweenRequests(t *testing.T) {
	e := newEndpoint(t)
	wantAnswer(t, e.post(signed(t, body)), 200, `{"status":"processed"}`)
	e.settings.Secrets = []receiver.Secret{{Key: []byte("whsec_another_secret")}}
	wantAnswer(t, e.post(signed(t, body)), 401, `{"error":"bad_signature"}`)
}

func TestPanics(t *testing.T) {
	for name, test := range map[string]struct {
		value  any
		logged string
	}{
		"of the runtime": {nil, "divide by zero"},
		"with a body":    {"leaked " + body, "a value of type string"},
		"with an error":  {errors.New("leaked " + body), "a value of type *errors.errorString"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndpoint(t)
			e.ledger.answer = func(context.Context, receiver.Event) (receiver.Receipt, error) {
				if test.value != nil {
					panic(test.value) //nolint:forbidigo // what the test is about
				}
				return receiver.Receipt{Kind: receiver.Kind(1 / (len(e.used) - 1))}, nil
			}
			wantAnswer(t, e.post(signed(t, body)), 503, `{"error":"internal"}`)
			if log := e.log.String(); !strings.Contains(log, test.logged) || strings.Contains(log, "leaked") {
				t.Errorf("log: %s", log)
			}
			e.ledger.answer = nil
			wantAnswer(t, e.post(signed(t, body)), 200, `{"status":"processed"}`)
		})
	}
}

func TestAbortIsPassedOn(t *testing.T) {
	e := newEndpoint(t)
	e.ledger.answer = func(context.Context, receiver.Event) (receiver.Receipt, error) {
		panic(http.ErrAbortHandler) //nolint:forbidigo // what the test is about
	}
	defer func() {
		if cause := recover(); cause != http.ErrAbortHandler { //nolint:errorlint // the identity is the contract of net/http
			t.Errorf("recovered %v", cause)
		}
	}()
	e.handler.ServeHTTP(httptest.NewRecorder(), signed(t, body))
}

func TestCommitDeadline(t *testing.T) {
	e := newEndpoint(t, func(e *endpoint) { e.options.CommitDeadline = time.Millisecond })
	e.ledger.answer = func(ctx context.Context, _ receiver.Event) (receiver.Receipt, error) {
		<-ctx.Done()
		return receiver.Receipt{}, ctx.Err()
	}
	wantAnswer(t, e.post(signed(t, body)), 503, `{"error":"unavailable"}`)
}
