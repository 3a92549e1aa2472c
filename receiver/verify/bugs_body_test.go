// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// TestB09BothSecretsWhileTheyOverlap: a mixture of old and new signatures is accepted until the old secret's moment, and
// then only the new ones are, without anything being loaded anew.
func TestB09BothSecretsWhileTheyOverlap(t *testing.T) {
	for name, s := range everyScheme(t) {
		secrets := secretsFor(s, key, oldKey)
		secrets[1].NotAfter = now.Add(time.Second)
		v := New(s)
		for i := range 20 {
			with := [][]byte{key, oldKey}[i%2]
			got, err := v.Verify(secrets, sampleRequest(t, s, now, with), now, tolerance)
			if err != nil || got.Fingerprint != string(with) {
				t.Errorf("%s, during the overlap: got %+v, %v", name, got, err)
			}
		}
		after := now.Add(time.Second)
		if _, err := v.Verify(secrets, sampleRequest(t, s, now, oldKey), after, tolerance); causeOf(t, err) != receiver.CauseExpiredSecret {
			t.Errorf("%s, after it: %v", name, err)
		}
		if _, err := v.Verify(secrets, sampleRequest(t, s, now, key), after, tolerance); err != nil {
			t.Errorf("%s, after it, the new one: %v", name, err)
		}
	}
}

// TestB25ABadSignatureIs401 in every scheme, whatever the body is.
func TestB25ABadSignatureIs401(t *testing.T) {
	for name, s := range everyScheme(t) {
		t.Run(name, func(t *testing.T) {
			expectCause(t, s, secretsFor(s, oldKey), sampleRequest(t, s, now, key), receiver.CauseBadSignature, 401)
			if s.Batch == nil {
				expectCause(t, s, secretsFor(s, oldKey), signedRequest(t, s, `{"broken`, now, key), receiver.CauseBadSignature, 401)
			}
		})
	}
}

// trouble are documents that databases and parsers stumble over; each has an id where the scheme of the test reads it.
var trouble = map[string]string{
	"B27 NUL":             `{"event_id":"e","a":"x\u0000y"}`,
	"B27 NUL in a name":   `{"event_id":"e","\u0000":1}`,
	"B28 lone surrogate":  `{"event_id":"e","a":"\ud83d"}`,
	"B28 wrong order":     `{"event_id":"e","a":"\udc00\ud83d"}`,
	"B28 literal text":    `{"event_id":"e","a":"\\u0000"}`,
	"B30 big integers":    `{"event_id":"e","id":8202522731445525542,"f":1e400,"d":0.1000000000000000055}`,
	"B23 emoji":           `{"event_id":"e","t":"😊 Plaça \u2028"}`,
	"B24 escapes":         "{ \"event_id\" : \"e\", \"body\":\"Foo\\n\\u001B[34mbar: \\u2665 \\u001b[0m\"}\n",
	"invalid UTF-8":       "{\"event_id\":\"e\",\"a\":\"\xff\xfe\"}",
	"names repeated":      `{"event_id":"e","a":1,"a":2}`,
	"very deep":           `{"event_id":"e","a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`,
	"blanks everywhere":   "\r\n\t { \"event_id\"\n:\t\"e\" } \n",
	"a number of the day": `{"event_id":"e","a":-0.0e-0}`,
}

// TestB27B28B30EventsAreTheBytesReceived: an event's body is the received one, not something like it.
func TestB27B28B30EventsAreTheBytesReceived(t *testing.T) {
	for _, name := range []string{scheme.Paymos, scheme.Paddle, scheme.Square, scheme.Slack} {
		s := preset(t, name)
		for what, body := range trouble {
			r := signedRequest(t, s, body, now, key)
			before := bytes.Clone(r.Body)
			got, err := Verify(s, secretsOf(key), r, now, tolerance)
			if err != nil || got.Events[0].ID != "e" || &got.Events[0].Body[0] != &r.Body[0] || !bytes.Equal(got.Events[0].Body, before) {
				t.Errorf("%s, %s: got %+v, %v", name, what, got, err)
			}
		}
	}
}

// TestB31OneRuleForRepeatedNames: a name that is read is there once, on every way to every value.
func TestB31OneRuleForRepeatedNames(t *testing.T) {
	for name, s := range everyScheme(t) {
		if s.Batch != nil {
			continue // see the tests of batches
		}
		for _, sources := range [][]scheme.Source{s.EventID, s.EventType, s.ResourceID} {
			for _, source := range sources {
				if len(source.Path) == 0 {
					continue
				}
				first := source.Path[0]
				body := strings.Replace(string(sampleBody(t, s)), "{", `{"`+first+`":null,"`+first+`":null,`, 1)
				t.Run(name+" "+strings.Join(source.Path, "."), func(t *testing.T) {
					expectCause(t, s, secretsFor(s, key), signedRequest(t, s, body, now, key), receiver.CauseMalformedBody, 400)
				})
			}
		}
	}
}

// TestB34AnEmptyBody is an event where nothing is read from it, and otherwise malformed; it never panics.
func TestB34AnEmptyBody(t *testing.T) {
	fine := map[string]bool{
		"HMAC": true, scheme.GitHub: true, scheme.GitLab: true, scheme.GitLabToken: true, scheme.Dropbox: true,
		// An empty form is an object without members.
		scheme.Twilio: true, scheme.Slack: true, scheme.Convoy: true,
	}
	for name, s := range everyScheme(t) {
		if s.Signature.Header == "" {
			continue
		}
		r := signedRequest(t, s, "", now, key)
		if s.EventID[0].Header == "X-Test-Id" {
			r.Header.Set("X-Test-Id", "e")
		}
		_, err := Verify(s, secretsFor(s, key), r, now, tolerance)
		if cause := causeOf(t, err); (fine[name] && cause != "") || (!fine[name] && cause != receiver.CauseMalformedBody) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestB43OddShapes: every JSON value at every place that is read; there is an answer, and it is no panic.
func TestB43OddShapes(t *testing.T) {
	odd := []string{`null`, `true`, `0`, `-1`, `1e9`, `""`, `"x"`, `[]`, `[[]]`, `{}`, `{"":""}`, strings.Repeat("[", 9000) + strings.Repeat("]", 9000)}
	for name, s := range everyScheme(t) {
		body := string(sampleBody(t, s))
		for _, value := range []string{`"evt_123"`, `"invoice.paid"`, `"r_1"`, `"1"`} {
			for _, other := range odd {
				changed := strings.Replace(body, value, other, 1)
				if s.Signature.Header == "" {
					r := &Request{Method: "POST", Body: []byte(changed)}
					if _, err := Verify(s, secretsFor(s, key), r, now, tolerance); err == nil {
						t.Errorf("%s: accepted %s", name, changed)
					}
					continue
				}
				got, err := Verify(s, secretsFor(s, key), signedRequest(t, s, changed, now, key), now, tolerance)
				if err == nil && got.Handshake == nil && (len(got.Events) != 1 || !isToken(got.Events[0].ID)) {
					t.Errorf("%s: %.200s became %+v", name, changed, got)
				}
				causeOf(t, err)
			}
		}
	}
}
