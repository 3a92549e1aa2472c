// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ingest answers the provider over HTTP: it bounds what it reads, has the signature verified, hands the event to
// the ledger and answers with what the ledger says. Before a signature holds it runs no SQL, logs nothing of the body, and
// takes no label of a metric from the request.
package ingest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// Defaults of a Handler and of its Settings.
const (
	// DefaultCommitDeadline is how long the events of one request may take in the ledger, commits included.
	DefaultCommitDeadline = 10 * time.Second
	// DefaultMaxBodyBytes is the largest body that is read: 1 MiB.
	DefaultMaxBodyBytes = 1 << 20
	// DefaultMaxInFlight is how many requests are recorded at once.
	DefaultMaxInFlight = 256
	// DefaultMaxWaiting is how many requests more wait until they are.
	DefaultMaxWaiting = 1024
	// DefaultMaxWait is how long they wait.
	DefaultMaxWait = time.Second
	// DefaultMaxInFlightBytes is how many bytes of bodies are held at once: 64 MiB.
	DefaultMaxInFlightBytes = 64 << 20
)

// Settings are what the handler does for its endpoint. From one request to the next there may be others; those that were
// handed out are not changed.
type Settings struct {
	// Path is the one path that is served; empty while there is no configuration, and then every answer is 503.
	Path string
	// PublicURL is the URL, without a query, that the provider was given; empty if it is not known.
	PublicURL string
	Scheme    scheme.Scheme
	// Check verifies with the scheme, whatever that costs to work out beforehand being done; nil means Options.Verify.
	Check   CheckFunc
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

// CheckFunc is a VerifyFunc for one scheme.
type CheckFunc func(secrets []receiver.Secret, r *receiver.Request, now time.Time, tolerance time.Duration) (receiver.Verified, error)

// ChallengeFunc answers the unsigned requests by which a provider asks whether its deliveries are wanted. It returns nil if
// the scheme has no such request with this method; its errors are *receiver.Rejection.
type ChallengeFunc func(s scheme.Scheme, r *receiver.Request) (*receiver.Reply, error)

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
	// Settings returns the ones in force: the same pointer for as long as they are.
	Settings func() *Settings
	Verify   VerifyFunc
	Ledger   Ledger
	// Challenge answers requests with other methods than POST; nil means that there are none.
	Challenge ChallengeFunc
	// Methods returns those methods of a scheme; nil means that there are none.
	Methods func(s scheme.Scheme) []string
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

	// CommitDeadline bounds the ledger's work for one request; 0 means DefaultCommitDeadline.
	CommitDeadline time.Duration
	// MaxInFlight bounds the requests that are recorded at once; those of one event are half as many, and beyond them the
	// answer is 503 at once. The events of batches are recorded 64 at once, while no more than MaxInFlight in all are beside the
	// first of each request. 0 means DefaultMaxInFlight.
	MaxInFlight int64
	// MaxWaiting bounds the verified requests that wait until others have been recorded, with bodies that count as held. Fewer
	// wait if recording takes so long that they would do so in vain; beyond that the answer is 503 at once, before the body is
	// read and the signature verified. 0 means DefaultMaxWaiting.
	MaxWaiting int64
	// MaxWait is how long they wait, should it take longer than expected, before the answer is 503. 0 means DefaultMaxWait.
	MaxWait time.Duration
}

// Handler is the public port's only handler. It serves one path, exactly as it is written: a slash more, or an escaped
// character, is 404 and never a redirect. A query only matters to schemes that sign the URL, or ask with it: providers add
// parameters of their own.
type Handler struct {
	options   Options
	prepared  atomic.Pointer[prepared]
	room      room
	gate      *gate
	copies    *copies
	helpers   helpers
	deadlines deadlines
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
	return &Handler{
		options: o, gate: newGate(o.MaxInFlight, o.MaxWaiting, o.MaxWait), copies: newCopies(o.MaxInFlight),
		helpers: helpers{free: o.MaxInFlight}, deadlines: deadlines{within: o.CommitDeadline},
	}, nil
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// ServeHTTP reads one request and answers it.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{handler: h, settings: h.prepare(h.options.Settings()), w: w, r: r, started: h.options.Now()}
	defer x.finish()
	x.serve(r.Context())
}

// exchange is one request and its answer.
type exchange struct {
	handler  *Handler
	settings *prepared
	w        http.ResponseWriter
	r        *http.Request
	started  time.Time
	outcome  Outcome

	// body is what has been read, and arrival what is known of it while it is read and while its bytes are held.
	body    []byte
	arrival arrival
	// late says that it did not arrive at once.
	late bool
	// recording is when a place was taken; zero if none was. Fresh says that it was for a new event.
	recording time.Time
	fresh     bool
	// rounds is how many events were recorded one after the other; zero is one.
	rounds  int
	request receiver.Request
}

// serve goes through the steps in the order in which a request costs more and proves more. Nothing that others could want
// is occupied, apart from the bytes of its body, before its signature holds.
func (x *exchange) serve(ctx context.Context) {
	if refused := x.checkHead(); refused != nil {
		x.closeConnection()
		x.refuse(refused)
		return
	}
	if x.r.Method != http.MethodPost {
		x.challenge()
		return
	}
	if x.handler.gate.shut.Load() {
		x.turnAway()
		return
	}
	if refused := x.readBody(); refused != nil {
		x.refuse(refused)
		return
	}
	now := x.started
	if x.late {
		now = x.handler.options.Now()
	}
	verified, refused := x.verify(now)
	if refused != nil {
		x.refuse(refused)
		return
	}
	x.outcome.Verified = true
	x.handler.options.Used(verified.Fingerprint)
	if verified.Handshake != nil {
		x.shakeHands(verified.Handshake)
		return
	}
	entered, waited := x.handler.gate.enter(ctx)
	if !entered {
		x.refuse(busy)
		return
	}
	if x.recording = now; waited {
		x.recording = x.handler.options.Now()
	}
	x.acknowledge(ctx, verified.Events)
}

func (x *exchange) verify(now time.Time) (receiver.Verified, *refusal) {
	s := x.settings
	x.request = receiver.Request{Method: x.r.Method, URL: x.publicURL(), Header: x.r.Header, Body: x.body}
	verified, err := s.Check(s.Secrets, &x.request, now, s.Tolerance)
	if err == nil {
		return verified, nil
	}
	return verified, x.rejected(err)
}

// publicURL is the URL that the provider used, as far as it is known.
func (x *exchange) publicURL() string {
	if x.settings.PublicURL == "" || x.r.URL.RawQuery == "" {
		return x.settings.PublicURL
	}
	return x.settings.PublicURL + "?" + x.r.URL.RawQuery
}

// rejected is the answer to a request that could not be verified.
func (x *exchange) rejected(err error) *refusal {
	var rejection *receiver.Rejection
	if !errors.As(err, &rejection) {
		x.handler.options.Log.Error("A request could not be verified", "error", err)
		return internal
	}
	// Without a secret or a usable scheme the fault is ours: such a request is not rejected, it is to come again.
	refused := &refusal{status: rejection.Status, cause: rejection.Cause, rejected: true}
	if rejection.Status >= http.StatusInternalServerError {
		refused.rejected, refused.retryAfter = false, retryLater
	}
	return refused
}
