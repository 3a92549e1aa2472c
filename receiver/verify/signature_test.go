// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

func TestExpiredSecret(t *testing.T) {
	s := preset(t, scheme.Paymos)
	secrets := []receiver.Secret{
		{Key: key, Fingerprint: "new"},
		{Key: oldKey, Fingerprint: "old", NotAfter: now},
	}
	onlyOld := signedRequest(t, s, paymosBody, now, oldKey)
	both := signedRequest(t, s, paymosBody, now, oldKey, key)
	neither := signedRequest(t, s, paymosBody, now, []byte("whsec_another_secret"))

	expectCause(t, s, secrets, onlyOld, receiver.CauseExpiredSecret, 401)
	expectCause(t, s, secrets, neither, receiver.CauseBadSignature, 401)
	if got := expectAccepted(t, s, secrets, both); got.Fingerprint != "new" {
		t.Errorf("matched %q", got.Fingerprint)
	}
	secrets[1].NotAfter = now.Add(time.Nanosecond)
	if got := expectAccepted(t, s, secrets, onlyOld); got.Fingerprint != "old" {
		t.Errorf("matched %q", got.Fingerprint)
	}
	if got := expectAccepted(t, s, secrets, both); got.Fingerprint != "new" {
		t.Errorf("both match; got %q instead of the first", got.Fingerprint)
	}
}

func TestAllSecretsExpired(t *testing.T) {
	s := preset(t, scheme.Paymos)
	secrets := []receiver.Secret{{Key: oldKey, Fingerprint: "old", NotAfter: now}}
	expectCause(t, s, secrets, signedRequest(t, s, paymosBody, now, key), receiver.CauseNoSecret, 503)
	expectCause(t, s, secrets, signedRequest(t, s, paymosBody, now, oldKey), receiver.CauseExpiredSecret, 401)
}

// TestDuplicateHeaders refuses every repeated header that a scheme reads, equal or not.
func TestDuplicateHeaders(t *testing.T) {
	for name, s := range everyScheme(t) {
		t.Run(name, func(t *testing.T) {
			for header := range sampleRequest(t, s, now, key).Header {
				r := sampleRequest(t, s, now, key)
				r.Header.Add(header, r.Header.Get(header))
				if header == "Content-Type" {
					expectAccepted(t, s, secretsFor(s, key), r)
					continue
				}
				expectCause(t, s, secretsFor(s, key), r, receiver.CauseDuplicateHeader, 400)
			}
		})
	}
}

// TestOnlyTheWholeSignature refuses every part of a right signature, and everything that is longer: hmac.Equal on a prefix,
// or on two empty values, is how verifiers were broken before.
func TestOnlyTheWholeSignature(t *testing.T) {
	for name, s := range everyScheme(t) {
		if s.Signature.Header == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := sampleRequest(t, s, now, key)
			whole := r.Header.Get(s.Signature.Header)
			at := strings.Index(whole, s.Signature.Prefix) + len(s.Signature.Prefix)
			before, signature := whole[:at], whole[at:]
			for i := range len(signature) {
				refuse(t, s, r, before+signature[:i])
				refuse(t, s, r, before+signature[i+1:])
				refuse(t, s, r, before+signature[:i]+signature[i+1:])
			}
			for _, extra := range []string{"0", "00", "=", "A", "\x00", " ", signature, "%00", ".", "\n", "\r\n"} {
				refuse(t, s, r, before+signature+extra)
				refuse(t, s, r, before+extra+signature)
			}
			for i := range len(whole) {
				refuse(t, s, r, whole[:i])
			}
			refuse(t, s, r, before+strings.Repeat("0", len(signature)))
			r.Header.Set(s.Signature.Header, whole)
			expectAccepted(t, s, secretsFor(s, key), r)
		})
	}
}

func refuse(t *testing.T, s scheme.Scheme, r *Request, value string) {
	t.Helper()
	r.Header.Set(s.Signature.Header, value)
	if got, err := Verify(s, secretsFor(s, key), r, now, tolerance); err == nil {
		t.Errorf("accepted %q as %+v", value, got)
	}
}

func TestListGrammar(t *testing.T) {
	s := preset(t, scheme.Paymos)
	r := signedRequest(t, s, paymosBody, now, key)
	whole := r.Header.Get(s.Signature.Header)
	stamp, signature, _ := strings.Cut(whole, ",")
	for value, cause := range map[string]string{
		whole:                                             "",
		signature + "," + stamp:                           "",
		"v0=abc," + whole:                                 "",
		whole + ",v2=" + strings.Repeat("f", 64):          "",
		whole + ",anything":                               "",
		stamp + ",v1=invalid," + signature:                "",
		stamp + ",v1=," + signature:                       "",
		whole + ",":                                       receiver.CauseMalformedHeader,
		"," + whole:                                       receiver.CauseMalformedHeader,
		stamp + ",," + signature:                          receiver.CauseMalformedHeader,
		whole + "," + stamp:                               receiver.CauseMalformedHeader,
		whole + ",t=1":                                    receiver.CauseMalformedHeader,
		strings.Repeat("x,", 100) + whole:                 receiver.CauseMalformedHeader,
		stamp:                                             receiver.CauseMissingSignature,
		strings.Replace(whole, ",v1=", ",v0=", 1):         receiver.CauseMissingSignature,
		strings.Replace(whole, ",v1=", ", v1=", 1):        receiver.CauseMissingSignature,
		strings.Replace(whole, ",v1=", ",V1=", 1):         receiver.CauseMissingSignature,
		strings.Replace(whole, ",", ";", 1):               receiver.CauseMissingSignature,
		stamp + "," + strings.Replace(whole, ",", ";", 1): receiver.CauseMalformedHeader,
		stamp + ";," + signature:                          receiver.CauseBadTimestamp,
		signature:                                         receiver.CauseMissingTimestamp,
		" " + whole:                                       receiver.CauseMissingTimestamp,
		"T" + whole[1:]:                                   receiver.CauseMissingTimestamp,
	} {
		r.Header.Set(s.Signature.Header, value)
		if _, err := Verify(s, secretsOf(key), r, now, tolerance); causeOf(t, err) != cause {
			t.Errorf("%q: got %v, want %q", value, err, cause)
		}
	}
}

// TestSignedIDCannotBeShifted moves bytes between the id, the timestamp and the body without changing what is signed.
func TestSignedIDCannotBeShifted(t *testing.T) {
	s := preset(t, scheme.StandardWebhooks)
	body := "1700000000.{}"
	r := signedRequest(t, s, body, now, key)
	r.Header.Set("Webhook-Id", "evt_123.1700000000")
	r.Body = []byte("{}")
	expectCause(t, s, secretsOf(key), r, receiver.CauseBadEventID, 400)
	if _, err := Sign(s, [][]byte{key}, Draft{EventID: "evt.123"}, now); err == nil {
		t.Error("an id with a dot was signed")
	}
	for value, cause := range map[string]string{"": receiver.CauseMissingEventID, "a b": receiver.CauseBadEventID, strings.Repeat("a", 256): receiver.CauseBadEventID} {
		r.Header.Set("Webhook-Id", value)
		expectCause(t, s, secretsOf(key), r, cause, 400)
	}
}

// TestPlaceholdersAreReplacedOnce: an id that looks like a placeholder is signed as it is.
func TestPlaceholdersAreReplacedOnce(t *testing.T) {
	v := New(preset(t, scheme.StandardWebhooks))
	text, split := v.write(nil, parsed{id: "{timestamp}", timestamp: "1700000000"}, "POST", "", nil)
	if string(text) != "{timestamp}.1700000000." || split != len(text) {
		t.Errorf("got %q", text)
	}
}

func TestSign(t *testing.T) {
	second := []byte("whsec_another_secret")
	for name, s := range everyScheme(t) {
		t.Run(name, func(t *testing.T) {
			draft := Draft{EventID: "evt_123", ContentType: "text/plain", URL: publicURL, Body: sampleBody(t, s)}
			r, err := SignRequest(s, signingKeys(s, key, second), draft, now)
			if s.Signature.Separator == "" {
				if err == nil {
					t.Error("two signatures went into a header that holds one")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if r.Header.Get("Content-Type") != "text/plain" {
				t.Errorf("Content-Type %q", r.Header.Get("Content-Type"))
			}
			for _, only := range [][]byte{key, second} {
				expectAccepted(t, s, secretsFor(s, only), r)
			}
		})
	}
}

func TestSignRefuses(t *testing.T) {
	s := preset(t, scheme.StandardWebhooks)
	draft := Draft{EventID: "msg_1", Body: []byte("{}")}
	for name, call := range map[string]func() (http.Header, error){
		"no key":        func() (http.Header, error) { return Sign(s, nil, draft, now) },
		"empty key":     func() (http.Header, error) { return Sign(s, [][]byte{key, {}}, draft, now) },
		"no id":         func() (http.Header, error) { return Sign(s, [][]byte{key}, Draft{}, now) },
		"broken scheme": func() (http.Header, error) { return Sign(scheme.Scheme{}, [][]byte{key}, draft, now) },
	} {
		if header, err := call(); err == nil || header != nil {
			t.Errorf("%s: got %v, %v", name, header, err)
		}
	}
}
