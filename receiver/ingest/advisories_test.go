// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ingest"
)

// Each test is named after an advisory of its class; docs/hostile-input.md has the others.

// TestAdvisory_CVE_2024_40634: a body is not read without bound before it is authenticated, and nothing of it is logged.
func TestAdvisory_CVE_2024_40634(t *testing.T) {
	for _, framing := range []string{"Content-Length: 1073741824\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"} {
		e := newEndpoint(t)
		w := dial(t, e.serve(t).Listener.Addr().String())
		w.write("POST " + path + " HTTP/1.1\r\nHost: x\r\n" + forged + framing)
		if strings.HasPrefix(framing, "T") {
			go func() {
				for range 1000 {
					if _, err := w.conn.Write([]byte("7\r\nCANARY!\r\n")); err != nil {
						return
					}
				}
			}()
		}
		if status, answer, _ := w.answer(); status != 413 || e.log.Len() > 0 {
			t.Errorf("got %d %s; the log: %s", status, answer, e.log)
		}
	}
}

// TestAdvisory_CVE_2024_21491: no part of a signature is a signature.
func TestAdvisory_CVE_2024_21491(t *testing.T) {
	for _, name := range []string{scheme.Paymos, scheme.GitHub, scheme.StandardWebhooks, scheme.Stripe} {
		s, _ := scheme.Preset(name)
		e := newEndpoint(t, func(e *endpoint) { e.settings.Scheme = s })
		content := `{"id":"evt_1","event_id":"evt_1"}`
		whole := signatureOf(t, s, content).Get(s.Signature.Header)
		for cut := range len(whole) {
			for _, part := range []string{whole[:cut], whole[cut+1:], whole + whole[:max(cut, 1)]} {
				r := signedAs(t, s, content)
				r.Header.Set(s.Signature.Header, part)
				if w := e.post(r); w.Code != 401 && w.Code != 400 {
					t.Errorf("%s: %q got %d %s", name, part, w.Code, w.Body)
				}
			}
		}
	}
}

// TestAdvisory_CVE_2026_41432: an empty secret is no secret, and there is no way to want none.
func TestAdvisory_CVE_2026_41432(t *testing.T) {
	for name, secrets := range map[string][]receiver.Secret{"none": nil, "empty": {{Fingerprint: "fp"}}, "two empty": {{}, {Key: []byte{}}}} {
		e := newEndpoint(t, func(e *endpoint) { e.settings.Secrets = secrets })
		if w := e.post(signed(t, body)); w.Code != 503 || e.ledger.calls() != 0 {
			t.Errorf("%s: got %d %s", name, w.Code, w.Body)
		}
	}
}

// TestAdvisory_CVE_2022_43411: every secret is compared, in constant time: no comparison of verify's own sees a signature.
func TestAdvisory_CVE_2022_43411(t *testing.T) {
	leaky := regexp.MustCompile(`bytes\.(Equal|Compare)|reflect\.DeepEqual|slices\.Equal|EqualFold\([^)]*(signature|secret|token)`)
	files, err := filepath.Glob("../verify/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	constant := false
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		constant = constant || bytes.Contains(source, []byte("hmac.Equal(")) || bytes.Contains(source, []byte("subtle.ConstantTimeCompare("))
		if found := leaky.Find(source); found != nil && !strings.HasSuffix(file, "_test.go") {
			t.Errorf("%s has %s", file, found)
		}
	}
	if !constant {
		t.Error("nothing compares in constant time")
	}
}

// TestAdvisory_CVE_2023_40034: before the signature holds nothing is done, counted as received, routed or said of a secret.
func TestAdvisory_CVE_2023_40034(t *testing.T) {
	e := newEndpoint(t)
	e.settings.Route = func(receiver.Event) receiver.Work {
		t.Error("an unverified event was routed")
		return receiver.Work{}
	}
	for range 100 {
		r := signed(t, body)
		r.Header.Set("X-Webhook-Signature", "t=1700000000,v1=00")
		e.post(r)
	}
	if e.ledger.calls() != 0 || len(e.used) != 0 || e.count("received/") != 0 || e.log.Len() != 0 || e.count("rejected/bad_signature") != 100 {
		t.Errorf("%d calls, used %v, counts %v, log %s", e.ledger.calls(), e.used, e.counts, e.log)
	}
}

// TestAdvisory_CVE_2024_54682: a body that says it is compressed is not read.
func TestAdvisory_CVE_2024_54682(t *testing.T) {
	e := newEndpoint(t)
	w := dial(t, e.serve(t).Listener.Addr().String())
	w.write("POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Encoding: gzip\r\nContent-Length: 100\r\nExpect: 100-continue\r\n" + forged + "\r\n")
	if status, answer, _ := w.answer(); status != 415 {
		t.Errorf("got %d %s", status, answer)
	}
}

// TestAdvisory_CVE_2023_39325: there is no HTTP/2, each phase of a request ends, and headers are bounded.
func TestAdvisory_CVE_2023_39325(t *testing.T) {
	s := ingest.NewServer("", http.NotFoundHandler(), newEndpoint(t).options.Log)
	if s.Protocols.HTTP2() || s.Protocols.UnencryptedHTTP2() || !s.Protocols.HTTP1() {
		t.Errorf("protocols %v", s.Protocols)
	}
	for name, limit := range map[string]time.Duration{"header": s.ReadHeaderTimeout, "read": s.ReadTimeout, "write": s.WriteTimeout, "idle": s.IdleTimeout} {
		if limit <= 0 || limit > 75*time.Second {
			t.Errorf("%s takes up to %v", name, limit)
		}
	}
	if s.MaxHeaderBytes > 16<<10 {
		t.Errorf("%d bytes of headers", s.MaxHeaderBytes)
	}
}

// TestAdvisory_CVE_2025_22871: what two parsers could read in two ways is refused, or read once and the connection closed.
func TestAdvisory_CVE_2025_22871(t *testing.T) {
	good := signatureLine(t, body)
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	for name, test := range map[string]struct {
		headers, content string
		accepted         bool
	}{
		"two lengths":               {fmt.Sprintf("Content-Length: %d\r\nContent-Length: %d\r\n", len(body), len(body)+1), body, false},
		"a length with a sign":      {fmt.Sprintf("Content-Length: +%d\r\n", len(body)), body, false},
		"a list of lengths":         {fmt.Sprintf("Content-Length: %d, 0\r\n", len(body)), body, false},
		"a bare line feed":          {"Transfer-Encoding: chunked\r\n", strings.ReplaceAll(chunked, "\r\n", "\n"), false},
		"an unknown coding":         {"Transfer-Encoding: gzip, chunked\r\n", chunked, false},
		"two codings":               {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", chunked, false},
		"a blank before the colon":  {"Content-Length : 1\r\n", body, false},
		"a folded header":           {"X-A: 1\r\n Content-Length: 3\r\n", body, false},
		"a length and chunks":       {"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n", chunked, true},
		"an underscore in the name": {fmt.Sprintf("Content-Length: %d\r\nX_Webhook_Signature: t=1,v1=00\r\n", len(body)), body, true},
	} {
		e := newEndpoint(t)
		w := dial(t, e.serve(t).Listener.Addr().String())
		w.write("POST " + path + " HTTP/1.1\r\nHost: x\r\n" + good + test.headers + "\r\n" + test.content)
		status, answer, _ := w.answer()
		if (status == 200) != test.accepted || status >= 500 && status != 501 || e.ledger.calls() > 1 {
			t.Errorf("%s: got %d %s", name, status, answer)
		}
		if test.accepted && string(e.ledger.events[0].Body) != body {
			t.Errorf("%s: the ledger got %q", name, e.ledger.events[0].Body)
		}
	}
}

// TestAdvisory_CVE_2025_64484: a header that decides anything is there once.
func TestAdvisory_CVE_2025_64484(t *testing.T) {
	s, _ := scheme.Preset(scheme.StandardWebhooks)
	e := newEndpoint(t, func(e *endpoint) { e.settings.Scheme = s })
	for _, name := range []string{"Webhook-Id", "Webhook-Timestamp", "Webhook-Signature"} {
		r := signedAs(t, s, body)
		r.Header[name] = append([]string{"other"}, r.Header[name]...)
		if w := e.post(r); w.Code != 400 || e.ledger.calls() != 0 {
			t.Errorf("%s twice: got %d %s", name, w.Code, w.Body)
		}
	}
}

// TestAdvisory_CVE_2025_25294: nothing that a sender writes begins a line of the log.
func TestAdvisory_CVE_2025_25294(t *testing.T) {
	e := newEndpoint(t)
	e.ledger.answer = func(context.Context, receiver.Event) (receiver.Receipt, error) {
		return receiver.Receipt{}, receiver.ErrUnavailable
	}
	e.post(signed(t, `{"event_id":"evt_1","event_type":"a\u001b[31m\n{\"level\":\"ERROR\"}"}`))
	e.post(signed(t, "{\"event_id\":\"evt\\\"},{\",\"event_type\":\"\u2028b\"}"))
	if log := e.log.String(); log == "" || strings.ContainsAny(log, "\x1b\r") || strings.Count(log, "\n") != strings.Count(log, `{"time"`) {
		t.Errorf("the log: %q", log)
	}
}
