// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	"github.com/hookonce/hookonce/receiver/verify"
	"github.com/hookonce/hookonce/test/faults/history"
	"github.com/hookonce/hookonce/test/faults/plan"
)

const (
	// giveUp is how long a patient sender retries one delivery.
	giveUp = 3 * time.Minute
	// attemptTimeout is how long providers wait for an answer.
	attemptTimeout            = 6 * time.Second
	firstBackoff, lastBackoff = 50 * time.Millisecond, time.Second
)

// senders play the providers.
type senders struct {
	w      *world
	client *http.Client

	mu   sync.Mutex
	plan *plan.Plan

	// What was sent, for the judge: bodies by their digests, and every attempt.
	known    map[history.Digest]sentBody
	attempts []history.Attempt

	sent, accepted, conflicts, busy, unanswered, abandoned atomic.Int64
}

// sentBody says which event a body is of.
type sentBody struct {
	event       int32
	conflicting bool
}

func newSenders(w *world, p *plan.Plan, concurrency int) *senders {
	transport := &http.Transport{
		MaxIdleConns: 0, MaxIdleConnsPerHost: concurrency, IdleConnTimeout: 30 * time.Second, DisableCompression: true,
	}
	w.t.Cleanup(transport.CloseIdleConnections)
	return &senders{
		w: w, plan: p, known: map[history.Digest]sentBody{},
		client: &http.Client{Transport: transport, Timeout: attemptTimeout},
	}
}

// run sends the whole plan, so many steps at once.
func (s *senders) run(ctx context.Context, concurrency int) {
	var workers sync.WaitGroup
	for range concurrency {
		workers.Go(func() {
			for ctx.Err() == nil {
				step, ok := s.next()
				if !ok {
					return
				}
				s.play(ctx, step)
			}
		})
	}
	workers.Wait()
}

func (s *senders) next() (plan.Step, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plan.Next()
}

// play sends what is sent at the same time.
func (s *senders) play(ctx context.Context, step plan.Step) {
	var rest sync.WaitGroup
	for _, sending := range step[1:] {
		rest.Go(func() { s.deliver(ctx, sending) })
	}
	s.deliver(ctx, step[0])
	rest.Wait()
}

// deliver sends one delivery until it is answered for good, as a provider does: the same id and body, at the next replica,
// with a fresh timestamp and signature.
func (s *senders) deliver(ctx context.Context, sending plan.Sending) {
	e := s.plan.Delivered(sending)
	digest := sha256.Sum256(e.Body)
	s.note(digest, sentBody{int32(sending.Event), sending.Kind == plan.Conflict})
	backoff, deadline := firstBackoff, time.Now().Add(giveUp)
	for node := sending.Node; ; node = (node + 1) % len(s.w.nodes) {
		status := s.attempt(ctx, e, digest, node)
		if final(status) {
			break
		}
		if sending.Impatient {
			return
		}
		pause := backoff/2 + rand.N(backoff) //nolint:gosec // Jitter is no secret.
		if time.Now().After(deadline) || !rest(ctx, pause) {
			s.abandoned.Add(1)
			return
		}
		backoff = min(2*backoff, lastBackoff)
	}
	if sending.ThenConflict {
		s.deliver(ctx, plan.Sending{Event: sending.Event, Kind: plan.Conflict, Node: (sending.Node + 1) % len(s.w.nodes)})
	}
}

// final says whether a provider is content with the status, or knows that there is no use in trying again.
func final(status int) bool {
	return status != 0 && status != http.StatusServiceUnavailable && status != http.StatusRequestTimeout
}

func (s *senders) attempt(ctx context.Context, e plan.Event, digest history.Digest, node int) int {
	a := history.Attempt{Endpoint: e.Endpoint, EventID: e.ID, Body: digest}
	s.post(ctx, e, node, &a)
	s.sent.Add(1)
	switch {
	case a.Status == 0:
		s.unanswered.Add(1)
	case a.Status == http.StatusServiceUnavailable:
		s.busy.Add(1)
		a.Answer = ""
	case a.Status == http.StatusUnprocessableEntity:
		s.conflicts.Add(1)
	case a.Status/100 == 2:
		s.accepted.Add(1)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attempts = append(s.attempts, a)
	return a.Status
}

// post makes one attempt, and notes the answer. One that did not arrive whole is none.
func (s *senders) post(ctx context.Context, e plan.Event, node int, a *history.Attempt) {
	to := s.w.endpoints[e.Endpoint]
	header, err := verify.Sign(to.scheme, [][]byte{to.key}, verify.Draft{
		EventID: e.ID, EventType: e.Type, ResourceID: e.Resource, Body: e.Body,
	}, time.Now())
	if err != nil {
		s.w.t.Errorf("sign %s: %v", e.ID, err)
		return
	}
	url := "http://" + s.w.nodes[node].receivers[e.Endpoint].front.Listen + to.path
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(e.Body))
	if err != nil {
		s.w.t.Errorf("make the request of %s: %v", e.ID, err)
		return
	}
	request.Header = header
	response, err := s.client.Do(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return
	}
	a.Status, a.Answer = response.StatusCode, unique.Make(string(text)).Value()
	a.RetryAfter = response.Header.Get("Retry-After") != ""
}

func (s *senders) note(digest history.Digest, b sentBody) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[digest] = b
}

// expect implements history.History.Expect.
func (s *senders) expect(endpoint int, body history.Digest) (history.Expected, bool) {
	b, ok := s.known[body]
	if !ok {
		return history.Expected{}, false
	}
	e := s.plan.Event(int(b.event))
	if b.conflicting {
		e = s.plan.Conflicting(int(b.event))
	}
	return plan.Expect(e), e.Endpoint == endpoint
}
