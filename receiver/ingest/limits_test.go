// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ingest"
)

// TestUnverifiedRequestsNeverReachTheLedger changes 10,000 good requests in one place each.
func TestUnverifiedRequestsNeverReachTheLedger(t *testing.T) {
	const content = `{"id":"evt_1","event_id":"evt_1","type":"invoice.paid","event_type":"invoice.paid"}`
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same changes on every run
	for _, name := range []string{scheme.Paymos, scheme.StandardWebhooks, scheme.Stripe, scheme.GitHub} {
		s, _ := scheme.Preset(name)
		e := newEndpoint(t, func(e *endpoint) { e.settings.Scheme = s })
		e.post(signedAs(t, s, content))
		if e.ledger.calls() != 1 {
			t.Fatalf("%s: the unchanged request was refused", name)
		}
		for range 2500 {
			r := signedAs(t, s, content)
			what := spoil(random, s, r, content)
			if w := e.post(r); w.Code != 400 && w.Code != 401 {
				t.Fatalf("%s, %s: got %d %s", name, what, w.Code, w.Body)
			}
		}
		if e.ledger.calls() != 1 || e.count("received/") != 1 || len(e.used) != 1 {
			t.Errorf("%s: %d requests reached the ledger", name, e.ledger.calls()-1)
		}
		if e.log.Len() > 0 {
			t.Errorf("%s: unverified requests were logged: %.200s", name, e.log)
		}
	}
}

// spoil changes one thing that is signed, or the signature.
func spoil(random *rand.Rand, s scheme.Scheme, r *http.Request, content string) string {
	names := []string{s.Signature.Header}
	if s.Timestamp != nil {
		names = append(names, s.Timestamp.Header)
	}
	if strings.Contains(s.StringToSign, "{id}") {
		names = append(names, s.EventID[0].Header)
	}
	name := names[random.IntN(len(names))]
	value := []byte(r.Header.Get(name))
	at := random.IntN(len(value))
	switch random.IntN(5) {
	case 0:
		r.Header.Del(name)
		return "without " + name
	case 1:
		r.Header.Set(name, string(value[:at]))
		return fmt.Sprintf("%s cut at %d", name, at)
	case 2:
		value[at] ^= 1
		r.Header.Set(name, string(value))
		return fmt.Sprintf("%s changed at %d", name, at)
	case 3:
		r.Header.Add(name, string(value))
		return name + " twice"
	}
	spoilt := []byte(content)
	spoilt[random.IntN(len(spoilt))] ^= 1 << random.IntN(8)
	r.Body = io.NopCloser(bytes.NewReader(spoilt))
	return "another body"
}

// TestB36BodyLimitIsExact: declared or chunked, one byte more is refused, and nothing is ever cut.
func TestB36BodyLimitIsExact(t *testing.T) {
	const limit = 4096
	e := newEndpoint(t)
	server := e.serve(t)
	for _, size := range []int{limit - 1, limit, limit + 1, 2 * limit, 300 << 10, 2 << 20} {
		for _, chunked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d bytes, chunked %v", size, chunked), func(t *testing.T) {
				content := padded(size)
				before := e.ledger.calls()
				status, answer := send(t, server, content, chunked)
				if size > limit {
					if status != 413 || answer != `{"error":"body_too_large"}` || e.ledger.calls() != before {
						t.Errorf("got %d %s", status, answer)
					}
					return
				}
				if status != 200 || e.ledger.calls() != before+1 {
					t.Fatalf("got %d %s", status, answer)
				}
				if got := e.ledger.events[before].Body; string(got) != content {
					t.Errorf("the ledger got %d bytes of %d", len(got), size)
				}
			})
		}
	}
}

// send posts a signed body; a server that answers early may close the connection while the rest is still being written.
func send(t *testing.T, server *httptest.Server, content string, chunked bool) (int, string) {
	t.Helper()
	var source io.Reader = strings.NewReader(content)
	if chunked {
		source = io.MultiReader(source)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+path, source)
	if err != nil {
		t.Fatal(err)
	}
	paymos, _ := scheme.Preset(scheme.Paymos)
	r.Header = signatureOf(t, paymos, content)
	response, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

func TestDefaultBodyLimit(t *testing.T) {
	e := newEndpoint(t, func(e *endpoint) { e.settings.MaxBodyBytes = 0 })
	for size, status := range map[int64]int{ingest.DefaultMaxBodyBytes: 401, ingest.DefaultMaxBodyBytes + 1: 413} {
		r := signed(t, body)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(make([]byte, size))), size
		if w := e.post(r); w.Code != status {
			t.Errorf("%d bytes: got %d %s", size, w.Code, w.Body)
		}
	}
}

func TestBrokenBody(t *testing.T) {
	e := newEndpoint(t)
	r := signed(t, body)
	r.Body = io.NopCloser(io.MultiReader(strings.NewReader(body), brokenReader{}))
	r.ContentLength++
	wantAnswer(t, e.post(r), 400, `{"error":"incomplete_body"}`)
	if e.ledger.calls() != 0 || e.count("rejected/incomplete_body") != 1 {
		t.Errorf("calls %d, counts %v", e.ledger.calls(), e.counts)
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestTooManyBytesAtOnce: bytes are given back, also by requests that are refused.
func TestTooManyBytesAtOnce(t *testing.T) {
	e := newEndpoint(t, func(e *endpoint) { e.settings.MaxInFlightBytes = int64(len(body)) })
	for range 3 {
		wantAnswer(t, e.post(signed(t, body)), 200, `{"status":"processed"}`)
		r := signed(t, body)
		r.Header.Del("X-Webhook-Signature")
		wantAnswer(t, e.post(r), 401, `{"error":"missing_header"}`)
		wantAnswer(t, e.post(signed(t, body+" ")), 503, `{"error":"busy"}`)
	}
	e.ledger.answer = func(context.Context, receiver.Event) (receiver.Receipt, error) {
		wantAnswer(t, e.post(signed(t, body)), 503, `{"error":"busy"}`)
		return processed(), nil
	}
	wantAnswer(t, e.post(signed(t, body)), 200, `{"status":"processed"}`)
}

// TestBytesFollowTheSettings: a larger limit holds for the next request.
func TestBytesFollowTheSettings(t *testing.T) {
	e := newEndpoint(t, func(e *endpoint) { e.settings.MaxInFlightBytes = int64(len(body)) - 1 })
	wantAnswer(t, e.post(signed(t, body)), 503, `{"error":"busy"}`)
	e.settings.MaxInFlightBytes++
	wantAnswer(t, e.post(signed(t, body)), 200, `{"status":"processed"}`)
}

// TestManyAtOnce runs with the default limits and checks that nothing is lost or mixed up.
func TestManyAtOnce(t *testing.T) {
	e := newEndpoint(t)
	e.ledger.answer = func(_ context.Context, event receiver.Event) (receiver.Receipt, error) {
		return receiver.Receipt{Kind: receiver.Processed, Answer: receiver.Answer{Status: 200, Body: event.Body}}, nil
	}
	var group sync.WaitGroup
	for i := range 200 {
		content := fmt.Sprintf(`{"event_id":"evt_%d"}`, i)
		r := signed(t, content)
		group.Go(func() {
			if w := e.post(r); w.Code != 200 || w.Body.String() != content {
				t.Errorf("%s: got %d %s", content, w.Code, w.Body)
			}
		})
	}
	group.Wait()
	seen := map[string]bool{}
	for _, event := range e.ledger.events {
		seen[event.ID] = true
	}
	if len(seen) != 200 || e.count("processed/") != 200 {
		t.Errorf("%d events, counts %v", len(seen), e.counts)
	}
}

// TestDisconnectDoesNotCancel: the provider hangs up while the ledger works, and the event is recorded all the same.
func TestDisconnectDoesNotCancel(t *testing.T) {
	e := newEndpoint(t)
	gone := make(chan struct{})
	recorded := make(chan error, 1)
	requests := make(chan context.Context, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- r.Context()
		e.handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	client, hangUp := context.WithCancel(t.Context())
	e.ledger.answer = func(ctx context.Context, _ receiver.Event) (receiver.Receipt, error) {
		hangUp()
		<-(<-requests).Done()
		deadline, bounded := ctx.Deadline()
		if !bounded || time.Until(deadline) > ingest.DefaultCommitDeadline {
			t.Errorf("deadline %v, %v", deadline, bounded)
		}
		recorded <- ctx.Err()
		return processed(), nil
	}
	go func() {
		defer close(gone)
		r, err := http.NewRequestWithContext(client, http.MethodPost, server.URL+path, strings.NewReader(body))
		if err != nil {
			t.Error(err)
			return
		}
		paymos, _ := scheme.Preset(scheme.Paymos)
		r.Header = signatureOf(t, paymos, body)
		if response, err := server.Client().Do(r); err == nil {
			_ = response.Body.Close()
			t.Error("the request that was hung up got an answer")
		}
	}()
	if err := <-recorded; err != nil {
		t.Errorf("the ledger's context: %v", err)
	}
	<-gone
}
