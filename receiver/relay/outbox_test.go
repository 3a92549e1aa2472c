// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/hookonce/hookonce/receiver"
)

// memoryOutbox keeps the outbox's rules in memory: due and unleased rows only, and settlements under the lease only.
// cmd/receiver runs the relay against the ledger itself.
type memoryOutbox struct {
	mu       sync.Mutex
	rows     []*row
	failed   []receiver.Settlement
	settled  []receiver.Settlement
	batches  []int
	leases   int
	settling error
	changed  chan struct{}
}

type row struct {
	delivery receiver.Delivery
	due      time.Time
}

func newOutbox() *memoryOutbox {
	return &memoryOutbox{changed: make(chan struct{}, 1)}
}

// enqueue adds rows that nobody has leased.
func (o *memoryOutbox) enqueue(deliveries ...receiver.Delivery) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, d := range deliveries {
		o.rows = append(o.rows, &row{delivery: d})
	}
}

// commit adds rows that are leased to the caller, as the ledger does for a new event.
func (o *memoryOutbox) commit(lease time.Duration, deliveries ...receiver.Delivery) []receiver.Delivery {
	o.mu.Lock()
	defer o.mu.Unlock()
	var leased []receiver.Delivery
	for _, d := range deliveries {
		d.Lease = receiver.Lease{Token: uuid.New(), Expires: time.Now().Add(lease)}
		o.rows = append(o.rows, &row{delivery: d})
		leased = append(leased, d)
	}
	return leased
}

func (o *memoryOutbox) LeaseDue(
	_ context.Context, destinations []string, limit int, lease time.Duration,
) ([]receiver.Delivery, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.leases++
	now := time.Now()
	var leased []receiver.Delivery
	before := map[string]bool{}
	for _, r := range o.rows {
		d := &r.delivery
		// All that is ordered is of one resource here.
		waits := d.Ordered && before[d.Destination]
		before[d.Destination] = before[d.Destination] || d.Ordered
		if waits || len(leased) == limit || !slices.Contains(destinations, d.Destination) ||
			r.due.After(now) || d.Lease.Expires.After(now) {
			continue
		}
		d.Lease = receiver.Lease{Token: uuid.New(), Expires: now.Add(lease)}
		leased = append(leased, *d)
	}
	return leased, nil
}

var errAway = errors.New("outbox is away")

func (o *memoryOutbox) Settle(_ context.Context, settlements []receiver.Settlement) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.settling != nil {
		return o.settling
	}
	o.batches = append(o.batches, len(settlements))
	for _, s := range settlements {
		i := slices.IndexFunc(o.rows, func(r *row) bool { return r.delivery.Lease.Token == s.Delivery.Lease.Token })
		if i < 0 {
			continue
		}
		o.settled = append(o.settled, s)
		switch s.Outcome {
		case receiver.Retry:
			o.rows[i].due = time.Now().Add(s.Delay)
			o.rows[i].delivery.Lease = receiver.Lease{}
			o.rows[i].delivery.Attempt = s.Delivery.Attempt + 1
		case receiver.Exhausted:
			o.failed = append(o.failed, s)
			o.rows = slices.Delete(o.rows, i, i+1)
		case receiver.Delivered:
			o.rows = slices.Delete(o.rows, i, i+1)
		}
	}
	select {
	case o.changed <- struct{}{}:
	default:
	}
	return nil
}

// leased counts the destination's deliveries that are leased.
func (o *memoryOutbox) leased(destination string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for _, r := range o.rows {
		if r.delivery.Destination == destination && r.delivery.Lease.Expires.After(time.Now()) {
			n++
		}
	}
	return n
}

func (o *memoryOutbox) setSettling(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.settling = err
}

// await waits until the condition holds of the outbox.
func (o *memoryOutbox) await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	timeout := time.After(30 * time.Second)
	for {
		o.mu.Lock()
		ok := condition()
		o.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-o.changed:
		case <-timeout:
			t.Fatalf("waited too long until %s", what)
		}
	}
}

func delivery(destination string, n int) receiver.Delivery {
	id := uuid.New()
	return receiver.Delivery{
		ID: id, Destination: destination, IdempotencyKey: id.String(), EventID: fmt.Sprintf("evt_%s_%d", destination, n),
		EventType: "invoice.paid", ContentType: "application/json", Body: []byte(`{"n":1}`), Attempt: 1,
	}
}

// start runs a relay until the test ends.
func start(t *testing.T, opts Options) *Relay {
	t.Helper()
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Networks == nil {
		opts.Networks = loopback()
	}
	relay := New(opts)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		relay.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	return relay
}

// sink is a destination that records its requests.
type sink struct {
	*httptest.Server

	mu       sync.Mutex
	requests []*http.Request
	bodies   [][]byte
}

func newSink(t *testing.T, answer http.HandlerFunc) *sink {
	t.Helper()
	s := &sink{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.requests = append(s.requests, r)
		s.bodies = append(s.bodies, body)
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *sink) seen() ([]*http.Request, [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests), slices.Clone(s.bodies)
}

func fixed(destinations ...Destination) func() []Destination {
	return func() []Destination { return destinations }
}
