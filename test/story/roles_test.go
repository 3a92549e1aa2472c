// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"crypto/sha256"
	"io"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/database"
	"github.com/hookonce/hookonce/receiver/ledger"
	ledgerretention "github.com/hookonce/hookonce/receiver/retention"
	"github.com/hookonce/hookonce/test/postgres"
)

// TestTheStorysRoles tells what the story does in the database, twice on one server, without a cluster.
func TestTheStorysRoles(t *testing.T) {
	server, err := postgres.Start(postgres.Options{Roles: []string{ledgerOwner, receiverRole}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	for range 2 {
		w := New(filepath.Join("..", ".."), io.Discard)
		w.database = server
		tell(t, w)
	}
}

func tell(t *testing.T, w *World) {
	t.Helper()
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(w.database.DropDatabase(ctx, databaseName))
	check(w.database.CreateDatabase(ctx, databaseName))
	pool, err := pgxpool.New(ctx, w.database.AdminURL(databaseName))
	check(err)
	defer pool.Close()
	w.DB = pool
	check(w.makeLedger(ctx))
	// As the init container of receivers does.
	check(ledger.Migrate(ctx, w.databaseURL(), database.DefaultSchema))
	check(w.loadShop(ctx))

	l, err := ledger.Open(ctx, ledger.Options{
		URL: ledger.StaticURL(w.databaseURL()), Endpoint: "shop/payments", Logger: slog.New(slog.DiscardHandler),
	})
	check(err)
	defer l.Close()
	e := receiver.Event{
		ID: w.Event("old"), Type: "invoice.paid", ResourceID: w.Invoice("old"), Headers: []byte("{}"),
		Body: []byte(`{"data":{"invoice_id":"` + w.Invoice("old") + `"}}`),
	}
	e.BodyDigest = sha256.Sum256(e.Body)
	work := receiver.Work{Effects: []receiver.Effect{{Name: "book", Function: "shop.on_invoice_paid", OncePerResource: true}}}
	for _, want := range []receiver.Kind{receiver.Processed, receiver.Duplicate} {
		receipt, err := l.Record(ctx, e, work)
		check(err)
		if receipt.Kind != want {
			t.Errorf("kind %d, want %d", receipt.Kind, want)
		}
	}
	check(w.expect(ctx, 1, "orders", ordersOf, e.ResourceID))
	check(w.age(ctx, e.ID, 31*24*time.Hour))
	report, err := ledgerretention.Prune(ctx, ledgerretention.Options{
		URL: w.databaseURL(), Endpoint: "shop/payments", Claims: 720 * time.Hour, Payloads: 168 * time.Hour,
	})
	check(err)
	if report.ClaimsRemoved != 1 || report.PartitionsDropped != 1 {
		t.Errorf("got %+v", report)
	}
}
