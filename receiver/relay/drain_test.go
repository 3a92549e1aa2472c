// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookonce/hookonce/receiver"
)

func TestEverySettlementThatComesAloneIsWrittenAtOnce(t *testing.T) {
	outbox := newOutbox()
	s := newSink(t, func(http.ResponseWriter, *http.Request) {})
	relay := start(t, Options{Outbox: outbox, Destinations: fixed(Destination{Name: "sink", URL: s.URL})})
	for n := range 3 {
		relay.Offer(outbox.commit(MinLease, delivery("sink", n)))
		outbox.await(t, "the delivery is settled", func() bool { return len(outbox.settled) == n+1 })
	}
	requests, _ := s.seen()
	if len(requests) != 3 {
		t.Errorf("%d requests, want 3", len(requests))
	}
}

func TestSettlementsAreBatchedWhileTheOutboxIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outbox, seen := newOutbox(), &attempts{}
		outbox.setSettling(errAway)
		relay := start(t, Options{
			Outbox: outbox, Destinations: fixed(Destination{Name: "sink", URL: "http://sink/"}),
			Transport: func() http.RoundTripper {
				return roundTrip(func(r *http.Request) (*http.Response, error) {
					seen.record(r)
					return answer(http.StatusOK), nil
				})
			},
		})
		for n := range 100 {
			relay.Offer(outbox.commit(MinLease, delivery("sink", n)))
		}
		advance(10 * time.Second)
		outbox.setSettling(nil)
		advance(6 * time.Second)
		if len(outbox.settled) != 100 || len(outbox.batches) > 2 {
			t.Errorf("%d settled in batches %v, want 100 in at most 2", len(outbox.settled), outbox.batches)
		}
		if seen.count() != 100 {
			t.Errorf("%d attempts, want 100: none was lost or made twice", seen.count())
		}
	})
}

func TestAttemptIsMadeAgainWhenItCouldNotBeSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outbox, seen := newOutbox(), &attempts{}
		outbox.setSettling(errAway)
		var lost atomic.Int32
		relay := start(t, Options{
			Outbox: outbox, Destinations: fixed(Destination{Name: "sink", URL: "http://sink/"}),
			LeaseLost: func(d []receiver.Delivery) { lost.Add(int32(len(d))) },
			Transport: func() http.RoundTripper {
				return roundTrip(func(r *http.Request) (*http.Response, error) {
					seen.record(r)
					return answer(http.StatusOK), nil
				})
			},
		})
		relay.Offer(outbox.commit(MinLease, delivery("sink", 1)))
		advance(MinLease + 10*time.Second)
		outbox.setSettling(nil)
		advance(time.Minute)
		if seen.count() < 2 || len(seen.keys) != 1 || len(outbox.rows) != 0 {
			t.Errorf("%d attempts with keys %v, %d rows left, want several with one key and 0", seen.count(), seen.keys, len(outbox.rows))
		}
		if n := lost.Load(); int(n) != seen.count()-1 {
			t.Errorf("told of %d lost leases for %d attempts", n, seen.count())
		}
	})
}

func TestOffersBeforeTheRunAreNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outbox, seen := newOutbox(), &attempts{}
		relay := New(Options{
			Outbox: outbox, Log: slog.New(slog.DiscardHandler),
			Destinations: fixed(Destination{Name: "sink", URL: "http://sink/"}),
			Transport: func() http.RoundTripper {
				return roundTrip(func(r *http.Request) (*http.Response, error) {
					seen.record(r)
					return answer(http.StatusOK), nil
				})
			},
		})
		relay.Offer(outbox.commit(MinLease, delivery("sink", 1)))
		runToEnd(relay, nil)
		if seen.count() != 1 || len(outbox.rows) != 0 {
			t.Errorf("%d attempts, %d rows left, want 1 and 0", seen.count(), len(outbox.rows))
		}
	})
}

// runToEnd runs a relay, lets it begin, asks it to end, and returns how long the end took.
func runToEnd(relay *Relay, offered []receiver.Delivery) time.Duration {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		relay.Run(ctx)
	}()
	relay.Offer(offered)
	synctest.Wait()
	cancel()
	asked := time.Now()
	<-done
	return time.Since(asked)
}

func TestDrainDeliversWhatIsInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outbox, seen := newOutbox(), &attempts{}
		relay := New(Options{
			Outbox: outbox, Log: slog.New(slog.DiscardHandler),
			Destinations: fixed(Destination{Name: "sink", URL: "http://sink/", Concurrency: 2}),
			Transport: func() http.RoundTripper {
				return roundTrip(func(r *http.Request) (*http.Response, error) {
					seen.record(r)
					<-time.After(100 * time.Millisecond)
					return answer(http.StatusOK), nil
				})
			},
		})
		var deliveries []receiver.Delivery
		for n := range 20 {
			deliveries = append(deliveries, delivery("sink", n))
		}
		took := runToEnd(relay, outbox.commit(MinLease, deliveries...))
		if seen.count() != 20 || len(outbox.rows) != 0 || took != time.Second {
			t.Errorf("%d attempts, %d rows left after %s, want 20 and 0 after 1s", seen.count(), len(outbox.rows), took)
		}
	})
}

func TestDrainIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outbox, seen := newOutbox(), &attempts{}
		outbox.setSettling(errAway)
		relay := New(Options{
			Outbox: outbox, Log: slog.New(slog.DiscardHandler), Drain: 3 * time.Second,
			Destinations: fixed(Destination{Name: "silent", URL: "http://silent/", Concurrency: 1}),
			Transport: func() http.RoundTripper {
				return roundTrip(func(r *http.Request) (*http.Response, error) {
					seen.record(r)
					<-r.Context().Done()
					return nil, r.Context().Err()
				})
			},
		})
		took := runToEnd(relay, outbox.commit(MinLease, delivery("silent", 1), delivery("silent", 2)))
		if took > 3*time.Second+SettleTimeout {
			t.Errorf("the end took %s", took)
		}
		if seen.count() != 1 || len(outbox.settled) != 0 || len(outbox.rows) != 2 {
			t.Errorf("%d attempts, %d settled, %d rows; want the cut attempt and the waiting one left in the outbox",
				seen.count(), len(outbox.settled), len(outbox.rows))
		}
	})
}

func TestDrainDoesNotHangOnAFullLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outbox := newOutbox()
		outbox.setSettling(errAway)
		relay := New(Options{
			Outbox: outbox, Log: slog.New(slog.DiscardHandler), MaxRows: 4 * maxUnsettled,
			Destinations: fixed(Destination{Name: "sink", URL: "http://sink/"}),
			Transport: func() http.RoundTripper {
				return roundTrip(func(*http.Request) (*http.Response, error) { return answer(http.StatusOK), nil })
			},
		})
		var deliveries []receiver.Delivery
		for n := range 2 * maxUnsettled {
			deliveries = append(deliveries, delivery("sink", n))
		}
		if took := runToEnd(relay, outbox.commit(MinLease, deliveries...)); took > 20*time.Second {
			t.Errorf("the end took %s", took)
		}
	})
}
