// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/test/postgres"
)

// asReceiver in the environment makes the test binary the receiver, so that a test can kill a real process.
const asReceiver = "HOOKONCE_TEST_AS_RECEIVER"

func TestMain(m *testing.M) {
	if os.Getenv(asReceiver) != "" {
		main()
		return
	}
	postgres.Main(m)
}

const firstSecret = "first-signing-secret"

// shopSQL is what a user has. An event whose id begins with slow waits while the table gate is locked by somebody else.
const shopSQL = `
CREATE SCHEMA shop;
CREATE TABLE shop.orders (event_id text, resource_id text);
CREATE TABLE shop.gate (id int);
CREATE FUNCTION shop.on_invoice_paid(e hookonce.event) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO shop.orders VALUES (e.event_id, e.resource_id);
  IF e.event_id LIKE 'slow%' THEN
    PERFORM count(*) FROM shop.gate;
  END IF;
  RETURN jsonb_build_object('booked', e.resource_id);
END $$;
`

// shop is an endpoint with its folders and its migrated database.
type shop struct {
	t                     *testing.T
	url                   string
	db                    *pgxpool.Pool
	configDir, keyringDir string
	sourceDir, secretFile string
	config                *receiverconfig.Config
	keyring               *keyring.Keyring
}

func newShop(t *testing.T, destinationURL string) *shop {
	t.Helper()
	preset, _ := scheme.Preset(scheme.Paymos)
	dir := t.TempDir()
	s := &shop{
		t: t, url: postgres.New(t), configDir: filepath.Join(dir, "config"), keyringDir: filepath.Join(dir, "keyring"),
		sourceDir: filepath.Join(dir, "source"), secretFile: filepath.Join(dir, "first"),
		config: &receiverconfig.Config{
			Endpoint: "shop/payments", Path: "/webhooks/payments", Scheme: preset,
			Tolerance: receiverconfig.Duration(5 * time.Minute), MaxBodyBytes: 1 << 20, Schema: "hookonce",
			Effects: []receiverconfig.Effect{{
				Name: "book", EventTypes: []string{"invoice.paid"}, Function: "shop.on_invoice_paid", Key: "ResourceAndType",
			}},
			Retention: receiverconfig.Retention{
				Claims: receiverconfig.Duration(720 * time.Hour), Payloads: receiverconfig.Duration(168 * time.Hour),
			},
		},
	}
	if destinationURL != "" {
		s.config.Destinations = []receiverconfig.Destination{{
			Name: "fulfilment", URL: destinationURL, EventTypes: []string{"invoice.*"},
			Timeout: receiverconfig.Duration(5 * time.Second),
			Delays:  []receiverconfig.Duration{receiverconfig.Duration(time.Millisecond), receiverconfig.Duration(time.Millisecond)},
		}}
	}
	for _, folder := range []string{s.configDir, s.keyringDir, s.sourceDir} {
		must(t, os.Mkdir(folder, 0o755))
	}
	s.writeConfig()
	ring, err := keyring.Adopt(rand.Reader, candidate(firstSecret), time.Now())
	must(t, err)
	s.writeKeyring(ring)
	must(t, os.WriteFile(s.secretFile, []byte(firstSecret), 0o600))
	if code, out := command(t, "migrate", "--config-dir", s.configDir, "--database-url", s.url); code != exitOK {
		t.Fatalf("migrate: %d %s", code, out)
	}
	s.db, err = pgxpool.New(t.Context(), s.url)
	must(t, err)
	t.Cleanup(s.db.Close)
	s.exec(shopSQL)
	return s
}

func candidate(secret string) keyring.Candidate {
	return keyring.Candidate{Key: []byte(secret), Secret: []byte(secret), Source: keyring.Source{Name: "paymos", Key: "secret"}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *shop) writeConfig() {
	s.t.Helper()
	document, err := s.config.Encode()
	must(s.t, err)
	replace(s.t, filepath.Join(s.configDir, receiverconfig.FileName), document)
}

func (s *shop) writeKeyring(ring *keyring.Keyring) {
	s.t.Helper()
	document, err := ring.Encode()
	must(s.t, err)
	s.keyring = ring
	replace(s.t, filepath.Join(s.keyringDir, keyring.FileName), document)
}

// replace puts a file in place at once.
func replace(t *testing.T, path string, data []byte) {
	t.Helper()
	must(t, os.WriteFile(path+".tmp", data, 0o600))
	must(t, os.Rename(path+".tmp", path))
}

func (s *shop) exec(sql string) {
	s.t.Helper()
	conn, err := s.db.Acquire(s.t.Context())
	must(s.t, err)
	defer conn.Release()
	must(s.t, conn.Conn().PgConn().Exec(s.t.Context(), sql).Close())
}

// count returns the number that a query returns.
func (s *shop) count(sql string, args ...any) int64 {
	s.t.Helper()
	rows, err := s.db.Query(s.t.Context(), sql, args...)
	must(s.t, err)
	n, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[int64])
	must(s.t, err)
	return n
}

func (s *shop) serveArgs(databaseURL string) []string {
	return s.serveArgsWith("--database-url", databaseURL)
}

func (s *shop) serveArgsWith(database ...string) []string {
	return append([]string{
		"serve", "--config-dir", s.configDir, "--keyring-dir", s.keyringDir, "--source-dir", s.sourceDir,
		"--public-address", "127.0.0.1:0", "--private-address", "127.0.0.1:0",
		"--drain-delay", "50ms", "--counter-flush-interval", "100ms",
		"--sample-interval", "100ms", "--destination-networks", "127.0.0.0/8",
	}, database...)
}

// send signs and sends with `receiver send` and returns the answers.
func (s *shop) send(to *running, args ...string) []sent {
	s.t.Helper()
	_, answers := s.trySend(to, args...)
	return answers
}

func (s *shop) trySend(to *running, args ...string) (int, []sent) {
	s.t.Helper()
	full := []string{"send", "--url", "http://" + to.public + s.config.Path, "--scheme", "Paymos", "-o", "json"}
	if !strings.Contains(strings.Join(args, " "), "--secret-file") {
		full = append(full, "--secret-file", s.secretFile)
	}
	code, out := command(s.t, append(full, args...)...)
	var answers []sent
	for line := range strings.Lines(out) {
		var answer sent
		if json.Unmarshal([]byte(line), &answer) == nil {
			answers = append(answers, answer)
		}
	}
	return code, answers
}

// command runs a command in this process and returns its exit code and what it printed.
func command(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out, log bytes.Buffer
	code := run(t.Context(), args, streams{in: strings.NewReader(""), out: &out, err: &log})
	if code != exitOK {
		t.Logf("receiver %s: %s", args[0], log.String())
	}
	return code, out.String()
}

// running is a receiver that serves.
type running struct {
	public, private string
	stop            context.CancelFunc
	// ended carries the exit code.
	ended chan int

	mu  sync.Mutex
	log []string
}

// serve runs `receiver serve` in this process until the test ends.
func (s *shop) serve(args []string) *running {
	s.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	log, in := io.Pipe()
	r := &running{stop: stop, ended: make(chan int, 1)}
	done := make(chan struct{})
	go func() {
		code := run(ctx, args, streams{in: strings.NewReader(""), out: io.Discard, err: in})
		_ = in.Close()
		r.ended <- code
		close(done)
	}()
	s.t.Cleanup(func() {
		stop()
		<-done
	})
	r.findAddresses(s.t, log)
	return r
}

// findAddresses reads the log until it has the addresses, and goes on reading in the background.
func (r *running) findAddresses(t *testing.T, log io.Reader) {
	t.Helper()
	found := make(chan struct{})
	go func() {
		lines := bufio.NewScanner(log)
		for lines.Scan() {
			var entry struct {
				Msg     string `json:"msg"`
				Public  string `json:"public"`
				Private string `json:"private"`
			}
			_ = json.Unmarshal(lines.Bytes(), &entry)
			r.mu.Lock()
			r.log = append(r.log, lines.Text())
			r.mu.Unlock()
			if entry.Msg == "Serving" && r.public == "" {
				r.public, r.private = entry.Public, entry.Private
				close(found)
			}
		}
	}()
	select {
	case <-found:
	case <-time.After(30 * time.Second):
		t.Fatal("the receiver does not serve")
	}
}

// logged is the log so far.
func (r *running) logged() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.log, "\n")
}

// ready waits until the receiver is ready.
func (r *running) ready(t *testing.T) *running {
	t.Helper()
	eventually(t, "the receiver is ready", func() bool { return r.get("/readyz") == http.StatusOK })
	return r
}

func (r *running) get(path string) int {
	answer, err := http.Get("http://" + r.private + path)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

func (r *running) status(t *testing.T) receiverstatus.Status {
	t.Helper()
	answer, err := http.Get("http://" + r.private + receiverstatus.Path)
	must(t, err)
	defer answer.Body.Close()
	var status receiverstatus.Status
	must(t, json.NewDecoder(answer.Body).Decode(&status))
	return status
}

// eventually waits until the condition holds.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(60 * time.Second)
	for !condition() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatalf("waited too long until %s", what)
		}
	}
}
