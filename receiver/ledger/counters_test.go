// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
)

// Counters do not depend on how busy the machine is, so they are goals of every run. Each is a line: name, value, operator,
// goal.

const (
	saturatedEvents  = 4000
	saturatedCallers = 128
	counterBody      = 1024
)

func goal(t *testing.T, name string, value, most float64) {
	t.Helper()
	t.Logf("%s %.4g <= %.4g", name, value, most)
	if value > most {
		t.Errorf("%s is %.4g, and at most %.4g is wanted", name, value, most)
	}
}

// counted is an event of 1 KiB.
func counted(id string) receiver.Event {
	return event(id, func(e *receiver.Event) { e.Body = bytes.Repeat([]byte("x"), counterBody) })
}

// saturate records the events with many callers at once.
func saturate(t *testing.T, l *ledger.Ledger, w receiver.Work, id func(i int) string) {
	t.Helper()
	var callers sync.WaitGroup
	for c := range saturatedCallers {
		callers.Go(func() {
			for i := c; i < saturatedEvents; i += saturatedCallers {
				if _, err := l.Record(t.Context(), counted(id(i)), w); err != nil {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
}

func insertLSN(f *fixture) string {
	f.t.Helper()
	return value[string](f, "SELECT pg_current_wal_insert_lsn()::text")
}

func writtenSince(f *fixture, lsn string) float64 {
	f.t.Helper()
	return float64(value[int64](f, "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1::pg_lsn)::bigint", lsn))
}

// logSyncs is how often the log has been synced: since Postgres 18 among all other input and output.
func logSyncs(f *fixture) int64 {
	f.t.Helper()
	if value[int64](f, "SELECT current_setting('server_version_num')::bigint") >= 180000 {
		return value[int64](f, "SELECT coalesce(sum(fsyncs), 0)::bigint FROM pg_stat_io WHERE object = 'wal'")
	}
	return value[int64](f, "SELECT wal_sync FROM pg_stat_wal")
}

func TestCountersOfNewEvents(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	record(t, l, counted("first"), receiver.Work{})
	syncs := logSyncs(f)
	lsn := insertLSN(f)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)

	saturate(t, l, receiver.Work{}, func(i int) string { return "evt_" + strconv.Itoa(i) })

	runtime.ReadMemStats(&after)
	wal := writtenSince(f, lsn) / saturatedEvents
	// The sessions report what they have counted when they end, at the latest.
	l.Close()
	f.db.Reset()
	goal(t, "counters.fsyncs_per_event", float64(logSyncs(f)-syncs)/saturatedEvents, 0.05)
	goal(t, "counters.wal_bytes_per_event", wal, counterBody+float64(len(counted("evt_1234").Headers))+600)
	// What the test itself does for an event is counted too.
	goal(t, "counters.allocations_per_event", float64(after.Mallocs-before.Mallocs)/saturatedEvents, 16)
	f.wantCounts(map[string]int64{"hookonce.event": saturatedEvents + 1})
}

// I4: a duplicate of a settled claim writes nothing, whether it comes alone or in a batch.
func TestI4CountersOfDuplicates(t *testing.T) {
	for name, change := range map[string]func(*receiver.Event){
		"signed": func(*receiver.Event) {}, "unsigned": func(e *receiver.Event) { e.ClaimBody = true },
	} {
		for _, w := range []receiver.Work{toFulfilment, work("shop.book")} {
			t.Run(fmt.Sprintf("%s with %d effects", name, len(w.Effects)), func(t *testing.T) {
				f := newFixture(t)
				l := f.open()
				events := make([]receiver.Event, 200)
				for i := range events {
					events[i] = event(fmt.Sprintf("evt_%d", i%50), change)
				}
				atOnce(t, events, w, only(l))
				// The server writes now and then for itself, so one quiet round in ten is asked for.
				var written, ids float64
				for range 10 {
					lsn := insertLSN(f)
					next := value[int64](f, "SELECT txid_snapshot_xmax(txid_current_snapshot())")
					for _, o := range atOnce(t, events, w, only(l)) {
						if o.err != nil || o.receipt.Kind != receiver.Duplicate {
							t.Fatalf("got %v, kind %d", o.err, o.receipt.Kind)
						}
					}
					ids = float64(value[int64](f, "SELECT txid_snapshot_xmax(txid_current_snapshot())") - next)
					if written = writtenSince(f, lsn); written == 0 && ids == 0 {
						break
					}
				}
				goal(t, "counters.duplicate_wal_bytes", written, 0)
				goal(t, "counters.duplicate_transaction_ids", ids, 0)
			})
		}
	}
}

func TestCountersOfAllocations(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	n := 0
	next := func(w receiver.Work) func() {
		return func() {
			n++
			record(t, l, counted("evt_"+strconv.Itoa(n)), w)
		}
	}
	// One at a time, so that what a batch costs is all for one event.
	goal(t, "counters.allocations_alone", testing.AllocsPerRun(200, next(receiver.Work{})), 90)
	goal(t, "counters.allocations_alone_destination", testing.AllocsPerRun(200, next(toFulfilment)), 95)
	goal(t, "counters.allocations_alone_effect", testing.AllocsPerRun(200, next(work("shop.book"))), 170)
}
