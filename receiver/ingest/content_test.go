// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest_test

import (
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// Advisories about what a request carries, and about what is kept of it.

// TestAdvisory_CVE_2025_59531: should parsing a body panic all the same, it is one answer, and the next request is served.
func TestAdvisory_CVE_2025_59531(t *testing.T) {
	e := newEndpoint(t, func(e *endpoint) {
		verify := e.options.Verify
		e.options.Verify = func(s scheme.Scheme, secrets []receiver.Secret, r *receiver.Request, now time.Time, tolerance time.Duration) (receiver.Verified, error) {
			if r.Header.Get("X-Odd") != "" {
				var links map[string]map[string]string
				links["clone"]["href"] = "" // what a type that was not expected comes to
			}
			return verify(s, secrets, r, now, tolerance)
		}
	})
	address := e.serve(t).Listener.Addr().String()
	if status, answer, _ := postWire(t, address, path, "X-Odd: 1\r\n"+forged, body); status != 503 || answer != `{"error":"internal"}` {
		t.Errorf("got %d %s", status, answer)
	}
	if status, answer, _ := postWire(t, address, path, signatureLine(t, body), body); status != 200 {
		t.Errorf("the next request got %d %s", status, answer)
	}
}

// TestAdvisory_CVE_2026_40109: a token that is missing, wrong, or nearly right opens nothing.
func TestAdvisory_CVE_2026_40109(t *testing.T) {
	s, _ := scheme.Preset(scheme.GitLabToken)
	e := newEndpoint(t, func(e *endpoint) { e.settings.Scheme = s })
	for token, want := range map[string]int{
		"": 401, " ": 401, string(key): 200, string(key[1:]): 401, string(key[:len(key)-1]): 401, strings.ToUpper(string(key)): 401, string(key) + "x": 401,
	} {
		r := signedAs(t, s, body)
		r.Header.Set(s.Signature.Header, token)
		if w := e.post(r); w.Code != want {
			t.Errorf("%q: got %d %s, want %d", token, w.Code, w.Body, want)
		}
	}
}

// TestAdvisory_CVE_2026_44937: the only regular expressions are those that are written in the source.
func TestAdvisory_CVE_2026_44937(t *testing.T) {
	files, foreign := 0, regexp.MustCompile("regexp\\.[A-Za-z]+\\([^`\")]")
	for _, root := range []string{"..", "../../internal/scheme", "../../internal/receiverconfig"} {
		err := filepath.WalkDir(root, func(file string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
				return err
			}
			files++
			source, err := os.ReadFile(file) //nolint:gosec // nobody changes the source meanwhile
			if found := foreign.Find(source); found != nil {
				t.Errorf("%s has %s", file, found)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files == 0 {
		t.Error("no sources were found")
	}
}

// TestAdvisory_CVE_2020_16250: names in JSON are exact, so that no two readers of a body see two events.
func TestAdvisory_CVE_2020_16250(t *testing.T) {
	for content, want := range map[string]string{
		`{"event_id":"a","EVENT_ID":"b","Event_Id":"c","event_type":"t","EVENT_TYPE":"u"}`: "a t",
		`{"EVENT_ID":"b","event_id":"a","event_type":"t"}`:                                 "a t",
		`{"event_id":"a","event_id":"b"}`:                                                  "",
		`{"event_id":"a"} {"event_id":"b"}`:                                                "",
		`{"EVENT_ID":"b"}`:                                                                 "",
		`{"event_id":"a","event_type":"t",}`:                                               "",
	} {
		e := newEndpoint(t)
		w := e.post(signed(t, content))
		if want == "" {
			if w.Code != http.StatusBadRequest || e.ledger.calls() != 0 {
				t.Errorf("%s: got %d %s", content, w.Code, w.Body)
			}
		} else if w.Code != 200 || e.ledger.events[0].ID+" "+e.ledger.events[0].Type != want {
			t.Errorf("%s: got %d %s, %+v", content, w.Code, w.Body, e.ledger.events)
		}
	}
}

// TestAdvisory_HeaderBytes: Go's server lets bytes through that no column of text takes.
func TestAdvisory_HeaderBytes(t *testing.T) {
	s, _ := scheme.Preset(scheme.GitHub)
	e := newEndpoint(t, func(e *endpoint) { e.settings.Scheme = s })
	address := e.serve(t).Listener.Addr().String()
	signature := signatureOf(t, s, body).Get(s.Signature.Header)
	for id, want := range map[string]int{"evt_1": 200, "\xff": 400, "a\tb": 400, "a b": 400, "é": 400, strings.Repeat("x", 256): 400} {
		headers := fmt.Sprintf("%s: %s\r\nX-GitHub-Event: push\r\nX-GitHub-Delivery: %s\r\n", s.Signature.Header, signature, id)
		if status, answer, _ := postWire(t, address, path, headers, body); status != want {
			t.Errorf("%q: got %d %s, want %d", id, status, answer, want)
		}
	}
}

// TestAdvisory_ManyMembersAndDepth: a signed body cannot cost more than 50 ms for each MiB, however it is made.
func TestAdvisory_ManyMembersAndDepth(t *testing.T) {
	var members strings.Builder
	members.WriteString(`{"event_id":"evt_1"`)
	for i := 0; members.Len() < 1<<20-100; i++ {
		fmt.Fprintf(&members, `,"%x":0`, i)
	}
	for name, content := range map[string]string{
		"members": members.String() + "}",
		"depth":   `{"event_id":"evt_1","a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + "}",
		"text":    `{"event_id":"evt_1","a":"` + strings.Repeat(`\u0041`, 170_000) + `"}`,
	} {
		e := newEndpoint(t, func(e *endpoint) { e.settings.MaxBodyBytes = 2 << 20 })
		best := time.Hour
		// Other work on the machine can only make it slower.
		for range 10 {
			r := signed(t, content)
			started := time.Now()
			if w := e.post(r); w.Code != 200 && w.Code != 400 {
				t.Errorf("%s: got %d %s", name, w.Code, w.Body)
			}
			best = min(best, time.Since(started))
		}
		if limit := 50 * time.Millisecond; best > limit {
			t.Errorf("%s: %d bytes took %v, want at most %v", name, len(content), best, limit)
		}
	}
}

// TestAdvisory_CVE_2026_58440: what is withdrawn is refused from the next request on.
func TestAdvisory_CVE_2026_58440(t *testing.T) {
	e := newEndpoint(t)
	address := e.serve(t).Listener.Addr().String()
	w := dial(t, address)
	post := func() int {
		w.write(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n%s", path, len(body), signatureLine(t, body), body))
		status, _, _ := w.answer()
		return status
	}
	if status := post(); status != 200 {
		t.Errorf("got %d", status)
	}
	secrets := e.settings.Secrets
	e.settings.Secrets = []receiver.Secret{{Key: key, Fingerprint: "fp-current", NotAfter: now.Add(-time.Second)}}
	if status := post(); status == 200 {
		t.Error("a secret that is over is accepted on a connection that was kept")
	}
	w = dial(t, address)
	e.settings.Secrets, e.settings.Path = secrets, ""
	if status := post(); status != 503 {
		t.Errorf("without a configuration: got %d", status)
	}
}

// TestAdvisory_CVE_2026_42594: what the ledger was given is its own, whatever comes on the same connection later.
func TestAdvisory_CVE_2026_42594(t *testing.T) {
	e := newEndpoint(t)
	w := dial(t, e.serve(t).Listener.Addr().String())
	var want []string
	for i := range 50 {
		content := fmt.Sprintf(`{"event_id":"evt_%02d","event_type":"%s"}`, i, strings.Repeat(string(rune('a'+i%26)), 40))
		want = append(want, content)
		w.write(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nUser-Agent: agent/%02d\r\nContent-Length: %d\r\n%s\r\n%s", path, i, len(content), signatureLine(t, content), content))
		if status, answer, _ := w.answer(); status != 200 {
			t.Fatalf("got %d %s", status, answer)
		}
	}
	for i, event := range e.ledger.events {
		if string(event.Body) != want[i] || !strings.Contains(want[i], `"`+event.ID+`"`) || !strings.Contains(want[i], event.Type) ||
			!strings.Contains(string(event.Headers), fmt.Sprintf("agent/%02d", i)) {
			t.Errorf("event %d has become %+v", i, event)
		}
	}
}
