// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/doctor"
	"github.com/hookonce/hookonce/receiver/verify"
)

var now = time.Unix(1_700_000_000, 0)

const (
	eventBody = `{"event_id":"evt_1","id":"evt_1","event_type":"invoice.paid","type":"invoice.paid",` +
		`"data":{"invoice_id":"inv_1","id":"inv_1","note":"Plaça <b> a/b ☃","amount":1.50}}`
	hexText    = "6b6579206f662061206861736820696e2068657861646563696d616c"
	publicURL  = "https://hooks.example.com/webhooks/payments"
	rawText    = "a-signing-secret-of-somebody"
	whsecText  = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	svixOfText = "whsec_dGhpcyBpcyBhIGtleSBvZiAzMiBieXRlcy4uLi4uLi4="
)

// fixture is a delivery before it was sent, and what the receiver has.
type fixture struct {
	t *testing.T
	// sender's scheme, key and body.
	scheme scheme.Scheme
	key    []byte
	body   string
	at     time.Time
	url    string
	// c is what the receiver has; its request is filled in when it was signed.
	c doctor.Case
}

func newFixture(t *testing.T, name, secret string) *fixture {
	t.Helper()
	s, found := scheme.Preset(name)
	if !found {
		t.Fatalf("there is no preset %s", name)
	}
	key, err := s.Key.Decode([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{t: t, scheme: s.Clone(), key: key, body: eventBody, at: now, url: publicURL, c: doctor.Case{
		Scheme: s, Secrets: []doctor.Secret{{Text: []byte(secret)}}, Now: now, Tolerance: 5 * time.Minute,
	}}
}

// send signs and delivers.
func (f *fixture) send() {
	f.t.Helper()
	draft := verify.Draft{EventID: "evt_1", EventType: "invoice.paid", Body: []byte(f.body), URL: f.url}
	header, err := verify.Sign(f.scheme, [][]byte{f.key}, draft, f.at)
	if err != nil {
		f.t.Fatal(err)
	}
	f.c.Request = &receiver.Request{Method: "POST", URL: publicURL, Header: header, Body: []byte(f.body)}
}

func (f *fixture) secret(edit func(string) string) {
	f.c.Secrets[0].Text = []byte(edit(string(f.c.Secrets[0].Text)))
}

func (f *fixture) received(edit func(string) string) {
	f.c.Request.Body = []byte(edit(string(f.c.Request.Body)))
}

func (f *fixture) header(edit func(string) string) {
	name := f.scheme.Signature.Header
	f.c.Request.Header.Set(name, edit(f.c.Request.Header.Get(name)))
}

// fault is one thing that goes wrong, and what the doctor must call it.
type fault struct {
	name         string
	scheme, text string
	// before and after it is sent.
	sender, network func(f *fixture)
	want            string
}

func TestEachFaultIsFound(t *testing.T) {
	for _, test := range faults {
		t.Run(test.name, func(t *testing.T) {
			f := newFixture(t, test.scheme, test.text)
			if test.sender != nil {
				test.sender(f)
			}
			f.send()
			if test.network != nil {
				test.network(f)
			}
			got := doctor.Diagnose(f.c, verify.Verify)
			if got.Verifies || len(got.Findings) != 1 || got.Findings[0].Name != test.want {
				t.Fatalf("got %+v, want %s alone", got, test.want)
			}
			tellsNoSecret(t, f, got)
			if len(got.Findings[0].Message) < 20 || got.Explanation == "" {
				t.Errorf("got %+v, which says too little", got)
			}
		})
	}
}

// TestEveryHypothesisHasAFault: one that no test makes true may as well not be there.
func TestEveryHypothesisHasAFault(t *testing.T) {
	tested := map[string]bool{}
	for _, test := range faults {
		tested[test.want] = true
	}
	for _, h := range doctor.Hypotheses {
		if !tested[h.Name] {
			t.Errorf("no fault has the name %s", h.Name)
		}
	}
}

func tellsNoSecret(t *testing.T, f *fixture, d doctor.Diagnosis) {
	t.Helper()
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	hidden := []string{string(f.key), hex.EncodeToString(f.key), base64.StdEncoding.EncodeToString(f.key), rawText, whsecText, hexText, svixOfText}
	for _, secret := range f.c.Secrets {
		hidden = append(hidden, strings.TrimSpace(string(secret.Text)))
	}
	for _, secret := range hidden {
		if len(secret) > 3 && strings.Contains(string(text), secret) {
			t.Errorf("the diagnosis tells a secret: %s", text)
		}
	}
}

func TestWhatVerifies(t *testing.T) {
	f := newFixture(t, scheme.Paymos, rawText)
	f.send()
	want := doctor.Diagnosis{
		Verifies: true, Explanation: "the signature holds, and the event can be read",
		Findings: []doctor.Finding{}, Notes: []string{}, Tried: []string{},
	}
	if diff := cmp.Diff(want, doctor.Diagnose(f.c, verify.Verify)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	f.c.Secrets = append([]doctor.Secret{{Text: []byte("another-signing-secret")}}, f.c.Secrets...)
	got := doctor.Diagnose(f.c, verify.Verify)
	if !got.Verifies || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "secret 1") {
		t.Errorf("got %+v, want a note on the order of the secrets", got)
	}
}

func TestHopelessCases(t *testing.T) {
	f := newFixture(t, scheme.Paymos, rawText)
	f.key = []byte("a-secret-that-nobody-has")
	f.send()
	got := doctor.Diagnose(f.c, verify.Verify)
	if got.Verifies || len(got.Findings) > 0 || len(got.Tried) != len(doctor.Hypotheses) || got.Reason != receiver.CauseBadSignature {
		t.Errorf("got %+v, want everything tried and nothing found", got)
	}
	f.c.Secrets[0].Text = nil
	if got := doctor.Diagnose(f.c, verify.Verify); got.Reason != receiver.CauseNoSecret || len(got.Notes) != 1 {
		t.Errorf("got %+v, want a note on the empty secret", got)
	}
}

// TestAnOldCaptureHidesNothing: a request that was captured long ago has its other fault found too.
func TestAnOldCaptureHidesNothing(t *testing.T) {
	f := newFixture(t, scheme.Paymos, rawText)
	f.send()
	f.received(func(body string) string { return body + "\n" })
	f.c.Now = now.Add(25 * time.Hour)
	got := doctor.Diagnose(f.c, verify.Verify)
	if len(got.Findings) != 1 || got.Findings[0].Name != "BodyTrailingNewline" || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "90000 s in the past") {
		t.Errorf("got %+v", got)
	}
}

func TestContentIsNoFaultOfTheSignature(t *testing.T) {
	f := newFixture(t, scheme.Paymos, rawText)
	f.body = `{"event_id":`
	f.send()
	got := doctor.Diagnose(f.c, verify.Verify)
	if got.Verifies || got.Reason != receiver.CauseMalformedBody || len(got.Findings) > 0 || len(got.Notes) != 1 {
		t.Errorf("got %+v, want a note that the signature holds", got)
	}
}

func TestWrongProviderIsNamed(t *testing.T) {
	f := newFixture(t, scheme.Stripe, "whsec_"+rawText)
	f.send()
	f.c.Scheme, _ = scheme.Preset(scheme.Paymos)
	got := doctor.Diagnose(f.c, verify.Verify)
	if len(got.Findings) != 1 || !strings.Contains(got.Findings[0].Message, "scheme Stripe") {
		t.Errorf("got %+v, want the scheme Stripe", got)
	}
	f.c.Secrets[0].Text = []byte("another-signing-secret")
	got = doctor.Diagnose(f.c, verify.Verify)
	if len(got.Findings) != 0 || !strings.Contains(fmt.Sprint(got.Notes), "Stripe-Signature, which Stripe sends") {
		t.Errorf("got %+v, want a note on the scheme Stripe", got)
	}
}
