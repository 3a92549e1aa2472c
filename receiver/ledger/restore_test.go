// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/receiver"
)

// A ledger that is put back to an earlier state may give the number of a scope to somebody else while receivers that
// remember it are running.
func TestARememberedScopeThatBelongsToAnotherEndpoint(t *testing.T) {
	for name, change := range map[string]func(*receiver.Event){
		"signed id":   func(*receiver.Event) {},
		"unsigned id": func(e *receiver.Event) { e.ClaimBody = true },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			b := f.open(endpoint("shop/b"))
			record(t, b, event("evt_0", change), work("shop.book"))
			f.exec(`DELETE FROM hookonce.claim; DELETE FROM shop.orders;
				UPDATE hookonce.scope SET name = 'endpoint:shop/a' WHERE name = 'endpoint:shop/b'`)
			record(t, f.open(endpoint("shop/a")), event("evt_1", change), work("shop.book"))

			receipt := record(t, b, event("evt_1", change), work("shop.book"))
			if receipt.Kind != receiver.Processed || !strings.Contains(string(receipt.Answer.Body), `"order"`) {
				t.Errorf("got kind %d, %s", receipt.Kind, receipt.Answer.Body)
			}
			f.wantCounts(map[string]int64{"shop.orders": 2, "shop.orders WHERE endpoint = 'shop/b'": 1})
			if n := value[int64](f, "SELECT count(DISTINCT scope) FROM hookonce.claim"); n != 2 {
				t.Errorf("%d scopes, want 2", n)
			}
		})
	}
}

func TestARememberedScopeThatBelongsToAnotherFunction(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	once := func(function string) receiver.Work {
		return receiver.Work{Effects: []receiver.Effect{{Name: "book", Function: function, OncePerResource: true}}}
	}
	record(t, l, event("evt_0"), once("shop.book"))
	f.exec("UPDATE hookonce.scope SET name = 'effect:shop.message' WHERE name = 'effect:shop.book'")
	same := func(e *receiver.Event) { e.ResourceID = "inv" }
	record(t, f.open(endpoint("shop/b")), event("evt_1", same), once("shop.message"))

	record(t, l, event("evt_2", same), once("shop.book"))
	f.wantCounts(map[string]int64{"shop.orders": 2, "hookonce.effect": 3})
}

func TestARememberedScopeLeasesNothingOfAnotherEndpoint(t *testing.T) {
	f := newFixture(t)
	b := f.open(endpoint("shop/b"))
	record(t, b, event("evt_0"), receiver.Work{})
	f.exec("UPDATE hookonce.scope SET name = 'endpoint:shop/a'")
	record(t, f.open(endpoint("shop/a")), event("evt_1"), toFulfilment)
	f.expireLeases()
	if got, err := b.LeaseDue(t.Context(), []string{"fulfilment"}, 10, time.Minute); err != nil || len(got) != 0 {
		t.Errorf("got %d deliveries, %v", len(got), err)
	}
}
