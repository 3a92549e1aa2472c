// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// handshakeVector is one case of testdata/vectors/handshakes.json.
type handshakeVector struct {
	Name     string            `json:"name"`
	Secrets  []string          `json:"secrets"`
	Headers  map[string]string `json:"headers"`
	Body     string            `json:"body"`
	Request  string            `json:"request"`
	Response json.RawMessage   `json:"response"`
}

func TestHandshakeVectors(t *testing.T) {
	var file struct{ Vectors []handshakeVector }
	load(t, "handshakes", &file)
	runs := map[string]func(*testing.T, handshakeVector){
		"zoom_url_validation":    zoomURLValidation,
		"zoom_signature":         zoomSignature,
		"slack_url_verification": slackURLVerification,
		"meta_hub_challenge":     metaHubChallenge,
		"cloudevents_options":    cloudEventsOptions,
		// Braintree signs with SHA-1 of a private key over XML and is no preset.
		"braintree_bt_challenge": func(*testing.T, handshakeVector) {},
	}
	if len(file.Vectors) != 6 {
		t.Errorf("%d cases, want 6", len(file.Vectors))
	}
	for _, v := range file.Vectors {
		run := runs[v.Name]
		if run == nil {
			t.Errorf("%s is not run", v.Name)
			continue
		}
		t.Run(v.Name, func(t *testing.T) { run(t, v) })
	}
}

// handshakeOf signs a body, verifies it, and returns the answer to the handshake that it must be.
func handshakeOf(t *testing.T, s scheme.Scheme, body string, secrets []receiver.Secret, signedWith []byte) *receiver.Reply {
	t.Helper()
	got, err := Verify(s, secrets, signedRequest(t, s, body, now, signedWith), now, tolerance)
	if err != nil || got.Handshake == nil || len(got.Events) > 0 || got.Fingerprint != string(signedWith) {
		t.Fatalf("got %+v, %v; want a handshake", got, err)
	}
	return got.Handshake
}

func zoomURLValidation(t *testing.T, v handshakeVector) {
	s := preset(t, scheme.Zoom)
	got := handshakeOf(t, s, v.Request, secretsOf(oldKey, []byte(v.Secrets[0])), []byte(v.Secrets[0]))
	var want, answer map[string]string
	if json.Unmarshal(v.Response, &want) != nil || json.Unmarshal(got.Body, &answer) != nil || !cmp.Equal(answer, want) {
		t.Errorf("got %s, want %s", got.Body, v.Response)
	}
	if got.Status != 200 || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("got %+v", got)
	}
}

func zoomSignature(t *testing.T, v handshakeVector) {
	s := preset(t, scheme.Zoom)
	r := &Request{Method: http.MethodPost, Header: http.Header{}, Body: []byte(v.Body)}
	for name, value := range v.Headers {
		r.Header.Set(name, value)
	}
	seconds, err := strconv.ParseInt(v.Headers["x-zm-request-timestamp"], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Verify(s, secretsOf([]byte(v.Secrets[0])), r, time.Unix(seconds, 0), tolerance)
	if err != nil || only(got).EventType != "meeting.started" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func slackURLVerification(t *testing.T, v handshakeVector) {
	got := handshakeOf(t, preset(t, scheme.Slack), v.Request, secretsOf(key), key)
	var response string
	if err := json.Unmarshal(v.Response, &response); err != nil {
		t.Fatal(err)
	}
	if want, _, _ := strings.Cut(response, " "); string(got.Body) != want || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/plain") {
		t.Errorf("got %q, want %q", got.Body, want)
	}
}

func metaHubChallenge(t *testing.T, v handshakeVector) {
	s := preset(t, scheme.Meta)
	method, url, _ := strings.Cut(v.Request, " ")
	r := &Request{Method: method, URL: url}
	expectBadHandshake(t, s, r) // the preset has no token: nobody may subscribe
	s.Handshakes[0].VerifyToken = "meatyhamhock"
	got, err := Challenge(s, r)
	if err != nil || string(got.Body) != "1158201444" || got.Status != 200 || got.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func cloudEventsOptions(t *testing.T, v handshakeVector) {
	s := scheme.Scheme{Handshakes: []scheme.Handshake{{Kind: scheme.OriginConsent, Origins: []string{"eventemitter.example.com"}}}}
	parts := strings.Split(v.Request, "; ")
	method, url, _ := strings.Cut(parts[0], " ")
	r := &Request{Method: method, URL: url, Header: http.Header{}}
	for _, header := range parts[1:] {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	got, err := Challenge(s, r)
	if err != nil || got.Status != 200 || got.Header.Get("Allow") != "POST" || got.Header.Get("WebHook-Allowed-Rate") != "120" ||
		got.Header.Get("WebHook-Allowed-Origin") != "eventemitter.example.com" {
		t.Errorf("got %+v, %v", got, err)
	}
	s.Handshakes[0].Origins = []string{"other.example.com"}
	expectBadHandshake(t, s, r)
}

func expectBadHandshake(t *testing.T, s scheme.Scheme, r *Request) {
	t.Helper()
	got, err := Challenge(s, r)
	if err == nil || got != nil {
		t.Errorf("%s %.80q: answered with %+v, %v", r.Method, r.URL, got, err)
		return
	}
	if found := rejectionOf(t, err); found.Cause != receiver.CauseBadHandshake || found.Status != 403 {
		t.Errorf("got %+v", found)
	}
}

func TestChallengeRefuses(t *testing.T) {
	meta, dropbox := preset(t, scheme.Meta), preset(t, scheme.Dropbox)
	meta.Handshakes[0].VerifyToken = "token"
	for name, test := range map[string]struct {
		s   scheme.Scheme
		url string
	}{
		"no query":            {meta, "/hook"},
		"another mode":        {meta, "?hub.mode=unsubscribe&hub.challenge=1&hub.verify_token=token"},
		"another token":       {meta, "?hub.mode=subscribe&hub.challenge=1&hub.verify_token=tokem"},
		"no token":            {meta, "?hub.mode=subscribe&hub.challenge=1"},
		"the token's start":   {meta, "?hub.mode=subscribe&hub.challenge=1&hub.verify_token=toke"},
		"two tokens":          {meta, "?hub.mode=subscribe&hub.challenge=1&hub.verify_token=token&hub.verify_token=x"},
		"no challenge":        {meta, "?hub.mode=subscribe&hub.verify_token=token"},
		"blank in it":         {meta, "?hub.mode=subscribe&hub.challenge=a%20b&hub.verify_token=token"},
		"line break in it":    {meta, "?hub.mode=subscribe&hub.challenge=a%0d%0aSet-Cookie:x&hub.verify_token=token"},
		"no escape":           {meta, "?hub.mode=subscribe&hub.challenge=%zz&hub.verify_token=token"},
		"nobody's token":      {preset(t, scheme.Meta), "?hub.mode=subscribe&hub.challenge=1&hub.verify_token="},
		"nobody's, and none":  {preset(t, scheme.Meta), "?hub.mode=subscribe&hub.challenge=1"},
		"echo: none":          {dropbox, "?x=1"},
		"echo: empty":         {dropbox, "?challenge="},
		"echo: twice":         {dropbox, "?challenge=a&challenge=b"},
		"echo: not ASCII":     {dropbox, "?challenge=%c3%bc"},
		"echo: too long":      {dropbox, "?challenge=" + strings.Repeat("a", maxChallenge+1)},
		"echo: endless query": {dropbox, "?challenge=a&x=" + strings.Repeat("a", maxQuery)},
	} {
		t.Run(name, func(t *testing.T) { expectBadHandshake(t, test.s, &Request{Method: http.MethodGet, URL: test.url}) })
	}
	got, err := Challenge(dropbox, &Request{Method: http.MethodGet, URL: "/hook?challenge=" + strings.Repeat("a", maxChallenge)})
	if err != nil || len(got.Body) != maxChallenge {
		t.Errorf("the longest challenge: %v", err)
	}
}

func TestConsentRefuses(t *testing.T) {
	s := scheme.Scheme{Handshakes: []scheme.Handshake{{Kind: scheme.OriginConsent, Origins: []string{"a.example.com"}}}}
	for name, header := range map[string]http.Header{
		"no origin":      {},
		"another origin": {requestOrigin: {"b.example.com"}},
		"two origins":    {requestOrigin: {"a.example.com", "b.example.com"}},
		"no rate":        {requestOrigin: {"a.example.com"}, requestRate: {"fast"}},
		"zero":           {requestOrigin: {"a.example.com"}, requestRate: {"0"}},
		"two rates":      {requestOrigin: {"a.example.com"}, requestRate: {"1", "2"}},
	} {
		t.Run(name, func(t *testing.T) { expectBadHandshake(t, s, &Request{Method: http.MethodOptions, Header: header}) })
	}
	s.Handshakes[0].Origins = []string{"*"}
	r := &Request{Method: http.MethodOptions, Header: http.Header{requestOrigin: {"any.example.com"}}}
	if got, err := Challenge(s, r); err != nil || got.Header[allowedOrigin][0] != "any.example.com" || got.Header[allowedRate][0] != "*" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestMethods: and what a scheme does not want is nobody's handshake.
func TestMethods(t *testing.T) {
	want := map[string][]string{scheme.Meta: {"GET"}, scheme.Dropbox: {"GET"}}
	for name, s := range everyScheme(t) {
		if got := Methods(s); !slices.Equal(got, want[name]) {
			t.Errorf("%s: %v, want %v", name, got, want[name])
		}
		for _, method := range []string{"GET", "OPTIONS", "HEAD", "PUT", "POST"} {
			got, err := Challenge(s, &Request{Method: method, URL: "/hook?challenge=a", Header: http.Header{}})
			if !slices.Contains(want[name], method) && (got != nil || err != nil) {
				t.Errorf("%s %s: got %+v, %v", name, method, got, err)
			}
		}
	}
	both := scheme.Scheme{Handshakes: []scheme.Handshake{{Kind: scheme.OriginConsent}, {Kind: scheme.EchoChallenge}}}
	if got := Methods(both); !slices.Equal(got, []string{"GET", "OPTIONS"}) {
		t.Errorf("got %v", got)
	}
}

func TestPing(t *testing.T) {
	s := preset(t, scheme.GitHub)
	r := signedRequest(t, s, `{"zen":"Keep it logically awesome."}`, now, key)
	r.Header.Set("X-Github-Event", "ping")
	got, err := Verify(s, secretsOf(key), r, now, tolerance)
	if err != nil || got.Handshake == nil || got.Handshake.Status != 200 || len(got.Events) != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	expectCause(t, s, secretsOf(oldKey), r, receiver.CauseBadSignature, 401)
}

// TestHandshakesAreSigned: an unsigned challenge is no reason to answer, and a broken one is no event.
func TestHandshakesAreSigned(t *testing.T) {
	slack, zoom := preset(t, scheme.Slack), preset(t, scheme.Zoom)
	expectCause(t, slack, secretsOf(oldKey), signedRequest(t, slack, `{"type":"url_verification","challenge":"c"}`, now, key), receiver.CauseBadSignature, 401)
	for _, challenge := range []string{`""`, `null`, `1`, `{}`, `"a b"`, `"\u0000"`, `"ü"`, `"` + strings.Repeat("a", maxChallenge+1) + `"`} {
		r := signedRequest(t, slack, `{"type":"url_verification","challenge":`+challenge+`}`, now, key)
		expectCause(t, slack, secretsOf(key), r, receiver.CauseMalformedBody, 400)
		r = signedRequest(t, zoom, `{"event":"endpoint.url_validation","payload":{"plainToken":`+challenge+`}}`, now, key)
		expectCause(t, zoom, secretsOf(key), r, receiver.CauseMalformedBody, 400)
	}
	r := signedRequest(t, slack, `{"type":"url_verification","challenge":"a","challenge":"b"}`, now, key)
	expectCause(t, slack, secretsOf(key), r, receiver.CauseMalformedBody, 400)
}

// FuzzChallenge: what is given back was asked for, is visible ASCII, and is plain text.
func FuzzChallenge(f *testing.F) {
	f.Add("/hook?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=meatyhamhock")
	f.Add("?challenge=abc%0a")
	meta, _ := scheme.Preset(scheme.Meta)
	meta.Handshakes[0].VerifyToken = "meatyhamhock"
	dropbox, _ := scheme.Preset(scheme.Dropbox)
	f.Fuzz(func(t *testing.T, at string) {
		for _, s := range []scheme.Scheme{meta, dropbox} {
			got, err := Challenge(s, &Request{Method: http.MethodGet, URL: at})
			if (got == nil) != (err != nil) {
				t.Fatalf("%q: got %+v, %v", at, got, err)
			}
			if got != nil && (!isEcho(string(got.Body)) || !strings.HasPrefix(got.Header.Get("Content-Type"), "text/plain")) {
				t.Fatalf("%q: got %+v", at, got)
			}
			if s.Name == scheme.Meta && got != nil && !strings.Contains(at, "hub.verify_token=") && !strings.Contains(at, "%") {
				t.Fatalf("%q: answered without a token", at)
			}
		}
	})
}
