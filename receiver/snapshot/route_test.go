// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/receiver"
)

func TestRoute(t *testing.T) {
	s := &Snapshot{Config: &receiverconfig.Config{
		Effects: []receiverconfig.Effect{
			{Name: "book", EventTypes: []string{"invoice.paid", "invoice.paid_over"}, Function: "shop.book", Key: "ResourceAndType"},
			{Name: "log", EventTypes: []string{"*"}, Function: "shop.log", Key: "Event"},
		},
		Destinations: []receiverconfig.Destination{
			{Name: "fulfilment", EventTypes: []string{"invoice.*"}},
			{Name: "refunds", EventTypes: []string{"refund.*", "invoice.refunded"}, Ordering: receiverconfig.OrderingPerResource},
		},
	}}
	book := receiver.Effect{Name: "book", Function: "shop.book", OncePerResource: true}
	log := receiver.Effect{Name: "log", Function: "shop.log"}
	tests := map[string]receiver.Work{
		"invoice.paid":      {Effects: []receiver.Effect{book, log}, Destinations: []string{"fulfilment"}},
		"invoice.paid_over": {Effects: []receiver.Effect{book, log}, Destinations: []string{"fulfilment"}},
		"invoice.refunded":  {Effects: []receiver.Effect{log}, Destinations: []string{"fulfilment", "refunds"}, Ordered: []string{"refunds"}},
		"invoice.line.new":  {Effects: []receiver.Effect{log}, Destinations: []string{"fulfilment"}},
		"invoice.":          {Effects: []receiver.Effect{log}},
		"invoice":           {Effects: []receiver.Effect{log}},
		"invoices.paid":     {Effects: []receiver.Effect{log}},
		"Invoice.paid":      {Effects: []receiver.Effect{log}},
		"":                  {Effects: []receiver.Effect{log}},
	}
	for eventType, want := range tests {
		if diff := cmp.Diff(want, s.Route(receiver.Event{Type: eventType})); diff != "" {
			t.Errorf("work of %q (-want +got):\n%s", eventType, diff)
		}
	}
	if diff := cmp.Diff(receiver.Work{}, (&Snapshot{}).Route(receiver.Event{})); diff != "" {
		t.Errorf("work without a configuration (-want +got):\n%s", diff)
	}
}
