// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/internal/receiverconfig"
)

func TestAFailingEffectIsInTheStatus(t *testing.T) {
	s := newShop(t, "")
	s.config.Effects[0].Function = "shop.nope"
	s.writeConfig()
	r := s.serve(s.serveArgs(s.url)).ready(t)
	_, answers := s.trySend(r, "--event-id", "evt_1", "--event-type", "invoice.paid", "--resource-id", "inv_1")
	if len(answers) != 1 || answers[0].Status != http.StatusServiceUnavailable {
		t.Fatalf("got %+v", answers)
	}
	status := r.status(t)
	if len(status.Effects) != 1 || status.Effects[0].Name != "book" || status.Effects[0].Function != "shop.nope" ||
		status.Effects[0].Code != "42883" || status.Effects[0].Failures != 1 {
		t.Errorf("got %+v", status.Effects)
	}
	if !status.Database.Reachable {
		t.Errorf("got %+v", status.Database)
	}
	if log := r.logged(); strings.Contains(log, "the ledger is unavailable") {
		t.Errorf("the log: %s", log)
	}
	s.config.Effects = nil
	s.writeConfig()
	eventually(t, "an effect that is not configured any more is not shown", func() bool { return len(r.status(t).Effects) == 0 })
}

// TestLargerBodiesAreTakenAtOnce: what is held in memory follows the configuration in force.
func TestLargerBodiesAreTakenAtOnce(t *testing.T) {
	s := newShop(t, "")
	r := s.serve(s.serveArgs(s.url)).ready(t)
	before := r.status(t).Config.Digest
	s.config.MaxBodyBytes = 32 << 20
	s.config.Effects = []receiverconfig.Effect{}
	s.writeConfig()
	eventually(t, "the new configuration is loaded", func() bool { return r.status(t).Config.Digest != before })
	done := make(chan int, 3)
	for range cap(done) {
		go func() { done <- postUnsigned(r, s.config.Path, 32<<20) }()
	}
	for range cap(done) {
		if code := <-done; code != http.StatusUnauthorized {
			t.Errorf("got %d, want %d: the body was read, and is not signed", code, http.StatusUnauthorized)
		}
	}
}

func postUnsigned(r *running, path string, size int) int {
	answer, err := http.Post("http://"+r.public+path, "application/json", strings.NewReader(strings.Repeat("x", size)))
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}
