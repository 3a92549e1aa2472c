// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const (
	orders  = "SELECT count(*) FROM shop.orders"
	waiting = "SELECT count(*) FROM hookonce.delivery"
	failed  = "SELECT count(*) FROM hookonce.failed_delivery"
)

func TestOneEventTwiceIsOneEffectOneCallAndOneAnswer(t *testing.T) {
	out := newSink(t)
	s := newShop(t, out.URL)
	r := s.serve(s.serveArgs(s.url)).ready(t)
	answers := s.send(r, "--event-id", "evt_1", "--event-type", "invoice.paid", "--resource-id", "inv_1", "--repeat", "2")
	if len(answers) != 2 || answers[0].Status != http.StatusOK || answers[0].Digest != answers[1].Digest || answers[1].Status != http.StatusOK {
		t.Fatalf("answers %+v, want two equal ones with 200", answers)
	}
	eventually(t, "the sink has the delivery and it is settled", func() bool { return len(out.seen()) > 0 && s.count(waiting) == 0 })
	if n := s.count(orders); n != 1 {
		t.Errorf("%d orders, want 1", n)
	}
	want := []call{{out.keys()[0], "evt_1", "1", `{"data":{"invoice_id":"inv_1"},"event_id":"evt_1","event_type":"invoice.paid"}`}}
	if diff := cmp.Diff(want, out.seen()); diff != "" {
		t.Errorf("calls at the sink (-want +got):\n%s", diff)
	}
	eventually(t, "the counts are in the status", func() bool {
		d := r.status(t).Deliveries
		return d != nil && d.Received == 2 && d.Processed == 1 && d.Duplicates == 1 && d.Pending == 0
	})
	status := r.status(t)
	if status.Endpoint != "shop/payments" || !status.Database.Reachable || status.Secrets[0].Uses != 2 || status.Keyring.Revision != 1 {
		t.Errorf("status %+v", status)
	}
}

func TestTwentyCopiesAtOnceAreOneEffect(t *testing.T) {
	out := newSink(t)
	s := newShop(t, out.URL)
	r := s.serve(s.serveArgs(s.url)).ready(t)
	other := s.serve(s.serveArgs(s.url)).ready(t)
	var senders sync.WaitGroup
	results := make([][]sent, 2)
	for i, to := range []*running{r, other} {
		senders.Go(func() {
			results[i] = s.send(to, "--event-id", "evt_1", "--event-type", "invoice.paid", "--resource-id", "inv_1",
				"--repeat", "20", "--concurrent", "20")
		})
	}
	senders.Wait()
	answers := append(results[0], results[1]...)
	if len(answers) != 40 {
		t.Fatalf("%d answers, want 40", len(answers))
	}
	for _, answer := range answers {
		if answer.Status != http.StatusOK || answer.Digest != answers[0].Digest {
			t.Errorf("answer %+v, want 200 with %s", answer, answers[0].Digest)
		}
	}
	eventually(t, "the delivery is settled", func() bool { return s.count(waiting) == 0 })
	if n, calls := s.count(orders), len(out.seen()); n != 1 || calls != 1 {
		t.Errorf("%d orders and %d calls, want 1 and 1", n, calls)
	}
}

func TestUnverifiedRequestsExecuteNoSQL(t *testing.T) {
	s := newShop(t, "")
	wrong := filepath.Join(t.TempDir(), "wrong")
	must(t, os.WriteFile(wrong, []byte("another-signing-secret"), 0o600))
	link := newLink(t, hostOf(s.url))
	// With nothing to sample, flush or relay, every byte to the database is a request's.
	args := append(s.serveArgs(through(s.url, link)), "--sample-interval", "1h", "--counter-flush-interval", "1h")
	r := s.serve(args).ready(t)
	eventually(t, "the first sample has counts", func() bool { return r.status(t).Deliveries != nil })
	before := link.sent.Load()
	for _, answer := range s.send(r, "--secret-file", wrong, "--event-id", "evt_1", "--repeat", "50", "--concurrent", "10") {
		if answer.Status != http.StatusUnauthorized {
			t.Errorf("a wrong signature got %d, want 401", answer.Status)
		}
	}
	for body, want := range map[string]int{"": 401, "{": 401, strings.Repeat("x", 2<<20): 413} {
		answer, err := http.Post("http://"+r.public+s.config.Path, "application/json", strings.NewReader(body))
		must(t, err)
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("a body of %d bytes without a signature got %d, want %d", len(body), answer.StatusCode, want)
		}
	}
	if n := link.sent.Load() - before; n != 0 {
		t.Errorf("%d bytes were sent to the database for unverified requests", n)
	}
	if rejections := r.status(t).Rejections; rejections["bad_signature"] != 50 || rejections["missing_header"] != 2 {
		t.Errorf("rejections %v", rejections)
	}
	s.send(r, "--event-id", "evt_1")
	if link.sent.Load() == before {
		t.Error("a verified request sent nothing to the database either: the test sees nothing")
	}
	r.stop()
	<-r.ended
	if n := s.count("SELECT sum(n)::bigint FROM hookonce.counter WHERE name = 'rejected'"); n != 53 {
		t.Errorf("%d rejections in the ledger, want 53", n)
	}
}

func TestDatabaseAway(t *testing.T) {
	s := newShop(t, "")
	link := newLink(t, hostOf(s.url))
	r := s.serve(s.serveArgs(through(s.url, link))).ready(t)
	eventually(t, "the first counts are there", func() bool { return r.status(t).Deliveries != nil })
	link.cut()
	code, answers := s.trySend(r, "--event-id", "evt_1", "--event-type", "invoice.paid", "--resource-id", "inv_1")
	if code != exitFailed || answers[0].Status != http.StatusServiceUnavailable || answers[0].RetryAfter == "" {
		t.Errorf("answer %+v with exit code %d, want 503 with Retry-After and %d", answers, code, exitFailed)
	}
	eventually(t, "the status says so", func() bool { return !r.status(t).Database.Reachable })
	if live, ready := r.get("/livez"), r.get("/readyz"); live != http.StatusOK || ready != http.StatusOK {
		t.Errorf("livez %d, readyz %d: a receiver that loses its database stays alive and ready", live, ready)
	}
	if d := r.status(t).Deliveries; d == nil {
		t.Error("the last counts are gone")
	}
	link.restore(t)
	eventually(t, "the event is accepted", func() bool {
		return s.send(r, "--event-id", "evt_1", "--event-type", "invoice.paid", "--resource-id", "inv_1")[0].Status == http.StatusOK
	})
	if n := s.count(orders); n != 1 {
		t.Errorf("%d orders, want 1", n)
	}
}

func TestReceiverThatNeverReachedTheDatabaseIsNotReady(t *testing.T) {
	s := newShop(t, "")
	link := newLink(t, hostOf(s.url))
	link.cut()
	r := s.serve(s.serveArgs(through(s.url, link)))
	eventually(t, "the database was tried", func() bool { return r.status(t).Database.Reason == "ConnectionRefused" })
	if live, ready := r.get("/livez"), r.get("/readyz"); live != http.StatusOK || ready != http.StatusServiceUnavailable {
		t.Errorf("livez %d, readyz %d, want 200 and 503", live, ready)
	}
	if answer := s.send(r, "--event-id", "evt_1")[0]; answer.Status != http.StatusServiceUnavailable || answer.RetryAfter == "" {
		t.Errorf("answer %+v, want 503 with Retry-After", answer)
	}
	link.restore(t)
	r.ready(t)
}

func TestReceiverWithoutAConfigurationAsksToRetry(t *testing.T) {
	s := newShop(t, "")
	document := filepath.Join(s.configDir, "config.json")
	must(t, os.Rename(document, document+".away"))
	r := s.serve(s.serveArgs(s.url))
	if answer := s.send(r, "--event-id", "evt_1")[0]; answer.Status != http.StatusServiceUnavailable || answer.RetryAfter == "" {
		t.Errorf("answer %+v, want 503 with Retry-After", answer)
	}
	if live, ready := r.get("/livez"), r.get("/readyz"); live != http.StatusOK || ready != http.StatusServiceUnavailable {
		t.Errorf("livez %d, readyz %d, want 200 and 503", live, ready)
	}
	must(t, os.Rename(document+".away", document))
	r.ready(t)
	if answer := s.send(r, "--event-id", "evt_1")[0]; answer.Status != http.StatusOK {
		t.Errorf("answer %+v, want 200", answer)
	}
}

func TestSecretsAreSwappedWithoutARestart(t *testing.T) {
	s := newShop(t, "")
	r := s.serve(s.serveArgs(s.url)).ready(t)
	second := filepath.Join(t.TempDir(), "second")
	must(t, os.WriteFile(second, []byte("second-signing-secret"), 0o600))
	with := func(files ...string) int {
		args := []string{"--event-id", "evt_" + time.Now().Format("150405.000000000")}
		for _, file := range files {
			args = append(args, "--secret-file", file)
		}
		return s.send(r, args...)[0].Status
	}
	if status := with(second); status != http.StatusUnauthorized {
		t.Fatalf("an unknown secret got %d", status)
	}
	replace(t, filepath.Join(s.sourceDir, "secret"), []byte("second-signing-secret\n"))
	eventually(t, "the mounted secret is accepted", func() bool { return with(second) == http.StatusOK })
	if status := with(s.secretFile); status != http.StatusOK {
		t.Errorf("the current secret got %d beside a mounted one", status)
	}
	ring, _, err := s.keyring.Promote(candidate("second-signing-secret"), time.Now(), time.Now().Add(time.Hour))
	must(t, err)
	s.writeKeyring(ring)
	eventually(t, "revision 2 is loaded", func() bool { return r.status(t).Keyring.Revision == 2 })
	for _, files := range [][]string{{second}, {s.secretFile}, {s.secretFile, second}, {second, s.secretFile}} {
		if status := with(files...); status != http.StatusOK {
			t.Errorf("signed with %v during the overlap: %d", files, status)
		}
	}
	ring, err = ring.Revoke(ring.Previous[0].Fingerprint, time.Now())
	must(t, err)
	s.writeKeyring(ring)
	eventually(t, "revision 3 is loaded", func() bool { return r.status(t).Keyring.Revision == 3 })
	if old, current := with(s.secretFile), with(second); old != http.StatusUnauthorized || current != http.StatusOK {
		t.Errorf("after the revocation: old %d, current %d", old, current)
	}
}

func hostOf(database string) string {
	u, _ := url.Parse(database)
	return u.Host
}

// through is the database's URI with the link in between.
func through(database string, l *link) string {
	u, _ := url.Parse(database)
	u.Host = l.addr
	return u.String()
}

func TestMetricsAreServed(t *testing.T) {
	s := newShop(t, "")
	r := s.serve(s.serveArgs(s.url)).ready(t)
	s.send(r, "--event-id", "evt_1", "--repeat", "2")
	answer, err := http.Get("http://" + r.private + "/metrics")
	must(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	for _, want := range []string{
		`hookonce_requests_total{result="processed"} 1`, `hookonce_requests_total{result="duplicate"} 1`,
		`hookonce_signature_verifications_total{secret="current"} 2`, `hookonce_database_up 1`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("metrics do not have %s", want)
		}
	}
}
