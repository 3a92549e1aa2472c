// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ingest answers the provider over HTTP: it bounds what it reads, has the signature verified, hands the event to
// the ledger and answers with what the ledger says. Before a signature holds it runs no SQL, logs nothing of the body, and
// takes no label of a metric from the request.
package ingest

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// Defaults of a Handler and of its Settings.
const (
	// DefaultCommitDeadline is how long one event may take in the ledger, its commit included.
	DefaultCommitDeadline = 10 * time.Second
	// DefaultMaxBodyBytes is the largest body that is read: 1 MiB.
	DefaultMaxBodyBytes = 1 << 20
	// DefaultMaxInFlight is how many requests are verified and recorded at once.
	DefaultMaxInFlight = 256
	// DefaultMaxWaiting is how many requests more wait until they are.
	DefaultMaxWaiting = 1024
	// DefaultMaxWait is how long they wait.
	DefaultMaxWait = time.Second
	// DefaultMaxInFlightBytes is how many bytes of bodies are held at once: 64 MiB.
	DefaultMaxInFlightBytes = 64 << 20
)

// Settings are what the handler does for its endpoint. They may change from one request to the next.
type Settings struct {
	// Path is the one path that is served; empty while there is no configuration, and then every answer is 503.
	Path    string
	Scheme  scheme.Scheme
	Secrets []receiver.Secret
	// Tolerance is how far a signed timestamp may be from the clock, in either direction.
	Tolerance time.Duration
	// MaxBodyBytes is the largest body that is read; 0 means DefaultMaxBodyBytes.
	MaxBodyBytes int64
	// MaxInFlightBytes is how many bytes of bodies are held at once; beyond them the answer is 503 at once. A quarter of them
	// is kept for bodies that are declared to have 64 KiB at most. It should be several times MaxBodyBytes. 0 means
	// DefaultMaxInFlightBytes.
	MaxInFlightBytes int64
	// Route says what the endpoint does for an event; nil means nothing but storing it.
	Route func(receiver.Event) receiver.Work
}

// Ledger records events. A nil error means that the receipt's answer is committed.
type Ledger interface {
	Record(ctx context.Context, event receiver.Event, work receiver.Work) (receiver.Receipt, error)
}

// VerifyFunc says whether a request is signed and which event it carries; its errors are *receiver.Rejection.
type VerifyFunc func(
	s scheme.Scheme, secrets []receiver.Secret, r *receiver.Request, now time.Time, tolerance time.Duration,
) (receiver.Verified, error)

// Outcome is one answered request, for metrics and traces.
type Outcome struct {
	Status int
	// Cause is why it was not accepted; empty if it was.
	Cause string
	// Verified says whether the signature held.
	Verified bool
	Duration time.Duration
}

// Options are what a Handler is made of. Settings, Verify and Ledger are required; the functions that report are called
// in the request's goroutine, must not block, and may be nil.
type Options struct {
	Settings func() Settings
	Verify   VerifyFunc
	Ledger   Ledger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log receives what goes wrong on our side, never a body, a signature or a secret; nil means slog.Default.
	Log *slog.Logger

	// Count is told of requests by the names of receiver.Count: of rejected ones with their cause, of others with an empty
	// one. Requests for other paths or with other methods are not counted, and neither are those that are answered 503, for
	// want of room, a configuration, a secret or a ledger: they are not rejections.
	Count func(name, cause string)
	// Used is told the fingerprint of the secret that a request was verified with.
	Used func(fingerprint string)
	// Committed gets the deliveries of a new event, leased to this process, before the provider is answered.
	Committed func(deliveries []receiver.Delivery)
	// Answered is told of every answer.
	Answered func(Outcome)

	// CommitDeadline bounds the ledger's work for one event; 0 means DefaultCommitDeadline.
	CommitDeadline time.Duration
	// MaxInFlight bounds the requests that are verified and recorded at once; those of one event are half as many, and beyond
	// them the answer is 503 at once. 0 means DefaultMaxInFlight.
	MaxInFlight int64
	// MaxWaiting bounds the requests that wait until others have been recorded, with bodies that count as held; beyond it the
	// answer is 503 at once. 0 means DefaultMaxWaiting.
	MaxWaiting int64
	// MaxWait is how long they wait before the answer is 503. 0 means DefaultMaxWait.
	MaxWait time.Duration
}

// Handler is the public port's only handler. It serves one path, exactly as it is written: a slash more, or an escaped
// character, is 404 and never a redirect. A query is ignored, since providers add parameters of their own.
type Handler struct {
	options Options
	gate    *gate
	copies  *copies
}

// New returns the handler; an error says which required option is missing.
func New(o Options) (*Handler, error) {
	if o.Settings == nil || o.Verify == nil || o.Ledger == nil {
		return nil, errors.New("make the ingest handler: Settings, Verify and Ledger are required")
	}
	setDefault(&o.Log, slog.Default())
	setDefault(&o.CommitDeadline, DefaultCommitDeadline)
	setDefault(&o.MaxInFlight, DefaultMaxInFlight)
	setDefault(&o.MaxWaiting, DefaultMaxWaiting)
	setDefault(&o.MaxWait, DefaultMaxWait)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Count == nil {
		o.Count = func(string, string) {}
	}
	if o.Used == nil {
		o.Used = func(string) {}
	}
	if o.Committed == nil {
		o.Committed = func([]receiver.Delivery) {}
	}
	if o.Answered == nil {
		o.Answered = func(Outcome) {}
	}
	return &Handler{options: o, gate: newGate(o.MaxInFlight, o.MaxWaiting, o.MaxWait), copies: newCopies(o.MaxInFlight)}, nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// ServeHTTP reads one request and answers it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{handler: h, settings: h.options.Settings(), w: w, r: r, started: h.options.Now()}
	defer x.finish()
	defer x.recover()
	x.settings.MaxBodyBytes = max(x.settings.MaxBodyBytes, 0)
	setDefault(&x.settings.MaxBodyBytes, DefaultMaxBodyBytes)
	setDefault(&x.settings.MaxInFlightBytes, DefaultMaxInFlightBytes)
	x.serve(r.Context())
}

// exchange is one request and its answer.
type exchange struct {
	handler  *Handler
	settings Settings
	w        http.ResponseWriter
	r        *http.Request
	started  time.Time
	outcome  Outcome
}

// serve goes through the steps in the order in which a request costs more and proves more.
func (x *exchange) serve(ctx context.Context) {
	if refusal := x.checkRequest(); refusal != nil {
		x.refuse(refusal)
		return
	}
	body, refusal := x.readBody()
	defer func() { x.handler.gate.releaseBytes(body.held, body.small) }()
	if refusal != nil {
		x.refuse(refusal)
		return
	}
	if !x.handler.gate.enter(ctx) {
		x.refuse(busy)
		return
	}
	defer x.handler.gate.leave()
	verified, refusal := x.verify(body.bytes)
	if refusal != nil {
		x.refuse(refusal)
		return
	}
	x.acknowledge(ctx, verified)
}

func (x *exchange) verify(body []byte) (receiver.Verified, *refusal) {
	s := x.settings
	request := &receiver.Request{Method: x.r.Method, Header: x.r.Header, Body: body}
	verified, err := x.handler.options.Verify(s.Scheme, s.Secrets, request, x.handler.options.Now(), s.Tolerance)
	if err == nil {
		return verified, nil
	}
	var rejection *receiver.Rejection
	if !errors.As(err, &rejection) {
		x.handler.options.Log.Error("A request could not be verified", "error", err)
		return verified, internal
	}
	// Without a secret or a usable scheme the fault is ours: such a request is not rejected, it is to come again.
	refused := &refusal{status: rejection.Status, cause: rejection.Cause, rejected: true}
	if rejection.Status >= http.StatusInternalServerError {
		refused.rejected, refused.retryAfter = false, retryLater
	}
	return verified, refused
}

// acknowledge records the events of a request whose signature holds.
func (x *exchange) acknowledge(ctx context.Context, v receiver.Verified) {
	x.outcome.Verified = true
	x.handler.options.Used(v.Fingerprint)
	for _, event := range v.Events {
		x.record(ctx, event)
	}
}

// record hands the event to the ledger. The provider's disconnect does not reach the ledger: what was verified is
// recorded, and the provider's retry gets its answer.
func (x *exchange) record(ctx context.Context, v receiver.VerifiedEvent) {
	x.handler.options.Count(receiver.CountReceived, "")
	event := receiver.Event{
		ID:          v.ID,
		Type:        v.Type,
		ResourceID:  v.ResourceID,
		ContentType: x.r.Header.Get("Content-Type"),
		Headers:     storedHeaders(x.settings.Scheme, x.r.Header),
		Body:        v.Body,
		Payload:     v.Payload,
		BodyDigest:  sha256.Sum256(v.Body),
		ClaimBody:   !x.settings.Scheme.EventIDSigned && !x.settings.Scheme.BodyReuse,

		BodyMayChange: x.settings.Scheme.Behavior.BodyChanges,
	}
	if !x.handler.copies.enter(event.ID) {
		x.refuse(inFlight)
		return
	}
	defer x.handler.copies.leave(event.ID)
	var work receiver.Work
	if x.settings.Route != nil {
		work = x.settings.Route(event)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.handler.options.CommitDeadline)
	defer cancel()
	receipt, err := x.handler.options.Ledger.Record(ctx, event, work)
	if err != nil {
		x.refuse(x.unrecorded(event, err))
		return
	}
	x.settle(event, receipt)
}

func (x *exchange) unrecorded(event receiver.Event, err error) *refusal {
	if errors.Is(err, receiver.ErrInFlight) {
		return inFlight
	}
	x.handler.options.Log.Warn("An event could not be recorded; the provider is asked to retry",
		"eventID", event.ID, "eventType", event.Type, "error", err)
	return unavailable
}

// settle answers what the ledger has committed.
func (x *exchange) settle(event receiver.Event, receipt receiver.Receipt) {
	switch receipt.Kind {
	case receiver.Processed:
		x.handler.options.Count(receiver.CountProcessed, "")
	case receiver.Refused:
		x.handler.options.Count(receiver.CountRefused, "")
	case receiver.Duplicate:
		x.handler.options.Count(receiver.CountDuplicates, "")
	case receiver.Conflict:
		x.refuse(conflict)
		return
	default:
		x.handler.options.Log.Error("The ledger gave a receipt of no known kind", "eventID", event.ID, "kind", int(receipt.Kind))
		x.refuse(internal)
		return
	}
	if len(receipt.Deliveries) > 0 {
		x.handler.options.Committed(receipt.Deliveries)
	}
	status := receipt.Answer.Status
	if status < http.StatusOK || status >= http.StatusMultipleChoices {
		// What is committed is acknowledged: any other status would have the provider retry for days, or give up on us.
		x.handler.options.Log.Error("The stored answer is not a success; answered 200", "eventID", event.ID, "status", status)
		status = http.StatusOK
	}
	x.answer(status, receipt.Answer.Body)
}
