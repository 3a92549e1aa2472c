// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/replayrequest"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/database"
	"github.com/hookonce/hookonce/receiver/ledger"
	"github.com/hookonce/hookonce/receiver/retention"
)

// TestEachCommandNeedsItsRoleOnly runs the commands with the roles of docs/roles.md.
func TestEachCommandNeedsItsRoleOnly(t *testing.T) {
	out := newSink(t)
	s := newShop(t, out.URL)
	r := newRoles(t)
	s.config.Effects[0].EventTypes = []string{"invoice.*"}
	s.writeConfig()
	receivers := s.serve(s.serveArgs(r.uri("hookonce_receive")))
	eventually(t, "the ledger is missing", func() bool { return receivers.status(t).Database.Reason != "" })
	s.mustRun(r.uri("hookonce_owner"), "migrate", "--wait", "0s")
	eventually(t, "the missing right is named", func() bool {
		d := receivers.status(t).Database
		return !d.Reachable && strings.Contains(d.Message, codeNoRight)
	})
	r.grant(func(uri string) { s.mustRun(uri, "migrate", "--wait", "0s") })
	// As the init container of receivers does, with their role: there is nothing left to do that it may not.
	s.mustRun(r.uri("hookonce_receive"), "migrate", "--wait", "0s")
	receivers.ready(t)
	answers := s.send(receivers, "--event-id", "evt_1", "--event-type", "invoice.paid", "--resource-id", "inv_1", "--repeat", "2")
	if answers[0].Status != http.StatusOK || answers[0].Digest != answers[1].Digest {
		t.Fatalf("answers %+v, want two equal ones with 200", answers)
	}
	// The delivery of the event, and that of the function.
	eventually(t, "both deliveries are made", func() bool { return len(out.seen()) == 2 })
	eventually(t, "the counts are in the status", func() bool {
		d := receivers.status(t).Deliveries
		return d != nil && d.Received == 2 && d.Processed == 1 && d.Duplicates == 1 && d.Pending == 0
	})
	out.status.Store(http.StatusBadGateway)
	s.send(receivers, "--event-id", "evt_2", "--event-type", "invoice.sent", "--resource-id", "inv_1")
	eventually(t, "the ladders run out", func() bool { return receivers.status(t).Deliveries.Failed == 2 })
	out.status.Store(http.StatusOK)
	s.mustRun(r.uri("hookonce_replay"), "replay", "--failed")
	eventually(t, "all is delivered", func() bool {
		d := receivers.status(t).Deliveries
		return d.Failed == 0 && d.Pending == 0
	})
	s.mustRun(r.uri("hookonce_prune"), "prune")
	receivers.stop()
	if code := <-receivers.ended; code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

func TestRolesAreDeniedWhatIsNotTheirs(t *testing.T) {
	r := newRoles(t)
	r.grant(r.migrate)
	r.denied("hookonce_owner", "SELECT FROM shop.orders", "CREATE SCHEMA another", "CREATE TABLE shop.mine ()")
	for _, role := range []string{"hookonce_receive", "hookonce_replay", "hookonce_read", "hookonce_prune"} {
		r.denied(role, "SELECT FROM shop.orders", "INSERT INTO shop.orders (invoice_id) VALUES ('forged')",
			"CREATE SCHEMA another", "CREATE TABLE hookonce.mine ()", "DROP TABLE hookonce.claim", "TRUNCATE hookonce.claim",
			"ALTER TABLE hookonce.claim ADD COLUMN mine int", "DROP SCHEMA hookonce CASCADE",
			"UPDATE hookonce.schema_version SET version = 99", "UPDATE hookonce.scope SET name = 'endpoint:mine'",
			"UPDATE hookonce.event SET body = ''", "UPDATE hookonce.claim SET key = ''", "DELETE FROM hookonce.schema_version")
	}
	r.denied("hookonce_receive", "DELETE FROM hookonce.claim", "DELETE FROM hookonce.event", "DELETE FROM hookonce.failed_delivery",
		"UPDATE hookonce.delivery SET body = ''", "SELECT hookonce.drop_day('event_20200101')")
	r.denied("hookonce_replay", "SELECT body FROM hookonce.event", "SELECT headers FROM hookonce.event",
		"SELECT FROM hookonce.claim", "SELECT body FROM hookonce.delivery", "UPDATE hookonce.replay SET reason = ''", "DELETE FROM hookonce.replay",
		"SELECT shop.on_invoice_paid(NULL)", "SELECT hookonce.ensure_partitions(1)")
	r.denied("hookonce_read", "SELECT body FROM hookonce.event", "SELECT headers FROM hookonce.event", "SELECT result FROM hookonce.claim",
		"SELECT body FROM hookonce.delivery", "SELECT body FROM hookonce.failed_delivery", "DELETE FROM hookonce.failed_delivery",
		"UPDATE hookonce.counter SET n = 0", "SELECT shop.on_invoice_paid(NULL)")
	r.denied("hookonce_prune", "SELECT body FROM hookonce.event", "SELECT headers FROM hookonce.event", "TABLE hookonce.event",
		"SELECT result FROM hookonce.claim", "SELECT body FROM hookonce.delivery", "DELETE FROM hookonce.delivery",
		"SELECT shop.on_invoice_paid(NULL)")
	// What runs as the owner takes no orders from a caller's search path, and drops no table but a day's.
	for _, name := range []string{"claim", "event", "event_20200101; DROP TABLE hookonce.claim", "event_2020010"} {
		if err := r.try("hookonce_prune", "SELECT hookonce.drop_day('"+name+"')"); database.Code(err) != "22023" {
			t.Errorf("a day that is named %s: %v", name, err)
		}
	}
}

// TestEveryRightIsNeeded takes each right away, alone, and sees that the role's work cannot be done without it.
func TestEveryRightIsNeeded(t *testing.T) {
	r := newRoles(t)
	r.grant(r.migrate)
	runs := 0
	for role, work := range map[string]func(name string) error{
		"hookonce_receive": r.receive, "hookonce_replay": r.replay, "hookonce_read": r.read, "hookonce_prune": r.prune,
	} {
		run := func() error {
			runs++
			return work(fmt.Sprintf("shop/run-%d", runs))
		}
		if err := run(); err != nil {
			t.Fatalf("%s with all its rights: %v", role, err)
		}
		rights := r.rights(role)
		if len(rights) < 8 {
			t.Errorf("%s has the rights %v: some are not looked at", role, rights)
		}
		for _, g := range rights {
			r.as("hookonce_owner", g.revoke(r.name[role]))
			if err := run(); err == nil || !(strings.Contains(err.Error(), codeNoRight) || strings.Contains(err.Error(), codeNoDay)) {
				t.Errorf("%s without %s on %s: got %v", role, g.Privilege, g.Object, err)
			}
			r.as("hookonce_owner", g.grant(r.name[role]))
		}
	}
}

func (r *roles) migrate(uri string) {
	r.t.Helper()
	must(r.t, ledger.Migrate(r.t.Context(), uri, database.DefaultSchema))
}

// open opens the ledger as a role, for an endpoint that is new.
func (r *roles) open(role, endpoint string) *ledger.Ledger {
	l, err := ledger.Open(r.t.Context(), ledger.Options{
		URL: ledger.StaticURL(r.uri(role)), Endpoint: endpoint, Logger: slog.New(slog.DiscardHandler), MaxConns: 2,
	})
	must(r.t, err)
	return l
}

// receive does once what receivers do.
func (r *roles) receive(endpoint string) error {
	l := r.open("hookonce_receive", endpoint)
	defer l.Close()
	if status := l.Check(r.t.Context()); !status.Reachable {
		return errors.New(status.Message)
	}
	// Without its days, which the first event has to make.
	r.as("hookonce_owner", "DROP TABLE IF EXISTS hookonce.event_"+time.Now().UTC().Format("20060102"))
	e := receiver.Event{
		ID: "evt_1", Type: "invoice.paid", ResourceID: endpoint, Headers: []byte("{}"), Body: []byte(`{}`), ClaimBody: true,
	}
	e.BodyDigest = sha256.Sum256(e.Body)
	work := receiver.Work{
		Destinations: []string{"crm"},
		Effects:      []receiver.Effect{{Name: "book", Function: "shop.on_invoice_paid", OncePerResource: true}},
	}
	for _, want := range []receiver.Kind{receiver.Processed, receiver.Duplicate} {
		receipt, err := l.Record(r.t.Context(), e, work)
		if err != nil || receipt.Kind != want {
			return errors.Join(err, fmt.Errorf("kind %d, want %d", receipt.Kind, want))
		}
	}
	if err := r.deliver(l); err != nil {
		return err
	}
	count := []receiver.Count{{Name: receiver.CountReceived, Minute: time.Now(), N: 1}}
	_, err := l.Counts(r.t.Context())
	return errors.Join(err, l.AddCounts(r.t.Context(), count), l.AddCounts(r.t.Context(), count))
}

// deliver settles the function's delivery: once to be retried, and then as exhausted.
func (r *roles) deliver(l *ledger.Ledger) error {
	for _, outcome := range []receiver.Outcome{receiver.Retry, receiver.Exhausted} {
		due, err := l.LeaseDue(r.t.Context(), []string{"fulfilment"}, 1, time.Minute)
		if err != nil || len(due) != 1 {
			return errors.Join(err, fmt.Errorf("%d deliveries are due, want 1", len(due)))
		}
		err = l.Settle(r.t.Context(), []receiver.Settlement{{Delivery: due[0], Outcome: outcome, Started: time.Now(), Reason: "no"}})
		if err != nil {
			return err
		}
	}
	return nil
}

// replay puts one failed delivery of an endpoint that is new back into the outbox.
func (r *roles) replay(endpoint string) error {
	l := r.open("hookonce_replay", endpoint)
	defer l.Close()
	nothing := &replayrequest.Request{ID: uuid.New(), Selector: replayrequest.Selector{State: replayrequest.Failed}}
	if _, err := l.PrepareReplay(r.t.Context(), nothing); err != nil {
		return err
	}
	r.as("hookonce_owner", `INSERT INTO hookonce.failed_delivery (id, event, event_received_at, scope, attempts, status_code,
		destination, event_id, reason)
		SELECT gen_random_uuid(), gen_random_uuid(), now(), id, 1, 500, 'fulfilment', 'evt_1', 'no' FROM hookonce.scope
		WHERE name = 'endpoint:`+endpoint+`'`)
	for _, state := range []replayrequest.State{replayrequest.Failed, replayrequest.Delivered} {
		request := &replayrequest.Request{ID: uuid.New(), Selector: replayrequest.Selector{State: state}}
		_, err := l.PrepareReplay(r.t.Context(), request)
		if err == nil {
			_, err = l.SendReplay(r.t.Context(), request.ID, 10)
		}
		var end receiverstatus.Replay
		if err == nil {
			end, err = l.EndReplay(r.t.Context(), request.ID)
		}
		if err == nil && state == replayrequest.Failed && end.Sent != 1 {
			err = fmt.Errorf("%d were replayed, want 1", end.Sent)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// read looks at everything of an endpoint that has had one event.
func (r *roles) read(endpoint string) error {
	l := r.open("hookonce_read", endpoint)
	defer l.Close()
	if _, err := l.Audit(r.t.Context(), time.Now(), time.Time{}); err != nil {
		return err
	}
	r.as("hookonce_owner", `INSERT INTO hookonce.claim (event, scope, state, status, key, body_digest)
		SELECT gen_random_uuid(), id, 1, 200, substr(sha256('id:evt_1'), 1, 16), '' FROM hookonce.scope
		WHERE name = 'endpoint:`+endpoint+`'`)
	_, err := l.History(r.t.Context(), "evt_1")
	return err
}

// prune removes something of each kind.
func (r *roles) prune(endpoint string) error {
	options := retention.Options{
		URL: r.uri("hookonce_prune"), Endpoint: endpoint, Claims: 48 * time.Hour, Payloads: 24 * time.Hour,
		Failed: 96 * time.Hour,
	}
	if _, err := retention.Prune(r.t.Context(), options); err != nil {
		return err
	}
	scope := "FROM hookonce.scope WHERE name = 'endpoint:" + endpoint + "'"
	day := func(ago string) string {
		return "((clock_timestamp() - interval '" + ago + "') AT TIME ZONE 'UTC')::date"
	}
	r.as("hookonce_owner", `
		DO $$ DECLARE d date; parent text; BEGIN
			FOREACH d IN ARRAY ARRAY[`+day("24 hours")+`, `+day("240 hours")+`] LOOP
				FOREACH parent IN ARRAY ARRAY['event', 'attempt'] LOOP
					EXECUTE format('CREATE TABLE IF NOT EXISTS hookonce.%I PARTITION OF hookonce.%I FOR VALUES FROM (%L) TO (%L)',
						parent || '_' || to_char(d, 'YYYYMMDD'), parent, d::timestamp AT TIME ZONE 'UTC', (d + 1)::timestamp AT TIME ZONE 'UTC');
				END LOOP;
			END LOOP;
		END $$;
		UPDATE hookonce.scope SET claims_kept = '48 hours', payloads_kept = '24 hours';
		INSERT INTO hookonce.claim (received_at, event, scope, state, status, key, body_digest)
			SELECT now() - interval '10 days', gen_random_uuid(), id, 1, 200, 'old', 'old' `+scope+`;
		INSERT INTO hookonce.effect (received_at, event, scope, key)
			SELECT now() - interval '10 days', gen_random_uuid(), id, 'old' `+scope+`;
		INSERT INTO hookonce.event (id, received_at, scope, endpoint, event_id, headers, body)
			SELECT gen_random_uuid(), now() - interval '24 hours 1 second', id, 'x', 'x', '', '' `+scope+`;
		INSERT INTO hookonce.attempt (settled_at, started_at, delivery, event, scope, number, duration_ms, status_code, outcome, destination)
			SELECT now() - interval '24 hours 1 second', now(), gen_random_uuid(), gen_random_uuid(), id, 1, 1, 1, 1, 'x' `+scope+`;
		INSERT INTO hookonce.failed_delivery (id, event, event_received_at, failed_at, scope, attempts, status_code, destination, event_id, reason)
			SELECT gen_random_uuid(), gen_random_uuid(), now(), now() - interval '97 hours', id, 1, 503, 'x', 'x', 'x' `+scope+`;
		WITH old AS (
			INSERT INTO hookonce.replay (id, created_at, scope, matched, name, requested_by, reason, selector)
			SELECT gen_random_uuid(), now() - interval '10 days', id, 1, 'x', 'x', 'x', '{}' `+scope+` RETURNING id
		)
		INSERT INTO hookonce.replay_item (replay, n, delivery, event, event_received_at, destination)
			SELECT id, 1, gen_random_uuid(), gen_random_uuid(), now(), 'x' FROM old;
		INSERT INTO hookonce.counter (scope, minute, name, cause, n)
			SELECT id, now() - interval '49 hours' - n * interval '1 minute', 'received', '', 1 FROM generate_series(1, 2) n, hookonce.scope
			WHERE name = 'endpoint:`+endpoint+`';`)
	report, err := retention.Prune(r.t.Context(), options)
	if err != nil {
		return err
	}
	if report.ClaimsRemoved != 1 || report.EffectsRemoved < 1 || report.EventsRemoved != 1 || report.AttemptsRemoved != 1 ||
		report.PartitionsDropped < 2 || report.FailedRemoved != 1 || report.ReplaysRemoved != 1 {
		return fmt.Errorf("got %+v", report)
	}
	return nil
}
