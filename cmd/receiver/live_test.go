// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/receiver/relay"
)

// podGrace is what a pod has to end, before it is killed.
const podGrace = 45 * time.Second

func TestDrainFitsIntoThePodsGrace(t *testing.T) {
	delay := newServe(nil).Flags().Lookup("drain-delay").DefValue
	drain, err := time.ParseDuration(delay)
	must(t, err)
	// Counters are written while the relay drains.
	relaying := max(relayDrain+relay.SettleTimeout, 2*flushTimeout)
	if total := drain + drainGrace + relaying; total >= podGrace {
		t.Errorf("a drain takes up to %s, and a pod has %s", total, podGrace)
	}
}

// TestALongerTimeoutHoldsAtOnce: an attempt is only made if it can end within its lease.
func TestALongerTimeoutHoldsAtOnce(t *testing.T) {
	out := newSink(t)
	answer := out.hold(t)
	s := newShop(t, out.URL)
	r := s.serve(s.serveArgs(s.url)).ready(t)
	before := r.status(t).Config.Digest
	s.config.Destinations[0].Timeout = receiverconfig.Duration(time.Minute)
	s.writeConfig()
	eventually(t, "the new configuration is loaded", func() bool { return r.status(t).Config.Digest != before })
	s.send(r, "--event-id", "evt_1", "--event-type", "invoice.paid", "--resource-id", "inv_1")
	eventually(t, "the first attempt is made from memory", func() bool {
		if n := s.count("SELECT count(*) FROM hookonce.delivery WHERE leased_until < now() + interval '100 s'"); n != 0 {
			t.Fatal("the lease is too short for an attempt")
		}
		return len(out.seen()) == 1
	})
	answer()
	eventually(t, "it is settled", func() bool { return s.count(waiting) == 0 })
}

func TestAChangedDatabaseIsFollowed(t *testing.T) {
	before, after := newShop(t, ""), newShop(t, "")
	dir := t.TempDir()
	mounted := filepath.Join(dir, databaseFile)
	replace(t, mounted, []byte(before.url+"\n"))
	r := before.serve(before.serveArgsWith("--database-dir", dir)).ready(t)
	open := before.closeGate()
	slow := make(chan []sent, 1)
	go func() {
		slow <- before.send(r, "--event-id", "slow_1", "--event-type", "invoice.paid", "--resource-id", "inv_1")
	}()
	eventually(t, "the effect is under way", func() bool { return before.count(insideEffect) == 1 })

	replace(t, mounted, []byte(after.url+"\n"))
	number := 0
	eventually(t, "events are recorded in the new database", func() bool {
		number++
		before.send(r, "--event-id", fmt.Sprintf("evt_%d", number), "--event-type", "invoice.paid", "--resource-id", fmt.Sprintf("inv_x%d", number))
		return after.count(orders) == 1
	})
	there := before.count(orders)
	before.send(r, "--event-id", "evt_after", "--event-type", "invoice.paid", "--resource-id", "inv_after")
	if n, old := after.count(orders), before.count(orders); n != 2 || old != there {
		t.Errorf("%d orders in the new database and %d in the old one, want 2 and %d", n, old, there)
	}
	open()
	if answer := (<-slow)[0]; answer.Status != http.StatusOK {
		t.Errorf("what was under way got %d", answer.Status)
	}
	if n := before.count(orders + " WHERE event_id = 'slow_1'"); n != 1 {
		t.Errorf("what was under way has %d orders in the old database", n)
	}
	u, err := url.Parse(after.url)
	must(t, err)
	password, _ := u.User.Password()
	if log := r.logged(); !strings.Contains(log, u.Host+u.Path) || strings.Contains(log, password) {
		t.Errorf("the log: %s", log)
	}

	replace(t, mounted, []byte("postgres://shop:p%zzA@Secret@db:5432/shop"))
	eventually(t, "the status says that the new URI cannot be used", func() bool {
		d := r.status(t).Database
		return d.Reachable && d.Message != "" && !strings.Contains(d.Message, "Secret")
	})
	if log := r.logged(); strings.Contains(log, "Secret") {
		t.Errorf("the log: %s", log)
	}
}

// TestNoCommandTellsThePassword: where a URI cannot be read, nobody knows which part of it is the password.
func TestNoCommandTellsThePassword(t *testing.T) {
	s := newShop(t, "")
	for _, uri := range []string{
		"postgres://shop:p%zzA@Secret@db:5432/shop", "password=a b Secret", "postgres://shop:p@Secret@db:5432/shop",
	} {
		report := filepath.Join(t.TempDir(), "report")
		args := []string{"--config-dir", s.configDir, "--database-url", uri}
		for name, extra := range map[string][]string{
			"migrate": {"--report", report, "--wait", "1m"}, "prune": nil, "replay": {"--failed"},
		} {
			var out bytes.Buffer
			full := append(append([]string{name}, args...), extra...)
			code := run(t.Context(), full, streams{in: strings.NewReader(""), out: &out, err: &out})
			if text := out.String(); code != exitFailed || strings.Contains(text, "Secret") || !strings.Contains(text, "connection URI cannot be read") {
				t.Errorf("%s: exit code %d: %s", name, code, text)
			}
		}
		text, err := os.ReadFile(report)
		must(t, err)
		r := s.serve(s.serveArgs(uri))
		var status receiverstatus.Status
		eventually(t, "the status says why", func() bool {
			status = r.status(t)
			return status.Database.Reason != "" && strings.Contains(r.logged(), "cannot be opened")
		})
		document, err := json.Marshal(status)
		must(t, err)
		for what, text := range map[string]string{"report": string(text), "status": string(document), "log": r.logged()} {
			if strings.Contains(text, "Secret") || !strings.Contains(text, "connection URI cannot be read") {
				t.Errorf("%s: %s", what, text)
			}
		}
		if status.Database.Reachable || status.Database.Checked.IsZero() {
			t.Errorf("status %+v", status.Database)
		}
	}
}
