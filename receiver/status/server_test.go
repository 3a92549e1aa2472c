// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/receiver"
)

var noLog = slog.New(slog.DiscardHandler)

func get(handler http.Handler, method, path string) (int, string) {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(method, path, nil))
	return recorder.Code, recorder.Body.String()
}

func TestPrivatePort(t *testing.T) {
	want := receiverstatus.Status{
		Version: "test", Endpoint: "shop/payments", Keyring: receiverstatus.Keyring{Revision: 3},
		Secrets:    []receiverstatus.Secret{{Fingerprint: "f", Role: "current", Uses: 2}},
		Deliveries: &receiverstatus.Deliveries{Failed: 1},
	}
	ready := errors.New("draining")
	document := func() receiverstatus.Status { return want }
	handler := NewHandler(Options{
		Status: document, Ready: func() error { return ready }, Log: noLog,
		Metrics: NewMetrics(document, time.Now).Write,
	})

	code, body := get(handler, http.MethodGet, "/status")
	var got receiverstatus.Status
	if err := json.Unmarshal([]byte(body), &got); err != nil || code != http.StatusOK {
		t.Fatalf("status: %d, %v", code, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	if code, body := get(handler, http.MethodGet, "/readyz"); code != http.StatusServiceUnavailable || body != "draining\n" {
		t.Errorf("not ready: %d %q", code, body)
	}
	if code, _ := get(handler, http.MethodGet, "/livez"); code != http.StatusOK {
		t.Errorf("a receiver that is not ready is not alive: %d", code)
	}
	ready = nil
	if code, _ := get(handler, http.MethodGet, "/readyz"); code != http.StatusOK {
		t.Errorf("ready: %d", code)
	}
	if code, _ := get(handler, http.MethodPost, "/status"); code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", code)
	}
	if code, _ := get(handler, http.MethodGet, "/webhooks/payments"); code != http.StatusNotFound {
		t.Errorf("another path: %d", code)
	}
}

func TestMetrics(t *testing.T) {
	now := time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
	document := receiverstatus.Status{Keyring: receiverstatus.Keyring{Revision: 3}}
	m := NewMetrics(func() receiverstatus.Status { return document }, func() time.Time { return now })
	handler := NewHandler(Options{Metrics: m.Write, Log: noLog})

	_, text := get(handler, http.MethodGet, "/metrics")
	for _, absent := range []string{"hookonce_ledger_pending ", "hookonce_database_durable ", "hookonce_keyring_load"} {
		if strings.Contains(text, "\n"+absent) {
			t.Errorf("%s has a value before anything is known of it", absent)
		}
	}

	document.Database = receiverstatus.Database{Reachable: true, Durable: true}
	document.Deliveries = &receiverstatus.Deliveries{Pending: 2, Failed: 1, OldestPending: now.Add(-90 * time.Second)}
	document.Secrets = []receiverstatus.Secret{{Role: "previous", NotAfter: time.Unix(1_800_000_000, 0)}}
	for _, name := range []string{
		receiver.CountReceived, receiver.CountProcessed, receiver.CountReceived, receiver.CountDuplicates, receiver.CountRejected,
	} {
		m.Counted(name)
	}
	m.Answered(http.StatusUnauthorized, "bad_signature", time.Millisecond)
	m.Verified("previous")
	m.Attempted(receiver.Settlement{
		Delivery: receiver.Delivery{Destination: "sink"}, Outcome: receiver.Exhausted, Duration: time.Second,
	})
	m.LeasesLost([]receiver.Delivery{{Destination: "sink"}, {Destination: "sink"}})
	m.EffectFailed("book")
	m.Answered(http.StatusNotFound, "not_found", time.Millisecond)
	m.Answered(http.StatusServiceUnavailable, "busy", time.Millisecond)
	m.Answered(http.StatusOK, "", time.Millisecond)
	_, text = get(handler, http.MethodGet, "/metrics")
	for _, absent := range []string{"not_found", `result="received"`} {
		if strings.Contains(text, absent) {
			t.Errorf("metrics have %s", absent)
		}
	}
	for _, want := range []string{
		`hookonce_requests_total{result="processed"} 1`,
		`hookonce_requests_total{result="duplicate"} 1`,
		`hookonce_requests_total{result="rejected"} 1`,
		`hookonce_requests_total{result="unavailable"} 1`,
		`hookonce_refusals_total{cause="bad_signature"} 1`,
		`hookonce_refusals_total{cause="busy"} 1`,
		`hookonce_signature_verifications_total{secret="previous"} 1`,
		`hookonce_relay_attempts_total{destination="sink",outcome="exhausted"} 1`,
		`hookonce_leases_lost_total{destination="sink"} 2`,
		`hookonce_effect_failures_total{effect="book"} 1`,
		`hookonce_request_duration_seconds_count{code="4xx"} 2`,
		`hookonce_ledger_pending 2`, `hookonce_ledger_failed 1`, `hookonce_ledger_oldest_pending_age_seconds 90`,
		`hookonce_database_up 1`, `hookonce_database_durable 1`, `hookonce_keyring_revision 3`,
		`hookonce_previous_secret_not_after_timestamp_seconds 1.8e+09`,
	} {
		if !strings.Contains(text, "\n"+want+"\n") {
			t.Errorf("metrics do not have %s", want)
		}
	}
}

// fakeLedger answers as it is told.
type fakeLedger struct {
	mu       sync.Mutex
	database receiverstatus.Database
	counts   receiverstatus.Deliveries
	replays  []receiverstatus.Replay
	err      error
	checks   int
	hang     bool
	// slow is how long a count takes.
	slow time.Duration
}

func (l *fakeLedger) Check(ctx context.Context) receiverstatus.Database {
	l.mu.Lock()
	l.checks++
	hang, database := l.hang, l.database
	l.mu.Unlock()
	if hang {
		<-ctx.Done()
		return receiverstatus.Database{Reason: "Timeout"}
	}
	return database
}

func (l *fakeLedger) Counts(ctx context.Context) (receiverstatus.Deliveries, error) {
	l.mu.Lock()
	slow := l.slow
	l.mu.Unlock()
	select {
	case <-time.After(slow):
	case <-ctx.Done():
		return receiverstatus.Deliveries{}, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts, l.err
}

func (l *fakeLedger) Replays(context.Context) ([]receiverstatus.Replay, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.replays, l.err
}

func (l *fakeLedger) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

func TestSamplerKeepsTheLastCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := &fakeLedger{database: receiverstatus.Database{Reason: "ConnectionRefused"}}
		sampler := NewSampler(ledger, 5*time.Second, noLog)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go sampler.Run(ctx)

		status := func(after time.Duration) receiverstatus.Status {
			<-time.After(after)
			synctest.Wait()
			var s receiverstatus.Status
			sampler.Report(&s)
			return s
		}
		if s := status(500 * time.Millisecond); sampler.Answered() || s.Deliveries != nil || s.Database.Reason != "ConnectionRefused" {
			t.Errorf("before the first answer: %+v", s)
		}
		ledger.set(func() {
			ledger.database = receiverstatus.Database{Reachable: true}
			ledger.counts, ledger.replays = receiverstatus.Deliveries{Failed: 3}, make([]receiverstatus.Replay, 2)
		})
		if s := status(time.Second); !sampler.Answered() || s.Deliveries == nil || s.Deliveries.Failed != 3 || len(s.Replays) != 2 {
			t.Errorf("after the first answer: %+v", s)
		}
		ledger.set(func() {
			ledger.counts, ledger.replays, ledger.err = receiverstatus.Deliveries{}, nil, io.ErrUnexpectedEOF
		})
		if s := status(6 * time.Second); s.Deliveries == nil || s.Deliveries.Failed != 3 || len(s.Replays) != 2 {
			t.Errorf("after a failed count: %+v", s)
		}
		ledger.set(func() { ledger.hang = true })
		if s := status(9 * time.Second); s.Database.Reachable || s.Deliveries == nil || s.Deliveries.Failed != 3 || !sampler.Answered() {
			t.Errorf("while the database hangs: %+v", s)
		}
		var before, after int
		ledger.set(func() { before = ledger.checks })
		status(80 * time.Second)
		ledger.set(func() { after = ledger.checks })
		if after-before > 11 {
			t.Errorf("%d checks in 80 s while the database hangs", after-before)
		}
	})
}

func TestSlowCountsSayNothingOfTheDatabase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := &fakeLedger{
			database: receiverstatus.Database{Reachable: true, Reason: "Connected"}, slow: time.Minute,
			counts: receiverstatus.Deliveries{Pending: 7},
		}
		sampler := NewSampler(ledger, 5*time.Second, noLog)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go sampler.Run(ctx)
		look := func(after time.Duration) receiverstatus.Status {
			<-time.After(after)
			synctest.Wait()
			var s receiverstatus.Status
			sampler.Report(&s)
			return s
		}
		s := look(30 * time.Second)
		var checks int
		ledger.set(func() { checks = ledger.checks })
		if !s.Database.Reachable || s.Deliveries != nil || checks < 6 {
			t.Errorf("while the first count is under way: %+v after %d checks", s, checks)
		}
		if s := look(31 * time.Second); s.Deliveries == nil || s.Deliveries.Pending != 7 {
			t.Errorf("after it: %+v", s)
		}
		ledger.set(func() { ledger.database = receiverstatus.Database{Reason: "ConnectionRefused"} })
		if s := look(6 * time.Second); s.Database.Reachable || s.Deliveries == nil {
			t.Errorf("while the second count is under way: %+v", s)
		}
	})
}
