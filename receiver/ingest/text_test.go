// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestControlCharactersReachNoColumn: what the ledger keeps as text has none, whichever way they come.
func TestControlCharactersReachNoColumn(t *testing.T) {
	e := newEndpoint(t)
	address := e.serve(t).Listener.Addr().String()
	for name, test := range map[string]struct {
		contentType, content string
		status               int
	}{
		"NUL in the content type":          {"a\x00b", body, 400},
		"a line break in the content type": {"a\rb", body, 400},
		"DEL in the content type":          {"a\x7fb", body, 400},
		"NUL in the type":                  {"a", `{"event_id":"e","event_type":"a\u0000"}`, 200},
		"NUL in the resource":              {"a", `{"event_id":"e","data":{"invoice_id":"a\u0000"}}`, 400},
		"NUL in the id":                    {"a", `{"event_id":"e\u0000"}`, 400},
		"not UTF-8 in the type":            {"a", "{\"event_id\":\"e\",\"event_type\":\"a\xff\"}", 200},
		"not ASCII":                        {"a", `{"event_id":"e","event_type":"rücknahme fällig","data":{"invoice_id":"größe 1"}}`, 200},
	} {
		before := e.ledger.calls()
		w := dial(t, address)
		w.write(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n%s",
			path, test.contentType, len(test.content), signatureLine(t, test.content), test.content))
		if status, answer, _ := w.answer(); status != test.status || (e.ledger.calls() > before) != (status == 200) {
			t.Errorf("%s: got %d %s, want %d", name, status, answer, test.status)
		}
	}
	for _, event := range e.ledger.events {
		for _, text := range []string{event.ID, event.Type, event.ResourceID, event.ContentType, string(event.Headers)} {
			if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
				t.Errorf("the ledger got %q", text)
			}
		}
	}
}

// TestStoredHeadersAreText: a header is bytes, and what is kept of it is JSON all the same. The content type itself goes on
// as it came, to the destinations; the ledger keeps a text of it.
func TestStoredHeadersAreText(t *testing.T) {
	e := newEndpoint(t)
	r := signed(t, body)
	r.Header.Set("Content-Type", "text/\xff\xfe")
	r.Header.Set("User-Agent", "caf\xe9")
	wantAnswer(t, e.post(r), 200, `{"status":"processed"}`)
	kept := e.ledger.events[0]
	if !utf8.Valid(kept.Headers) || !json.Valid(kept.Headers) || kept.ContentType != "text/\xff\xfe" {
		t.Errorf("got %q, %q", kept.Headers, kept.ContentType)
	}
}
