// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/receiver/prove"
)

// proveArgs are those of a short proof.
func proveArgs(url, secretFile string, more ...string) []string {
	return append([]string{
		"prove", "--url", url, "--confirm-staging", "127.0.0.1", "--secret-file", secretFile, "--event-type", "invoice.paid",
		"--replay-after", "50ms", "--settle", "100ms", "--rounds", "3",
	}, more...)
}

func TestProofOfOurs(t *testing.T) {
	s := newShop(t, "")
	r := s.serve(s.serveArgs(s.url)).ready(t)
	args := proveArgs("http://"+r.public+s.config.Path, s.secretFile, "--endpoint", filepath.Join(s.configDir, receiverconfig.FileName),
		"--database-url", s.url, "--copies", "30", "--replay-after", "1s", "-o", "json")
	code, out, log := feed(t, "", args...)
	var report prove.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != exitOK || !report.Holds || len(report.Steps) != 5 {
		t.Fatalf("exit code %d, printed %s and %s", code, out, log)
	}
	events := int64(0)
	for _, step := range report.Steps {
		events += int64(len(step.Events))
	}
	if n := s.count(orders); n != events || events != 6 {
		t.Errorf("%d orders for %d events", n, events)
	}
}

// shopkeeper books what it gets, and writes each booking into a file.
type shopkeeper struct {
	mu   sync.Mutex
	file string
	// careful ones book an event once.
	careful bool
	known   map[string]bool
}

var eventIDPattern = regexp.MustCompile(`evt_\w+`)

func (k *shopkeeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	id := eventIDPattern.FindString(string(body))
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.careful || !k.known[id] {
		k.known[id] = true
		out, err := os.OpenFile(k.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = fmt.Fprintln(out, id)
			_ = out.Close()
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	fmt.Fprintf(w, "booked %s", id)
}

func TestProofOfOthers(t *testing.T) {
	secret := writeFile(t, captureSecret)
	for _, careful := range []bool{true, false} {
		file := writeFile(t, "evt_of_somebody_else\n")
		server := httptest.NewServer(&shopkeeper{file: file, careful: careful, known: map[string]bool{}})
		for name, ledger := range map[string][]string{
			"command": {"--ledger-command", "sort " + file + " | uniq -c | awk '{print $2, $1}'"},
			"file":    {"--ledger-ids", file},
		} {
			code, out, log := feed(t, "", proveArgs(server.URL, secret, append(ledger, "--scheme", "Paymos")...)...)
			want := map[bool]int{true: exitOK, false: exitFailed}[careful]
			if code != want || strings.Count(out, "\n") != 6 {
				t.Errorf("careful %t, %s: exit code %d, printed\n%s%s", careful, name, code, out, log)
			}
			if !careful && (!strings.Contains(out, "1  fire        holds") || !strings.Contains(out, "2  fire again  fails") || !strings.Contains(out, "5  ledger      fails")) {
				t.Errorf("%s: printed\n%s", name, out)
			}
		}
		server.Close()
	}
}

func TestProofIsRefused(t *testing.T) {
	secret := writeFile(t, captureSecret)
	var requests int
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	defer server.Close()
	base := []string{"prove", "--url", server.URL, "--scheme", "Paymos", "--secret-file", secret}
	with := func(args []string, more ...string) []string { return slices.Concat(args, more) }
	confirmed := with(base, "--confirm-staging", "127.0.0.1")
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"NotConfirmed":     {with(base, "--ledger-ids", "-"), "if it is not production, say so with --confirm-staging 127.0.0.1"},
		"AnotherConfirmed": {with(base, "--ledger-ids", "-", "--confirm-staging", "localhost"), "if it is not production"},
		"NoLedger":         {confirmed, "answers alone do not show"},
		"TwoLedgers":       {with(confirmed, "--ledger-ids", "-", "--ledger-command", "true"), "one of --ledger-command"},
		"NoEndpoint":       {with(confirmed, "--database-url", "u"), "--database-url needs --endpoint"},
		"OneCopy":          {with(confirmed, "--ledger-ids", "-", "--copies", "1"), "--copies"},
		"NoIDs":            {with(confirmed, "--ledger-ids", "-", "--scheme", "Dropbox"), "have no id"},
		"UselessBody":      {with(confirmed, "--ledger-ids", "-", "--body-template", writeFile(t, "{}")), "would not be accepted"},
		"NoSuchCommand":    {with(confirmed, "--ledger-command", "exit 3"), "exit status 3"},
	} {
		t.Run(name, func(t *testing.T) {
			requests = 0
			code, out, log := feed(t, "", test.args...)
			if code != exitUsage || out != "" || !strings.Contains(log, test.want) {
				t.Errorf("exit code %d, printed %q and %q", code, out, log)
			}
			if name != "NoSuchCommand" && requests > 0 {
				t.Errorf("%d requests were sent", requests)
			}
		})
	}
}

func TestProofReadsTheListAtTheEnd(t *testing.T) {
	file := writeFile(t, "")
	server := httptest.NewServer(&shopkeeper{file: file, careful: true, known: map[string]bool{}})
	defer server.Close()
	args := proveArgs(server.URL, writeFile(t, captureSecret), "--scheme", "Paymos", "--ledger-ids", "-")
	code, out, log := feed(t, "nothing\n", args...)
	if code != exitFailed || !strings.Contains(out, "are not there") || !strings.Contains(log, "give the ids") {
		t.Errorf("exit code %d, printed %q and %q", code, out, log)
	}
}
