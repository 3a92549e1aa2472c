// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/verify"
)

// secretTexts are secrets of presets whose secrets are not any text of some length.
var secretTexts = map[string]string{
	scheme.Paymos:                  "a-signing-secret-of-paymos",
	scheme.StandardWebhooks:        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	scheme.StandardWebhooksEd25519: "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg==",
	scheme.Svix:                    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	scheme.OpenAI:                  "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	scheme.GitLab:                  "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
	scheme.Adyen:                   "DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00",
}

// publicKeys verify what is signed with the secret text of the same preset.
var publicKeys = map[string]string{
	scheme.StandardWebhooksEd25519: "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4=",
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
			secret := cmp.Or(secretTexts[name], "a-signing-secret-of-any-provider")
			key, err := preset.Key.Decode([]byte(cmp.Or(publicKeys[name], secret)))
			must(t, err)
			const public = "https://hooks.example.com/hook"
			verified := 0
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				request := &receiver.Request{Method: r.Method, URL: public, Header: r.Header, Body: body}
				if r.URL.RawQuery != "" {
					request.URL += "?" + r.URL.RawQuery
				}
				got, err := verify.Verify(preset, []receiver.Secret{{Key: key, Fingerprint: "f"}}, request, time.Now(), time.Minute)
				if err != nil || len(got.Events) != 1 || got.Fingerprint != "f" {
					t.Errorf("verified as %+v, %v", got, err)
					return
				}
				verified++
				checkSent(t, preset, got.Events[0])
				if r.Header.Get("X-Extra") != "yes" {
					t.Errorf("headers %v, want X-Extra", r.Header)
				}
			}))
			defer server.Close()
			code, out := command(t, "send", "--url", server.URL, "--public-url", public, "--scheme", name, "--event-id", "evt_1",
				"--secret-file", writeFile(t, secret+"\n"),
				"--event-type", "invoice.paid", "--resource-id", "inv_1", "--header", "X-Extra=yes")
			if !regexp.MustCompile(`^200 e3b0c44298fc1c14 [0-9.]+ms\n$`).MatchString(out) || code != exitOK || verified != 1 {
				t.Errorf("exit code %d, printed %q", code, out)
			}
		})
	}
}

// checkSent compares an event with what was sent, where the scheme has a place for it.
func checkSent(t *testing.T, s scheme.Scheme, got receiver.VerifiedEvent) {
	t.Helper()
	for _, place := range []struct {
		sources   []scheme.Source
		got, want string
	}{{s.EventID, got.ID, "evt_1"}, {s.EventType, got.Type, "invoice.paid"}, {s.ResourceID, got.ResourceID, "inv_1"}} {
		named := len(place.sources) > 0 && (place.sources[0].Header != "" || len(place.sources[0].Path) > 0)
		if named && place.got != place.want {
			t.Errorf("got %q, want %q", place.got, place.want)
		}
	}
	if got.ID == "" {
		t.Error("the event has no id")
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
		"unknown command":        {"server"},
		"unknown flag":           {"serve", "--nothing"},
		"argument":               {"serve", "now"},
		"serve without folders":  {"serve"},
		"serve without keyring":  {"serve", "--config-dir", "c", "--database-url", "u"},
		"serve, no networks":     {"serve", "--config-dir", "c", "--keyring-dir", "k", "--database-url", "u", "--destination-networks", "10.1.2.3"},
		"serve, host in network": {"serve", "--config-dir", "c", "--keyring-dir", "k", "--database-url", "u", "--destination-networks", "10.1.2.3/8"},
		"two databases":          {"migrate", "--config-dir", "c", "--database-url", "u", "--database-dir", "d"},
		"replay of nothing":      {"replay", "--config-dir", "c", "--database-url", "u"},
		"send nowhere":           {"send", "--scheme", "Paymos", "--secret-file", secret},
		"send unsigned":          {"send", "--url", "u", "--scheme", "Paymos"},
		"send without scheme":    {"send", "--url", "u", "--secret-file", secret},
		"send, unknown scheme":   {"send", "--url", "u", "--scheme", "paymos", "--secret-file", secret},
		"send, bad header":       append(send, "--header", "nothing"),
		"send, two bodies":       append(send, "--body", "-", "--body-template", "t"),
		"send, zero times":       append(send, "--repeat", "0"),
		"send, bad output":       append(send, "-o", "yaml"),
		"bad log level":          {"--log-level", "loud", "migrate"},
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
