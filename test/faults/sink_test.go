// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"github.com/hookonce/hookonce/receiver/relay"
	"github.com/hookonce/hookonce/test/faults/history"
	"github.com/hookonce/hookonce/test/faults/plan"
)

// sink is where all destinations are. It records what comes, and refuses a part of it so that it comes again.
type sink struct {
	*httptest.Server

	mu       sync.Mutex
	random   *rand.Rand
	arrivals map[history.Arrival]int
	calls    int
	refused  int
}

// oneInRefused attempts are answered with 503.
const oneInRefused = 16

func newSink(t *testing.T, seed uint64) *sink {
	t.Helper()
	s := &sink{random: repeatable(seed, 2), arrivals: map[history.Arrival]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /sink/{endpoint}/{destination}", s.take)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func sinkPath(endpoint int, destination string) string {
	return fmt.Sprintf("/sink/%d/%s", endpoint, destination)
}

func (s *sink) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	endpoint, badNumber := strconv.Atoi(r.PathValue("endpoint"))
	if err != nil || badNumber != nil || endpoint < 0 || endpoint >= plan.Endpoints {
		// What did not come whole is nothing that anybody could act on.
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	a := history.Arrival{
		Endpoint: endpoint, Destination: r.PathValue("destination"), Key: r.Header.Get(relay.IdempotencyKeyHeader),
		EventID: r.Header.Get(relay.EventIDHeader), Body: sha256.Sum256(body), Accepted: true,
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if s.random.IntN(oneInRefused) == 0 {
		s.refused++
		a.Accepted = false
	}
	s.arrivals[a]++
	if !a.Accepted {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// seen is what came, once for each way in which it did.
func (s *sink) seen() []history.Arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := make([]history.Arrival, 0, len(s.arrivals))
	for a := range s.arrivals {
		seen = append(seen, a)
	}
	return seen
}

func (s *sink) count() (calls, refused int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls, s.refused
}
