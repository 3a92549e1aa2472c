// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package retention_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hookonce/hookonce/internal/replayrequest"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
	"github.com/hookonce/hookonce/receiver/retention"
	"github.com/hookonce/hookonce/test/postgres"
)

func TestMain(m *testing.M) { postgres.Main(m) }

const day = 24 * time.Hour

type fixture struct {
	t   *testing.T
	url string
	db  *pgxpool.Pool
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, url: postgres.New(t)}
	if err := ledger.Migrate(t.Context(), f.url, ""); err != nil {
		t.Fatal(err)
	}
	db, err := pgxpool.New(t.Context(), f.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	f.db = db
	f.exec(`CREATE SCHEMA shop`)
	f.exec(`CREATE FUNCTION shop.book(e hookonce.event) RETURNS jsonb LANGUAGE sql AS 'SELECT to_jsonb(e.event_id)'`)
	return f
}

func (f *fixture) exec(sql string, args ...any) {
	f.t.Helper()
	if _, err := f.db.Exec(f.t.Context(), sql, args...); err != nil {
		f.t.Fatalf("%s: %v", sql, err)
	}
}

func (f *fixture) count(from string) int64 {
	f.t.Helper()
	rows, err := f.db.Query(f.t.Context(), "SELECT count(*) FROM "+from)
	if err != nil {
		f.t.Fatal(err)
	}
	n, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[int64])
	if err != nil {
		f.t.Fatal(err)
	}
	return n
}

func (f *fixture) wantCounts(want map[string]int64) {
	f.t.Helper()
	for from, n := range want {
		if got := f.count(from); got != n {
			f.t.Errorf("%s: %d rows, want %d", from, got, n)
		}
	}
}

func (f *fixture) open(endpoint string) *ledger.Ledger {
	f.t.Helper()
	l, err := ledger.Open(f.t.Context(), ledger.Options{
		URL: ledger.StaticURL(f.url), Endpoint: endpoint, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(l.Close)
	return l
}

// receive records an event with one delivery and one effect of its own, as if it had come so long ago.
func (f *fixture) receive(l *ledger.Ledger, id string, age time.Duration) receiver.Delivery {
	f.t.Helper()
	e := receiver.Event{ID: id, Type: "invoice.paid", ResourceID: "inv_" + id, Headers: []byte("{}"), Body: []byte(id)}
	e.BodyDigest = sha256.Sum256(e.Body)
	receipt, err := l.Record(f.t.Context(), e, receiver.Work{
		Effects:      []receiver.Effect{{Name: "book", Function: "shop.book", OncePerResource: true}},
		Destinations: []string{"fulfilment"},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.age(id, age)
	return receipt.Deliveries[0]
}

// age moves everything about an event into the past, into the partitions of that day.
func (f *fixture) age(id string, age time.Duration) {
	f.t.Helper()
	begin := time.Now().UTC().Add(-age).Truncate(day)
	for _, table := range []string{"event", "attempt"} {
		f.exec(fmt.Sprintf(`CREATE TABLE IF NOT EXISTS hookonce.%[1]s_%[2]s PARTITION OF hookonce.%[1]s FOR VALUES FROM ('%[3]s') TO ('%[4]s')`,
			table, begin.Format("20060102"), begin.Format(time.RFC3339), begin.Add(day).Format(time.RFC3339)))
	}
	const ids = " = (SELECT id FROM hookonce.event WHERE event_id = $1)"
	f.exec("UPDATE hookonce.claim SET received_at = received_at - $2::interval WHERE event"+ids, id, age)
	f.exec("UPDATE hookonce.effect SET received_at = received_at - $2::interval WHERE event"+ids, id, age)
	f.exec("UPDATE hookonce.delivery SET event_received_at = event_received_at - $2::interval WHERE event"+ids, id, age)
	f.exec("UPDATE hookonce.event SET received_at = received_at - $2::interval WHERE event_id = $1", id, age)
}

func (f *fixture) settle(l *ledger.Ledger, d receiver.Delivery, outcome receiver.Outcome) {
	f.t.Helper()
	s := receiver.Settlement{Delivery: d, Outcome: outcome, Started: time.Now(), Reason: "status 503"}
	if err := l.Settle(f.t.Context(), []receiver.Settlement{s}); err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) prune(endpoint string, claims, payloads time.Duration) retention.Report {
	f.t.Helper()
	report, err := retention.Prune(f.t.Context(), retention.Options{
		URL: f.url, Endpoint: endpoint, Claims: claims, Payloads: payloads, BatchSize: 3,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return report
}

func TestOnlyWhatIsPastItsAgeGoes(t *testing.T) {
	f := newFixture(t)
	l := f.open("shop/payments")
	for id, age := range map[string]time.Duration{"new": 0, "days": 8 * day, "weeks": 31 * day, "almost": 7*day - time.Minute} {
		f.settle(l, f.receive(l, id, age), receiver.Delivered)
	}
	f.exec(`UPDATE hookonce.attempt SET settled_at = (SELECT received_at FROM hookonce.event e WHERE e.id = attempt.event)`)

	report := f.prune("shop/payments", 30*day, 7*day)

	if report.ClaimsRemoved != 1 || report.EffectsRemoved != 1 {
		t.Errorf("got %+v", report)
	}
	f.wantCounts(map[string]int64{
		"hookonce.claim": 3, "hookonce.effect": 3, "hookonce.event": 2, "hookonce.attempt": 2,
		"hookonce.event WHERE event_id IN ('new', 'almost')": 2,
	})
	if f.count("hookonce.event") != f.count("hookonce.event WHERE received_at > now() - interval '7 days'") {
		t.Error("an event past its age is left")
	}

	again := f.prune("shop/payments", 30*day, 7*day)
	if diff := cmp.Diff(retention.Report{}, again); diff != "" {
		t.Errorf("a second prune did something: %s", diff)
	}
}

func TestWhatIsUnfinishedOrFailedIsKeptWithItsClaim(t *testing.T) {
	f := newFixture(t)
	l := f.open("shop/payments")
	f.receive(l, "pending", 40*day)
	f.settle(l, f.receive(l, "failed", 50*day), receiver.Exhausted)
	f.settle(l, f.receive(l, "done", 40*day), receiver.Delivered)

	f.prune("shop/payments", 30*day, 7*day)

	f.wantCounts(map[string]int64{
		"hookonce.claim": 2, "hookonce.event": 2, "hookonce.effect": 2,
		"hookonce.event WHERE event_id = 'done'": 0, "hookonce.delivery": 1, "hookonce.failed_delivery": 1,
	})

	// Replayed and delivered, it may go.
	replay := &replayrequest.Request{ID: uuid.New(), Selector: replayrequest.Selector{State: replayrequest.Failed}}
	if _, err := l.PrepareReplay(t.Context(), replay); err != nil {
		t.Fatal(err)
	}
	if _, err := l.SendReplay(t.Context(), replay.ID, 10); err != nil {
		t.Fatal(err)
	}
	f.exec("UPDATE hookonce.delivery SET leased_until = NULL")
	due, err := l.LeaseDue(t.Context(), []string{"fulfilment"}, 10, time.Minute)
	if err != nil || len(due) != 2 {
		t.Fatalf("%d due, %v", len(due), err)
	}
	for _, d := range due {
		if string(d.Body) != d.EventID {
			t.Errorf("%s has the body %s", d.EventID, d.Body)
		}
		f.settle(l, d, receiver.Delivered)
	}
	f.prune("shop/payments", 30*day, 7*day)
	f.wantCounts(map[string]int64{"hookonce.claim": 0, "hookonce.event": 0, "hookonce.effect": 0})
}

func TestARedeliveryAfterThePayloadIsGoneIsStillADuplicate(t *testing.T) {
	f := newFixture(t)
	l := f.open("shop/payments")
	f.settle(l, f.receive(l, "evt_1", 10*day), receiver.Delivered)
	f.prune("shop/payments", 30*day, 7*day)
	f.wantCounts(map[string]int64{"hookonce.event": 0, "hookonce.claim": 1})

	e := receiver.Event{ID: "evt_1", Body: []byte("evt_1")}
	e.BodyDigest = sha256.Sum256(e.Body)
	receipt, err := l.Record(t.Context(), e, receiver.Work{})
	if want := `{"event":"evt_1","effects":{"book":"evt_1"}}`; err != nil || receipt.Kind != receiver.Duplicate || string(receipt.Answer.Body) != want {
		t.Errorf("got %v, kind %d, %s", err, receipt.Kind, receipt.Answer.Body)
	}
}

func TestEndpointsKeepTheirOwnRowsAsLongAsTheySay(t *testing.T) {
	f := newFixture(t)
	short, long, unknown := f.open("shop/short"), f.open("shop/long"), f.open("shop/unknown")
	for name, l := range map[string]*ledger.Ledger{"short": short, "long": long, "unknown": unknown} {
		f.settle(l, f.receive(l, name, 20*day), receiver.Delivered)
	}

	report := f.prune("shop/short", 10*day, 7*day)
	if report.PartitionsDropped != 1 || report.EventsRemoved != 1 || report.EffectsRemoved != 0 {
		// The partition of attempts of that day is empty; that of events is not.
		t.Errorf("got %+v", report)
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 2, "hookonce.event": 2, "hookonce.effect": 3})

	f.prune("shop/long", 60*day, 30*day)
	f.prune("shop/unknown", 60*day, 10*day)
	f.wantCounts(map[string]int64{
		"hookonce.claim": 2, "hookonce.event": 1, "hookonce.event WHERE endpoint = 'shop/long'": 1, "hookonce.effect": 3,
	})

	// When all endpoints agree, the day goes whole, whoever prunes first.
	f.prune("shop/long", 60*day, 12*day)
	f.wantCounts(map[string]int64{"hookonce.event": 0, "hookonce.claim": 2})
}

func TestADayIsDroppedWholeOnlyWhenAllInItIsPast(t *testing.T) {
	f := newFixture(t)
	a, b := f.open("shop/a"), f.open("shop/b")
	for i := range 20 {
		f.settle(a, f.receive(a, fmt.Sprintf("a%d", i), 20*day), receiver.Delivered)
		f.settle(b, f.receive(b, fmt.Sprintf("b%d", i), 20*day), receiver.Delivered)
	}
	f.prune("shop/b", 60*day, 30*day)
	report := f.prune("shop/a", 60*day, 7*day)
	if report.EventsRemoved != 20 {
		t.Errorf("got %+v", report)
	}
	f.wantCounts(map[string]int64{"hookonce.event WHERE endpoint = 'shop/b'": 20, "hookonce.event": 20})
	report = f.prune("shop/b", 60*day, 8*day)
	if report.PartitionsDropped != 1 || report.EventsRemoved != 0 {
		t.Errorf("got %+v", report)
	}
	f.wantCounts(map[string]int64{"hookonce.event": 0})
}

func TestPrunesAtOnceDoNoHarm(t *testing.T) {
	f := newFixture(t)
	l := f.open("shop/payments")
	const events = 40
	for i := range events {
		f.settle(l, f.receive(l, fmt.Sprintf("evt_%d", i), time.Duration(31+i%4)*day), receiver.Delivered)
	}
	f.receive(l, "young", 0)
	f.exec("INSERT INTO hookonce.counter SELECT 1, now() - n * interval '1 day', 'received', '', 1 FROM generate_series(1, 10) n")
	reports := make([]retention.Report, 4)
	var done sync.WaitGroup
	for i := range reports {
		done.Go(func() {
			var err error
			reports[i], err = retention.Prune(t.Context(), retention.Options{
				URL: f.url, Endpoint: "shop/payments", Claims: 30 * day, Payloads: 7 * day, BatchSize: 1,
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	var claims int64
	for _, r := range reports {
		claims += r.ClaimsRemoved
	}
	if claims != events {
		t.Errorf("%d claims reported removed, of %d", claims, events)
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 1, "hookonce.event": 1, "hookonce.delivery": 1})
	if c, err := l.Counts(t.Context()); err != nil || c.Received != 10 {
		t.Errorf("the total is %d, %v", c.Received, err)
	}
}

func TestTotalsDoNotShrink(t *testing.T) {
	f := newFixture(t)
	l := f.open("shop/payments")
	for i := range 5 {
		minute := time.Now().Add(-time.Duration(i) * day)
		counts := []receiver.Count{
			{Name: "received", Minute: minute, N: 1}, {Name: "rejected", Cause: "bad_signature", Minute: minute, N: 2},
		}
		if err := l.AddCounts(t.Context(), counts); err != nil {
			t.Fatal(err)
		}
		f.prune("shop/payments", 30*day, 7*day)
	}
	if c, err := l.Counts(t.Context()); err != nil || c.Received != 5 || c.Rejected != 10 {
		t.Errorf("got %+v, %v", c, err)
	}
	// Of the two that are young each has a row, and of the three days each has one.
	f.wantCounts(map[string]int64{"hookonce.counter WHERE minute = date_trunc('day', minute, 'UTC') AND minute < now() - interval '2 days'": 6, "hookonce.counter": 10})
	f.exec("UPDATE hookonce.counter SET minute = minute - interval '399 days'")
	f.prune("shop/payments", 30*day, 7*day)
	f.wantCounts(map[string]int64{"hookonce.counter WHERE minute = '-infinity'": 2})
	if c, err := l.Counts(t.Context()); err != nil || c.Received != 5 || c.Rejected != 10 {
		t.Errorf("after more than a year: %+v, %v", c, err)
	}
}

func TestAReaderOfADayDelaysItsDropAndNothingElse(t *testing.T) {
	f := newFixture(t)
	l := f.open("shop/payments")
	f.settle(l, f.receive(l, "evt_1", 20*day), receiver.Delivered)
	reader, err := f.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Exec(t.Context(), "SELECT FROM hookonce.event"); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	report := f.prune("shop/payments", 30*day, 7*day)
	// A drop waits a second for its lock; 20 s would be the limit of everything else.
	if report.EventsRemoved != 1 || time.Since(began) > 15*time.Second {
		t.Errorf("got %+v after %s", report, time.Since(began))
	}
	if err := reader.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if report := f.prune("shop/payments", 30*day, 7*day); report.PartitionsDropped != 1 {
		t.Errorf("got %+v", report)
	}
}

func TestPartitionsAreMadeAhead(t *testing.T) {
	f := newFixture(t)
	tomorrow := time.Now().UTC().Add(day).Format("20060102")
	f.exec("DROP TABLE hookonce.event_" + tomorrow)
	if report := f.prune("shop/payments", 30*day, 7*day); report.PartitionsMade != 1 {
		t.Errorf("got %+v", report)
	}
	f.wantCounts(map[string]int64{"pg_tables WHERE tablename = 'event_" + tomorrow + "'": 1})
}

func TestAgesThatTheProviderOutlastsAreRefused(t *testing.T) {
	f := newFixture(t)
	l := f.open("shop/payments")
	f.settle(l, f.receive(l, "evt_1", 20*day), receiver.Delivered)
	_, err := retention.Prune(t.Context(), retention.Options{
		URL: f.url, Endpoint: "shop/payments", Claims: 72 * time.Hour, Payloads: day, Horizon: 80 * time.Hour,
	})
	if _, short := errors.AsType[*retention.ClaimsTooShortError](err); !short {
		t.Errorf("got %v", err)
	}
	for _, o := range []retention.Options{
		{}, {URL: f.url, Endpoint: "a/b", Claims: day}, {URL: f.url, Endpoint: "a/b", Claims: day, Payloads: day, Schema: `a"b`},
	} {
		if _, err := retention.Prune(t.Context(), o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
	f.wantCounts(map[string]int64{"hookonce.claim": 1, "hookonce.event": 1})
}
