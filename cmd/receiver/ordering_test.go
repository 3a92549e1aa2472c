// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/receiverconfig"
)

// orderedSink takes two thirds of what comes, and remembers the events that it took, each once, by resource.
type orderedSink struct {
	mu    sync.Mutex
	taken map[string][]string
	// busy are the resources that are being delivered right now; overlaps counts two of one at once.
	busy     map[string]bool
	overlaps int
}

func (s *orderedSink) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("Hookonce-Event-Id")
	resource, _, _ := strings.Cut(id, "-")
	s.mu.Lock()
	if s.busy[resource] {
		s.overlaps++
	}
	s.busy[resource] = true
	s.mu.Unlock()
	//nolint:gosec // chance needs no secrecy
	takes := rand.IntN(3) > 0
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy[resource] = false
	if !takes {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if !slices.Contains(s.taken[resource], id) {
		s.taken[resource] = append(s.taken[resource], id)
	}
}

func (s *orderedSink) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, list := range s.taken {
		n += len(list)
	}
	return n
}

// Two receivers get the events of ten resources, and a destination that takes two of three attempts: the events of each resource
// arrive in the order in which they were acknowledged, though a receiver ends in the middle and its leases run out.
func TestEventsOfAResourceArriveInOrder(t *testing.T) {
	out := &orderedSink{taken: map[string][]string{}, busy: map[string]bool{}}
	server := httptest.NewServer(out)
	t.Cleanup(server.Close)
	s := newShop(t, server.URL)
	to := &s.config.Destinations[0]
	to.Ordering = receiverconfig.OrderingPerResource
	to.Delays = slices.Repeat([]receiverconfig.Duration{receiverconfig.Duration(time.Millisecond)}, 30)
	s.writeConfig()
	receivers := []*running{s.serve(s.serveArgs(s.url)).ready(t), s.serve(s.serveArgs(s.url)).ready(t)}
	want := map[string][]string{}
	const resources, events = 10, 12
	for n := range events {
		if n == events/2 {
			// What it had leased waits for its leases to end: they are made to.
			receivers[1].stop()
			<-receivers[1].ended
			s.exec("UPDATE hookonce.delivery SET leased_until = now()")
			receivers[1] = s.serve(s.serveArgs(s.url)).ready(t)
		}
		for r := range resources {
			resource := fmt.Sprintf("r%d", r)
			id := fmt.Sprintf("%s-%02d", resource, n)
			s.send(receivers[(n+r)%2], "--event-id", id, "--event-type", "invoice.sent", "--resource-id", resource)
			want[resource] = append(want[resource], id)
		}
	}
	eventually(t, "everything has arrived", func() bool { return out.count() == resources*events })
	out.mu.Lock()
	defer out.mu.Unlock()
	if diff := cmp.Diff(want, out.taken); diff != "" {
		t.Errorf("order (-acknowledged +arrived):\n%s", diff)
	}
	if out.overlaps > 0 {
		t.Errorf("%d times two events of one resource were under way at once", out.overlaps)
	}
}
