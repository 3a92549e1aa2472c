// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRecordedEventsAreFound(t *testing.T) {
	f := newFixture(t)
	l := f.open()
	record(t, l, event("evt_1"), work("shop.book"))
	record(t, l, event("evt_2"), work())
	record(t, f.open(endpoint("shop/crm")), event("evt_3"), work())
	got, err := l.Recorded(t.Context(), []string{"evt_1", "evt_2", "evt_3", "evt_4"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"evt_1": 1, "evt_2": 1}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
