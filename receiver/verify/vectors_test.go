// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// vector is one case of testdata/vectors: what providers' own projects publish, or follows from it.
type vector struct {
	Name      string            `json:"name"`
	Secrets   []string          `json:"secrets"`
	Headers   map[string]string `json:"headers"`
	Body      string            `json:"body"`
	URL       string            `json:"url"`
	Params    map[string]string `json:"params"`
	Item      json.RawMessage   `json:"item"`
	Now       int64             `json:"now"`
	Tolerance int64             `json:"tolerance"`
	Expect    string            `json:"expect"`
}

func load(t testing.TB, name string, into any) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", "vectors", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, into); err != nil {
		t.Fatal(err)
	}
}

func vectors(t testing.TB, name string) []vector {
	t.Helper()
	var file struct {
		Vectors []vector `json:"vectors"`
	}
	load(t, name, &file)
	return file.Vectors
}

func preset(t testing.TB, name string) scheme.Scheme {
	t.Helper()
	s, ok := scheme.Preset(name)
	if !ok {
		t.Fatalf("there is no preset %q", name)
	}
	return s
}

// described returns a scheme as a user would describe it.
func described(t testing.TB, s scheme.Scheme) scheme.Scheme {
	t.Helper()
	s = s.WithDefaults()
	if err := scheme.Validate(s); err != nil {
		t.Fatal(err)
	}
	return s
}

var inID = []scheme.Source{{Header: "X-Test-Id"}}

func TestVectors(t *testing.T) {
	for _, file := range []struct {
		name, preset string
		cases        int
	}{
		{"paymos", scheme.Paymos, 10},
		{"standard", scheme.StandardWebhooks, 12},
		{"svix", scheme.Svix, 12},
		{"openai", scheme.OpenAI, 1},
		{"stripe", scheme.Stripe, 7},
		{"github", scheme.GitHub, 7},
		{"shopify", scheme.Shopify, 3},
		{"slack", scheme.Slack, 6},
		{"paddle", scheme.Paddle, 5},
		{"square", scheme.Square, 5},
		{"adyen", scheme.Adyen, 3},
		{"twilio", scheme.Twilio, 9},
	} {
		cases := vectors(t, file.name)
		if len(cases) != file.cases {
			t.Errorf("%s: %d cases, want %d", file.name, len(cases), file.cases)
		}
		for _, v := range cases {
			s := preset(t, file.preset)
			if v.Name == "ed25519_v1a" {
				s = preset(t, scheme.StandardWebhooksEd25519)
				for name, value := range v.Headers {
					v.Headers[strings.Replace(name, "svix-", "webhook-", 1)] = value
				}
			}
			t.Run(file.name+"/"+v.Name, func(t *testing.T) { runVector(t, s, v) })
		}
	}
}

// TestVectorsAreAllRun: a new file of vectors has a test.
func TestVectorsAreAllRun(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "vectors", "*.json"))
	if err != nil || len(files) != 14 {
		t.Errorf("%d files of vectors (%v); 12 are run by TestVectors, then convoy and handshakes", len(files), err)
	}
}

func runVector(t *testing.T, s scheme.Scheme, v vector) {
	secrets, problems := decodeAll(s.Key, v.Secrets)
	// Published bodies of Shopify are no JSON; what is read from them is not what these vectors are about.
	if s.Name == scheme.Shopify && !json.Valid([]byte(v.Body)) {
		s.ResourceID = s.ResourceID[1:]
	}
	r := vectorRequest(t, s, v)
	switch v.Expect {
	case "config_error":
		if len(secrets) > 0 || len(problems) == 0 {
			t.Fatalf("the secrets %q were accepted", v.Secrets)
		}
		return
	case "parse_only":
		verifier := New(s)
		work := verifier.newScratch()
		_, err := verifier.parse(work, verifier.namesIn(r.Header), r.Header)
		if err != nil || len(work.candidates) != verifier.size {
			t.Fatalf("got %d bytes of candidates, %v; want the one v1", len(work.candidates), err)
		}
		return
	case "reject":
		secrets = append(secrets, lax(problems)...)
	}
	got, err := Verify(s, secrets, r, time.Unix(v.Now, 0), time.Duration(v.Tolerance)*time.Second)
	switch {
	case v.Expect == "accept" && err != nil:
		t.Fatalf("rejected: %v", err)
	case v.Expect == "reject" && err == nil:
		t.Fatalf("accepted as %+v", got)
	case v.Expect != "accept" && v.Expect != "reject":
		t.Fatalf("%q is expected, which this test does not know", v.Expect)
	case err == nil && only(got).EventID == "":
		t.Fatal("accepted without an id")
	}
	if cause := causeOf(t, err); cause == receiver.CauseNoSecret || cause == receiver.CauseUnusableScheme || cause == receiver.CauseNoPublicURL {
		t.Fatalf("rejected for another reason than the vector's: %s", cause)
	}
}

// vectorRequest makes a request of a vector.
func vectorRequest(t *testing.T, s scheme.Scheme, v vector) *Request {
	t.Helper()
	r := &Request{Method: http.MethodPost, URL: v.URL, Header: vectorHeader(s, v), Body: []byte(v.Body)}
	if v.Params != nil {
		form := url.Values{}
		for name, value := range v.Params {
			form.Set(name, value)
		}
		r.Body = []byte(form.Encode())
	}
	if v.Item != nil {
		r.Body = []byte(`{"live":"false","notificationItems":[{"NotificationRequestItem":` + string(v.Item) + `}]}`)
	}
	return r
}

// decodeAll decodes secrets as a receiver does, and returns beside them those that the length rule refuses.
func decodeAll(k scheme.Key, texts []string) (secrets []receiver.Secret, refused []string) {
	for _, text := range texts {
		key, err := k.Decode([]byte(text))
		if err != nil {
			refused = append(refused, text)
			continue
		}
		secrets = append(secrets, receiver.Secret{Key: key, Fingerprint: text})
	}
	return secrets, refused
}

// lax turns short secrets into keys, so that a vector that must be rejected is rejected for its signature.
func lax(texts []string) []receiver.Secret {
	var secrets []receiver.Secret
	for _, text := range texts {
		secrets = append(secrets, receiver.Secret{Key: []byte(text), Fingerprint: text})
	}
	return secrets
}

// vectorHeader adds the unsigned id that several published vectors leave out.
func vectorHeader(s scheme.Scheme, v vector) http.Header {
	header := http.Header{}
	for name, value := range v.Headers {
		header.Set(name, value)
	}
	if source := s.EventID[0]; source.Header != "" && header.Get(source.Header) == "" && !s.EventIDSigned {
		header.Set(source.Header, "delivery-1")
	}
	return header
}

// causeOf returns the cause of a rejection; empty for nil.
func causeOf(t testing.TB, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	return rejectionOf(t, err).Cause
}

// rejectionOf fails the test for any other error.
func rejectionOf(t testing.TB, err error) *Rejection {
	t.Helper()
	var rejection *Rejection
	if !errors.As(err, &rejection) {
		t.Fatalf("the error %v is not a *Rejection", err)
	}
	return rejection
}

// TestConvoyVectors covers both modes, three encodings and two algorithms of a scheme described field by field.
func TestConvoyVectors(t *testing.T) {
	var file struct {
		Vectors []struct {
			Name, Hash, Encoding, Secret, Payload, Header string
			Advanced, Valid                               bool
			Tolerance                                     int64
		}
	}
	load(t, "convoy", &file)
	if len(file.Vectors) != 14 {
		t.Fatalf("%d cases, want 14", len(file.Vectors))
	}
	encodings := map[string]scheme.Encoding{"hex": scheme.Hex, "base64": scheme.Base64}
	for _, v := range file.Vectors {
		t.Run(v.Name, func(t *testing.T) {
			s := scheme.Scheme{
				Signature: scheme.Signature{Header: "X-Convoy-Signature", Encoding: encodings[v.Encoding], Algorithm: scheme.Algorithm(v.Hash)},
				EventID:   inID,
			}
			if v.Advanced {
				s.Signature.Separator, s.Signature.Prefix = ",", "v1="
				s.StringToSign, s.Timestamp = "{timestamp},{body}", &scheme.Timestamp{Prefix: "t="}
			}
			s = described(t, s)
			secrets, _ := decodeAll(s.Key, []string{v.Secret})
			header := http.Header{}
			header.Set("X-Convoy-Signature", v.Header)
			header.Set("X-Test-Id", "delivery-1")
			now := time.Unix(1_700_000_000+1000, 0)
			if v.Advanced && v.Hash == "SHA256" && v.Encoding == "hex" {
				s = preset(t, scheme.Convoy)
			}
			_, err := Verify(s, secrets, &Request{Header: header, Body: []byte(v.Payload)}, now, time.Duration(v.Tolerance)*time.Second)
			if (err == nil) != v.Valid {
				t.Errorf("valid: %v, got %v", v.Valid, err)
			}
		})
	}
}

// TestVectorsExtract pins what is read from the published bodies.
func TestVectorsExtract(t *testing.T) {
	for _, test := range []struct {
		file, vector string
		scheme       scheme.Scheme
		want         accepted
	}{
		{"paymos", "two_v1_second_matches", preset(t, scheme.Paymos), says("evt_123", "invoice.paid", "inv_123", "whsec_test_secret")},
		{"paymos", "rotation_receiver_holds_both_single_signature", preset(t, scheme.Paymos), says("evt_123", "invoice.paid", "inv_123", "whsec_old_secret")},
		{"standard", "openai_known_answer", preset(t, scheme.StandardWebhooks), says("wh_685c059ae39c8190af8c71ed1022a24d", "response.completed", "resp_123", "whsec_RdvaYFYUXuIFuEbvZHwMfYFhUf7aMYjYcmM24+Aj40c=")},
		{"stripe", "single_v1", preset(t, scheme.Stripe), says("evt_test_webhook", "", "", "whsec_test_secret")},
		{"github", "octokit_fallback_secret", preset(t, scheme.GitHub), says("delivery-1", "", "", "mysecret")},
		{"paddle", "valid", preset(t, scheme.Paddle), says("evt_01hsdn97563968dy0szkmgjwh3", "price.created", "pri_01hsdn96k2hxjzsq5yerecdj9j", "pdl_ntfset_01hsdn8d43dt7mezr1ef2jtbaw_hKkRiCGyyRhbFwIUuqiTBgI7gnWoV0Gr")},
	} {
		for _, v := range vectors(t, test.file) {
			if v.Name != test.vector {
				continue
			}
			secrets, _ := decodeAll(test.scheme.Key, v.Secrets)
			got, err := Verify(test.scheme, secrets, &Request{Header: vectorHeader(test.scheme, v), Body: []byte(v.Body)}, time.Unix(v.Now, 0), 5*time.Minute)
			if err != nil || only(got) != test.want {
				t.Errorf("%s/%s: got %+v, %v; want %+v", test.file, test.vector, got, err, test.want)
			}
		}
	}
}

func says(id, eventType, resource, fingerprint string) accepted {
	return accepted{EventID: id, EventType: eventType, ResourceID: resource, Fingerprint: fingerprint}
}
