// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package embed_test

import (
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/hookonce/hookonce/receiver/embed"
)

// another opens a further receiver on the ledger of the first, and returns its URL.
func another(t *testing.T, database, endpoint string) string {
	t.Helper()
	r, err := embed.Open(t.Context(), embed.Options{
		Database: database, Endpoint: endpoint, Path: "/hook", Preset: "StandardWebhooks",
		Secrets: []embed.Secret{{Text: secret}}, Effects: []embed.Effect{{Name: "book", Run: book}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	server := httptest.NewServer(r.Handler())
	t.Cleanup(server.Close)
	return server.URL + "/hook"
}

// Replicas of one endpoint know each other's events; another endpoint with an event of the same id knows only its own.
func TestReplicasShareEventsAndEndpointsDoNot(t *testing.T) {
	const copies = 10
	_, first, database := mounted(t, effects(book))
	payments := []string{first, another(t, database, "shop/payments")}
	refunds := []string{another(t, database, "shop/refunds"), another(t, database, "shop/refunds")}
	var done sync.WaitGroup
	deliverAll := func(urls []string, id string) []string {
		answers := make([]string, copies*len(urls))
		for i := range answers {
			done.Go(func() { answers[i] = deliver(urls[i%len(urls)], id, body) })
		}
		return answers
	}
	const events = 5
	var answers [][]string
	for _, id := range []string{"msg_1", "msg_2", "msg_3", "msg_4", "msg_5"} {
		answers = append(answers, deliverAll(payments, id), deliverAll(refunds, id))
	}
	done.Wait()
	seen := map[string]bool{}
	for _, same := range answers {
		for _, answer := range same {
			if answer != same[0] || !strings.HasPrefix(answer, "200 ") {
				t.Errorf("got %s and %s", same[0], answer)
			}
		}
		if seen[same[0]] {
			t.Errorf("both endpoints answered %s: one took the other's event for its own", same[0])
		}
		seen[same[0]] = true
	}
	if n := countOrders(t.Context(), database); n != 2*events {
		t.Errorf("%d orders, want %d", n, 2*events)
	}
}
