// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/verify"
)

// secretTexts are secrets of each preset.
var secretTexts = map[string]string{
	scheme.Paymos:           "a-signing-secret-of-paymos",
	scheme.StandardWebhooks: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	scheme.Stripe:           "whsec_a-signing-secret-of-stripe",
	scheme.GitHub:           "a-signing-secret",
}

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestSendIsVerifiedInEveryScheme(t *testing.T) {
	for _, name := range scheme.Names() {
		t.Run(name, func(t *testing.T) {
			preset, _ := scheme.Preset(name)
			key, err := preset.Key.Decode([]byte(secretTexts[name]))
			must(t, err)
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				got, err := verify.Verify(preset, []receiver.Secret{{Key: key, Fingerprint: "f"}},
					&receiver.Request{Header: r.Header, Body: body}, time.Now(), time.Minute)
				want := receiver.Verified{Fingerprint: "f", Events: []receiver.VerifiedEvent{
					{ID: "evt_1", Type: "invoice.paid", ResourceID: "inv_1", Body: body},
				}}
				if len(preset.ResourceID) == 0 {
					want.Events[0].ResourceID = ""
				}
				if err != nil || !cmp.Equal(got, want) {
					t.Errorf("verified as %+v, %v; want %+v", got, err, want)
				}
				if r.Header.Get("X-Extra") != "yes" {
					t.Errorf("headers %v, want X-Extra", r.Header)
				}
			}))
			defer server.Close()
			code, out := command(t, "send", "--url", server.URL, "--scheme", name, "--event-id", "evt_1",
				"--secret-file", writeFile(t, secretTexts[name]+"\n"),
				"--event-type", "invoice.paid", "--resource-id", "inv_1", "--header", "X-Extra=yes")
			if !regexp.MustCompile(`^200 e3b0c44298fc1c14 [0-9.]+ms\n$`).MatchString(out) || code != exitOK {
				t.Errorf("exit code %d, printed %q", code, out)
			}
		})
	}
}

func TestSendTakesBodies(t *testing.T) {
	var got []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	secret := writeFile(t, secretTexts[scheme.Paymos])
	tests := map[string]struct {
		args []string
		want string
	}{
		"file":     {[]string{"--body", writeFile(t, "{\"a\": \"\\u0000\"}\n")}, "{\"a\": \"\\u0000\"}\n"},
		"stdin":    {[]string{"--body", "-"}, "from standard input"},
		"template": {[]string{"--body-template", writeFile(t, `{"id":"{event_id}","t":"{event_type}","r":"{resource_id}"}`)}, `{"id":"e","t":"t","r":"r"}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			args := append([]string{
				"send", "--url", server.URL, "--scheme", "Paymos", "--secret-file", secret,
				"--event-id", "e", "--event-type", "t", "--resource-id", "r",
			}, tt.args...)
			var out, log bytes.Buffer
			code := run(t.Context(), args, streams{in: strings.NewReader("from standard input"), out: &out, err: &log})
			if code != exitOK || string(got) != tt.want {
				t.Errorf("exit code %d (%s), body %q, want %q", code, log.String(), got, tt.want)
			}
		})
	}
}

func TestSendExpectations(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		http.Redirect(w, &http.Request{Method: http.MethodPost}, "http://127.0.0.1:1/", http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	base := []string{"send", "--url", server.URL, "--scheme", "Paymos", "--secret-file", writeFile(t, secretTexts[scheme.Paymos]), "-o", "json"}
	if code, out := command(t, base...); code != exitFailed || !strings.Contains(out, `"status":307`) || !strings.Contains(out, `"retryAfter":"7"`) {
		t.Errorf("a redirect: exit code %d, printed %q", code, out)
	}
	if code, _ := command(t, append(base, "--expect", "307")...); code != exitOK {
		t.Errorf("an expected status: exit code %d", code)
	}
	server.Close()
	if code, out := command(t, append(base, "--repeat", "3")...); code != exitFailed || strings.Count(out, `"status":0`) != 3 || !strings.Contains(out, `"error":"send: `) {
		t.Errorf("nobody there: exit code %d, printed %q", code, out)
	}
}

func TestMistakesInTheCommandLine(t *testing.T) {
	secret := writeFile(t, secretTexts[scheme.Paymos])
	send := []string{"send", "--url", "http://127.0.0.1:1/", "--scheme", "Paymos", "--secret-file", secret}
	tests := map[string][]string{
		"unknown command":       {"server"},
		"unknown flag":          {"serve", "--nothing"},
		"argument":              {"serve", "now"},
		"serve without folders": {"serve"},
		"serve without keyring": {"serve", "--config-dir", "c", "--database-url", "u"},
		"two databases":         {"migrate", "--config-dir", "c", "--database-url", "u", "--database-dir", "d"},
		"replay of nothing":     {"replay", "--config-dir", "c", "--database-url", "u"},
		"send nowhere":          {"send", "--scheme", "Paymos", "--secret-file", secret},
		"send unsigned":         {"send", "--url", "u", "--scheme", "Paymos"},
		"send without scheme":   {"send", "--url", "u", "--secret-file", secret},
		"send, unknown scheme":  {"send", "--url", "u", "--scheme", "paymos", "--secret-file", secret},
		"send, bad header":      append(send, "--header", "nothing"),
		"send, two bodies":      append(send, "--body", "-", "--body-template", "t"),
		"send, zero times":      append(send, "--repeat", "0"),
		"send, bad output":      append(send, "-o", "yaml"),
		"bad log level":         {"--log-level", "loud", "migrate"},
	}
	for name, args := range tests {
		t.Run(name, func(t *testing.T) {
			if code, out := command(t, args...); code != exitUsage {
				t.Errorf("exit code %d, printed %q; want %d", code, out, exitUsage)
			}
		})
	}
	if code, _ := command(t, append(send[:len(send)-1], writeFile(t, "short"))...); code != exitFailed {
		t.Errorf("a secret that cannot be used: exit code %d, want %d", code, exitFailed)
	}
}
