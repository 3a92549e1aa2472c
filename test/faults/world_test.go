// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/test/faults/cutter"
	"github.com/hookonce/hookonce/test/faults/plan"
	"github.com/hookonce/hookonce/test/postgres"
)

// shopSQL is what a user has: tables without any constraint that would hide a second effect, and functions that answer
// something else each time they run, so that a duplicate that runs them again gives itself away.
const shopSQL = `
CREATE SCHEMA shop;
CREATE TABLE shop.effects (effect text, endpoint text, event uuid, event_id text, resource text, event_type text, body bytea);
CREATE FUNCTION shop.note(effect text, e hookonce.event) RETURNS void LANGUAGE sql AS $$
  INSERT INTO shop.effects
  VALUES (effect, e.endpoint, e.id, e.event_id, coalesce(e.resource_id, ''), coalesce(e.event_type, ''), sha256(e.body))
$$;
CREATE FUNCTION shop.book(e hookonce.event) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  PERFORM shop.note('book', e);
  IF e.event_type = 'invoice.void' THEN
    RAISE EXCEPTION 'void' USING ERRCODE = 'HK001';
  ELSIF e.event_type = 'invoice.ordered' THEN
    PERFORM hookonce.enqueue(e, 'commands', 'ship-' || e.event_id, jsonb_build_object('ship', e.event_id));
  END IF;
  IF random() < 0.01 THEN
    RAISE EXCEPTION 'out of luck';
  END IF;
  RETURN jsonb_build_object('booking', gen_random_uuid());
END $$;
CREATE FUNCTION shop.charge(e hookonce.event) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  PERFORM shop.note('charge', e);
  RETURN jsonb_build_object('charge', gen_random_uuid());
END $$;
`

// databaseName of the run.
const databaseName = "shop"

// endpoint is what the receivers of one endpoint are given, and its provider.
type endpoint struct {
	short, name, path     string
	scheme                scheme.Scheme
	secret, key           []byte
	configDir, keyringDir string
}

// world is everything that a run needs: Postgres, nodes with receivers, links between them, and a sink.
type world struct {
	t         *testing.T
	dir       string
	binary    string
	endpoints [plan.Endpoints]*endpoint
	nodes     []*node
	toxics    *toxics
	cuts      *cutter.Cuts
	sink      *sink
	// sinkLink is the way from all receivers to the sink.
	sinkLink *link

	pgOptions postgres.Options
	pgMu      sync.Mutex
	pg        *postgres.Server
}

func newWorld(t *testing.T, seed uint64, nodes int, cuts *cutter.Cuts) *world {
	t.Helper()
	w := &world{t: t, dir: newFolder(t), toxics: newToxics(), cuts: cuts, sink: newSink(t, seed)}
	w.binary = buildReceiver(t, w.dir)
	sinkURL, err := url.Parse(w.sink.URL)
	must(t, err)
	w.sinkLink = w.toxics.link(t, "sink", sinkURL.Host)
	w.startPostgres()
	w.layEndpoints()
	w.migrate()
	for i := range nodes {
		n := newNode(t, w, i)
		w.nodes = append(w.nodes, n)
		t.Cleanup(n.kill)
		must(t, n.start())
	}
	client := &http.Client{Timeout: time.Second}
	w.eventually("all receivers are ready", time.Minute, func() bool {
		for _, n := range w.nodes {
			if !n.ready(client) {
				return false
			}
		}
		return true
	})
	return w
}

// buildReceiver builds the receiver of this checkout, or takes the one that FAULTS_RECEIVER names.
func buildReceiver(t *testing.T, dir string) string {
	t.Helper()
	if given := os.Getenv("FAULTS_RECEIVER"); given != "" {
		return given
	}
	binary := filepath.Join(dir, "receiver")
	out, err := exec.Command("go", "build", "-o", binary, "github.com/hookonce/hookonce/cmd/receiver").CombinedOutput()
	if err != nil {
		t.Fatalf("build the receiver: %v\n%s", err, out)
	}
	return binary
}

func (w *world) startPostgres() {
	w.t.Helper()
	w.pgOptions = postgres.Options{
		Dir: filepath.Join(w.dir, "postgres"), Port: freePort(w.t),
		Settings: map[string]string{"max_connections": "300", "shared_buffers": "256MB", "max_wal_size": "2GB"},
	}
	var err error
	w.pg, err = postgres.Start(w.pgOptions)
	must(w.t, err)
	w.t.Cleanup(func() { _ = w.server().StopImmediate() })
	must(w.t, w.pg.CreateDatabase(w.t.Context(), databaseName))
}

func (w *world) server() *postgres.Server {
	w.pgMu.Lock()
	defer w.pgMu.Unlock()
	return w.pg
}

// crashPostgres ends the server as a crash would, and starts it again.
func (w *world) crashPostgres() error {
	w.pgMu.Lock()
	defer w.pgMu.Unlock()
	if err := w.pg.StopImmediate(); err != nil {
		return fmt.Errorf("crash Postgres: %w", err)
	}
	pg, err := postgres.Start(w.pgOptions)
	if err != nil {
		return fmt.Errorf("start Postgres again: %w", err)
	}
	w.pg = pg
	return nil
}

// databaseURL is the database's URI at another address.
func (w *world) databaseURL(at string) string {
	u, err := url.Parse(w.server().URL(databaseName))
	must(w.t, err)
	u.Host = at
	return u.String()
}

func (w *world) layEndpoints() {
	w.t.Helper()
	preset := func(name string) scheme.Scheme {
		s, ok := scheme.Preset(name)
		if !ok {
			w.t.Fatalf("there is no scheme %s", name)
		}
		return s
	}
	book := receiverconfig.Effect{Name: plan.EffectBook, EventTypes: []string{"*"}, Function: "shop.book", Key: receiverconfig.KeyEvent}
	charge := receiverconfig.Effect{
		Name: plan.EffectCharge, EventTypes: []string{plan.TypePaid}, Function: "shop.charge", Key: receiverconfig.KeyResourceAndType,
	}
	w.endpoints = [plan.Endpoints]*endpoint{
		plan.Payments: {short: "payments", scheme: preset(scheme.Paymos), secret: []byte("key-of-the-payments-provider")},
		plan.Feed:     {short: "feed", scheme: preset(scheme.StandardWebhooks), secret: []byte("whsec_a2V5LW9mLXRoZS1mZWVkLXByb3ZpZGVyLTMyYnl0ZXM=")},
		plan.Repo:     {short: "repo", scheme: preset(scheme.GitHub), secret: []byte("key-of-the-repo-provider")},
	}
	w.layEndpoint(plan.Payments, book, charge)
	w.layEndpoint(plan.Feed)
	book.EventTypes = []string{plan.TypePush}
	w.layEndpoint(plan.Repo, book)
}

func (w *world) layEndpoint(number int, effects ...receiverconfig.Effect) {
	w.t.Helper()
	e := w.endpoints[number]
	e.name, e.path = "shop/"+e.short, "/webhooks/"+e.short
	e.configDir, e.keyringDir = filepath.Join(w.dir, "config-"+e.short), filepath.Join(w.dir, "keyring-"+e.short)
	config := &receiverconfig.Config{
		Endpoint: e.name, Path: e.path, Scheme: e.scheme, Tolerance: receiverconfig.Duration(5 * time.Minute),
		MaxBodyBytes: 1 << 20, Schema: "hookonce", Effects: effects,
		Retention: receiverconfig.Retention{
			Claims: receiverconfig.Duration(720 * time.Hour), Payloads: receiverconfig.Duration(168 * time.Hour),
		},
	}
	w.addDestination(config, number, plan.Copy, "*")
	if number == plan.Payments {
		// Nothing is routed there; only functions put something into it.
		w.addDestination(config, number, plan.Commands, "never")
	}
	document, err := config.Encode()
	must(w.t, err)
	e.key, err = e.scheme.Key.Decode(e.secret)
	must(w.t, err)
	ring, err := keyring.Adopt(rand.Reader, keyring.Candidate{
		Key: e.key, Secret: e.secret, Source: keyring.Source{Name: e.short, Key: "secret"},
	}, time.Now())
	must(w.t, err)
	secrets, err := ring.Encode()
	must(w.t, err)
	for folder, file := range map[string]struct {
		name    string
		content []byte
	}{e.configDir: {receiverconfig.FileName, document}, e.keyringDir: {keyring.FileName, secrets}} {
		must(w.t, os.Mkdir(folder, 0o755))
		must(w.t, os.WriteFile(filepath.Join(folder, file.name), file.content, 0o600))
	}
}

func (w *world) addDestination(config *receiverconfig.Config, endpoint int, name, eventType string) {
	// Long enough that nothing fails for good, however the faults fall.
	delays := make([]receiverconfig.Duration, 60)
	for i := range delays {
		delays[i] = receiverconfig.Duration(500 * time.Millisecond)
	}
	config.Destinations = append(config.Destinations, receiverconfig.Destination{
		Name: name, URL: "http://" + w.sinkLink.Listen + sinkPath(endpoint, name), EventTypes: []string{eventType},
		Timeout: receiverconfig.Duration(3 * time.Second), Delays: delays,
	})
}

func (w *world) migrate() {
	w.t.Helper()
	w.command("migrate", w.endpoints[plan.Payments], true)
	conn := w.connect()
	defer conn.Close(context.Background())
	must(w.t, conn.PgConn().Exec(w.t.Context(), shopSQL).Close())
}

// command runs one of the receiver's short commands, straight to the database. It may fail where the database may be away.
func (w *world) command(name string, e *endpoint, mustWork bool) {
	out, err := exec.Command(w.binary, name, "--config-dir", e.configDir,
		"--database-url", w.databaseURL(address(w.pgOptions.Port))).CombinedOutput()
	if err != nil && mustWork {
		w.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// connect is a connection of the test's own, past all proxies.
func (w *world) connect() *pgx.Conn {
	w.t.Helper()
	conn, err := pgx.Connect(context.Background(), w.databaseURL(address(w.pgOptions.Port)))
	must(w.t, err)
	return conn
}

// eventually waits until the condition holds.
func (w *world) eventually(what string, within time.Duration, condition func() bool) {
	w.t.Helper()
	deadline := time.Now().Add(within)
	for !condition() {
		if time.Now().After(deadline) || !rest(w.t.Context(), 100*time.Millisecond) {
			w.t.Fatalf("waited %s until %s", within, what)
		}
	}
}
