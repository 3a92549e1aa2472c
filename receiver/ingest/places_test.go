// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest_test

import (
	"context"
	"fmt"
	"io"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookonce/hookonce/receiver"
)

// TestACrowdWaitsForPlaces: 500 requests at once, for 256 places, are all answered.
func TestACrowdWaitsForPlaces(t *testing.T) {
	const crowd = 500
	e := newEndpoint(t, func(e *endpoint) { e.options.MaxWait = 20 * time.Second })
	var read sync.WaitGroup
	read.Add(crowd)
	e.ledger.answer = func(context.Context, receiver.Event) (receiver.Receipt, error) {
		read.Wait()
		return processed(), nil
	}
	var group sync.WaitGroup
	for i := range crowd {
		content := fmt.Sprintf(`{"event_id":"evt_%d"}`, i)
		r := signed(t, content)
		r.ContentLength = -1
		r.Body = io.NopCloser(&told{Reader: strings.NewReader(content), end: sync.OnceFunc(read.Done)})
		group.Go(func() {
			if w := e.post(r); w.Code != 200 {
				t.Errorf("got %d %s", w.Code, w.Body)
			}
		})
	}
	group.Wait()
}

// told tells when it has been read to its end.
type told struct {
	io.Reader

	end func()
}

func (r *told) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil {
		r.end()
	}
	return n, err
}

// TestTooManyWait: one request is being recorded, one waits, and the third is answered at once while they do.
func TestTooManyWait(t *testing.T) {
	e := newEndpoint(t, func(e *endpoint) {
		e.options.MaxInFlight, e.options.MaxWaiting, e.options.MaxWait = 1, 1, time.Hour
	})
	entered, leave := make(chan struct{}, 3), make(chan struct{})
	e.ledger.answer = func(context.Context, receiver.Event) (receiver.Receipt, error) {
		entered <- struct{}{}
		<-leave
		return processed(), nil
	}
	answers := make(chan *httptest.ResponseRecorder, 3)
	post := func() {
		r := signed(t, body)
		go func() { answers <- e.post(r) }()
	}
	post()
	<-entered
	post()
	post()
	w := <-answers
	wantAnswer(t, w, 503, `{"error":"busy"}`)
	if w.Header().Get("Retry-After") != "1" || e.ledger.calls() != 1 {
		t.Errorf("Retry-After %q, %d calls", w.Header().Get("Retry-After"), e.ledger.calls())
	}
	close(leave)
	wantAnswer(t, <-answers, 200, `{"status":"processed"}`)
	wantAnswer(t, <-answers, 200, `{"status":"processed"}`)
	wantAnswer(t, e.post(signed(t, body)), 200, `{"status":"processed"}`)
}

// TestWaitingEnds: a place that does not become free in time is not waited for any longer.
func TestWaitingEnds(t *testing.T) {
	e := newEndpoint(t, func(e *endpoint) {
		e.options.MaxInFlight, e.options.MaxWaiting, e.options.MaxWait = 1, 1, time.Millisecond
	})
	e.ledger.answer = func(context.Context, receiver.Event) (receiver.Receipt, error) {
		for range 3 {
			wantAnswer(t, e.post(signed(t, body)), 503, `{"error":"busy"}`)
		}
		return processed(), nil
	}
	wantAnswer(t, e.post(signed(t, body)), 200, `{"status":"processed"}`)
	e.ledger.answer = nil
	wantAnswer(t, e.post(signed(t, body)), 200, `{"status":"processed"}`)
}

// TestCopiesOfOneEventLeaveRoomForOthers: a slow event does not take all places, however many copies of it come.
func TestCopiesOfOneEventLeaveRoomForOthers(t *testing.T) {
	e := newEndpoint(t, func(e *endpoint) {
		e.options.MaxInFlight, e.options.MaxWait, e.options.CommitDeadline = 4, time.Millisecond, 3*time.Second
	})
	entered, leave := make(chan struct{}, 10), make(chan struct{})
	e.ledger.answer = func(ctx context.Context, event receiver.Event) (receiver.Receipt, error) {
		if event.ID != "evt_1" {
			return processed(), nil
		}
		entered <- struct{}{}
		select {
		case <-leave:
			return processed(), nil
		case <-ctx.Done():
			return receiver.Receipt{}, ctx.Err()
		}
	}
	var group sync.WaitGroup
	for range 2 {
		r := signed(t, body)
		group.Go(func() { wantAnswer(t, e.post(r), 200, `{"status":"processed"}`) })
		<-entered
	}
	for range 4 {
		wantAnswer(t, e.post(signed(t, body)), 503, `{"error":"in_flight"}`)
	}
	wantAnswer(t, e.post(signed(t, `{"event_id":"evt_2"}`)), 200, `{"status":"processed"}`)
	close(leave)
	group.Wait()
	wantAnswer(t, e.post(signed(t, body)), 200, `{"status":"processed"}`)
}
