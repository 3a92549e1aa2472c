// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver/verify"
)

const (
	captureSecret = "a-signing-secret-of-paymos"
	captureBody   = `{"event_id":"evt_1","event_type":"invoice.paid","data":{"invoice_id":"inv_1"}}`
)

var capturedAt = time.Unix(1_700_000_000, 0)

// manifestOf writes an endpoint's manifest and returns the file's name.
func manifestOf(t *testing.T, verification string) string {
	t.Helper()
	return exposed(t, "{host: hooks.example.com}", verification)
}

// exposed is manifestOf with another exposure.
func exposed(t *testing.T, exposure, verification string) string {
	t.Helper()
	return writeFile(t, "apiVersion: webhooks.hookonce.dev/v1alpha1\nkind: WebhookEndpoint\nmetadata: {name: payments, namespace: shop}\n"+
		"spec:\n  exposure: "+exposure+"\n  verification: {"+verification+"}\n")
}

// captured is a delivery as it was on the wire, with any ends of lines.
func captured(t *testing.T, s scheme.Scheme, secret, body, lineEnd string, framing ...string) string {
	t.Helper()
	key, err := s.Key.Decode([]byte(secret))
	must(t, err)
	header, err := verify.Sign(s, [][]byte{key}, verify.Draft{EventID: "evt_1", EventType: "invoice.paid", Body: []byte(body)}, capturedAt)
	must(t, err)
	lines := []string{"POST /webhooks/payments?a=1 HTTP/1.1", "Host: hooks.example.com"}
	for name := range header {
		lines = append(lines, name+": "+header.Get(name))
	}
	lines = append(append(lines, framing...), "", "")
	return strings.Join(lines, lineEnd)
}

// feed runs a command with something at its standard input.
func feed(t *testing.T, in string, args ...string) (int, string, string) {
	t.Helper()
	var out, log bytes.Buffer
	code := run(t.Context(), args, streams{in: strings.NewReader(in), out: &out, err: &log})
	return code, out.String(), log.String()
}

func judged(t *testing.T, printed string) map[string]any {
	t.Helper()
	var members map[string]any
	must(t, json.Unmarshal([]byte(printed), &members))
	return members
}

func TestVerifyReadsWhatWasCaptured(t *testing.T) {
	paymos, _ := scheme.Preset(scheme.Paymos)
	endpoint, secret := manifestOf(t, "scheme: Paymos"), writeFile(t, captureSecret+"\n")
	length := fmt.Sprintf("Content-Length: %d", len(captureBody))
	want := map[string]any{
		"accepted": true, "reason": "", "eventID": "evt_1", "eventType": "invoice.paid", "resourceID": "inv_1", "matchedSecret": 0.0,
	}
	for name, in := range map[string]string{
		"CRLF":          captured(t, paymos, captureSecret, captureBody, "\r\n", length) + captureBody,
		"LF":            captured(t, paymos, captureSecret, captureBody, "\n", length) + captureBody,
		"ToTheEnd":      captured(t, paymos, captureSecret, captureBody, "\r\n") + captureBody,
		"ToTheEndLF":    captured(t, paymos, captureSecret, captureBody, "\n") + captureBody,
		"EmptyLineLead": "\r\n" + captured(t, paymos, captureSecret, captureBody, "\r\n") + captureBody,
		"Chunked": captured(t, paymos, captureSecret, captureBody, "\r\n", "Transfer-Encoding: chunked") +
			fmt.Sprintf("5\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n", captureBody[:5], len(captureBody)-5, captureBody[5:]),
		"ChunkedLF": captured(t, paymos, captureSecret, captureBody, "\n", "Transfer-Encoding: chunked") +
			fmt.Sprintf("%x\n%s\n0\n\n", len(captureBody), captureBody),
	} {
		t.Run(name, func(t *testing.T) {
			code, out, log := feed(t, in, "verify", "--endpoint", endpoint, "--secret-file", secret, "--now", "1700000000")
			if code != exitOK || strings.Count(out, "\n") != 1 {
				t.Fatalf("exit code %d, printed %q and %q", code, out, log)
			}
			if diff := cmp.Diff(want, judged(t, out)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestVerifyJudges(t *testing.T) {
	paymos, _ := scheme.Preset(scheme.Paymos)
	endpoint, secret, other := manifestOf(t, "scheme: Paymos"), writeFile(t, captureSecret), writeFile(t, "another-signing-secret")
	in := captured(t, paymos, captureSecret, captureBody, "\n") + captureBody
	at := "1700000000"
	for name, test := range map[string]struct {
		in   string
		args []string
		code int
		want map[string]any
	}{
		"SecondSecret": {in, []string{"--secret-file", other, "--secret-file", secret, "--now", at}, exitOK, map[string]any{"matchedSecret": 1.0}},
		"WrongSecret":  {in, []string{"--secret-file", other, "--now", at}, exitFailed, map[string]any{"reason": "bad_signature", "matchedSecret": nil, "eventID": ""}},
		"Expired":      {in, []string{"--secret-file", other, "--expired-secret-file", secret, "--now", at}, exitFailed, map[string]any{"reason": "expired_secret"}},
		"Old":          {in, []string{"--secret-file", secret, "--now", "1700000301"}, exitFailed, map[string]any{"reason": "stale_timestamp"}},
		"OldNow":       {in, []string{"--secret-file", secret}, exitFailed, map[string]any{"reason": "stale_timestamp"}},
		"OtherBody":    {in + "\n", []string{"--secret-file", secret, "--now", at}, exitFailed, map[string]any{"reason": "bad_signature"}},
		"EmptySecret":  {in, []string{"--secret-file", writeFile(t, "\n"), "--now", at}, exitFailed, map[string]any{"reason": "no_secret"}},
		"Get":          {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", []string{"--secret-file", secret}, exitFailed, map[string]any{"reason": "method_not_allowed"}},
		"Cut": {
			strings.Replace(in, "\n\n", "\nContent-Length: 1000\n\n", 1),
			[]string{"--secret-file", secret, "--now", at},
			exitFailed,
			map[string]any{"reason": "incomplete_body", "problems": []any{"the body has 78 bytes, and Content-Length says 1000: a part of it is missing, or its line ends were changed"}},
		},
		"Long": {
			strings.Replace(in, "\n\n", "\nContent-Length: 78\n\n", 1) + "\n",
			[]string{"--secret-file", secret, "--now", at},
			exitOK,
			map[string]any{"problems": []any{"there are 1 bytes after the body, whose Content-Length is 78; they are left out"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, log := feed(t, test.in, append([]string{"verify", "--endpoint", endpoint}, test.args...)...)
			if code != test.code {
				t.Fatalf("exit code %d, want %d; printed %q and %q", code, test.code, out, log)
			}
			got := judged(t, out)
			for member, want := range test.want {
				if diff := cmp.Diff(want, got[member]); diff != "" {
					t.Errorf("%s: -want +got:\n%s", member, diff)
				}
			}
			if got["accepted"] != (code == exitOK) {
				t.Errorf("accepted is %v with exit code %d", got["accepted"], code)
			}
		})
	}
}

func TestVerifyKnowsBatchesAndHandshakes(t *testing.T) {
	hubspot, _ := scheme.Preset(scheme.HubSpot)
	body := `[{"eventId":1,"portalId":2,"subscriptionId":3,"occurredAt":4,"subscriptionType":"a.b","objectId":5},` +
		`{"eventId":6,"portalId":2,"subscriptionId":3,"occurredAt":4,"subscriptionType":"a.b","objectId":7}]`
	key, err := hubspot.Key.Decode([]byte(captureSecret))
	must(t, err)
	header, err := verify.Sign(hubspot, [][]byte{key},
		verify.Draft{Body: []byte(body), URL: "https://hooks.example.com/webhooks/payments?a=1"}, capturedAt)
	must(t, err)
	in := "POST /anything?a=1 HTTP/1.1\nHost: x\n" + lines(header) + "\n" + body
	secret := writeFile(t, captureSecret)
	code, out, log := feed(t, in, "verify", "--endpoint", manifestOf(t, "scheme: HubSpot"), "--secret-file", secret, "--now", "1700000000")
	got := judged(t, out)
	events, _ := got["events"].([]any)
	if code != exitOK || len(events) != 2 || got["resourceID"] != "5" || cmp.Diff(events[1].(map[string]any)["resourceID"], "7") != "" {
		t.Errorf("a batch: exit code %d, printed %q and %q", code, out, log)
	}
	slack, _ := scheme.Preset(scheme.Slack)
	question := `{"type":"url_verification","challenge":"c"}`
	in = captured(t, slack, captureSecret, question, "\n") + question
	code, out, log = feed(t, in, "verify", "--endpoint", manifestOf(t, "scheme: Slack"), "--secret-file", secret, "--now", "1700000000")
	if got := judged(t, out); code != exitOK || got["handshake"] != true || got["eventID"] != "" {
		t.Errorf("a signed handshake: exit code %d, printed %q and %q", code, out, log)
	}
}

// TestVerifyKnowsChallengesWithoutAHost: the receiver answers them whether it knows its URL or not.
func TestVerifyKnowsChallengesWithoutAHost(t *testing.T) {
	secret := writeFile(t, captureSecret)
	for _, exposure := range []string{"{host: hooks.example.com}", "{}"} {
		for verification, challenges := range map[string]map[string]int{
			"scheme: Dropbox": {"challenge=abc": exitOK, "": exitFailed},
			"scheme: Meta, handshake: {verifyToken: t}": {
				"hub.mode=subscribe&hub.verify_token=t&hub.challenge=1": exitOK,
				"hub.mode=subscribe&hub.verify_token=x&hub.challenge=1": exitFailed,
			},
		} {
			endpoint := exposed(t, exposure, verification)
			for query, want := range challenges {
				in := "GET /webhooks/payments?" + query + " HTTP/1.1\r\nHost: x\r\n\r\n"
				code, out, log := feed(t, in, "verify", "--endpoint", endpoint, "--secret-file", secret)
				if code != want || judged(t, out)["handshake"] != any(true) && want == exitOK {
					t.Errorf("%s, %s, %q: exit code %d, printed %q and %q", exposure, verification, query, code, out, log)
				}
			}
		}
	}
}

func lines(header http.Header) string {
	var out strings.Builder
	for name := range header {
		out.WriteString(name + ": " + header.Get(name) + "\n")
	}
	return out.String()
}

func TestVerifyTakesARenderedConfiguration(t *testing.T) {
	paymos, _ := scheme.Preset(scheme.Paymos)
	config := &receiverconfig.Config{
		Endpoint: "shop/payments", Path: "/in", Scheme: paymos, Tolerance: receiverconfig.Duration(time.Second), MaxBodyBytes: 1 << 20, Schema: "hookonce",
		Retention: receiverconfig.Retention{Claims: receiverconfig.Duration(1000 * time.Hour), Payloads: 1},
	}
	document, err := config.Encode()
	must(t, err)
	file := filepath.Join(t.TempDir(), receiverconfig.FileName)
	must(t, os.WriteFile(file, document, 0o600))
	in := captured(t, paymos, captureSecret, captureBody, "\r\n") + captureBody
	for moment, want := range map[string]int{"1700000001": exitOK, "1700000002": exitFailed} {
		if code, out, log := feed(t, in, "verify", "--endpoint", file, "--secret-file", writeFile(t, captureSecret), "--now", moment); code != want {
			t.Errorf("at %s: exit code %d, printed %q and %q", moment, code, out, log)
		}
	}
}

func TestVerifyAndDoctorNameMistakes(t *testing.T) {
	secret, endpoint := writeFile(t, captureSecret), manifestOf(t, "scheme: Paymos")
	for name, test := range map[string]struct {
		in, want string
		args     []string
	}{
		"no endpoint":     {"", "--endpoint and --secret-file are required", []string{"--secret-file", secret}},
		"no secret":       {"", "--endpoint and --secret-file are required", []string{"--endpoint", endpoint}},
		"no such secret":  {"", "no such file", []string{"--endpoint", endpoint, "--secret-file", secret + "x"}},
		"unknown field":   {"", "spec.verification.sheme: there is no such field", []string{"--endpoint", manifestOf(t, "sheme: Paymos"), "--secret-file", secret}},
		"another kind":    {"", "kind: there is no WebhookEndpoint", []string{"--endpoint", writeFile(t, "kind: Secret\n"), "--secret-file", secret}},
		"no request":      {"", "no raw HTTP/1.1 request", []string{"--endpoint", endpoint, "--secret-file", secret}},
		"only a body":     {captureBody, "no raw HTTP/1.1 request", []string{"--endpoint", endpoint, "--secret-file", secret}},
		"negative moment": {"", "--now -1 is no moment in seconds", []string{"--endpoint", endpoint, "--secret-file", secret, "--now", "-1"}},
		"milliseconds": {
			"", "--now 1700000000000 is no moment in seconds", []string{"--endpoint", endpoint, "--secret-file", secret, "--now", "1700000000000"},
		},
		"misspelled reference": {
			"", "spec.verification.secretRef.nam: there is no such field; known are key, name",
			[]string{"--endpoint", manifestOf(t, "scheme: Paymos, secretRef: {nam: s, key: k}"), "--secret-file", secret},
		},
		"not chunked": {
			"POST / HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n{}", "not chunked", []string{"--endpoint", endpoint, "--secret-file", secret},
		},
	} {
		for _, command := range []string{"verify", "doctor"} {
			t.Run(command+"/"+name, func(t *testing.T) {
				code, out, log := feed(t, test.in, append([]string{command}, test.args...)...)
				if code != exitUsage || out != "" || !strings.Contains(log, test.want) {
					t.Errorf("exit code %d, printed %q and %q, want %q", code, out, log, test.want)
				}
			})
		}
	}
}
