// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// formOf is the payload of the only event of a signed form.
func formOf(t *testing.T, s scheme.Scheme, body string) (receiver.VerifiedEvent, string) {
	t.Helper()
	got, err := Verify(s, secretsOf(key), signedRequest(t, s, body, now, key), now, tolerance)
	if err != nil {
		return receiver.VerifiedEvent{}, causeOf(t, err)
	}
	if len(got.Events) != 1 || string(got.Events[0].Body) != body {
		t.Fatalf("got %+v", got)
	}
	return got.Events[0], ""
}

func TestB32FormsOfGitHub(t *testing.T) {
	s := preset(t, scheme.GitHub)
	for body, want := range map[string]string{
		"payload=%7B%22a%22%3A1%7D":                          `{"a":1}`,
		"a=1&payload=%7B%22a%22%3A+%22%2B+%26%22%7D&b":       `{"a": "+ &"}`,
		"payload=%7B%22a%22%3A%22%F0%9F%98%8A%5Cu0000%22%7D": `{"a":"😊\u0000"}`,
		`{"payload":1}`:    "",
		"\n [1]":           "",
		"Hello, World!":    "",
		"a=1":              "",
		"":                 "",
		"xpayload=1":       "",
		"payload[]=%7B%7D": "",
	} {
		if got, cause := formOf(t, s, body); cause != "" || string(got.Payload) != want || (got.Payload == nil) != (want == "") {
			t.Errorf("%q: got %q, %q; want %q", body, got.Payload, cause, want)
		}
	}
	for _, body := range []string{
		"payload=%7B%7D&payload=%7B%7D", "payload=%7B%7D&pay%6coad=1", "payload=%7B", "payload=", "payload=%zz", "payload=%7B%7D;a=1",
		"payload=%7B%7D%7B%7D", strings.Repeat("a&", maxFields) + "payload=1",
	} {
		if got, cause := formOf(t, s, body); cause != receiver.CauseMalformedBody {
			t.Errorf("%.40q: got %+v, %q", body, got, cause)
		}
	}
}

// TestContentTypeDecidesNothing: it is not signed.
func TestContentTypeDecidesNothing(t *testing.T) {
	s := preset(t, scheme.GitHub)
	for body, want := range map[string]string{"payload=%7B%7D": "{}", `{"payload":1}`: ""} {
		for _, contentType := range []string{"", "application/json", "application/x-www-form-urlencoded", "text/plain"} {
			r := signedRequest(t, s, body, now, key)
			r.Header.Set("Content-Type", contentType)
			got, err := Verify(s, secretsOf(key), r, now, tolerance)
			if err != nil || string(got.Events[0].Payload) != want {
				t.Errorf("%q as %q: got %+v, %v", body, contentType, got, err)
			}
		}
	}
}

func TestFormsOfSlack(t *testing.T) {
	s := preset(t, scheme.Slack)
	got, cause := formOf(t, s, "command=%2Fdeploy&text=now+%22please%22&trigger_id=13345224609.738474920.8088930838d88f008e0")
	if cause != "" || got.ID != "13345224609.738474920.8088930838d88f008e0" || got.Type != "/deploy" ||
		string(got.Payload) != `{"command":"/deploy","text":"now \"please\"","trigger_id":"13345224609.738474920.8088930838d88f008e0"}` {
		t.Errorf("command: got %+v %s, %q", got, got.Payload, cause)
	}
	got, cause = formOf(t, s, "payload="+url.QueryEscape(`{"type":"block_actions","trigger_id":"t1"}`))
	if cause != "" || got.ID != "t1" || got.Type != "block_actions" || string(got.Payload) != `{"type":"block_actions","trigger_id":"t1"}` {
		t.Errorf("interaction: got %+v, %q", got, cause)
	}
	got, cause = formOf(t, s, `{"type":"event_callback","event_id":"Ev1","event":{"type":"app_mention"}}`)
	if cause != "" || got.ID != "Ev1" || got.Type != "app_mention" || got.Payload != nil {
		t.Errorf("event: got %+v, %q", got, cause)
	}
}

func TestFormObject(t *testing.T) {
	for body, want := range map[string]string{
		"":                     `{}`,
		"a=1&b=2":              `{"a":"1","b":"2"}`,
		"b=2&a=1":              `{"b":"2","a":"1"}`,
		"a=1&b=2&a=3":          `{"a":["1","3"],"b":"2"}`,
		"a&=b":                 `{"a":"","":"b"}`,
		"a=%00%1f%22%5c":       `{"a":"\u0000\u001f\"\\"}`,
		"a=%ff&%fe=1":          "{\"a\":\"\ufffd\",\"\ufffd\":\"1\"}",
		"a=%F0%9F%98%8A&a=b=c": `{"a":["😊","b=c"]}`,
	} {
		fields, ok := parseForm(body)
		if got := formObject(fields); !ok || string(got) != want || !json.Valid(got) {
			t.Errorf("%q: got %s, want %s", body, got, want)
		}
	}
}

// TestTwilioSaysTheSame: bodies and URLs that have one signature have one id, or one captured request would be many events.
func TestTwilioSaysTheSame(t *testing.T) {
	s := preset(t, scheme.Twilio)
	const form = "Body=a+b&From=%2B1415&MessageSid=SM1&MessageStatus=sent"
	r := signedRequest(t, s, form, now, key)
	want := expectAccepted(t, s, secretsOf(key), r)
	if len(want.EventID) != 64 || want.EventType != "sent" || want.ResourceID != "SM1" {
		t.Errorf("got %+v", want)
	}
	for _, body := range []string{
		"Body=a%20b&From=%2B1415&MessageSid=SM1&MessageStatus=sent",
		"MessageStatus=sent&MessageSid=SM1&From=%2b1415&Body=a+b",
		form + "&MessageSid=SM1", "&" + form + "&&",
		"B=odya+b&From=%2B1415&MessageSid=SM1&MessageStatus=sent",
	} {
		again := clone(r)
		again.Body = []byte(body)
		got, err := Verify(s, secretsOf(key), again, now, tolerance)
		if cause := causeOf(t, err); cause == receiver.CauseBadResourceID {
			continue // MessageSid is there twice
		}
		if err != nil || got.Events[0].ID != want.EventID {
			t.Errorf("%q: got %+v, %v; want the id %s", body, got, err, want.EventID)
		}
	}
	for _, at := range []string{"https://hooks.example.com:443/hook", "https://hooks.example.com:8443/hook"} {
		r.URL = at
		if got := expectAccepted(t, s, secretsOf(key), r); got.EventID != want.EventID {
			t.Errorf("%s: got %+v", at, got)
		}
	}
	r.URL = "https://hooks.example.com/other"
	expectCause(t, s, secretsOf(key), r, receiver.CauseBadSignature, 401)
}

func TestTwilioSignsDigests(t *testing.T) {
	s := preset(t, scheme.Twilio)
	r := signedRequest(t, s, `{"property": "value"}`, now, key)
	if got := expectAccepted(t, s, secretsOf(key), r); len(got.EventID) != 64 {
		t.Errorf("got %+v", got)
	}
	for name, change := range map[string]func(*Request){
		"another body":  func(r *Request) { r.Body = []byte(`{"property": "other"}`) },
		"no digest":     func(r *Request) { r.URL = publicURL },
		"two digests":   func(r *Request) { r.URL += "&" + digestParameter + "=00" },
		"upper case":    func(r *Request) { r.URL = strings.ToUpper(r.URL) },
		"an empty body": func(r *Request) { r.Body = nil },
	} {
		changed := clone(r)
		change(changed)
		t.Run(name, func(t *testing.T) { expectCause(t, s, secretsOf(key), changed, receiver.CauseBadSignature, 401) })
	}
}

func TestPortVariants(t *testing.T) {
	for in, want := range map[string][2]string{
		"https://a.example/x?y=1:2":      {"https://a.example/x?y=1:2", "https://a.example:443/x?y=1:2"},
		"http://a.example":               {"http://a.example", "http://a.example:80"},
		"https://a.example:1234/x":       {"https://a.example/x", "https://a.example:1234/x"},
		"https://[::1]/x":                {"https://[::1]/x", "https://[::1]:443/x"},
		"https://[::1]:8443?x":           {"https://[::1]?x", "https://[::1]:8443?x"},
		"not a URL":                      {"not a URL", ""},
		"https://user:pass@a.example:1/": {"https://user:pass@a.example/", "https://user:pass@a.example:1/"},
	} {
		without, with := portVariants(in)
		if without != want[0] || with != want[1] {
			t.Errorf("%s: got %s and %s", in, without, with)
		}
	}
}

// FuzzForm: what is read of a form is what net/url reads, in order, and its JSON is JSON.
func FuzzForm(f *testing.F) {
	for _, file := range []string{"twilio", "slack", "github"} {
		for _, v := range vectors(f, file) {
			f.Add([]byte(v.Body))
		}
	}
	f.Add([]byte("a=1&a=2&%zz=1&b=%ff&;"))
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		fields, ok := parseForm(string(body))
		theirs, err := url.ParseQuery(string(body))
		if ok && err != nil {
			t.Fatalf("%q was read, and net/url says %v", body, err)
		}
		if !ok {
			return
		}
		count := 0
		for name, values := range theirs {
			count += len(values)
			for i, value := range values {
				if nth(fields, name, i) != value {
					t.Fatalf("%q: field %q is %q, and net/url has %q", body, name, nth(fields, name, i), value)
				}
			}
		}
		if object := formObject(fields); count != len(fields) || !json.Valid(object) || !bytes.Equal(before, body) {
			t.Fatalf("%q: %d fields of %d, %s", body, len(fields), count, object)
		}
	})
}

func nth(fields []field, name string, n int) string {
	for _, f := range fields {
		if f.name != name {
			continue
		}
		if n == 0 {
			return f.value
		}
		n--
	}
	return ""
}

// FuzzSignedForm: however a form is written, Twilio signs the same of it.
func FuzzSignedForm(f *testing.F) {
	for _, v := range vectors(f, "twilio") {
		form := url.Values{}
		for name, value := range v.Params {
			form.Set(name, value)
		}
		f.Add([]byte(form.Encode()), v.URL)
		f.Add([]byte(v.Body), v.URL)
	}
	f.Fuzz(func(t *testing.T, body []byte, at string) {
		signed, err := signedForm(&Request{URL: at, Body: body})
		if err != nil {
			causeOf(t, err)
			return
		}
		if signed == nil {
			return // nothing is in it, or the URL has its digest
		}
		values, err := url.ParseQuery(string(body))
		if err != nil {
			t.Fatalf("%q was read, and net/url says %v", body, err)
		}
		again, err := signedForm(&Request{URL: at, Body: []byte(values.Encode())})
		if err != nil || !bytes.Equal(signed, again) {
			t.Fatalf("%q: signed as %q, and as %q (%v) when written anew", body, signed, again, err)
		}
	})
}
