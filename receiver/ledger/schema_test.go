// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"errors"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/replayrequest"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
)

// writes are all ways to change the ledger.
func writes(t *testing.T, l *ledger.Ledger) map[string]error {
	t.Helper()
	errs := map[string]error{}
	_, errs["record"] = l.Record(t.Context(), event("evt_2"), toFulfilment)
	_, errs["lease"] = l.LeaseDue(t.Context(), []string{"fulfilment"}, 1, time.Minute)
	_, errs["replay"] = l.PrepareReplay(t.Context(), request(replayrequest.Selector{}))
	errs["settle"] = l.Settle(t.Context(), []receiver.Settlement{{}})
	errs["count"] = l.AddCounts(t.Context(), []receiver.Count{{Name: receiver.CountReceived, Minute: time.Now(), N: 1}})
	return errs
}

func TestNothingIsWrittenToANewerSchema(t *testing.T) {
	f := newFixture(t)
	running := f.open()
	record(t, running, event("evt_1"), toFulfilment)
	f.expireLeases()
	f.exec("UPDATE hookonce.schema_version SET version = version + 97")
	if status := running.Check(t.Context()); status.Reachable || status.Reason != "SchemaTooNew" {
		t.Errorf("got %+v", status)
	}
	for name, l := range map[string]*ledger.Ledger{"after a check": running, "without one": f.open()} {
		for what, err := range writes(t, l) {
			var newer *ledger.SchemaTooNewError
			if !errors.Is(err, receiver.ErrUnavailable) || !errors.As(err, &newer) {
				t.Errorf("%s, %s: got %v", name, what, err)
			}
		}
	}
	f.wantCounts(map[string]int64{
		"hookonce.claim": 1, "hookonce.event": 1, "hookonce.counter": 0,
		"hookonce.delivery WHERE leased_until > clock_timestamp()": 0,
	})
	f.exec("UPDATE hookonce.schema_version SET version = version - 97")
	if receipt := record(t, running, event("evt_2"), receiver.Work{}); receipt.Kind != receiver.Processed {
		t.Errorf("got kind %d", receipt.Kind)
	}
}

func TestASchemaThatIsDroppedAndMadeAgain(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	record(t, l, event("evt_1"), receiver.Work{})
	f.exec("DROP SCHEMA hookonce CASCADE")
	if status := l.Check(t.Context()); status.Reachable || status.Reason != "SchemaMissing" || status.Message == "" {
		t.Errorf("got %+v", status)
	}
	for what, err := range writes(t, l) {
		var missing *ledger.SchemaMissingError
		if !errors.Is(err, receiver.ErrUnavailable) || !errors.As(err, &missing) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	if err := ledger.Migrate(t.Context(), f.url, ""); err != nil {
		t.Fatal(err)
	}
	if receipt := record(t, l, event("evt_1"), receiver.Work{}); receipt.Kind != receiver.Processed {
		t.Errorf("got kind %d", receipt.Kind)
	}
	if status := l.Check(t.Context()); !status.Reachable || status.Reason != "Connected" {
		t.Errorf("got %+v", status)
	}
}
