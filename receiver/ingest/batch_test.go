// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ingest"
)

// manyIDs are so many ids, all different.
func manyIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("evt_%d", i)
	}
	return ids
}

// remake makes the handler again, with options that have changed.
func (e *endpoint) remake(t *testing.T) {
	t.Helper()
	handler, err := ingest.New(e.options)
	if err != nil {
		t.Fatal(err)
	}
	e.handler = handler
}

func wantStatus(t *testing.T, w *httptest.ResponseRecorder, status int) {
	t.Helper()
	if w.Code != status {
		t.Errorf("got %d %s, want %d", w.Code, w.Body, status)
	}
}

// TestABatchIsOneOnlyIfTheSchemeSaysSo: one answer is for one event, and without any nothing is acknowledged.
func TestABatchIsOneOnlyIfTheSchemeSaysSo(t *testing.T) {
	for _, ids := range [][]string{nil, {"evt_1", "evt_2"}} {
		e := batchOf(t, ids...)
		e.settings.Scheme.Batch = nil
		w := e.post(signed(t, body))
		wantAnswer(t, w, 503, `{"error":"internal"}`)
		if w.Header().Get("Retry-After") == "" || e.ledger.calls() != 0 || !strings.Contains(e.log.String(), "without being a batch") {
			t.Errorf("%v: %d calls, logged %s", ids, e.ledger.calls(), e.log)
		}
	}
}

// TestEventsOfABatchAreRecordedAtOnce: so many that a commit's time is not multiplied by a thousand, and no more; the
// answers stay in their order.
func TestEventsOfABatchAreRecordedAtOnce(t *testing.T) {
	const most = 64
	ids := manyIDs(1000)
	e := batchOf(t, ids...)
	var open atomic.Int64
	var whole sync.WaitGroup
	whole.Add(most)
	var begun atomic.Int64
	e.ledger.answer = func(ctx context.Context, event receiver.Event) (receiver.Receipt, error) {
		if n := open.Add(1); n > most {
			t.Errorf("%d at once", n)
		}
		defer open.Add(-1)
		if begun.Add(1) <= most {
			whole.Done()
			whole.Wait()
		}
		return receiver.Receipt{Kind: receiver.Processed, Answer: receiver.Answer{Status: 200, Body: []byte(`"` + event.ID + `"`)}}, ctx.Err()
	}
	w := e.post(signed(t, body))
	want, err := json.Marshal(ids)
	if err != nil {
		t.Fatal(err)
	}
	wantAnswer(t, w, 200, string(want))
	if e.count("received/") != len(ids) || e.count("processed/") != len(ids) {
		t.Errorf("counts %v", e.counts)
	}
}

// TestCopiesInABatchFollowEachOther: the first of them is new, and they never wait for each other in the ledger.
func TestCopiesInABatchFollowEachOther(t *testing.T) {
	e := batchOf(t, strings.Fields(strings.Repeat("a b ", 50))...)
	var open [2]atomic.Int64
	var seen [2]int
	e.ledger.answer = func(_ context.Context, event receiver.Event) (receiver.Receipt, error) {
		i := event.ID[0] - 'a'
		if open[i].Add(1) > 1 {
			t.Errorf("two of %s at once", event.ID)
		}
		defer open[i].Add(-1)
		seen[i]++
		return receiver.Receipt{Kind: receiver.Duplicate, Answer: receiver.Answer{Status: 200, Body: fmt.Append(nil, seen[i])}}, nil
	}
	var want []string
	for n := range 50 {
		want = append(want, fmt.Sprintf("%d,%d", n+1, n+1))
	}
	wantAnswer(t, e.post(signed(t, body)), 200, "["+strings.Join(want, ",")+"]")
}

// TestBatchesDoNotOccupyMoreThanAllPlaces: batches that come together share as many helpers as there are places.
func TestBatchesDoNotOccupyMoreThanAllPlaces(t *testing.T) {
	const places = 4
	e := batchOf(t)
	var requests, open, begun atomic.Int64
	e.options.Verify = func(scheme.Scheme, []receiver.Secret, *receiver.Request, time.Time, time.Duration) (receiver.Verified, error) {
		v, n := receiver.Verified{}, requests.Add(1)
		for _, id := range manyIDs(200) {
			v.Events = append(v.Events, receiver.VerifiedEvent{ID: fmt.Sprint(id, "_", n), Body: []byte("{}")})
		}
		return v, nil
	}
	var all sync.WaitGroup
	all.Add(2 * places)
	e.ledger.answer = func(context.Context, receiver.Event) (receiver.Receipt, error) {
		if n := open.Add(1); n > 2*places {
			t.Errorf("%d at once", n)
		}
		defer open.Add(-1)
		if begun.Add(1) <= 2*places {
			all.Done()
			all.Wait()
		}
		for range 10 {
			runtime.Gosched()
		}
		return processed(), nil
	}
	e.options.MaxInFlight, e.options.MaxWait = places, time.Hour
	e.remake(t)
	var group sync.WaitGroup
	for range places {
		r := signed(t, body)
		group.Go(func() { wantStatus(t, e.post(r), 200) })
	}
	group.Wait()
}

// TestAPanicInABatchIsAnswered: it ends neither the process nor the recording of the other events.
func TestAPanicInABatchIsAnswered(t *testing.T) {
	ids := manyIDs(100)
	e := batchOf(t, ids...)
	e.ledger.answer = func(_ context.Context, event receiver.Event) (receiver.Receipt, error) {
		if event.ID == "evt_7" {
			panic("a secret of " + event.ID) //nolint:forbidigo // what is tested
		}
		return processed(), nil
	}
	wantAnswer(t, e.post(signed(t, body)), 503, `{"error":"internal"}`)
	if e.ledger.calls() != len(ids) || e.count("processed/") != len(ids)-1 {
		t.Errorf("%d calls, counts %v", e.ledger.calls(), e.counts)
	}
	if log := e.log.String(); !strings.Contains(log, "A request panicked") || strings.Contains(log, "a secret") {
		t.Errorf("logged %s", log)
	}
}

// TestLongBatchesDoNotLookLikeASlowDatabase: what counts is the time for each event, so that others still wait for a place.
func TestLongBatchesDoNotLookLikeASlowDatabase(t *testing.T) {
	e := batchOf(t)
	var clock atomic.Int64
	var batch atomic.Pointer[receiver.Verified]
	batch.Store(&receiver.Verified{})
	for _, id := range manyIDs(100) {
		batch.Load().Events = append(batch.Load().Events, receiver.VerifiedEvent{ID: id, Body: []byte("{}")})
	}
	e.options.Verify = func(scheme.Scheme, []receiver.Secret, *receiver.Request, time.Time, time.Duration) (receiver.Verified, error) {
		return *batch.Load(), nil
	}
	e.options.Now = func() time.Time { return now.Add(time.Duration(clock.Load())) }
	e.options.MaxInFlight, e.options.MaxWaiting, e.options.MaxWait = 1, 1, time.Hour
	e.ledger.answer = func(context.Context, receiver.Event) (receiver.Receipt, error) {
		clock.Add(int64(10 * time.Millisecond))
		return processed(), nil
	}
	e.remake(t)
	for range 100 {
		// With one place, two events that share a counter of copies are told to come again.
		if w := e.post(signed(t, body)); w.Code != 200 && !strings.Contains(w.Body.String(), "in_flight") {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	}
	batch.Store(&receiver.Verified{Events: batch.Load().Events[:1]})
	entered, leave := make(chan struct{}, 1000), make(chan struct{})
	e.ledger.answer = func(context.Context, receiver.Event) (receiver.Receipt, error) {
		entered <- struct{}{}
		<-leave
		return processed(), nil
	}
	answers := make(chan *httptest.ResponseRecorder, 3)
	for i := range 3 {
		r := signed(t, body)
		go func() { answers <- e.post(r) }()
		if i == 0 {
			<-entered
		}
	}
	// One waits, and the other is one too many.
	wantStatus(t, <-answers, 503)
	select {
	case w := <-answers:
		t.Fatalf("nobody waits: got %d %s", w.Code, w.Body)
	case <-time.After(50 * time.Millisecond):
	}
	close(leave)
	wantStatus(t, <-answers, 200)
	wantStatus(t, <-answers, 200)
}
