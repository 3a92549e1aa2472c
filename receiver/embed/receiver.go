// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package embed

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ingest"
	"github.com/hookonce/hookonce/receiver/ledger"
	"github.com/hookonce/hookonce/receiver/relay"
	"github.com/hookonce/hookonce/receiver/verify"
)

// Receiver receives the events of one endpoint. It is safe for concurrent use.
type Receiver struct {
	options Options
	scheme  Scheme
	ledger  *ledger.Ledger
	relay   *relay.Relay
	handler *ingest.Handler
	// settings are in force; others take their place when the secrets change.
	settings atomic.Pointer[ingest.Settings]

	stopRelay context.CancelFunc
	relayed   chan struct{}
	close     sync.Once
}

// Migrate makes the ledger's schema, or brings it to the version of this build. An empty schema means hookonce. Several may
// run at once. Run it before Open, with a role that may create tables. Errors are those of ledger.Migrate.
func Migrate(ctx context.Context, database, schema string) error {
	return ledger.Migrate(ctx, database, schema)
}

// Open starts a receiver. It does not wait for the database: until that answers, the provider is asked to retry. Errors
// wrap ErrOptions, or are those of ledger.Open.
func Open(ctx context.Context, options Options) (*Receiver, error) {
	if err := options.check(); err != nil {
		return nil, err
	}
	if options.Logger == nil {
		options.Logger = slog.Default()
	}
	if options.Tolerance == 0 {
		options.Tolerance = DefaultTolerance
	}
	r := &Receiver{options: options, relayed: make(chan struct{})}
	var err error
	if r.scheme, err = options.scheme(); err != nil {
		return nil, err
	}
	if err := options.checkURL(r.scheme); err != nil {
		return nil, err
	}
	if err := r.SetSecrets(options.Secrets); err != nil {
		return nil, err
	}
	destinations := options.destinations()
	r.ledger, err = ledger.Open(ctx, ledger.Options{
		URL: ledger.StaticURL(options.Database), Schema: options.Schema, Endpoint: options.Endpoint,
		Functions: options.functions(), Logger: options.Logger,
		Lease: func() time.Duration { return relay.LeaseFor(destinations) },
		Kept:  func() (claims, payloads time.Duration) { return options.Kept.Claims, options.Kept.Payloads },
	})
	if err != nil {
		return nil, fmt.Errorf("open the receiver: %w", err)
	}
	if err := r.start(ctx, destinations); err != nil {
		r.ledger.Close()
		return nil, err
	}
	return r, nil
}

func (r *Receiver) start(ctx context.Context, destinations []relay.Destination) error {
	r.relay = relay.New(relay.Options{
		Outbox: r.ledger, Log: r.options.Logger, Destinations: func() []relay.Destination { return destinations },
		Networks: r.options.DestinationNetworks,
	})
	// Its own: verify.Verify keeps one for the process, which receivers of several schemes would take from one another.
	verifier := verify.New(r.scheme)
	check := func(
		_ Scheme, secrets []receiver.Secret, request *receiver.Request, now time.Time, tolerance time.Duration,
	) (receiver.Verified, error) {
		return verifier.Verify(secrets, request, now, tolerance)
	}
	var err error
	r.handler, err = ingest.New(ingest.Options{
		Settings: r.settings.Load, Verify: check, Challenge: verify.Challenge, Methods: verify.Methods,
		Ledger: r.ledger, Log: r.options.Logger, Count: r.options.Count, Committed: r.relay.Offer,
	})
	if err != nil {
		return fmt.Errorf("open the receiver: %w", err)
	}
	// What is owed is delivered until Close, whatever becomes of ctx.
	relaying, stop := context.WithCancel(context.WithoutCancel(ctx))
	r.stopRelay = stop
	go func() {
		defer close(r.relayed)
		if len(destinations) > 0 {
			r.relay.Run(relaying)
		}
	}()
	return nil
}

// Handler is the endpoint's handler: it serves Options.Path and answers everything else with 404. Serve it with time limits
// for reading: a sender may stall.
func (r *Receiver) Handler() http.Handler { return r.handler }

// SetSecrets replaces the secrets that are accepted, for the requests that come from now on. Errors wrap ErrOptions.
func (r *Receiver) SetSecrets(texts []Secret) error {
	decoded, err := secrets(r.scheme, texts)
	if err != nil {
		return err
	}
	r.settings.Store(&ingest.Settings{
		Path: r.options.Path, PublicURL: r.options.PublicURL, Scheme: r.scheme, Secrets: decoded, Tolerance: r.options.Tolerance,
		MaxBodyBytes: r.options.MaxBodyBytes,
		Route:        func(event receiver.Event) receiver.Work { return r.options.route(event) },
	})
	return nil
}

// Close ends the receiver when what is in memory is delivered, or after 10 s. Shut the HTTP server down before: requests
// that come later are answered 503.
func (r *Receiver) Close() {
	r.close.Do(func() {
		r.stopRelay()
		<-r.relayed
		r.ledger.Close()
	})
}
