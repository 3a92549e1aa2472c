// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"crypto/sha1" //nolint:gosec // what an attacker would downgrade to
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

const tolerance = 5 * time.Minute

var (
	now    = time.Unix(1_700_000_000, 0)
	key    = []byte("whsec_test_secret")
	oldKey = []byte("whsec_old_secret")
)

const paymosBody = `{"event_id":"evt_123","event_type":"invoice.paid","version":1,"occurred_at":1700000000,"data":{"invoice_id":"inv_123"}}`

func TestB03EmptySecretNeverVerifies(t *testing.T) {
	for name, s := range macSchemes(t) {
		t.Run(name, func(t *testing.T) {
			r := sampleRequest(t, s, now, key)
			v := New(s)
			work := v.newScratch()
			signed, err := v.parse(work, v.namesIn(r.Header), r.Header)
			if err != nil {
				t.Fatal(err)
			}
			if err := v.compose(work, signed, r); err != nil {
				t.Fatal(err)
			}
			forged := s.Signature.Prefix + encode(s.Signature.Encoding, v.mac(work, 0, nil, work.message, r.Body))
			if v.shared {
				forged = s.Timestamp.Prefix + signed.timestamp + s.Signature.Separator + forged
			}
			r.Header.Set(s.Signature.Header, forged)
			expectCause(t, s, []receiver.Secret{{Key: nil}, {Key: []byte{}}}, r, receiver.CauseNoSecret, 503)
			expectCause(t, s, append(secretsOf(key), receiver.Secret{}), r, receiver.CauseBadSignature, 401)
		})
	}
}

func TestB04NoSecretAndNoSignature(t *testing.T) {
	for name, s := range everyScheme(t) {
		t.Run(name, func(t *testing.T) {
			r := &Request{Method: "POST", URL: publicURL, Header: http.Header{}, Body: sampleBody(t, s)}
			expectCause(t, s, nil, r, receiver.CauseNoSecret, 503)
			expectCause(t, s, []receiver.Secret{{}}, r, receiver.CauseNoSecret, 503)
			cause := receiver.CauseMissingHeader
			if s.Signature.Header == "" {
				cause = receiver.CauseMissingSignature
			}
			expectCause(t, s, secretsFor(s, key), r, cause, 401)
		})
	}
}

func TestB05UnknownSchemeFailsClosed(t *testing.T) {
	r := signedRequest(t, preset(t, scheme.Paymos), paymosBody, now, key)
	for name, change := range map[string]func(*scheme.Scheme){
		"zero":                 func(s *scheme.Scheme) { *s = scheme.Scheme{} },
		"no algorithm":         func(s *scheme.Scheme) { s.Signature.Algorithm = "" },
		"unknown algorithm":    func(s *scheme.Scheme) { s.Signature.Algorithm = "none" },
		"body not signed":      func(s *scheme.Scheme) { s.StringToSign = "{timestamp}" },
		"timestamp not signed": func(s *scheme.Scheme) { s.StringToSign = "{body}" },
		"no timestamp":         func(s *scheme.Scheme) { s.Timestamp = nil },
		"unknown unit":         func(s *scheme.Scheme) { s.Timestamp.Unit = "" },
		"no encoding":          func(s *scheme.Scheme) { s.Signature.Encoding = "" },
		"ambiguous":            func(s *scheme.Scheme) { s.StringToSign = "{url}{timestamp}{body}" },
	} {
		t.Run(name, func(t *testing.T) {
			s := preset(t, scheme.Paymos)
			change(&s)
			expectCause(t, s, secretsOf(key), r, receiver.CauseUnusableScheme, 503)
		})
	}
}

func TestB11FutureTimestamp(t *testing.T) {
	for name, s := range everyScheme(t) {
		if s.Timestamp == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			expectCause(t, s, secretsFor(s, key), sampleRequest(t, s, now.Add(24*time.Hour), key), receiver.CauseFutureTimestamp, 401)
			expectCause(t, s, secretsFor(s, key), sampleRequest(t, s, now.Add(301*time.Second), key), receiver.CauseFutureTimestamp, 401)
			expectAccepted(t, s, secretsFor(s, key), sampleRequest(t, s, now.Add(300*time.Second), key))
			expectAccepted(t, s, secretsFor(s, key), sampleRequest(t, s, now.Add(-300*time.Second), key))
			expectCause(t, s, secretsFor(s, key), sampleRequest(t, s, now.Add(-301*time.Second), key), receiver.CauseStaleTimestamp, 401)
		})
	}
}

func TestB12TimestampWriting(t *testing.T) {
	s := preset(t, scheme.Stripe)
	for text, cause := range map[string]string{
		strconv.FormatInt(now.UnixMilli(), 10): receiver.CauseTimestampUnit,
		strconv.FormatInt(now.UnixMicro(), 10): receiver.CauseTimestampUnit,
		"9223372036854775807":                  receiver.CauseTimestampUnit,
		"9223372036854775808":                  receiver.CauseBadTimestamp,
		"99999999999999999999":                 receiver.CauseBadTimestamp,
		"0":                                    receiver.CauseStaleTimestamp,
		"-1":                                   receiver.CauseBadTimestamp,
		"+1700000000":                          receiver.CauseBadTimestamp,
		"01700000000":                          receiver.CauseBadTimestamp,
		"1e9":                                  receiver.CauseBadTimestamp,
		"1700000000.0":                         receiver.CauseBadTimestamp,
		"0x6553f100":                           receiver.CauseBadTimestamp,
		"1_700_000_000":                        receiver.CauseBadTimestamp,
		"١٧٠٠٠٠٠٠٠٠":                           receiver.CauseBadTimestamp,
		" 1700000000":                          receiver.CauseBadTimestamp,
		"1700000000 ":                          receiver.CauseBadTimestamp,
		"":                                     receiver.CauseBadTimestamp,
		"Infinity":                             receiver.CauseBadTimestamp,
	} {
		status := 400
		if cause == receiver.CauseStaleTimestamp {
			status = 401
		}
		signature := hex.EncodeToString(macOf(sha256.New, key, text+"."+bodyFor))
		header := http.Header{}
		header.Set("Stripe-Signature", "t="+text+",v1="+signature)
		t.Run(text, func(t *testing.T) {
			expectCause(t, s, secretsOf(key), &Request{Header: header, Body: []byte(bodyFor)}, cause, status)
		})
	}
}

func TestB12MillisecondsWhereTheSchemeHasThem(t *testing.T) {
	s := preset(t, scheme.Slack)
	s.Timestamp.Unit = scheme.Milliseconds
	expectAccepted(t, s, secretsOf(key), signedRequest(t, s, bodyFor, now.Add(tolerance), key))
	expectCause(t, s, secretsOf(key), signedRequest(t, s, bodyFor, now.Add(tolerance+time.Millisecond), key), receiver.CauseFutureTimestamp, 401)
	expectCause(t, s, secretsOf(key), signedRequest(t, s, bodyFor, now.Add(-tolerance-time.Millisecond), key), receiver.CauseStaleTimestamp, 401)
	s.Timestamp.Unit = scheme.Seconds
	r := signedRequest(t, s, bodyFor, now, key)
	s.Timestamp.Unit = scheme.Milliseconds
	expectCause(t, s, secretsOf(key), r, receiver.CauseTimestampUnit, 400)
}

func TestToleranceIsNeverOff(t *testing.T) {
	s := preset(t, scheme.Paymos)
	for _, none := range []time.Duration{0, -time.Hour} {
		if _, err := Verify(s, secretsOf(key), signedRequest(t, s, paymosBody, now, key), now, none); err != nil {
			t.Errorf("the same second: %v", err)
		}
		if _, err := Verify(s, secretsOf(key), signedRequest(t, s, paymosBody, now.Add(-time.Second), key), now, none); err == nil {
			t.Error("a tolerance of zero or less must not switch the check off")
		}
	}
}

func TestB15SeveralSignatures(t *testing.T) {
	other := []byte("whsec_another_secret")
	for name, s := range everyScheme(t) {
		if s.Signature.Separator == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for _, order := range [][][]byte{{other, key}, {key, other}, {other, other, key, other}} {
				got := expectAccepted(t, s, secretsFor(s, key), sampleRequest(t, s, now, order...))
				if got.Fingerprint != string(key) {
					t.Errorf("matched %q", got.Fingerprint)
				}
				expectAccepted(t, s, secretsFor(s, oldKey, key), sampleRequest(t, s, now, order...))
			}
			expectCause(t, s, secretsFor(s, key), sampleRequest(t, s, now, other, oldKey), receiver.CauseBadSignature, 401)
		})
	}
}

func TestB15TooManySignatures(t *testing.T) {
	s := preset(t, scheme.GitHub)
	keys := make([][]byte, maxElements)
	for i := range keys {
		keys[i] = []byte("key number " + strconv.Itoa(i))
	}
	r := signedRequest(t, s, bodyFor, now, keys...)
	expectAccepted(t, s, secretsOf(keys[maxElements-1]), r)
	r = signedRequest(t, s, bodyFor, now, slices.Concat(keys, [][]byte{key})...)
	expectCause(t, s, secretsOf(key), r, receiver.CauseMalformedHeader, 400)
}

func TestB16SignatureWriting(t *testing.T) {
	s := preset(t, scheme.GitHub)
	r := signedRequest(t, s, bodyFor, now, key)
	good := strings.TrimPrefix(r.Header.Get("X-Hub-Signature-256"), "sha256=")
	raw, err := hex.DecodeString(good)
	if err != nil {
		t.Fatal(err)
	}
	for value, cause := range map[string]string{
		"sha256=" + good:                                   "",
		"sha256=" + strings.ToUpper(good):                  "",
		"sha256= " + good:                                  receiver.CauseBadSignature,
		"sha256=\t" + good:                                 receiver.CauseBadSignature,
		"sha256=" + good + " ":                             receiver.CauseBadSignature,
		"sha256=0x" + good:                                 receiver.CauseBadSignature,
		"sha256=\"" + good + "\"":                          receiver.CauseBadSignature,
		"sha256=" + base64.StdEncoding.EncodeToString(raw): receiver.CauseBadSignature,
		" sha256=" + good:                                  receiver.CauseMissingSignature,
		"SHA256=" + good:                                   receiver.CauseMissingSignature,
		"sha256:" + good:                                   receiver.CauseMissingSignature,
		good:                                               receiver.CauseMissingSignature,
	} {
		r.Header.Set("X-Hub-Signature-256", value)
		if _, err := Verify(s, secretsOf(key), r, now, tolerance); causeOf(t, err) != cause {
			t.Errorf("%q: got %v, want %q", value, err, cause)
		}
	}
}

func TestB18TheSenderDoesNotChooseTheAlgorithm(t *testing.T) {
	s := preset(t, scheme.GitHub)
	weak := hex.EncodeToString(macOf(sha1.New, key, bodyFor))
	r := signedRequest(t, s, bodyFor, now, key)
	r.Header.Set("X-Hub-Signature-256", "sha1="+weak)
	expectCause(t, s, secretsOf(key), r, receiver.CauseMissingSignature, 401)
	r.Header.Set("X-Hub-Signature-256", "sha256="+weak)
	expectCause(t, s, secretsOf(key), r, receiver.CauseBadSignature, 401)
	strong := hex.EncodeToString(macOf(sha512.New, key, bodyFor))
	r.Header.Set("X-Hub-Signature-256", "sha512="+strong)
	expectCause(t, s, secretsOf(key), r, receiver.CauseMissingSignature, 401)
}

func TestB19OnlyTheLegacyHeader(t *testing.T) {
	s := preset(t, scheme.GitHub)
	r := signedRequest(t, s, bodyFor, now, key)
	r.Header.Set("X-Hub-Signature", strings.Replace(r.Header.Get("X-Hub-Signature-256"), "sha256", "sha1", 1))
	r.Header.Del("X-Hub-Signature-256")
	expectCause(t, s, secretsOf(key), r, receiver.CauseMissingHeader, 401)
}

func TestB20MissingOrBlankHeader(t *testing.T) {
	for name, s := range everyScheme(t) {
		if s.Signature.Header == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for _, value := range []string{"", "   ", "\t"} {
				r := sampleRequest(t, s, now, key)
				r.Header.Set(s.Signature.Header, value)
				expectCause(t, s, secretsFor(s, key), r, receiver.CauseMissingHeader, 401)
				if s.Timestamp != nil && !strings.EqualFold(s.Timestamp.Header, s.Signature.Header) {
					r = sampleRequest(t, s, now, key)
					r.Header.Set(s.Timestamp.Header, value)
					expectCause(t, s, secretsFor(s, key), r, receiver.CauseMissingHeader, 401)
				}
			}
			r := sampleRequest(t, s, now, key)
			r.Header.Del(s.Signature.Header)
			expectCause(t, s, secretsFor(s, key), r, receiver.CauseMissingHeader, 401)
		})
	}
}

func TestB21HeaderNamesHaveNoCase(t *testing.T) {
	s := preset(t, scheme.GitHub)
	r := signedRequest(t, s, bodyFor, now, key)
	for _, name := range []string{"x-hub-signature-256", "X-HUB-SIGNATURE-256", "x-HUB-signature-256"} {
		s.Signature.Header = name
		s.EventID[0].Header = strings.ToLower(s.EventID[0].Header)
		expectAccepted(t, s, secretsOf(key), r)
	}
	p := preset(t, scheme.Paymos)
	r = signedRequest(t, p, paymosBody, now, key)
	p.Timestamp.Header, p.Signature.Header = "x-webhook-signature", "X-WEBHOOK-SIGNATURE"
	expectAccepted(t, p, secretsOf(key), r)
}

func TestB23And24RawBytesAreSigned(t *testing.T) {
	s := preset(t, scheme.GitHub)
	for _, body := range []string{
		`{"t":"😊 Plaça \u2028"}`,
		`{"body":"Foo\n\u001B[34mbar: \u2665 \u001b[0m"}`,
		"{ \"a\" : 1 }\n", "\xff\xfe not UTF-8 \x00", "", " ",
	} {
		expectAccepted(t, s, secretsOf(key), signedRequest(t, s, body, now, key))
		r := signedRequest(t, s, body, now, key)
		r.Body = append(r.Body, '\n')
		expectCause(t, s, secretsOf(key), r, receiver.CauseBadSignature, 401)
	}
}
