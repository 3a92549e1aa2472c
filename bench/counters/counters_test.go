// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package counters_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/bench/lab"
	"github.com/hookonce/hookonce/bench/load"
	"github.com/hookonce/hookonce/bench/rig"
	"github.com/hookonce/hookonce/internal/receiverconfig"
)

// The gates.
const (
	mostSyncs = 0.05
	// Beside body and headers, in bytes: an event that is stored, and what its row in the outbox adds, which is a heap record
	// and those of two indexes.
	mostWALBeside   = 600
	mostWALOutbox   = 350
	mostAllocations = 56
	mostAllocated   = 10 << 10
)

var bench *lab.Lab

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	bench, err = lab.Open(context.Background(), "../..", os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() {
		if err := bench.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}()
	return m.Run()
}

// counts are what Postgres has counted so far.
type counts struct {
	synced, bytes, transactions int64
}

// read waits until the counts stand still for a moment: what backends have counted reaches the view within a second.
func read(t *testing.T, conn *pgx.Conn) counts {
	t.Helper()
	var last counts
	tick := time.NewTicker(1200 * time.Millisecond)
	defer tick.Stop()
	for range 20 {
		<-tick.C
		var c counts
		err := conn.QueryRow(t.Context(), `SELECT wal_sync, (pg_current_wal_insert_lsn() - '0/0')::bigint,
pg_snapshot_xmax(pg_current_snapshot())::text::bigint FROM pg_stat_wal`).Scan(&c.synced, &c.bytes, &c.transactions)
		if err != nil {
			t.Fatal(err)
		}
		if c == last {
			break
		}
		last = c
	}
	return last
}

func connect(t *testing.T, database string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), bench.Postgres.AdminURL(database))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// TestAnEventAtSaturation: commits are shared, and the log holds little more than the event.
func TestAnEventAtSaturation(t *testing.T) {
	stored := saturated(t, "stored", "no.such.type")
	queued := saturated(t, "queued", "*")
	t.Logf("counters.wal_beside_event %.0f <= %d bytes beside %.0f of body and headers", stored.beside, mostWALBeside, stored.size)
	t.Logf("counters.wal_outbox_row %.0f <= %d bytes", queued.beside-stored.beside, mostWALOutbox)
	if stored.beside > mostWALBeside || queued.beside-stored.beside > mostWALOutbox {
		t.Errorf("%.0f bytes beside an event, %.0f with a row in the outbox", stored.beside, queued.beside)
	}
	for _, c := range []cost{stored, queued} {
		t.Logf("counters.fsyncs_per_event %.3f <= %.2f over %.0f events", c.syncs, mostSyncs, c.events)
		if c.events < 1000 || c.syncs > mostSyncs {
			t.Errorf("%.0f events, %.3f fsyncs each", c.events, c.syncs)
		}
	}
}

// cost of an event, on average: fsyncs, the bytes of its body and headers, and those of the log beside them.
type cost struct{ events, syncs, size, beside float64 }

// saturated measures a receiver whose destination is for events of one type.
func saturated(t *testing.T, name, destinationOf string) cost {
	t.Helper()
	s, err := bench.Ours(t.Context(), name, false)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.ConfigDir, receiverconfig.FileName)
	config := readConfig(t, file)
	config.Destinations[0].EventTypes = []string{destinationOf}
	document, err := config.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, document, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := s.Start(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	conn := connect(t, name)
	plan := load.Plan{
		Target: load.Target{Address: p.Public, Path: lab.Path, Secret: lab.Secret},
		Run:    bench.NextRun(), Connections: 128, Measure: 500 * time.Millisecond,
	}
	load.Closed(t.Context(), plan)
	plan.Run, plan.Measure = bench.NextRun(), 3*time.Second
	before := read(t, conn)
	load.Closed(t.Context(), plan)
	after := read(t, conn)
	p.Kill()
	var c cost
	err = conn.QueryRow(t.Context(), "SELECT count(*), avg(length(body) + length(headers)) FROM hookonce.event WHERE event_id LIKE $1",
		fmt.Sprintf("evt_%06x%%", plan.Run)).Scan(&c.events, &c.size)
	if err != nil {
		t.Fatal(err)
	}
	c.syncs = float64(after.synced-before.synced) / c.events
	c.beside = float64(after.bytes-before.bytes)/c.events - c.size
	return c
}

func readConfig(t *testing.T, file string) *receiverconfig.Config {
	t.Helper()
	document, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	config, err := receiverconfig.Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// TestDuplicatesWriteNothing: what is settled is only read.
func TestDuplicatesWriteNothing(t *testing.T) {
	s, err := bench.Ours(t.Context(), "duplicates", false)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Start(t.Context(), true, "--counter-flush-interval", "1h")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	conn := connect(t, "duplicates")
	if _, err := conn.Exec(t.Context(), "ALTER SYSTEM SET autovacuum = off"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "SELECT pg_reload_conf()"); err != nil {
		t.Fatal(err)
	}
	to := load.Target{Address: p.Public, Path: lab.Path, Secret: lab.Secret}
	number := bench.NextRun()
	const senders, each = 32, 100
	send := func() {
		t.Helper()
		if err := load.Repeat(t.Context(), to, number, senders, each); err != nil {
			t.Fatal(err)
		}
	}
	send()
	// The server notes which transactions run, once after what was written, and nothing after that.
	if _, err := conn.Exec(t.Context(), "CHECKPOINT"); err != nil {
		t.Fatal(err)
	}
	// The server may note by itself, within 15 s, which transactions run: such a note is not the duplicates'.
	var bytes, transactions int64
	for range 3 {
		before := read(t, conn)
		send()
		after := read(t, conn)
		bytes, transactions = after.bytes-before.bytes, after.transactions-before.transactions
		if bytes == 0 {
			break
		}
	}
	t.Logf("counters.duplicates %d of WAL and %d transactions for %d duplicates", bytes, transactions, senders*each)
	if transactions != 0 || bytes != 0 {
		t.Errorf("%d duplicates wrote %d bytes and took %d transactions", senders*each, bytes, transactions)
	}
}

// TestAllocations: what an accepted event allocates, from the connection to the answer, net/http and pgx included.
func TestAllocations(t *testing.T) {
	s, err := bench.Ours(t.Context(), "allocations", false)
	if err != nil {
		t.Fatal(err)
	}
	handler, err := rig.Hookonce(t.Context(), rig.Options{Database: s.URL, ConfigDir: s.ConfigDir, KeyringDir: s.KeyringDir})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	plan := load.Plan{
		Target: load.Target{Address: strings.TrimPrefix(server.URL, "http://"), Path: lab.Path, Secret: lab.Secret},
		Run:    bench.NextRun(), Connections: 64, Warmup: time.Second, Measure: 3 * time.Second,
	}
	var before, after runtime.MemStats
	plan.Begin = func() { runtime.ReadMemStats(&before) }
	plan.End = func() { runtime.ReadMemStats(&after) }
	result := load.Closed(t.Context(), plan)
	events := float64(result.Latency.TotalCount())
	objects, size := float64(after.Mallocs-before.Mallocs)/events, float64(after.TotalAlloc-before.TotalAlloc)/events
	t.Logf("counters.allocations %.1f <= %d an event, %.0f <= %d bytes, over %.0f events", objects, mostAllocations, size, mostAllocated, events)
	if events < 1000 || objects > mostAllocations || size > mostAllocated {
		t.Errorf("%.0f events allocated %.1f objects and %.0f bytes each", events, objects, size)
	}
}
