// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/replayrequest"
	"github.com/hookonce/hookonce/internal/sqlfile"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
	"github.com/hookonce/hookonce/test/postgres"
)

func TestCountsGoUpAndDownAgain(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	minute := time.Now().Truncate(time.Minute)
	counts := []receiver.Count{
		{Name: "received", Minute: minute, N: 3},
		{Name: "received", Minute: minute.Add(5 * time.Second), N: 2},
		{Name: "received", Minute: minute.Add(-time.Hour), N: 1},
		{Name: "processed", Minute: minute, N: 4},
		{Name: "duplicates", Minute: minute, N: 1},
		{Name: "rejected", Cause: "bad_signature", Minute: minute, N: 7},
		{Name: "rejected", Cause: "stale_timestamp", Minute: minute, N: 1},
	}
	var done sync.WaitGroup
	for _, other := range []*ledger.Ledger{l, f.open()} {
		done.Go(func() {
			if err := other.AddCounts(t.Context(), counts); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	a := record(t, l, event("evt_1"), toFulfilment).Deliveries[0]
	b := record(t, l, event("evt_2"), toFulfilment).Deliveries[0]
	settle(t, l, attempt(a, receiver.Exhausted, 0))

	got, err := l.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got.Observed.IsZero() || got.OldestPending.IsZero() || got.LastFailure == nil || got.LastFailure.Time.IsZero() {
		t.Fatalf("got %+v", got)
	}
	got.Observed, got.OldestPending, got.LastFailure.Time = time.Time{}, time.Time{}, time.Time{}
	want := receiverstatus.Deliveries{
		Received: 12, Processed: 8, Duplicates: 2, Rejected: 16, Pending: 1, Failed: 1,
		LastFailure: &receiverstatus.Failure{Destination: "fulfilment", EventID: "evt_1", Reason: "status 503"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	settle(t, l, attempt(b, receiver.Delivered, 0))
	replayAll(t, l, replayrequest.Selector{})
	settle(t, l, attempt(lease(t, l)[0], receiver.Delivered, 0))
	got, err = l.Counts(t.Context())
	if err != nil || got.Pending != 0 || got.Failed != 0 || got.LastFailure != nil || !got.OldestPending.IsZero() {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestCheckSaysWhatIsWrong(t *testing.T) {
	f := newFixture(t)
	bare := postgres.New(t)
	wrong, err := url.Parse(f.url)
	if err != nil {
		t.Fatal(err)
	}
	closed := *wrong
	closed.Host = "127.0.0.1:1"
	wrong.User = url.UserPassword("app", "hunter2")
	newer := newFixture(t)
	newer.exec("UPDATE hookonce.schema_version SET version = 99")
	for name, c := range map[string]struct{ url, reason string }{
		"good": {f.url, "Connected"}, "no schema": {bare, "SchemaMissing"}, "wrong password": {wrong.String(), "AuthFailed"},
		"nothing listens": {closed.String(), "ConnectionRefused"}, "newer": {newer.url, "SchemaTooNew"},
		"no such database": {strings.Replace(f.url, "test_", "none_", 1), "Failed"},
	} {
		got := f.open(func(o *ledger.Options) { o.URL = ledger.StaticURL(c.url) }).Check(t.Context())
		if got.Reason != c.reason || got.Checked.IsZero() || strings.Contains(got.Message, "hunter2") {
			t.Errorf("%s: got %+v, want reason %s", name, got, c.reason)
		}
		// What cannot be used is not reachable, even if it answers; how durable it is, is known all the same.
		answers := c.reason == "Connected" || c.reason == "SchemaMissing" || c.reason == "SchemaTooNew"
		if got.Reachable != (c.reason == "Connected") || got.Durable != answers || (got.Message == "") != got.Reachable {
			t.Errorf("%s: got %+v", name, got)
		}
		if name == "good" && (got.Settings["fsync"] != "on" || got.Settings["synchronous_commit"] != "on") {
			t.Errorf("got %+v", got)
		}
	}
}

func TestCommitsAreSynchronousWhateverTheDatabaseSays(t *testing.T) {
	f := newFixture(t)
	f.exec("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$")
	f.exec(`CREATE FUNCTION shop.setting(e hookonce.event) RETURNS jsonb LANGUAGE sql AS
		$$ SELECT jsonb_build_array(current_setting('synchronous_commit'), current_setting('transaction_isolation')) $$`)
	f.exec("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = serializable', current_database()); END $$")
	l := f.open()
	receipt := record(t, l, event("evt_1"), work("shop.setting"))
	if want := `["on", "read committed"]`; !strings.Contains(string(receipt.Answer.Body), want) {
		t.Errorf("got %s, want %s", receipt.Answer.Body, want)
	}
	if status := l.Check(t.Context()); !status.Durable {
		t.Errorf("got %+v", status)
	}
}

func TestAChangedPasswordIsReadAgain(t *testing.T) {
	f := newFixture(t)
	server := postgres.Shared(t)
	role := strings.TrimPrefix(f.url[strings.LastIndex(f.url, "/"):], "/")
	admin, err := pgx.Connect(t.Context(), server.AdminURL(role))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(t.Context())
	for _, sql := range []string{"CREATE ROLE " + role + " LOGIN PASSWORD 'one' IN ROLE app", "ALTER ROLE " + role + " INHERIT"} {
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	u, err := url.Parse(f.url)
	if err != nil {
		t.Fatal(err)
	}
	var password atomic.Value
	password.Store("one")
	l := f.open(func(o *ledger.Options) {
		o.URL = func() (string, error) {
			at := *u
			at.User = url.UserPassword(role, password.Load().(string))
			return at.String(), nil
		}
	})
	record(t, l, event("evt_1"), receiver.Work{})
	if _, err := admin.Exec(t.Context(), "ALTER ROLE "+role+" PASSWORD 'two'"); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", role); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Record(t.Context(), event("evt_2"), receiver.Work{}); !errors.Is(err, receiver.ErrUnavailable) {
		t.Errorf("with the old password: got %v", err)
	}
	password.Store("two")
	record(t, l, event("evt_2"), receiver.Work{})
	f.wantCounts(map[string]int64{"hookonce.claim": 2})
}

func TestADatabaseThatIsAwayIsUnavailable(t *testing.T) {
	f := newFixture(t)
	l := f.open(func(o *ledger.Options) { o.URL = ledger.StaticURL("postgres://app:secret@127.0.0.1:1/none") })
	_, recordErr := l.Record(t.Context(), event("evt_1"), receiver.Work{})
	_, leaseErr := l.LeaseDue(t.Context(), []string{"a"}, 1, time.Minute)
	_, countErr := l.Counts(t.Context())
	settleErr := l.Settle(t.Context(), []receiver.Settlement{{}})
	for i, err := range []error{recordErr, leaseErr, countErr, settleErr} {
		if !errors.Is(err, receiver.ErrUnavailable) || strings.Contains(err.Error(), "secret") {
			t.Errorf("call %d: got %v", i, err)
		}
	}
}

func TestADayWithoutAPartitionIsMadeOnDemand(t *testing.T) {
	f := newFixture(t)
	f.exec(`DO $$ DECLARE p regclass; BEGIN
		FOR p IN SELECT inhrelid FROM pg_inherits WHERE inhparent IN ('hookonce.event'::regclass, 'hookonce.attempt'::regclass) LOOP
			EXECUTE format('DROP TABLE %s', p);
		END LOOP; END $$`)
	ledgers := []*ledger.Ledger{f.open(), f.open()}
	events := make([]receiver.Event, 10)
	for i := range events {
		events[i] = event(fmt.Sprintf("evt_%d", i))
	}
	for _, o := range atOnce(t, events, toFulfilment, func(i int) *ledger.Ledger { return ledgers[i%2] }) {
		if o.err != nil {
			t.Error(o.err)
			continue
		}
		settle(t, ledgers[0], attempt(o.receipt.Deliveries[0], receiver.Delivered, 0))
	}
	f.wantCounts(map[string]int64{"hookonce.event": 10, "hookonce.attempt": 10})
}

func TestMigrationsAtOnceAndAgain(t *testing.T) {
	for _, schema := range []string{"hookonce", "order"} {
		u := postgres.New(t)
		var done sync.WaitGroup
		for range 4 {
			done.Go(func() {
				if err := ledger.Migrate(t.Context(), u, schema); err != nil {
					t.Error(err)
				}
			})
		}
		done.Wait()
		l, err := ledger.Open(t.Context(), ledger.Options{URL: ledger.StaticURL(u), Schema: schema, Endpoint: "shop/payments"})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if receipt := record(t, l, event("evt_1"), toFulfilment); receipt.Kind != receiver.Processed {
			t.Errorf("%s: kind %d", schema, receipt.Kind)
		}
		if status := l.Check(t.Context()); status.Reason != "Connected" || status.Message != "" {
			t.Errorf("%s: %+v", schema, status)
		}
	}
}

func TestANewerSchemaIsRefused(t *testing.T) {
	f := newFixture(t)
	f.exec("UPDATE hookonce.schema_version SET version = 99")
	var newer *ledger.SchemaTooNewError
	if err := ledger.Migrate(t.Context(), f.url, ""); !errors.As(err, &newer) || newer.Have != 99 {
		t.Errorf("got %v", err)
	}
}

func TestSchemaNamesThatNeedQuotesAreRefused(t *testing.T) {
	for _, name := range []string{`a"b`, "a'b", "A", "a.b", "a b"} {
		var invalid *sqlfile.InvalidNameError
		if err := ledger.Migrate(t.Context(), "postgres://127.0.0.1:1/none", name); !errors.As(err, &invalid) {
			t.Errorf("migrate %s: got %v", name, err)
		}
		options := ledger.Options{URL: ledger.StaticURL("postgres://127.0.0.1:1/none"), Endpoint: "a/b", Schema: name}
		if _, err := ledger.Open(t.Context(), options); !errors.As(err, &invalid) {
			t.Errorf("open %s: got %v", name, err)
		}
	}
	simple := ledger.Options{URL: ledger.StaticURL("postgres://127.0.0.1:1/none?default_query_exec_mode=simple_protocol"), Endpoint: "a/b"}
	if _, err := ledger.Open(t.Context(), simple); err == nil {
		t.Error("the simple protocol was accepted")
	}
}
