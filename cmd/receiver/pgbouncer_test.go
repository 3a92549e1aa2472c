// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/test/postgres"
)

// pooled is the shop's database through a PgBouncer in transaction mode, with fewer connections than clients.
func (s *shop) pooled() string {
	s.t.Helper()
	bouncer := postgres.NewPgBouncer(s.t, postgres.PgBouncerOptions{PoolSize: 3})
	uri, err := bouncer.Through(s.url)
	must(s.t, err)
	return uri
}

// neighbor is a second endpoint in the same database, with a schema of its own whose function leaves settings behind.
func (s *shop) neighbor(sql string) *shop {
	s.t.Helper()
	n, config := *s, *s.config
	config.Endpoint, config.Schema, config.Destinations = "shop/neighbor", "neighbor", nil
	config.Effects = []receiverconfig.Effect{{Name: "book", EventTypes: []string{"invoice.paid"}, Function: "next.on_invoice_paid", Key: "Event"}}
	n.config, n.configDir = &config, filepath.Join(s.t.TempDir(), "config")
	must(s.t, os.Mkdir(n.configDir, 0o755))
	n.writeConfig()
	if code, out := command(s.t, "migrate", "--config-dir", n.configDir, "--database-url", s.url); code != exitOK {
		s.t.Fatalf("migrate: %d %s", code, out)
	}
	n.exec(sql)
	return &n
}

// TestTheWholeLifeThroughPgBouncer: everything that a receiver and its commands do, in transactions that share three
// connections, with the URI as it is for a server.
func TestTheWholeLifeThroughPgBouncer(t *testing.T) {
	out := newSink(t)
	s := newShop(t, out.URL)
	uri := s.pooled()
	for _, command := range [][]string{{"migrate", "--wait", "0s"}, {"prune"}} {
		s.mustRun(uri, command...)
	}
	r, other := s.serve(s.serveArgs(uri)).ready(t), s.serve(s.serveArgs(uri)).ready(t)
	var senders sync.WaitGroup
	results := make([][]sent, 2)
	for i, to := range []*running{r, other} {
		senders.Go(func() {
			results[i] = s.send(to, "--event-id", "evt_1", "--event-type", "invoice.paid", "--resource-id", "inv_1",
				"--repeat", "20", "--concurrent", "20")
		})
		senders.Go(func() {
			for n := range 50 {
				s.send(to, "--event-id", fmt.Sprintf("evt_%d_%d", i, n), "--event-type", "invoice.sent")
			}
		})
	}
	senders.Wait()
	for _, answer := range append(results[0], results[1]...) {
		if answer.Status != http.StatusOK || answer.Digest != results[0][0].Digest {
			t.Errorf("answer %+v, want 200 with %s", answer, results[0][0].Digest)
		}
	}
	eventually(t, "all deliveries are settled", func() bool { return s.count(waiting) == 0 })
	if n, calls := s.count(orders), len(out.seen()); n != 1 || calls != 101 {
		t.Errorf("%d orders and %d calls, want 1 and 101", n, calls)
	}
	eventually(t, "the counts are in the status", func() bool {
		d := r.status(t).Deliveries
		return d != nil && d.Received == 140 && d.Processed == 101 && d.Duplicates == 39 && d.Pending == 0
	})
	if status := r.status(t).Database; !status.Reachable || !status.Durable {
		t.Errorf("got %+v", status)
	}
	out.status.Store(http.StatusBadGateway)
	s.send(r, "--event-id", "evt_late", "--event-type", "invoice.sent")
	eventually(t, "the ladder runs out", func() bool { return s.count(failed) == 1 })
	out.status.Store(http.StatusOK)
	s.mustRun(uri, "replay", "--failed")
	eventually(t, "it is delivered", func() bool { return s.count(waiting) == 0 && s.count(failed) == 0 })
	drainInOrder(t, r, other)
}

// TestStatementsThatAPoolerCannotKeepAreSaid: a URI that asks for named prepared statements works on a server and not on
// this pooler. Nothing is accepted that is not recorded, and the status says what is wrong.
func TestStatementsThatAPoolerCannotKeepAreSaid(t *testing.T) {
	s := newShop(t, "")
	r := s.serve(s.serveArgs(s.pooled() + "?default_query_exec_mode=cache_statement"))
	accepted := map[string]bool{}
	eventually(t, "the status says so", func() bool {
		id := fmt.Sprintf("evt_%d", len(accepted))
		_, answers := s.trySend(r, "--event-id", id)
		accepted[id] = answers[0].Status == http.StatusOK
		d := r.status(t).Database
		return !d.Reachable && (strings.Contains(d.Message, "42P05") || strings.Contains(d.Message, "26000"))
	})
	for id, was := range accepted {
		if n := s.count("SELECT count(*) FROM hookonce.event WHERE event_id = $1", id); was && n != 1 {
			t.Errorf("%s was accepted and is in the ledger %d times", id, n)
		}
	}
}

func drainInOrder(t *testing.T, receivers ...*running) {
	t.Helper()
	for _, r := range receivers {
		r.stop()
		if code := <-r.ended; code != exitOK {
			t.Errorf("exit code %d", code)
		}
		for line := range strings.Lines(r.logged()) {
			problem := strings.Contains(line, `"level":"WARN"`) || strings.Contains(line, `"level":"ERROR"`)
			if problem && !strings.Contains(line, "its attempts are exhausted") {
				t.Errorf("logged: %s", line)
			}
		}
	}
}

func (s *shop) mustRun(uri string, args ...string) {
	s.t.Helper()
	full := append(args, "--config-dir", s.configDir, "--database-url", uri)
	if code, out := command(s.t, full...); code != exitOK {
		s.t.Fatalf("%s: exit code %d %s", args[0], code, out)
	}
}

// nextSQL is a function that sets what must end with its event, and books where its search path says.
const nextSQL = `
CREATE SCHEMA next;
CREATE TABLE next.orders (event_id text, resource_id text);
CREATE FUNCTION next.on_invoice_paid(e neighbor.event) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('search_path', 'next', false), set_config('synchronous_commit', 'off', false),
    set_config('lock_timeout', '1500', false), set_config('shop.tenant', 'next', false);
  INSERT INTO orders VALUES (e.event_id, e.resource_id);
  RETURN jsonb_build_object('booked', e.resource_id);
END $$;
CREATE OR REPLACE FUNCTION shop.on_invoice_paid(e hookonce.event) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO shop.orders VALUES (e.event_id, current_setting('search_path') || current_setting('synchronous_commit') ||
    current_setting('lock_timeout') || coalesce(current_setting('shop.tenant', true), ''));
  RETURN jsonb_build_object('booked', e.resource_id);
END $$;
`

// TestReceiversThatShareConnectionsShareNothingElse: two schemas, whose statements have the same texts but for the
// schema's name, take turns on few connections. A prepared statement or a setting that stayed on one would reach the other.
func TestReceiversThatShareConnectionsShareNothingElse(t *testing.T) {
	s := newShop(t, "")
	n := s.neighbor(nextSQL)
	uri := s.pooled()
	r, next := s.serve(s.serveArgs(uri)).ready(t), n.serve(n.serveArgs(uri)).ready(t)
	const events = 60
	var senders sync.WaitGroup
	for _, pair := range []struct {
		shop *shop
		to   *running
	}{{s, r}, {n, next}} {
		for lane := range 4 {
			senders.Go(func() {
				for i := range events {
					id := fmt.Sprintf("%d_%d", lane, i)
					pair.shop.send(pair.to, "--event-id", id, "--event-type", "invoice.paid", "--resource-id", id, "--repeat", "2")
				}
			})
		}
	}
	senders.Wait()
	for query, want := range map[string]int64{
		orders: 4 * events, "SELECT count(*) FROM next.orders": 4 * events,
		"SELECT count(*) FROM hookonce.claim": 4 * events, "SELECT count(*) FROM neighbor.claim": 4 * events,
	} {
		if got := s.count(query); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
	rows, err := s.db.Query(t.Context(), "SELECT DISTINCT resource_id FROM shop.orders")
	must(t, err)
	seen, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	// "$user", public is the path of a new session, and 2s is what each transaction asserts.
	if len(seen) != 1 || seen[0] != `"$user", publicon2s` {
		t.Errorf("settings that the function saw: %q", seen)
	}
	drainInOrder(t, r, next)
}
