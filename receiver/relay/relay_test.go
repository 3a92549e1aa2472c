// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/receiver"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int) *http.Response {
	return &http.Response{StatusCode: status, Body: http.NoBody, Header: http.Header{}}
}

// advance lets virtual time pass, and then everything that it set off.
func advance(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// attempts records what a fake destination was asked, in virtual time.
type attempts struct {
	mu      sync.Mutex
	at      []time.Time
	keys    map[string]int
	numbers []string
}

func (a *attempts) record(r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.keys == nil {
		a.keys = map[string]int{}
	}
	a.at = append(a.at, time.Now())
	a.keys[r.Header.Get(IdempotencyKeyHeader)]++
	a.numbers = append(a.numbers, r.Header.Get(AttemptHeader))
}

func (a *attempts) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.at)
}

func TestLadderIsExactAndKeepsItsKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outbox, seen := newOutbox(), &attempts{}
		relay := start(t, Options{
			Outbox:       outbox,
			Destinations: fixed(Destination{Name: "dead", URL: "http://dead/", Delays: longLadder}),
			Jitter:       func() float64 { return 0 },
			Transport: func() http.RoundTripper {
				return roundTrip(func(r *http.Request) (*http.Response, error) {
					seen.record(r)
					return answer(http.StatusInternalServerError), nil
				})
			},
		})
		relay.Offer(outbox.commit(MinLease, delivery("dead", 1)))
		advance(17 * time.Hour)

		if seen.count() != 11 || len(seen.keys) != 1 {
			t.Fatalf("%d attempts with %d keys, want 11 with 1", seen.count(), len(seen.keys))
		}
		for i, delay := range longLadder {
			// The poll finds a due row at most one second late.
			if late := seen.at[i+1].Sub(seen.at[i]) - delay; late < 0 || late > time.Second {
				t.Errorf("attempt %d came %s after its time", i+2, late)
			}
		}
		if diff := cmp.Diff("1 2 3 4 5 6 7 8 9 10 11", strings.Join(seen.numbers, " ")); diff != "" {
			t.Errorf("attempt numbers (-want +got):\n%s", diff)
		}
		if len(outbox.failed) != 1 || len(outbox.rows) != 0 {
			t.Errorf("%d failed and %d unfinished deliveries, want 1 and 0", len(outbox.failed), len(outbox.rows))
		}
	})
}

func TestSlowDestinationHoldsOnlyItsOwnSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outbox, healthy := newOutbox(), &attempts{}
		var stuck, most atomic.Int32
		start(t, Options{
			Outbox: outbox,
			Destinations: fixed(
				Destination{Name: "slow", URL: "http://slow/", Delays: longLadder, Concurrency: 4},
				Destination{Name: "healthy", URL: "http://healthy/", Delays: longLadder},
			),
			Transport: func() http.RoundTripper {
				return roundTrip(func(r *http.Request) (*http.Response, error) {
					if r.URL.Host == "healthy" {
						healthy.record(r)
						return answer(http.StatusOK), nil
					}
					most.Store(max(most.Load(), stuck.Add(1)))
					defer stuck.Add(-1)
					<-r.Context().Done()
					return nil, r.Context().Err()
				})
			},
		})
		// A backlog for the slow one that is older than everything for the healthy one.
		for n := range 5000 {
			outbox.enqueue(delivery("slow", n))
		}
		for n := range 40 {
			outbox.enqueue(delivery("healthy", n))
		}
		advance(5 * time.Second)
		if healthy.count() != 40 {
			t.Errorf("%d of 40 deliveries reached the healthy destination behind the slow one", healthy.count())
		}
		if leased := outbox.leased("slow"); leased > 4+2*16 {
			t.Errorf("%d deliveries of the backlog are held in memory, want at most the slots and two batches", leased)
		}
		if most.Load() != 4 {
			t.Errorf("the slow destination had %d attempts at once, want 4", most.Load())
		}
	})
}

func TestBacklogIsNotPacedByThePoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outbox, seen := newOutbox(), &attempts{}
		for n := range 2000 {
			outbox.enqueue(delivery("sink", n))
		}
		start(t, Options{
			Outbox: outbox, Destinations: fixed(Destination{Name: "sink", URL: "http://sink/"}),
			Transport: func() http.RoundTripper {
				return roundTrip(func(r *http.Request) (*http.Response, error) {
					seen.record(r)
					<-time.After(time.Millisecond)
					return answer(http.StatusOK), nil
				})
			},
		})
		advance(3 * time.Second)
		if seen.count() != 2000 || len(outbox.rows) != 0 {
			t.Errorf("%d attempts, %d rows left, want 2000 and 0", seen.count(), len(outbox.rows))
		}
	})
}

func TestAttemptThatCouldOutliveItsLeaseIsNotMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outbox, seen := newOutbox(), &attempts{}
		relay := start(t, Options{
			Outbox: outbox, Destinations: fixed(Destination{Name: "sink", URL: "http://sink/", Timeout: 10 * time.Second}),
			Transport: func() http.RoundTripper {
				return roundTrip(func(r *http.Request) (*http.Response, error) {
					seen.record(r)
					return answer(http.StatusOK), nil
				})
			},
		})
		relay.Offer(outbox.commit(9*time.Second, delivery("sink", 1)))
		synctest.Wait()
		if seen.count() != 0 {
			t.Fatal("an attempt was made under a lease that is too short for it")
		}
		advance(11 * time.Second)
		if seen.count() != 1 || seen.numbers[0] != "1" {
			t.Errorf("attempts %v after the lease ran out, want attempt 1 once", seen.numbers)
		}
	})
}

func TestUnknownDestinationWaitsWithoutAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outbox, seen := newOutbox(), &attempts{}
		var destinations atomic.Pointer[[]Destination]
		destinations.Store(&[]Destination{})
		relay := start(t, Options{
			Outbox: outbox, Destinations: func() []Destination { return *destinations.Load() },
			Transport: func() http.RoundTripper {
				return roundTrip(func(r *http.Request) (*http.Response, error) {
					seen.record(r)
					return answer(http.StatusOK), nil
				})
			},
		})
		relay.Offer(outbox.commit(MinLease, delivery("later", 1)))
		advance(24 * time.Hour)
		if outbox.leases != 0 || len(outbox.settled) != 0 {
			t.Fatalf("%d leases and %d settlements without a destination", outbox.leases, len(outbox.settled))
		}
		destinations.Store(&[]Destination{{Name: "later", URL: "http://later/"}})
		advance(3 * time.Second)
		if seen.count() != 1 || seen.numbers[0] != "1" || len(outbox.rows) != 0 {
			t.Errorf("attempts %v, %d rows left, want attempt 1 once", seen.numbers, len(outbox.rows))
		}
	})
}

func TestIdleRelayAsksOncePerPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outbox := newOutbox()
		start(t, Options{Outbox: outbox, Destinations: fixed(Destination{Name: "a"}, Destination{Name: "b"})})
		advance(100 * time.Second)
		if outbox.leases < 90 || outbox.leases > 112 {
			t.Errorf("%d queries in 100 s, want about one a second", outbox.leases)
		}
	})
}

func TestOfferBeyondTheBoundsIsLeftToThePoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		outbox, seen := newOutbox(), &attempts{}
		relay := start(t, Options{
			Outbox: outbox, MaxRows: 10, MaxBytes: 1 << 10,
			Destinations: fixed(Destination{Name: "sink", URL: "http://sink/", Timeout: time.Second, Concurrency: 1}),
			Transport: func() http.RoundTripper {
				return roundTrip(func(r *http.Request) (*http.Response, error) {
					seen.record(r)
					<-time.After(10 * time.Millisecond)
					return answer(http.StatusOK), nil
				})
			},
		})
		large := delivery("sink", 0)
		large.Body = make([]byte, 1<<20)
		deliveries := []receiver.Delivery{large}
		for n := range 40 {
			deliveries = append(deliveries, delivery("sink", n))
		}
		relay.Offer(outbox.commit(MinLease, deliveries...))
		advance(time.Second)
		if seen.count() != 1 {
			t.Errorf("%d attempts from memory, want only the large one that found the lane empty", seen.count())
		}
		advance(MinLease + 2*time.Second)
		if seen.count() != 41 || len(outbox.rows) != 0 {
			t.Errorf("%d attempts, %d rows left, want 41 and 0", seen.count(), len(outbox.rows))
		}
	})
}
