// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"time"

	"github.com/hookonce/hookonce/receiver"
)

const (
	// leaseTimeout of one call of the outbox.
	leaseTimeout = 5 * time.Second
	// maxPolls in a row, so that one poll cannot go on for ever.
	maxPolls = 64
	// slowestPoll is how far polls slow down while the outbox does not answer.
	slowestPoll = 10 * time.Second
)

// pollUntil asks the outbox for due deliveries: at once, then at each poll, and sooner when a lane that is behind has
// room again. While the outbox fails, polls slow down.
func (r *Relay) pollUntil(ctx context.Context) {
	wait := r.opts.Poll
	for ctx.Err() == nil {
		if err := r.poll(ctx); err == nil {
			wait = r.opts.Poll
		} else if ctx.Err() == nil {
			wait = min(2*wait, max(slowestPoll, r.opts.Poll))
			r.opts.Log.Warn("Leasing due deliveries failed", "retryIn", wait, "error", err)
		}
		r.forget()
		if !r.rest(ctx, spread(wait, r.opts.Jitter()), wait == r.opts.Poll) {
			return
		}
	}
}

// rest waits for the next poll, and says whether there is one.
func (r *Relay) rest(ctx context.Context, d time.Duration, heedKick bool) bool {
	kick := r.kick
	if !heedKick {
		kick = nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-kick:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// poll leases a batch for the lanes that have room for one, and goes on while batches come back full. A full batch leaves
// the lane that it filled out of the next question, so that a backlog for one destination hides no other's. Lanes whose
// destinations do not work get one delivery when it is time to probe.
func (r *Relay) poll(ctx context.Context) error {
	if err := r.probe(ctx); err != nil {
		return err
	}
	for range maxPolls {
		batch := r.opts.Batch()
		names, lease := r.hungry(batch)
		if len(names) == 0 {
			return nil
		}
		due, err := r.leaseDue(ctx, names, batch, lease)
		if err != nil {
			return err
		}
		full := len(due) >= batch
		r.take(names, due, full)
		if !full {
			return nil
		}
	}
	return nil
}

// probe starts what waits for a probe, and leases a delivery for each lane that has none to probe with.
func (r *Relay) probe(ctx context.Context) error {
	r.mu.Lock()
	r.startAll()
	var names []string
	destinations := r.opts.Destinations()
	for _, d := range destinations {
		if r.lane(d.Name).asksProbe(r.opts.Now()) {
			names = append(names, d.Name)
		}
	}
	r.mu.Unlock()
	for _, name := range names {
		due, err := r.leaseDue(ctx, []string{name}, 1, LeaseFor(destinations))
		if err != nil {
			return err
		}
		r.take([]string{name}, due, len(due) > 0)
	}
	return nil
}

func (r *Relay) leaseDue(ctx context.Context, names []string, batch int, lease time.Duration) ([]receiver.Delivery, error) {
	ctx, cancel := context.WithTimeout(ctx, leaseTimeout)
	defer cancel()
	return r.opts.Outbox.LeaseDue(ctx, names, batch, lease)
}

// hungry returns the names of the destinations whose lanes have room for a batch, and how long to lease it for.
func (r *Relay) hungry(batch int) ([]string, time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	destinations := r.opts.Destinations()
	var names []string
	for _, d := range destinations {
		if r.lane(d.Name).ask(batch) {
			names = append(names, d.Name)
		}
	}
	return names, LeaseFor(destinations)
}

// take puts what was leased into its lanes, and remembers for the lanes that were asked for whether there may be more.
func (r *Relay) take(asked []string, due []receiver.Delivery, full bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range asked {
		r.lane(name).setBehind(full)
	}
	for _, d := range due {
		lane := r.lane(d.Destination)
		lane.put(d)
		if to, known := r.destination(d.Destination); known {
			r.startSlots(lane, to)
		}
	}
}

// forget closes the lanes of destinations that are no longer there and have nothing left to do.
func (r *Relay) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, lane := range r.lanes {
		if _, known := r.destination(name); !known && lane.idle() {
			lane.close()
			delete(r.lanes, name)
		}
	}
}
