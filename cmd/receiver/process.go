// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ingest"
	"github.com/hookonce/hookonce/receiver/snapshot"
	"github.com/hookonce/hookonce/receiver/status"
	"github.com/hookonce/hookonce/receiver/verify"
)

// drainGrace bounds the end of the requests that are under way. The longest has just begun to send its body when nobody is
// accepted any more; then it is recorded, or what was done for it is undone, and it is answered. With the drain delay, the
// relay's drain and its last bookkeeping it is less than the 45 s that a pod has to end.
const drainGrace = ingest.ReadTimeout + ingest.DefaultCommitDeadline + 2*time.Second

// memoryBesides is how much memory a receiver needs besides the bodies that it holds: 20 MiB.
const memoryBesides = 20 << 20

// largestBodies is how many bodies of the largest size may be held at once, if the default does not hold as many.
const largestBodies = 4

var (
	errDraining   = errors.New("draining")
	errNotOpen    = errors.New("the ledger is not open yet")
	errNoDatabase = errors.New("the database could not be used since the start")
)

// process is one running receiver. Its parts do not know each other; what passes between them passes here.
type process struct {
	flags   *serveFlags
	log     *slog.Logger
	mounts  *snapshot.Store
	tally   *status.Tally
	metrics *status.Metrics

	// serving are the settings by the snapshot that they come from.
	serving atomic.Pointer[serving]
	// outbound is nil until there is a configuration to open the ledger by.
	outbound atomic.Pointer[outbound]
	// reachable is nil until somebody asked for the destinations.
	reachable atomic.Pointer[reachable]
	// unopened says, until then, why not.
	unopened atomic.Pointer[receiverstatus.Database]
	draining atomic.Bool
	garbage  garbage
}

// serving is what the public port does under one snapshot.
type serving struct {
	from     *snapshot.Snapshot
	settings ingest.Settings
}

func newProcess(flags *serveFlags, log *slog.Logger) *process {
	p := &process{flags: flags, log: log, tally: status.NewTally(time.Now)}
	p.mounts = snapshot.Open(snapshot.Options{
		ConfigDir: flags.configDir, KeyringDir: flags.keyringDir, SourceDir: flags.sourceDir,
		OutgoingDir: flags.outgoingDir, Log: log,
	})
	p.unopened.Store(&receiverstatus.Database{Message: errNotOpen.Error()})
	p.metrics = status.NewMetrics(p.status, time.Now)
	return p
}

// run serves until ctx is done, and then drains, in an order that loses nothing: first nobody is told to come here, then
// the requests under way are answered, then what they put into the outbox is delivered, then everything is counted.
func (p *process) run(ctx context.Context, public, private net.Listener) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	context.AfterFunc(ctx, func() { p.draining.Store(true) })
	// The background outlives ctx, and ends when everything is drained.
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var parts sync.WaitGroup
	defer parts.Wait()
	defer stop()
	parts.Go(func() { p.mounts.Watch(background) })
	parts.Go(func() { p.garbage.watch(background) })

	admin := status.NewServer(status.Options{Status: p.status, Ready: p.ready, Metrics: p.metrics.Write, Log: p.log})
	defer admin.Close()
	parts.Go(func() {
		if err := admin.Serve(private); !errors.Is(err, http.ErrServerClosed) {
			fail(fmt.Errorf("serve %s: %w", private.Addr(), err))
		}
	})
	opened := make(chan struct{})
	go func() {
		defer close(opened)
		p.open(ctx, background)
	}()

	handler, err := p.handler()
	if err != nil {
		return err
	}
	p.log.Info("Serving", "public", public.Addr().String(), "private", private.Addr().String(), "version", version)
	server := ingest.NewServer("", handler, p.log)
	public = ingest.NewConnections(p.flags.maxConnections, handler).Apply(server, public)
	err = ingest.Serve(ctx, server, public, p.flags.drainDelay, drainGrace)
	fail(err)
	<-opened
	if out := p.outbound.Load(); out != nil {
		out.close()
	}
	p.log.Info("Drained", "error", err)
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	return err
}

// handler answers on the public port. Until there is a configuration and a ledger it asks providers to retry.
func (p *process) handler() (*ingest.Handler, error) {
	return ingest.New(ingest.Options{
		Settings: p.settings, Verify: verify.Verify, Challenge: verify.Challenge, Methods: verify.Methods, Ledger: p, Log: p.log,
		Count: p.count, Used: p.used, Committed: p.committed,
		Answered: func(o ingest.Outcome) { p.metrics.Answered(o.Status, o.Cause, o.Duration) },
	})
}

// settings are the same for all requests under one snapshot.
func (p *process) settings() *ingest.Settings {
	current := p.mounts.Current()
	if s := p.serving.Load(); s != nil && s.from == current {
		return &s.settings
	}
	next := &serving{from: current}
	if config := current.Config; config != nil {
		next.settings = ingest.Settings{
			Path: config.Path, PublicURL: config.PublicURL, Scheme: config.Scheme, Secrets: current.Secrets,
			Check:     verify.New(config.Scheme).Verify,
			Tolerance: time.Duration(config.Tolerance), MaxBodyBytes: config.MaxBodyBytes,
			MaxInFlightBytes: max(ingest.DefaultMaxInFlightBytes, largestBodies*config.MaxBodyBytes),
			Route:            current.Route,
		}
		limitMemory(next.settings.MaxInFlightBytes)
	}
	p.serving.Store(next)
	return &next.settings
}

// limitMemory has the collector work harder before bodies that are held, and what was read before them, take twice their
// room. An administrator's limit is left alone.
func limitMemory(bodies int64) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(bodies + memoryBesides)
	}
}

// Record implements ingest.Ledger.
func (p *process) Record(ctx context.Context, event receiver.Event, work receiver.Work) (receiver.Receipt, error) {
	p.garbage.event()
	out := p.outbound.Load()
	if out == nil {
		return receiver.Receipt{}, fmt.Errorf("%w: %w", receiver.ErrUnavailable, errNotOpen)
	}
	return out.ledger.Record(ctx, event, work)
}

func (p *process) committed(deliveries []receiver.Delivery) {
	if out := p.outbound.Load(); out != nil {
		out.relay.Offer(deliveries)
	}
}

// count is told of requests by fixed names and causes.
func (p *process) count(name, cause string) {
	p.tally.Add(name, cause)
	p.metrics.Counted(name)
}

func (p *process) used(fingerprint string) {
	p.mounts.Used(fingerprint)
	p.metrics.Verified(p.mounts.Current().Role(fingerprint))
}

// status is the document of the private port.
func (p *process) status() receiverstatus.Status {
	document := receiverstatus.Status{Version: version, Rejections: p.tally.Rejections()}
	p.mounts.Current().Report(&document)
	if out := p.outbound.Load(); out != nil {
		out.sampler.Report(&document)
		document.Effects = out.ledger.FailingEffects(p.effects())
	} else {
		document.Database = *p.unopened.Load()
	}
	return document
}

// ready says whether deliveries should come here. A database that goes away does not change it: providers are better
// served with a 503 that asks them to retry than with no answer at all.
func (p *process) ready() error {
	if p.draining.Load() {
		return errDraining
	}
	if err := p.mounts.Current().Usable(time.Now()); err != nil {
		return err
	}
	out := p.outbound.Load()
	if out == nil {
		return errNotOpen
	}
	if !out.sampler.Answered() {
		return errNoDatabase
	}
	return nil
}
