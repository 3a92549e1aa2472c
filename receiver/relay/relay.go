// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package relay posts deliveries to destinations, or publishes them, at least once, and books every attempt in the outbox. Rows that this
// process has just committed are delivered from memory; due retries, and what other processes left behind, are found by a
// slow poll. No transaction is open during a post.
package relay

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/hookonce/hookonce/receiver"
)

// Outbox is where deliveries wait and attempts are booked.
type Outbox interface {
	// LeaseDue leases up to limit deliveries to the named destinations that are due and not leased, oldest first.
	LeaseDue(ctx context.Context, destinations []string, limit int, lease time.Duration) ([]receiver.Delivery, error)
	// Settle books attempts. A settlement whose lease was taken over changes nothing.
	Settle(ctx context.Context, settlements []receiver.Settlement) error
}

// Options of a Relay. Outbox, Destinations and Log are required; zero values of the others mean their defaults.
type Options struct {
	Outbox Outbox
	// Destinations returns those of the configuration in force. A delivery to a destination that is not among them waits
	// in the outbox, without attempts, until there is one of that name again.
	Destinations func() []Destination
	Log          *slog.Logger
	// Batch returns how many deliveries are leased at once, by the configuration in force; at least 1. Default 16.
	Batch func() int
	// MaxRows and MaxBytes bound what waits in memory for one destination. Defaults 1024 and 4 MiB.
	MaxRows, MaxBytes int
	// Poll is how often the outbox is asked for due deliveries, give or take a tenth. Default 1 s.
	Poll time.Duration
	// Drain is how long Run goes on delivering from memory after its context is done. Default 10 s.
	Drain time.Duration
	// Endpoint is namespace/name, which tells streams of NATS the deliveries of one endpoint from those of another. Default: empty.
	Endpoint string
	// UserAgent of attempts. Default "hookonce".
	UserAgent string
	// Attempted is told of each attempt; it must not block.
	Attempted func(receiver.Settlement)
	// LeaseLost is told of deliveries whose lease ran out before their attempt could be booked; it must not block.
	LeaseLost func([]receiver.Delivery)
	// Now is the clock that leases are judged by. Default time.Now.
	Now func() time.Time
	// Jitter returns a number from -1 to 1 that moves delays and polls. Default: random.
	Jitter func() float64
	// Networks that destinations may be in, beside the public internet; a cloud's metadata is refused in any. nil means
	// PrivateNetworks.
	Networks []netip.Prefix
	// Transport returns the transport for a new destination over HTTP. Default: one of its own for each.
	Transport func() http.RoundTripper
}

const defaultBatch = 16

func (o *Options) setDefaults() {
	setDefault(&o.MaxRows, 1024)
	setDefault(&o.MaxBytes, 4<<20)
	setDefault(&o.Poll, time.Second)
	setDefault(&o.Drain, 10*time.Second)
	setDefault(&o.UserAgent, "hookonce")
	if o.Batch == nil {
		o.Batch = func() int { return defaultBatch }
	}
	if o.Attempted == nil {
		o.Attempted = func(receiver.Settlement) {}
	}
	if o.LeaseLost == nil {
		o.LeaseLost = func([]receiver.Delivery) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Jitter == nil {
		//nolint:gosec // spreading attempts over time needs no secrecy
		o.Jitter = func() float64 { return float64(rand.N(2001)-1000) / 1000 }
	}
	if o.Networks == nil {
		o.Networks = PrivateNetworks()
	}
	if o.Transport == nil {
		o.Transport = func() http.RoundTripper { return newTransport(newDialer(o.Networks)) }
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Relay delivers what the outbox holds. Make it with New, and run it once.
type Relay struct {
	opts    Options
	settler *settler
	// kick holds a token while the outbox should be asked before the next poll is due.
	kick  chan struct{}
	slots sync.WaitGroup

	mu    sync.Mutex
	lanes map[string]*lane
	// spawn starts a slot; nil until the relay runs.
	spawn func(*lane)
	// stopped says that offers are no longer taken.
	stopped bool
}

// New returns a relay. It does nothing until it is run, but takes offers.
func New(opts Options) *Relay {
	opts.setDefaults()
	r := &Relay{
		opts:  opts,
		kick:  make(chan struct{}, 1),
		lanes: map[string]*lane{},
	}
	r.settler = newSettler(opts, r.wake)
	return r
}

// Offer takes deliveries that were just committed and are leased to this process. It never blocks: what finds no room in
// memory is left to the poll, which finds it when its lease has run out. Those that are ordered are not leased: the outbox is
// asked for what may go.
func (r *Relay) Offer(deliveries []receiver.Delivery) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return
	}
	for _, d := range deliveries {
		if d.Ordered {
			// Its turn may have come.
			r.wake()
			continue
		}
		if to, known := r.destination(d.Destination); known {
			lane := r.lane(d.Destination)
			lane.offer(d)
			r.startSlots(lane, to)
		}
	}
}

// Run delivers until ctx is done, then goes on with what is in memory for at most Options.Drain, and writes the
// bookkeeping. Attempts that are cut short, and deliveries that were not attempted, are left in the outbox: they are made
// when their leases have run out.
func (r *Relay) Run(ctx context.Context) {
	settling, stopSettling := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSettling()
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		r.settler.run(settling)
	}()
	attempts, abort := context.WithCancel(context.WithoutCancel(ctx))
	defer abort()
	r.begin(attempts)
	r.pollUntil(ctx)
	r.drain(abort)
	r.settler.close()
	r.closeLanes()
	select {
	case <-settled:
	case <-time.After(SettleTimeout):
		stopSettling()
		<-settled
	}
}

// begin lets slots start, those for earlier offers at once.
func (r *Relay) begin(attempts context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.spawn = func(l *lane) {
		r.slots.Go(func() { r.work(attempts, l) })
	}
	r.startAll()
}

// startAll is called with r.mu held.
func (r *Relay) startAll() {
	for name, lane := range r.lanes {
		if to, known := r.destination(name); known {
			r.startSlots(lane, to)
		}
	}
}

// drain waits for the slots to run out of work, and ends them when the time for it is over.
func (r *Relay) drain(abort context.CancelFunc) {
	r.mu.Lock()
	r.stopped = true
	r.mu.Unlock()
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		r.slots.Wait()
	}()
	deadline := time.NewTimer(r.opts.Drain)
	defer deadline.Stop()
	select {
	case <-finished:
	case <-deadline.C:
	}
	left := 0
	r.mu.Lock()
	for _, lane := range r.lanes {
		left += lane.clear()
	}
	r.mu.Unlock()
	abort()
	r.settler.unbound()
	<-finished
	if left > 0 {
		r.opts.Log.Info("Deliveries are left to other receivers", "deliveries", left)
	}
}

// closeLanes lets go of every connection: there are no more attempts.
func (r *Relay) closeLanes() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, lane := range r.lanes {
		lane.close()
	}
}

// startSlots is called with r.mu held.
func (r *Relay) startSlots(l *lane, to Destination) {
	if r.spawn == nil {
		return
	}
	for range l.reserve(to.concurrency(), r.opts.Now()) {
		r.spawn(l)
	}
}

// work is one slot: it attempts what waits in its lane until there is nothing left.
func (r *Relay) work(attempts context.Context, l *lane) {
	for {
		d, ok := l.next(r.opts.Now())
		if !ok {
			return
		}
		r.attempt(attempts, l, d)
		if l.done(d, r.opts.Batch()) {
			r.wake()
		}
	}
}

func (r *Relay) wake() {
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

// attempt carries one delivery and hands its settlement on. It does nothing for a destination that is no longer there, nor
// where the attempt could outlive its lease and so overlap with another process's attempt.
func (r *Relay) attempt(ctx context.Context, l *lane, d receiver.Delivery) {
	to, known := r.destination(d.Destination)
	started := r.opts.Now()
	if !known || started.Add(to.timeout()).After(d.Lease.Expires) || ctx.Err() != nil {
		return
	}
	answer, err := l.carrier(to).carry(ctx, to, d)
	if ctx.Err() != nil && err != nil {
		return
	}
	r.learn(l, to, works(answer, err), answer.RetryAfter)
	verdict := Classify(to, d.Attempt, answer, err, r.opts.Jitter())
	settlement := receiver.Settlement{
		Delivery: d, Outcome: verdict.Outcome, Delay: verdict.Delay, Started: started,
		Duration: r.opts.Now().Sub(started), StatusCode: answer.Status, Reason: verdict.Reason,
	}
	// What is owed to the outbox must not hold the bodies.
	settlement.Delivery.Body = nil
	r.opts.Attempted(settlement)
	r.settler.add(settlement)
	if verdict.Outcome == receiver.Exhausted {
		r.opts.Log.Error("Delivery failed: its attempts are exhausted", "delivery", d.ID, "destination", d.Destination,
			"eventID", d.EventID, "attempt", d.Attempt, "reason", verdict.Reason)
	}
}

// learn lets the lane's breaker know how an attempt ended, and starts what was held back when the destination works again.
func (r *Relay) learn(l *lane, to Destination, works bool, asked time.Duration) {
	changed, held := l.learn(r.opts.Now(), works, asked)
	switch {
	case !changed:
	case held:
		r.opts.Log.Warn("Attempts are held back: the destination does not work", "destination", to.Name)
	default:
		r.opts.Log.Info("Attempts go on: the destination works again", "destination", to.Name)
		r.mu.Lock()
		r.startSlots(l, to)
		r.mu.Unlock()
		r.wake()
	}
}

func (r *Relay) destination(name string) (Destination, bool) {
	for _, d := range r.opts.Destinations() {
		if d.Name == name {
			return d, true
		}
	}
	return Destination{}, false
}

// lane is called with r.mu held.
func (r *Relay) lane(name string) *lane {
	l, ok := r.lanes[name]
	if !ok {
		l = &lane{
			poster:    &poster{client: newClient(r.opts.Transport()), userAgent: r.opts.UserAgent, now: r.opts.Now},
			publisher: newPublisher(newDialer(r.opts.Networks), r.opts.Endpoint, r.opts.UserAgent, r.opts.Now),
			maxRows:   r.opts.MaxRows, maxBytes: r.opts.MaxBytes,
		}
		r.lanes[name] = l
	}
	return l
}
