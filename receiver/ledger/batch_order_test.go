// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
	"github.com/hookonce/hookonce/test/postgres"
)

// Batches that share keys wait in line. If each took them in its own order, two would wait for one another.
func TestBatchesTakeKeysInOneOrder(t *testing.T) {
	for _, claimBody := range []bool{false, true} {
		t.Run(fmt.Sprintf("claim body %t", claimBody), func(t *testing.T) {
			f := newFixture(t)
			// Sooner than a batch gives up waiting.
			_, name, _ := parts(t, f.url)
			execOn(t, postgres.Shared(t).AdminURL(name), "ALTER DATABASE "+name+" SET deadlock_timeout = '20ms'")
			// The trigger widens the moment between one key and the next.
			f.exec(`CREATE FUNCTION shop.slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.001); RETURN NEW; END';
				CREATE TRIGGER slow BEFORE INSERT ON hookonce.claim FOR EACH ROW EXECUTE FUNCTION shop.slow()`)
			receivers := []*ledger.Ledger{f.open(), f.open(), f.open()}
			for round := range 5 {
				var events []receiver.Event
				for i := range 24 {
					events = append(events, event(fmt.Sprintf("evt_%d_%d", round, i/3), func(e *receiver.Event) { e.ClaimBody = claimBody }))
				}
				rand.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] }) //nolint:gosec // Any order will do.
				for _, o := range atOnce(t, events, receiver.Work{}, func(i int) *ledger.Ledger { return receivers[i%3] }) {
					if o.err != nil {
						t.Error(o.err)
					}
				}
			}
			for _, l := range receivers {
				l.Close()
			}
			if n := value[int64](f, "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"); n != 0 {
				t.Errorf("%d deadlocks", n)
			}
			f.wantCounts(map[string]int64{"hookonce.event": 40})
		})
	}
}

// A plan that was made when there were few claims must not read all of them when there are many.
func TestBatchesProbeIndexes(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	unsigned := func(e *receiver.Event) { e.ClaimBody = true }
	// The server keeps a plan for all parameters after the fifth time.
	for i := range 8 {
		record(t, l, event(fmt.Sprintf("evt_%d", i), unsigned), toFulfilment)
		record(t, l, event(fmt.Sprintf("evt_%d", i), unsigned), toFulfilment)
	}
	record(t, l, event("evt_x", unsigned), work("shop.book"))
	before := scans(f)
	for i := range 20 {
		record(t, l, event(fmt.Sprintf("new_%d", i), unsigned), toFulfilment)
		record(t, l, event(fmt.Sprintf("new_%d", i), unsigned), toFulfilment)
		record(t, l, event(fmt.Sprintf("effect_%d", i), unsigned), work("shop.book"))
	}
	l.Close()
	eventually(t, "the sessions have reported", func() bool {
		return value[int64](f, "SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = 'claim'") == 2*(8+1+20+20)
	})
	if after := scans(f); after != before {
		t.Errorf("tables were read from end to end: %d times, %d before", after, before)
	}
}

func scans(f *fixture) int64 {
	f.t.Helper()
	return value[int64](f, "SELECT coalesce(sum(seq_scan), 0)::bigint FROM pg_stat_user_tables WHERE relname = 'claim'")
}

// Behind a pooler nothing is prepared, and everything works all the same.
func TestRecordingWithoutPreparedStatements(t *testing.T) {
	f := newFixture(t)
	l := f.open(func(o *ledger.Options) {
		separator := "?"
		if strings.Contains(f.url, "?") {
			separator = "&"
		}
		o.URL = ledger.StaticURL(f.url + separator + "default_query_exec_mode=exec")
	})
	for _, w := range []receiver.Work{toFulfilment, work("shop.book"), work("shop.refuse")} {
		e := event(fmt.Sprintf("evt_%d", len(w.Destinations)+2*len(w.Effects)) + strings.Join(functions(w), ""))
		first, again := record(t, l, e, w), record(t, l, e, w)
		if first.Kind == receiver.Duplicate || again.Kind != receiver.Duplicate || string(first.Answer.Body) != string(again.Answer.Body) {
			t.Errorf("got kinds %d, %d, answers %s, %s", first.Kind, again.Kind, first.Answer.Body, again.Answer.Body)
		}
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 3, "shop.orders": 1})
}

func functions(w receiver.Work) (names []string) {
	for _, e := range w.Effects {
		names = append(names, e.Function)
	}
	return names
}
