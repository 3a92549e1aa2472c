// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/receiver/ledger"
)

// maxIdleRSS is the goal for a receiver with nothing to do, in KiB. The test binary holds more than the receiver does.
const maxIdleRSS = 40 << 10

func TestIdleMemory(t *testing.T) {
	s := newShop(t, newSink(t).URL)
	r, process := s.fork()
	r.ready(t)
	s.send(r, "--event-type", "invoice.paid", "--resource-id", "inv_1", "--repeat", "20")
	eventually(t, "the counts are in the status", func() bool {
		d := r.status(t).Deliveries
		return d != nil && d.Received == 20
	})
	rss := residentKiB(t, process.Process.Pid)
	t.Logf("an idle receiver has %d KiB resident", rss)
	if rss > maxIdleRSS {
		t.Errorf("%d KiB resident, want at most %d", rss, maxIdleRSS)
	}
}

func residentKiB(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must(t, err)
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	rss, err := strconv.Atoi(strings.Fields(rest)[0])
	must(t, err)
	return rss
}

func TestPruneRemovesWhatIsPastItsAge(t *testing.T) {
	s := newShop(t, "")
	r := s.serve(s.serveArgs(s.url)).ready(t)
	s.send(r, "--event-id", "evt_old")
	s.exec("UPDATE hookonce.claim SET received_at = now() - interval '721 hours'")
	s.send(r, "--event-id", "evt_new")
	args := []string{"--config-dir", s.configDir, "--database-url", s.url}
	if code, _ := command(t, append([]string{"prune"}, args...)...); code != exitOK {
		t.Fatalf("prune: exit code %d", code)
	}
	if n := s.count("SELECT count(*) FROM hookonce.claim"); n != 1 {
		t.Errorf("%d claims, want the new one", n)
	}
	// The provider retries for 16 h 3 min, an overlap lasts for up to 168 h, and clocks differ by 1 h either way.
	s.config.Retention.Claims = receiverconfig.Duration(186*time.Hour + 3*time.Minute)
	s.writeConfig()
	if code, _ := command(t, append([]string{"prune"}, args...)...); code != exitOK {
		t.Errorf("prune with the least that claims may be kept: exit code %d", code)
	}
	file := filepath.Join(s.configDir, receiverconfig.FileName)
	document, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, bytes.Replace(document, []byte("186h3m0s"), []byte("186h2m0s"), 1), 0o600))
	if code, _ := command(t, append([]string{"prune"}, args...)...); code != exitFailed {
		t.Errorf("prune with claims kept for a minute less: exit code %d", code)
	}
}

func TestDatabaseURIComesFromAFile(t *testing.T) {
	s := newShop(t, "")
	dir := t.TempDir()
	args := []string{"migrate", "--wait", "0s", "--config-dir", s.configDir, "--database-dir", dir}
	if code, _ := command(t, args...); code != exitFailed {
		t.Errorf("without the file: exit code %d, want %d", code, exitFailed)
	}
	must(t, os.WriteFile(filepath.Join(dir, "uri"), []byte(s.url+"\n"), 0o600))
	if code, _ := command(t, args...); code != exitOK {
		t.Errorf("with the file: exit code %d", code)
	}
}

func TestMigrateWaitsForWhatMayCome(t *testing.T) {
	tests := map[string]struct {
		errs  []error
		calls int
	}{
		"comes late": {[]error{errors.New("refused"), nil}, 2},
		"never will": {[]error{fmt.Errorf("migrate: %w", &ledger.SchemaTooNewError{}), nil}, 1},
		"encoding":   {[]error{ledger.ErrEncoding, nil}, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			calls := 0
			migrate := func(context.Context) error {
				calls++
				return tt.errs[calls-1]
			}
			err := retryMigrate(t.Context(), migrate, time.Minute, slog.New(slog.DiscardHandler))
			if calls != tt.calls || !errors.Is(err, tt.errs[calls-1]) {
				t.Errorf("%d calls, %v; want %d", calls, err, tt.calls)
			}
		})
	}
}
