// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/receiver/ingest"
	"github.com/hookonce/hookonce/receiver/ledger"
	"github.com/hookonce/hookonce/receiver/relay"
	"github.com/hookonce/hookonce/receiver/snapshot"
	"github.com/hookonce/hookonce/receiver/status"
)

const (
	// openPause between two tries to open the ledger.
	openPause = time.Second
	// relayDrain bounds how long deliveries go on from memory when the receiver ends. What is left is delivered by another
	// receiver when its lease has run out.
	relayDrain = 5 * time.Second
	// flushTimeout of the counters.
	flushTimeout = 3 * time.Second
	// pollBytes is about how much one poll of the outbox may bring into memory, and maxBatch how many deliveries.
	pollBytes = 16 << 20
	maxBatch  = 16
)

// outbound is what works with the ledger: the relay, the sampler and the counters.
type outbound struct {
	ledger  *ledger.Ledger
	relay   *relay.Relay
	sampler *status.Sampler
	tally   *status.Tally
	log     *slog.Logger

	stopRelay context.CancelFunc
	relayed   chan struct{}
	// flushing keeps a flush from ending after the last one.
	flushing sync.Mutex
}

// open waits for a usable configuration and a database URI that can be read, opens the ledger and starts what works with
// it, until the background ends. It does not wait for the database, and gives up when ctx is done.
func (p *process) open(ctx, background context.Context) {
	last := ""
	for {
		out, err := p.tryOpen(background)
		if err == nil {
			p.outbound.Store(out)
			return
		}
		p.explain(err)
		if err.Error() != last {
			p.log.Warn("The ledger cannot be opened yet", "error", err)
			last = err.Error()
		}
		select {
		case <-time.After(openPause):
		case <-ctx.Done():
			return
		}
	}
}

// explain puts into the status why the ledger cannot be opened. Without a configuration nothing is known of a database.
func (p *process) explain(err error) {
	failure := &receiverstatus.Database{Message: errNotOpen.Error()}
	if !errors.Is(err, snapshot.ErrNoConfig) {
		failure.Checked = time.Now().UTC()
		failure.Reason, failure.Message = ledger.Explain(err)
	}
	p.unopened.Store(failure)
}

func (p *process) tryOpen(background context.Context) (*outbound, error) {
	config := p.mounts.Current().Config
	if config == nil {
		return nil, snapshot.ErrNoConfig
	}
	l, err := ledger.Open(background, ledger.Options{
		URL: p.flags.url, Schema: config.Schema, Endpoint: config.Endpoint, Logger: p.log,
		Lease:    func() time.Duration { return relay.LeaseFor(p.destinations()) },
		Ordering: p.ordering,
		Kept:     p.kept, LeaseLost: p.metrics.LeasesLost, EffectFailed: p.metrics.EffectFailed,
	})
	if err != nil {
		return nil, err
	}
	out := &outbound{
		ledger: l, sampler: status.NewSampler(l, p.flags.sampleInterval, p.log), tally: p.tally, log: p.log, relayed: make(chan struct{}),
		relay: relay.New(relay.Options{
			Outbox: l, Destinations: p.destinations, Networks: p.flags.networks, Log: p.log, Drain: relayDrain,
			Batch: p.batch, Endpoint: config.Endpoint, UserAgent: "hookonce/" + version, Attempted: p.metrics.Attempted,
			LeaseLost: p.metrics.LeasesLost,
		}),
	}
	var relaying context.Context
	relaying, out.stopRelay = context.WithCancel(background)
	go func() {
		defer close(out.relayed)
		out.relay.Run(relaying)
	}()
	go out.sampler.Run(relaying)
	go out.flushRegularly(relaying, p.flags.flushInterval)
	if p.flags.databaseDir != "" {
		go snapshot.Watch(relaying, snapshot.WatchOptions{
			Folders: []string{p.flags.databaseDir}, Log: p.log,
			// What cannot be used is logged, and in the status, by the ledger.
			Changed: func() { _ = l.Reload(relaying) },
		})
	}
	return out, nil
}

// close delivers what is in memory, writes the counters meanwhile, and closes the ledger.
func (o *outbound) close() {
	o.stopRelay()
	o.flush()
	<-o.relayed
	o.ledger.Close()
}

func (o *outbound) flushRegularly(ctx context.Context, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			o.flush()
		case <-ctx.Done():
			return
		}
	}
}

// flush writes the counters to the ledger; what cannot be written is kept for the next time.
func (o *outbound) flush() {
	o.flushing.Lock()
	defer o.flushing.Unlock()
	counts := o.tally.Take()
	if len(counts) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	if err := o.ledger.AddCounts(ctx, counts); err != nil {
		o.tally.Restore(counts)
		o.log.Warn("Counters could not be written; they are kept", "error", err)
	}
}

// batch keeps what one poll of the outbox brings into memory within bounds, however large bodies may be.
func (p *process) batch() int {
	largest := int64(ingest.DefaultMaxBodyBytes)
	if config := p.mounts.Current().Config; config != nil {
		largest = config.MaxBodyBytes
	}
	return int(min(maxBatch, max(1, pollBytes/max(1, largest))))
}

// effects are the functions of the configured effects by the effects' names.
func (p *process) effects() map[string]string {
	functions := map[string]string{}
	if config := p.mounts.Current().Config; config != nil {
		for _, effect := range config.Effects {
			functions[effect.Name] = effect.Function
		}
	}
	return functions
}

// ordering are the destinations that keep the order, and those of them where failed deliveries block.
func (p *process) ordering() (ordered, blocking []string) {
	config := p.mounts.Current().Config
	if config == nil {
		return nil, nil
	}
	for _, d := range config.Destinations {
		if d.Ordering != receiverconfig.OrderingPerResource {
			continue
		}
		ordered = append(ordered, d.Name)
		if d.FailedBlock {
			blocking = append(blocking, d.Name)
		}
	}
	return ordered, blocking
}

// kept is the retention of claims and of payloads.
func (p *process) kept() (claims, payloads time.Duration) {
	config := p.mounts.Current().Config
	if config == nil {
		return 0, 0
	}
	return time.Duration(config.Retention.Claims), time.Duration(config.Retention.Payloads)
}
