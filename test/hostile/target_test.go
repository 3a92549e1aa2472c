// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package hostile

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/test/postgres"
)

const (
	secret = "hostile-signing-secret"
	path   = "/webhooks/payments"
)

// binary is the receiver, built once.
var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "hostile")
	if err == nil {
		binary = filepath.Join(dir, "receiver")
		var out []byte
		if out, err = exec.Command("go", "build", "-o", binary, "../../cmd/receiver").CombinedOutput(); err != nil {
			err = fmt.Errorf("build the receiver: %w: %s", err, out)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	postgres.Main(m)
	_ = os.RemoveAll(dir)
}

// target is a receiver as a process of its own.
type target struct {
	public, private string
	database        string
	pid             int
	// wire counts what the receiver sends to Postgres.
	wire *counted
}

// effect makes each event take some time in the database.
const effect = `CREATE FUNCTION slow_effect(e hookonce.event) RETURNS jsonb LANGUAGE sql AS
$$ SELECT jsonb_build_object('slept', pg_sleep(0.02)::text) $$`

// newTarget starts a receiver whose events have the effect, if asked for. With nothing to sample or to flush, all that it
// sends to Postgres is for requests.
func newTarget(t *testing.T, withEffect bool, args ...string) *target {
	t.Helper()
	dir, url := t.TempDir(), postgres.New(t)
	preset, _ := scheme.Preset(scheme.Paymos)
	config := &receiverconfig.Config{
		Endpoint: "shop/payments", Path: path, Scheme: preset, Tolerance: receiverconfig.Duration(5 * time.Minute),
		MaxBodyBytes: 1 << 20, Schema: "hookonce",
		Retention: receiverconfig.Retention{Claims: receiverconfig.Duration(720 * time.Hour), Payloads: receiverconfig.Duration(168 * time.Hour)},
	}
	if withEffect {
		config.Effects = []receiverconfig.Effect{{Name: "slow", EventTypes: []string{"*"}, Function: "public.slow_effect", Key: "Event"}}
	}
	document, err := config.Encode()
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, receiverconfig.FileName), document, 0o600))
	ring, err := keyring.Adopt(rand.Reader, keyring.Candidate{
		Key: []byte(secret), Secret: []byte(secret), Source: keyring.Source{Name: "paymos", Key: "secret"},
	}, time.Now())
	must(t, err)
	document, err = ring.Encode()
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, keyring.FileName), document, 0o600))
	out, err := exec.CommandContext(t.Context(), binary, "migrate", "--config-dir", dir, "--database-url", url).CombinedOutput()
	if err != nil {
		t.Fatalf("migrate: %v: %s", err, out)
	}
	x := &target{database: url}
	if withEffect {
		x.exec(t, effect)
	}
	x.wire = countBytes(t, url)
	x.start(t, append([]string{
		"serve", "--config-dir", dir, "--keyring-dir", dir, "--database-url", x.wire.url, "--public-address", "127.0.0.1:0",
		"--private-address", "127.0.0.1:0", "--sample-interval", "1h", "--counter-flush-interval", "1h", "--drain-delay", "0s",
	}, args...))
	return x
}

func (x *target) start(t *testing.T, args []string) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	log, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	read := make(chan struct{})
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-read
		_ = cmd.Wait()
	})
	x.pid = cmd.Process.Pid
	serving := make(chan struct{})
	go func() {
		defer close(read)
		x.read(log, serving)
	}()
	select {
	case <-serving:
	case <-time.After(30 * time.Second):
		t.Fatal("the receiver does not serve")
	}
	eventually(t, "the receiver is ready", func() bool { return x.get("/readyz") == http.StatusOK })
	x.quiet(t)
}

// quiet waits until nothing was sent to Postgres for a second: then the receiver has started.
func (x *target) quiet(t *testing.T) {
	t.Helper()
	last, since := int64(-1), time.Now()
	eventually(t, "the receiver has nothing to ask", func() bool {
		if sent := x.wire.sent.Load(); sent != last {
			last, since = sent, time.Now()
		}
		return time.Since(since) > time.Second
	})
}

func (x *target) read(log io.Reader, serving chan struct{}) {
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		var entry struct {
			Msg     string `json:"msg"`
			Public  string `json:"public"`
			Private string `json:"private"`
		}
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "Serving" {
			x.public, x.private = entry.Public, entry.Private
			close(serving)
		}
	}
}

func (x *target) get(path string) int {
	answer, err := http.Get("http://" + x.private + path)
	if err != nil {
		return 0
	}
	_ = answer.Body.Close()
	return answer.StatusCode
}

// series is how many time series there are.
func (x *target) series(t *testing.T) int {
	t.Helper()
	answer, err := http.Get("http://" + x.private + "/metrics")
	must(t, err)
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	must(t, answer.Body.Close())
	n := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			n++
		}
	}
	return n
}

// memory is how much the receiver has resident, in KiB: VmRSS now, VmHWM at most so far.
func (x *target) memory(t *testing.T, what string) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", x.pid))
	must(t, err)
	_, rest, _ := strings.Cut(string(text), what+":")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	must(t, err)
	return kib
}

// wantMemory checks the most that the receiver ever had resident.
func (x *target) wantMemory(t *testing.T, mib int) {
	t.Helper()
	most := x.memory(t, "VmHWM") >> 10
	t.Logf("the receiver had at most %d MiB resident, limit %d", most, mib)
	if most > mib {
		t.Errorf("%d MiB, want at most %d", most, mib)
	}
}

func (x *target) exec(t *testing.T, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), x.database)
	must(t, err)
	_, err = conn.Exec(t.Context(), sql)
	must(t, err)
	must(t, conn.Close(context.Background()))
}

// ids are the events that are in the ledger.
func (x *target) ids(t *testing.T) map[string]bool {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), x.database)
	must(t, err)
	rows, err := conn.Query(t.Context(), "SELECT event_id FROM hookonce.event")
	must(t, err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	must(t, conn.Close(context.Background()))
	ids := make(map[string]bool, len(list))
	for _, id := range list {
		ids[id] = true
	}
	return ids
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(30 * time.Second)
	for !condition() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("waited too long until %s", what)
		}
	}
}
