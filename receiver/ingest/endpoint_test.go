// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ingest"
	"github.com/hookonce/hookonce/receiver/verify"
)

const (
	path = "/webhooks/payments"
	body = `{"event_id":"evt_1","event_type":"invoice.paid","data":{"invoice_id":"inv_1"}}`
)

var (
	now = time.Unix(1_700_000_000, 0)
	key = []byte("whsec_test_secret")
)

// recorder is a ledger that keeps what it is given and answers as it is told.
type recorder struct {
	mu     sync.Mutex
	events []receiver.Event
	works  []receiver.Work
	answer func(context.Context, receiver.Event) (receiver.Receipt, error)
}

func (l *recorder) Record(ctx context.Context, e receiver.Event, w receiver.Work) (receiver.Receipt, error) {
	l.mu.Lock()
	l.events, l.works = append(l.events, e), append(l.works, w)
	l.mu.Unlock()
	if l.answer != nil {
		return l.answer(ctx, e)
	}
	return processed(), nil
}

func (l *recorder) calls() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.events)
}

func processed() receiver.Receipt {
	return receiver.Receipt{Kind: receiver.Processed, Answer: receiver.Answer{Status: 200, Body: []byte(`{"status":"processed"}`)}}
}

// endpoint is a handler with everything that it reports.
type endpoint struct {
	handler  *ingest.Handler
	settings ingest.Settings
	options  ingest.Options
	ledger   *recorder
	log      *bytes.Buffer

	mu        sync.Mutex
	counts    map[string]int
	used      []string
	committed []receiver.Delivery
	outcomes  []ingest.Outcome
}

func newEndpoint(t testing.TB, change ...func(*endpoint)) *endpoint {
	t.Helper()
	paymos, _ := scheme.Preset(scheme.Paymos)
	e := &endpoint{ledger: &recorder{}, log: &bytes.Buffer{}, counts: map[string]int{}}
	e.settings = ingest.Settings{
		Path: path, Scheme: paymos, Tolerance: 5 * time.Minute, MaxBodyBytes: 4096,
		Secrets: []receiver.Secret{{Key: key, Fingerprint: "fp-current"}},
		Route:   func(receiver.Event) receiver.Work { return receiver.Work{Destinations: []string{"fulfilment"}} },
	}
	e.options = ingest.Options{
		Settings: func() *ingest.Settings {
			settings := e.settings
			return &settings
		},
		Verify: verify.Verify,
		Ledger: e.ledger,
		Now:    func() time.Time { return now },
		Log:    slog.New(slog.NewJSONHandler(e.log, nil)),
		Count: func(name, cause string) {
			e.locked(func() { e.counts[name+"/"+cause]++ })
		},
		Used:      func(fingerprint string) { e.locked(func() { e.used = append(e.used, fingerprint) }) },
		Committed: func(d []receiver.Delivery) { e.locked(func() { e.committed = append(e.committed, d...) }) },
		Answered:  func(o ingest.Outcome) { e.locked(func() { e.outcomes = append(e.outcomes, o) }) },
	}
	for _, c := range change {
		c(e)
	}
	handler, err := ingest.New(e.options)
	if err != nil {
		t.Fatal(err)
	}
	e.handler = handler
	return e
}

func (e *endpoint) locked(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
}

func (e *endpoint) count(name string) (n int) {
	e.locked(func() { n = e.counts[name] })
	return n
}

func (e *endpoint) post(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	e.handler.ServeHTTP(w, r)
	return w
}

// serve puts the endpoint behind a real server on loopback.
func (e *endpoint) serve(t testing.TB) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	server.Config = ingest.NewServer("", e.handler, slog.New(slog.DiscardHandler))
	server.Start()
	t.Cleanup(server.Close)
	return server
}

func signatureOf(t testing.TB, s scheme.Scheme, content string) http.Header {
	t.Helper()
	header, err := verify.Sign(s, [][]byte{key}, verify.Draft{EventID: "evt_1", EventType: "push", Body: []byte(content)}, now)
	if err != nil {
		t.Fatal(err)
	}
	return header
}

func signed(t testing.TB, content string) *http.Request {
	t.Helper()
	paymos, _ := scheme.Preset(scheme.Paymos)
	return signedAs(t, paymos, content)
}

func signedAs(t testing.TB, s scheme.Scheme, content string) *http.Request {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader([]byte(content)))
	r.Header = signatureOf(t, s, content)
	return r
}

// wantAnswer checks everything that one answer promises.
func wantAnswer(t testing.TB, w *httptest.ResponseRecorder, status int, content string) {
	t.Helper()
	if w.Code != status || w.Body.String() != content {
		t.Errorf("got %d %s, want %d %s", w.Code, w.Body, status, content)
	}
	for name, want := range map[string]string{"Content-Type": "application/json", "X-Content-Type-Options": "nosniff", "Location": ""} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if retry := w.Header().Get("Retry-After"); (retry != "") != (status == http.StatusServiceUnavailable) {
		t.Errorf("Retry-After %q with status %d", retry, status)
	}
}
