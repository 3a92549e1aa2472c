// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestBreaker(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	var b breaker
	for range tripAfter - 1 {
		if b.record(now, false, 0) || !b.closed() {
			t.Fatal("open before it failed often enough")
		}
	}
	b.record(now, true, 0)
	for range tripAfter - 1 {
		b.record(now, false, 0)
	}
	if !b.closed() {
		t.Fatal("a success in between does not count")
	}
	if !b.record(now, false, 0) || b.closed() {
		t.Fatal("closed after it failed often enough in a row")
	}
	for _, seconds := range []int{1, 2, 4, 8, 16, 32, 60, 60} {
		pause := time.Duration(seconds) * time.Second
		if b.probes(now.Add(pause - 1)) {
			t.Fatalf("a probe before %s are over", pause)
		}
		b.record(now.Add(pause-1), false, 0)
		now = now.Add(pause)
		if !b.probes(now) {
			t.Fatalf("no probe after %s", pause)
		}
		if b.record(now, false, 0) {
			t.Fatal("a failed probe is told as a change")
		}
	}
	if !b.record(now, true, 0) || !b.closed() || b.probes(now.Add(time.Hour)) {
		t.Fatal("a success does not close it")
	}
}

func TestBreakerHeedsRetryAfter(t *testing.T) {
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	tests := map[string]struct{ asked, want time.Duration }{
		"less than a pause":     {time.Millisecond, firstPause},
		"some time":             {7 * time.Second, 7 * time.Second},
		"longer than any pause": {time.Hour, lastPause},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var b breaker
			b.record(now, false, tt.asked)
			if b.closed() || b.probes(now.Add(tt.want-1)) || !b.probes(now.Add(tt.want)) {
				t.Errorf("asked for %s it waits until %s, want %s", tt.asked, b.until.Sub(now), tt.want)
			}
		})
	}
}

// A destination that is down for an hour while 2,000 deliveries wait gets a probe now and then and not their ladders, and
// everything once it is back.
func TestOutageIsProbedAndNotHammered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outbox, seen := newOutbox(), &attempts{}
		var down atomic.Bool
		down.Store(true)
		for n := range 2000 {
			outbox.enqueue(delivery("sink", n))
		}
		relay := start(t, Options{
			Outbox: outbox, Destinations: fixed(Destination{Name: "sink", URL: "http://sink/", Delays: longLadder}),
			Transport: func() http.RoundTripper {
				return roundTrip(func(r *http.Request) (*http.Response, error) {
					seen.record(r)
					if down.Load() {
						return answer(http.StatusBadGateway), nil
					}
					return answer(http.StatusOK), nil
				})
			},
		})
		relay.Offer(outbox.commit(MinLease, delivery("sink", 2000)))
		advance(time.Hour)
		if n := seen.count(); n < 60 || n > 90 {
			t.Errorf("%d attempts in an hour's outage, want about one a minute", n)
		}
		down.Store(false)
		advance(time.Hour + 2*lastPause)
		if len(outbox.rows) != 0 || len(outbox.failed) != 0 {
			t.Errorf("%d rows left and %d failed after the outage, want 0 and 0", len(outbox.rows), len(outbox.failed))
		}
	})
}

// Answers that blame the delivery say that the destination works.
func TestClientErrorsHoldNothingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outbox, seen := newOutbox(), &attempts{}
		for n := range 100 {
			outbox.enqueue(delivery("sink", n))
		}
		start(t, Options{
			Outbox: outbox, Destinations: fixed(Destination{Name: "sink", URL: "http://sink/", ClientErrorsEnd: true}),
			Transport: func() http.RoundTripper {
				return roundTrip(func(r *http.Request) (*http.Response, error) {
					seen.record(r)
					return answer(http.StatusGone), nil
				})
			},
		})
		advance(3 * time.Second)
		if seen.count() != 100 || len(outbox.failed) != 100 {
			t.Errorf("%d attempts, %d failed, want 100 and 100", seen.count(), len(outbox.failed))
		}
	})
}
