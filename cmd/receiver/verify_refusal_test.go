// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/scheme"
)

// limited is an endpoint that reads bodies of so many bytes; 0 is for the default.
func limited(t *testing.T, most int) string {
	t.Helper()
	limits := ""
	if most > 0 {
		limits = fmt.Sprintf("  limits: {maxBodyBytes: %d}\n", most)
	}
	return writeFile(t, "apiVersion: webhooks.hookonce.dev/v1alpha1\nkind: WebhookEndpoint\nmetadata: {name: payments, namespace: shop}\n"+
		"spec:\n  verification: {scheme: Paymos}\n"+limits)
}

// TestWhatReceiversRefuse: a delivery whose signature holds is judged as the receivers judge it, which refuse some unread.
func TestWhatReceiversRefuse(t *testing.T) {
	paymos, _ := scheme.Preset(scheme.Paymos)
	secret := writeFile(t, captureSecret)
	sized := func(size int) string {
		const frame = `{"event_id":"evt_1","event_type":"a","note":""}`
		return strings.Replace(frame, `""}`, `"`+strings.Repeat("n", size-len(frame))+`"}`, 1)
	}
	for name, test := range map[string]struct {
		most    int
		body    string
		framing []string
		// chunked bodies are not declared.
		chunked bool
		reason  string
	}{
		"Identity":        {0, captureBody, []string{"Content-Encoding: Identity"}, false, ""},
		"BlankEncoding":   {0, captureBody, []string{"Content-Encoding:"}, false, ""},
		"Gzip":            {0, captureBody, []string{"Content-Encoding: gzip"}, false, "unsupported_encoding"},
		"SecondEncoding":  {0, captureBody, []string{"Content-Encoding: identity", "Content-Encoding: br"}, false, "unsupported_encoding"},
		"Largest":         {0, sized(1 << 20), nil, false, ""},
		"TooLarge":        {0, sized(1<<20 + 1), nil, false, "body_too_large"},
		"LargestAllowed":  {2048, sized(2048), nil, false, ""},
		"AboveTheLimit":   {2048, sized(2049), nil, false, "body_too_large"},
		"Chunked":         {2048, sized(2049), []string{"Transfer-Encoding: chunked"}, true, "body_too_large"},
		"DeclaredTooMuch": {2048, captureBody, []string{"Content-Length: 2049"}, false, "body_too_large"},
		"Cut":             {0, captureBody, []string{"Content-Length: 79"}, false, "incomplete_body"},
		"Whole":           {0, captureBody, []string{"Content-Length: 78"}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			in := captured(t, paymos, captureSecret, test.body, "\r\n", test.framing...)
			if test.chunked {
				in += fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(test.body), test.body)
			} else {
				in += test.body
			}
			want := exitOK
			if test.reason != "" {
				want = exitFailed
			}
			flags := []string{"--endpoint", limited(t, test.most), "--secret-file", secret, "--now", "1700000000"}
			code, out, log := feed(t, in, append([]string{"verify"}, flags...)...)
			got := judged(t, out)
			if code != want || cmp.Diff(any(test.reason), got["reason"]) != "" || got["accepted"] != (test.reason == "") {
				t.Errorf("verify: exit code %d, printed %q and %q, want %q", code, out, log, test.reason)
			}
			code, out, _ = feed(t, in, append([]string{"doctor", "-o", "json"}, flags...)...)
			if code != want || judged(t, out)["reason"] != any(test.reason) {
				t.Errorf("doctor: exit code %d, printed %q, want %q", code, out, test.reason)
			}
		})
	}
}

// TestAnotherPathIsNoted: and it is not refused, since a proxy may rewrite paths; nor is it quoted, since some have a token in it.
func TestAnotherPathIsNoted(t *testing.T) {
	paymos, _ := scheme.Preset(scheme.Paymos)
	in := captured(t, paymos, captureSecret, captureBody, "\n") + captureBody
	public := exposed(t, "{url: https://hooks.example.com/public/in}", "scheme: Paymos")
	for name, test := range map[string]struct {
		endpoint, path string
		noted          bool
	}{
		"Same":   {limited(t, 0), "/webhooks/payments", false},
		"Other":  {limited(t, 0), "/webhooks/orders", true},
		"Public": {public, "/public/in", false},
		"Behind": {public, "/webhooks/payments", false},
	} {
		moved := strings.Replace(in, "/webhooks/payments", test.path, 1)
		code, out, log := feed(t, moved, "verify", "--endpoint", test.endpoint, "--secret-file", writeFile(t, captureSecret), "--now", "1700000000")
		noted := strings.Contains(out, "another path than /webhooks/payments: ")
		if code != exitOK || noted != test.noted || test.noted && strings.Contains(out, test.path) {
			t.Errorf("%s: exit code %d, printed %q and %q", name, code, out, log)
		}
	}
}
