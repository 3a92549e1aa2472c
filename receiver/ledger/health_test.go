// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
)

func TestAServerThatTakesNoEventsIsNotUsable(t *testing.T) {
	f := newFixture(t)
	now := time.Now()
	l := f.open(func(o *ledger.Options) { o.Now = func() time.Time { return now } })
	want := func(what, reason string) {
		t.Helper()
		status := l.Check(t.Context())
		if status.Reason != reason || status.Reachable != (reason == "Connected") || !status.Durable {
			t.Errorf("%s: got %+v, want %s", what, status, reason)
		}
		if (status.Message != "") != (reason != "Connected") || strings.Contains(status.Message, "evt_") {
			t.Errorf("%s: the message is %q", what, status.Message)
		}
	}
	record(t, l, event("evt_0"), receiver.Work{})
	want("before", "Connected")

	fail := func(what string) {
		t.Helper()
		if _, err := l.Record(t.Context(), event("evt_1"), receiver.Work{}); !errors.Is(err, receiver.ErrUnavailable) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	f.exec("REVOKE INSERT ON hookonce.event FROM CURRENT_USER")
	fail("revoked")
	want("revoked", "WriteFailed")
	if receipt := record(t, l, event("evt_0"), receiver.Work{}); receipt.Kind != receiver.Duplicate {
		t.Errorf("got kind %d", receipt.Kind)
	}
	want("after a duplicate", "WriteFailed")
	f.exec("GRANT INSERT ON hookonce.event TO CURRENT_USER")
	record(t, l, event("evt_1"), receiver.Work{})
	want("after a success", "Connected")

	f.exec(`CREATE FUNCTION shop.full() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN RAISE EXCEPTION 'no room for %', NEW.event_id USING ERRCODE = '53100'; END $$;
		CREATE TRIGGER is_full BEFORE INSERT ON hookonce.event FOR EACH ROW EXECUTE FUNCTION shop.full()`)
	if _, err := l.Record(t.Context(), event("evt_2"), receiver.Work{}); err == nil {
		t.Error("the event was recorded")
	}
	want("full", "DiskFull")
	now = now.Add(4 * time.Minute)
	want("4 min later", "DiskFull")
	now = now.Add(2 * time.Minute)
	want("6 min later", "Connected")
}

func TestAFailingFunctionIsNoFailureOfTheDatabase(t *testing.T) {
	f := newFixture(t)
	now := time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)
	var told []string
	l := f.open(func(o *ledger.Options) {
		o.Now = func() time.Time { return now }
		o.EffectFailed = func(effect string) { told = append(told, effect) }
	})
	both := receiver.Work{Effects: []receiver.Effect{{Name: "book", Function: "shop.book"}, {Name: "mail", Function: "shop.nope"}}}
	configured := map[string]string{"book": "shop.book", "mail": "shop.nope", "other": "shop.fail"}
	for _, id := range []string{"evt_1", "evt_2"} {
		_, err := l.Record(t.Context(), event(id), both)
		if !errors.Is(err, receiver.ErrUnavailable) || err.Error() != "effect mail: function shop.nope failed with SQLSTATE 42883" {
			t.Errorf("got %v", err)
		}
		now = now.Add(time.Second)
	}
	other := receiver.Work{Effects: []receiver.Effect{{Name: "other", Function: "shop.fail"}}}
	if _, err := l.Record(t.Context(), event("evt_3"), other); !errors.Is(err, receiver.ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	want := []receiverstatus.Effect{
		{Name: "mail", Function: "shop.nope", Code: "42883", Failures: 2, Since: now.Add(-2 * time.Second)},
		{Name: "other", Function: "shop.fail", Code: "22023", Failures: 1, Since: now},
	}
	if diff := cmp.Diff(want, l.FailingEffects(configured)); diff != "" {
		t.Errorf("failing (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"mail", "mail", "other"}, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	if status := l.Check(t.Context()); status.Reason != "Connected" {
		t.Errorf("got %+v", status)
	}

	delete(configured, "other")
	f.exec("CREATE FUNCTION shop.nope(e hookonce.event) RETURNS jsonb LANGUAGE sql AS $$ SELECT 'true'::jsonb $$")
	record(t, l, event("evt_1"), both)
	for range 2 {
		if diff := cmp.Diff([]receiverstatus.Effect{}, l.FailingEffects(configured), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("after a success, and without the other effect (-want +got):\n%s", diff)
		}
		configured["other"] = "shop.fail"
	}
}

func TestWhatAFunctionDeferredFailsAsTheFunction(t *testing.T) {
	f := newFixture(t)
	f.exec(`CREATE FUNCTION shop.object() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$;
		CREATE CONSTRAINT TRIGGER object AFTER INSERT ON shop.orders DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION shop.object()`)
	l := f.open()
	for range 2 {
		if _, err := l.Record(t.Context(), event("evt_1"), work("shop.book")); !errors.Is(err, receiver.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
	}
	failing := l.FailingEffects(map[string]string{"book": "shop.book"})
	if len(failing) != 1 || failing[0].Code != "P0001" || failing[0].Failures != 2 {
		t.Errorf("got %+v", failing)
	}
	if status := l.Check(t.Context()); status.Reason != "Connected" {
		t.Errorf("got %+v", status)
	}
}

// TestAFunctionThatIsNotThereIsNoFaultOfTheDatabase: the statement that calls it cannot even be prepared.
func TestAFunctionThatIsNotThereIsNoFaultOfTheDatabase(t *testing.T) {
	f := newFixture(t)
	f.exec("CREATE FUNCTION shop.text(e hookonce.event) RETURNS int[] LANGUAGE sql AS $$ SELECT '{}'::int[] $$")
	for function, code := range map[string]string{"shop.nope": "42883", "shop.text": "42846"} {
		l := f.open()
		work := receiver.Work{Effects: []receiver.Effect{{Name: "book", Function: function}}}
		_, err := l.Record(t.Context(), event("evt_1"), work)
		if want := "effect book: function " + function + " failed with SQLSTATE " + code; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if failing := l.FailingEffects(map[string]string{"book": function}); len(failing) != 1 || failing[0].Failures != 1 {
			t.Errorf("%s: failing are %+v", function, failing)
		}
		if check := l.Check(t.Context()); !check.Reachable {
			t.Errorf("%s: the database is said to be %+v", function, check)
		}
	}
}
