// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// TestB50ComposedIDs: "ab" and "c" are not "a" and "bc", whatever characters are in them.
func TestB50ComposedIDs(t *testing.T) {
	s := described(t, scheme.Scheme{
		Signature: scheme.Signature{Header: "X-Test-Signature"},
		EventID:   []scheme.Source{{Compose: []scheme.Source{{Path: []string{"a"}}, {Path: []string{"b"}}}}},
	})
	idOf := func(a, b string) string {
		body, err := json.Marshal(map[string]string{"a": a, "b": b})
		if err != nil {
			t.Fatal(err)
		}
		return expectAccepted(t, s, secretsOf(key), signedRequest(t, s, string(body), now, key)).EventID
	}
	for _, test := range []struct{ a, b, want string }{
		{"ab", "c", "ab:c"}, {"a", "bc", "a:bc"}, {"a:b", "c", `a\:b:c`}, {"a", "b:c", `a:b\:c`}, {`a\`, ":c", `a\\:\:c`}, {`a\:`, "c", `a\\\::c`},
	} {
		if got := idOf(test.a, test.b); got != test.want {
			t.Errorf("%q and %q: got %q, want %q", test.a, test.b, got, test.want)
		}
	}
	for _, long := range []string{strings.Repeat("a", 255), "a b", "ü", "a\n"} {
		if got := idOf(long, "c"); len(got) != 64 || strings.Contains(got, ":") {
			t.Errorf("%q: got %q, want a digest", long, got)
		}
	}
	if got := idOf(strings.Repeat("a", 253), "c"); len(got) != 255 {
		t.Errorf("255 bytes: got %q", got)
	}
	for _, body := range []string{`{"a":"x"}`, `{"a":"x","b":null}`, `{"a":"x","b":""}`, `{"a":"x","b":{}}`, `{}`} {
		expectCause(t, s, secretsOf(key), signedRequest(t, s, body, now, key), receiver.CauseMissingEventID, 400)
	}
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune(`a:\b`)), 1, 4, -1)
		a, b, c, d := text.Draw(r, "a"), text.Draw(r, "b"), text.Draw(r, "c"), text.Draw(r, "d")
		if (idOf(a, b) == idOf(c, d)) != (a == c && b == d) {
			r.Fatalf("%q+%q and %q+%q", a, b, c, d)
		}
	})
}

func TestToken(t *testing.T) {
	s := preset(t, scheme.GitLabToken)
	r := sampleRequest(t, s, now, key)
	if got := expectAccepted(t, s, secretsOf(oldKey, key), r); got.EventID != "evt_123" || got.Fingerprint != string(key) || got.EventType != "push" {
		t.Errorf("got %+v", got)
	}
	r.Header.Del("Idempotency-Key")
	if got := expectAccepted(t, s, secretsOf(key), r); len(got.EventID) != 64 {
		t.Errorf("without a key: got %+v", got)
	}
	expired := []receiver.Secret{{Key: oldKey}, {Key: key, NotAfter: now}}
	expectCause(t, s, expired, r, receiver.CauseExpiredSecret, 401)
	if s.EventIDSigned || s.CoversID() {
		t.Error("a token covers nothing")
	}
	bearer := described(t, scheme.Scheme{
		Signature: scheme.Signature{Header: "Authorization", Prefix: "Bearer ", Algorithm: scheme.Token},
		EventID:   inID,
	})
	r = signedRequest(t, bearer, "{}", now, key)
	r.Header.Set("X-Test-Id", "e")
	if r.Header.Get("Authorization") != "Bearer "+string(key) {
		t.Errorf("got %v", r.Header)
	}
	expectAccepted(t, bearer, secretsOf(key), r)
	r.Header.Set("Authorization", string(key))
	expectCause(t, bearer, secretsOf(key), r, receiver.CauseMissingSignature, 401)
}

// TestPerRequest: the same words are another event each time.
func TestPerRequest(t *testing.T) {
	s := preset(t, scheme.Dropbox)
	r := sampleRequest(t, s, now, key)
	first, second := expectAccepted(t, s, secretsOf(key), r), expectAccepted(t, s, secretsOf(key), r)
	if first.EventID == second.EventID || len(first.EventID) < 26 || !isToken(first.EventID) {
		t.Errorf("got %q and %q", first.EventID, second.EventID)
	}
	if !s.EventIDSigned {
		t.Error("the body would be claimed, and the second notification lost")
	}
}

func TestBodyDigest(t *testing.T) {
	s := preset(t, scheme.Zoom)
	r := sampleRequest(t, s, now, key)
	later := sampleRequest(t, s, now.Add(1e9), key)
	if a, b := expectAccepted(t, s, secretsOf(key), r), expectAccepted(t, s, secretsOf(key), later); a.EventID != b.EventID || a.EventID != digestOf(r.Body) {
		t.Errorf("a retry has another id: %q and %q", a.EventID, b.EventID)
	}
}

func TestEd25519(t *testing.T) {
	s := preset(t, scheme.StandardWebhooksEd25519)
	r := sampleRequest(t, s, now, key)
	expectAccepted(t, s, secretsFor(s, oldKey, key), r)
	expectCause(t, s, secretsFor(s, oldKey), r, receiver.CauseBadSignature, 401)
	expectCause(t, s, secretsOf(key), r, receiver.CauseNoSecret, 503) // no key of 32 bytes
	r.Header.Set("Webhook-Signature", strings.Replace(r.Header.Get("Webhook-Signature"), "v1a,", "v1,", 1))
	expectCause(t, s, secretsFor(s, key), r, receiver.CauseMissingSignature, 401)
	if _, err := SignRequest(s, [][]byte{key}, Draft{EventID: "e", Body: []byte("{}")}, now); err == nil {
		t.Error("signed with what is no private key")
	}
}

// TestKeysThatEverybodySignsWith: under a key of small order a signature that needs no private key fits many events.
func TestKeysThatEverybodySignsWith(t *testing.T) {
	s := preset(t, scheme.StandardWebhooksEd25519)
	forged := make([]byte, ed25519.SignatureSize)
	forged[0] = 1
	for range 32 {
		r := sampleRequest(t, s, now, key)
		r.Header.Set("Webhook-Id", rand.Text())
		r.Header.Set("Webhook-Signature", "v1a,"+base64.StdEncoding.EncodeToString(forged))
		expectCause(t, s, secretsOf(make([]byte, ed25519.PublicKeySize)), r, receiver.CauseNoSecret, 503)
	}
}

func TestNoPublicURL(t *testing.T) {
	for name, s := range everyScheme(t) {
		r := sampleRequest(t, s, now, key)
		r.URL = ""
		_, err := Verify(s, secretsFor(s, key), r, now, tolerance)
		bound := name == scheme.Square || name == scheme.Twilio || name == scheme.HubSpot
		if bound {
			expectCause(t, s, secretsFor(s, key), r, receiver.CauseNoPublicURL, 503)
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestURLAndBodyCannotBeShifted: nothing is between them, so what a URL cannot have in it is.
func TestURLAndBodyCannotBeShifted(t *testing.T) {
	s := preset(t, scheme.Square)
	const body = `{"event_id":"e","x":{"event_id":"f"}}`
	draft := Draft{URL: publicURL + "?tenant=1", Body: []byte(body)}
	r, err := SignRequest(s, [][]byte{key}, draft, now)
	if err != nil {
		t.Fatal(err)
	}
	expectAccepted(t, s, secretsOf(key), r)
	whole := r.URL + body
	for at := len(publicURL) + 1; at <= len(whole); at++ {
		if at == len(r.URL) {
			continue
		}
		shifted := &Request{Method: "POST", URL: whole[:at], Header: r.Header, Body: []byte(whole[at:])}
		expectCause(t, s, secretsOf(key), shifted, receiver.CauseBadSignature, 401)
	}
	for _, refused := range []Draft{{URL: publicURL + "?a={", Body: []byte(body)}, {URL: publicURL, Body: []byte("a=b")}} {
		if _, err := SignRequest(s, [][]byte{key}, refused, now); err == nil {
			t.Errorf("signed %+v", refused)
		}
	}
}

func TestHeaderAliases(t *testing.T) {
	s := preset(t, scheme.Svix)
	own := sampleRequest(t, s, now, key)
	renamed := clone(own)
	for name, alias := range s.HeaderAliases {
		renamed.Header[alias] = renamed.Header[name]
		delete(renamed.Header, name)
	}
	if got := expectAccepted(t, s, secretsOf(key), renamed); got.EventID != "evt_123" {
		t.Errorf("got %+v", got)
	}
	// A mixture is nothing that anybody sends: the id under the other name is not there.
	mixed := clone(own)
	mixed.Header["Webhook-Id"] = mixed.Header["Svix-Id"]
	delete(mixed.Header, "Svix-Id")
	expectCause(t, s, secretsOf(key), mixed, receiver.CauseMissingEventID, 400)
	// Where both are there, the scheme's own names count, and the others are not read.
	both := clone(own)
	both.Header["Webhook-Signature"] = []string{"v1,AAAA", "v1,BBBB"}
	expectAccepted(t, s, secretsOf(key), both)
	twice := clone(renamed)
	twice.Header.Add("Webhook-Id", "evt_124")
	expectCause(t, s, secretsOf(key), twice, receiver.CauseDuplicateHeader, 400)
	blank := clone(renamed)
	blank.Header["Svix-Signature"] = []string{""}
	expectCause(t, s, secretsOf(key), blank, receiver.CauseMissingHeader, 401)
}

// TestBoundaries: the text that ends a value must not be found earlier, not even in part of the value and part of itself.
func TestBoundaries(t *testing.T) {
	for _, test := range []struct {
		value, stop string
		end, start  bool
	}{
		{"a", ".", true, true},
		{"a.b", ".", false, false},
		{".", ".", false, false},
		{"", ".", true, true},
		{"a:", "::", false, true},
		{":a", "::", true, false},
		{"a:b", "::", true, true},
		{"a-", "--", false, true},
		{"xab", "aba", false, true},
		{"xa", "aba", true, true},
		{"bax", "aba", true, false},
	} {
		if got := firstAtEnd(test.value, test.stop); got != test.end {
			t.Errorf("%q ends at %q: %v", test.value, test.stop, got)
		}
		if got := lastAtStart(test.value, test.stop); got != test.start {
			t.Errorf("%q begins at %q: %v", test.value, test.stop, got)
		}
		whole := test.value + test.stop
		if (strings.Index(whole, test.stop) == len(test.value)) != test.end {
			t.Errorf("%q, %q: the test is wrong", test.value, test.stop)
		}
		if (strings.LastIndex(test.stop+test.value, test.stop) == 0) != test.start {
			t.Errorf("%q, %q: the test is wrong about the start", test.value, test.stop)
		}
	}
}

// TestVerifyFollowsTheScheme: what was made of one scheme is not used for another, even if the caller changes it in place.
func TestVerifyFollowsTheScheme(t *testing.T) {
	s := preset(t, scheme.Paymos)
	r := signedRequest(t, s, paymosBody, now, key)
	if got := expectAccepted(t, s, secretsOf(key), r); got.EventID != "evt_123" {
		t.Errorf("got %+v", got)
	}
	s.EventID[0].Path[0] = "event_type"
	if got := expectAccepted(t, s, secretsOf(key), r); got.EventID != "invoice.paid" {
		t.Errorf("got %+v", got)
	}
	s.Signature.Prefix = "v2="
	if _, err := Verify(s, secretsOf(key), r, now, tolerance); err == nil {
		t.Error("the old prefix was accepted")
	}
}

// TestNothingIsKept: results do not refer to memory that the next request overwrites.
func TestNothingIsKept(t *testing.T) {
	s := preset(t, scheme.StandardWebhooks)
	v := New(s)
	type one struct {
		request *Request
		got     Verified
	}
	var all []one
	for _, id := range []string{"a", "b", "c", "d"} {
		body := `{"type":"t\u002e` + id + `","data":{"id":"r\u002e` + id + `"}}`
		r, err := SignRequest(s, [][]byte{key}, Draft{EventID: id, Body: []byte(body)}, now)
		if err != nil {
			t.Fatal(err)
		}
		got, err := v.Verify(secretsOf(key), r, now, tolerance)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one{r, got})
	}
	for _, each := range all {
		id := each.request.Header[http.CanonicalHeaderKey("webhook-id")][0]
		if e := each.got.Events[0]; e.ID != id || e.Type != "t."+id || e.ResourceID != "r."+id {
			t.Errorf("%s became %+v", id, e)
		}
	}
}

// TestKeysAreNotMixedUp: what was made for a secret is not used for the one that takes its place, as in a rotation or a
// revocation.
func TestKeysAreNotMixedUp(t *testing.T) {
	for name, s := range everyScheme(t) {
		v := New(s)
		for i := range 6 {
			current, gone := key, oldKey
			if i%2 == 1 {
				current, gone = oldKey, key
			}
			if _, err := v.Verify(secretsFor(s, current), sampleRequest(t, s, now, current), now, tolerance); err != nil {
				t.Errorf("%s: the new secret: %v", name, err)
			}
			got, err := v.Verify(secretsFor(s, current), sampleRequest(t, s, now, gone), now, tolerance)
			if causeOf(t, err) != receiver.CauseBadSignature {
				t.Errorf("%s: the secret that was there before: %+v, %v", name, got, err)
			}
		}
	}
}
