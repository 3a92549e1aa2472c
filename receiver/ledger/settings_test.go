// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
	"github.com/hookonce/hookonce/test/postgres"
)

// A commit that does not wait leaves the end of the log unflushed for up to 200 ms, unless the server happens to flush
// it; what the server logs for itself now and then may be unflushed after one that does wait.
func TestAFunctionCannotSwitchDurabilityOff(t *testing.T) {
	for name, sql := range map[string]string{
		"in the function": `CREATE FUNCTION shop.hurry(e hookonce.event) RETURNS jsonb LANGUAGE plpgsql AS
			$$ BEGIN SET LOCAL synchronous_commit = off; RETURN shop.book(e); END $$`,
		"for the session": `CREATE FUNCTION shop.hurry(e hookonce.event) RETURNS jsonb LANGUAGE plpgsql AS
			$$ BEGIN SET synchronous_commit = off; RETURN shop.book(e); END $$`,
		"in a deferred trigger": `CREATE FUNCTION shop.later() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN SET LOCAL synchronous_commit = off; RETURN NULL; END $$;
			CREATE CONSTRAINT TRIGGER later AFTER INSERT ON shop.orders DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION shop.later();
			CREATE FUNCTION shop.hurry(e hookonce.event) RETURNS jsonb LANGUAGE sql AS $$ SELECT shop.book(e) $$`,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.exec(sql)
			l := f.open()
			flushed := 0
			for i := range 20 {
				record(t, l, event("evt_"+strconv.Itoa(i)), work("shop.hurry"))
				if value[bool](f, "SELECT pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn()") {
					flushed++
				}
			}
			if flushed < 18 {
				t.Errorf("%d of 20 events were on disk when they were acknowledged", flushed)
			}
		})
	}
}

func TestWhatAFunctionSetsForTheSessionIsNotLeftToOthers(t *testing.T) {
	f := newFixture(t)
	f.exec(`CREATE FUNCTION shop.look(e hookonce.event) RETURNS jsonb LANGUAGE plpgsql AS $$
		DECLARE before jsonb := jsonb_build_object('path', current_setting('search_path'), 'zone', current_setting('TimeZone'),
			'commit', current_setting('synchronous_commit'), 'lock', current_setting('lock_timeout'),
			'bounded', current_setting('statement_timeout') <> '0', 'role', current_setting('role'));
		BEGIN
			PERFORM set_config('search_path', 'nowhere', false), set_config('TimeZone', 'Asia/Tokyo', false),
				set_config('synchronous_commit', 'off', false), set_config('lock_timeout', '7s', false),
				set_config('role', session_user::text, false);
			RETURN before;
		END $$`)
	l := f.open(func(o *ledger.Options) { o.MaxConns = 1 })
	var answers []string
	for range 2 {
		receipt := record(t, l, event("evt_"+strconv.Itoa(len(answers))), work("shop.look"))
		answers = append(answers, string(receipt.Answer.Body)[len(`{"event":"evt_0"`):])
	}
	if answers[0] != answers[1] || !strings.Contains(answers[0], `"bounded": true`) {
		t.Errorf("the first saw %s, the second %s", answers[0], answers[1])
	}
}

func TestAWarningOfAFunctionIsNoFailure(t *testing.T) {
	f := newFixture(t)
	f.exec(`CREATE FUNCTION shop.warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'mind'; RETURN NULL; END $$;
		CREATE CONSTRAINT TRIGGER warn AFTER INSERT ON shop.orders DEFERRABLE INITIALLY DEFERRED
			FOR EACH ROW EXECUTE FUNCTION shop.warn()`)
	if receipt := record(t, f.open(), event("evt_1"), work("shop.book")); receipt.Kind != receiver.Processed {
		t.Errorf("got kind %d", receipt.Kind)
	}
}

// A commit whose wait for a standby is canceled succeeds with a warning.
func TestACanceledWaitForAStandbyIsNotAcknowledged(t *testing.T) {
	server, err := postgres.Start(postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.StopImmediate(); err != nil {
			t.Error(err)
		}
	})
	if err := server.CreateDatabase(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, url: server.URL("shop")}
	if err := ledger.Migrate(t.Context(), f.url, ""); err != nil {
		t.Fatal(err)
	}
	if f.db, err = pgxpool.New(t.Context(), server.AdminURL("shop")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.db.Close)
	l := f.open(func(o *ledger.Options) { o.Logger = slog.New(slog.DiscardHandler) })
	record(t, l, event("evt_0"), receiver.Work{})
	setStandbys(t, server.AdminURL("shop"), "missing")
	for _, what := range []string{"the first", "the duplicate"} {
		done := make(chan error, 1)
		go func() {
			_, err := l.Record(t.Context(), event("evt_1"), receiver.Work{})
			done <- err
		}()
		eventually(t, what+" waits for the standby and is canceled", func() bool {
			return value[int64](f, `SELECT count(*) FROM (SELECT pg_cancel_backend(pid) FROM pg_stat_activity
				WHERE wait_event = 'SyncRep' AND application_name = 'hookonce') AS c`) > 0
		})
		if err := <-done; !errors.Is(err, receiver.ErrUnavailable) {
			t.Errorf("%s: got %v, want ErrUnavailable", what, err)
		}
	}
	setStandbys(t, server.AdminURL("shop"), "")
	if receipt := record(t, l, event("evt_1"), receiver.Work{}); receipt.Kind != receiver.Duplicate {
		t.Errorf("got kind %d", receipt.Kind)
	}
}
