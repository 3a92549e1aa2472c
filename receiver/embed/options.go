// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package embed

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
	"github.com/hookonce/hookonce/receiver/ledger"
	"github.com/hookonce/hookonce/receiver/relay"
)

// DefaultTolerance is how far a signed timestamp may be from the clock.
const DefaultTolerance = 5 * time.Minute

// Scheme is how a provider signs and identifies its events.
type Scheme = scheme.Scheme

// Event is one delivery of the provider whose signature holds.
type Event = receiver.Event

// Destination is a system that events are posted to, at least once and with the same idempotency key each time.
type Destination struct {
	// Name is unique; deliveries that are not made yet belong to a destination by it.
	Name string
	// URL is absolute, http or https, without a user and a fragment.
	URL string
	// Timeout of one attempt. Default relay.DefaultTimeout, 10 s.
	Timeout time.Duration
	// Delays before the second and each further attempt.
	Delays []time.Duration
	// EventTypes as in Effect.
	EventTypes []string
}

// Result is what an effect answers: any value that encoding/json can write. The provider gets it in the answer to the event
// and to each duplicate, the same bytes each time.
type Result any

// Func is an effect. It runs in the transaction that claims the event: what it writes through tx is committed with the
// claim, or not at all. After an error nothing is kept, and the provider is asked to retry; after one of Refuse the claim is
// kept, and the event never processed. It must neither keep tx nor end the transaction.
type Func func(ctx context.Context, tx pgx.Tx, event Event) (Result, error)

// Refuse is the error of a Func that refuses an event for ever. The provider sees the message, in a 2xx answer.
func Refuse(message string) error { return ledger.Refuse(message) }

// Effect is what is done for events of some types. One of Run and Function is set.
type Effect struct {
	// Name is unique, and names the result in the answer.
	Name string
	// EventTypes are the types that it is for: invoice.paid, invoice.* or *. Default: every one.
	EventTypes []string
	// OncePerResource books it once for each resource and event type, whichever event brings them, instead of once for each
	// event.
	OncePerResource bool
	// Run is the effect in Go.
	Run Func
	// Function is the name of a function in SQL, which takes a hookonce.event and returns jsonb.
	Function string
}

// Secret is a signing secret, as the provider shows it.
type Secret struct {
	Text string
	// NotAfter is the moment from which it is refused; zero if there is none. Set it on the old one during a rotation.
	NotAfter time.Time
}

// Options say what to receive, and what to do with it.
type Options struct {
	// Database is the connection URI. Required.
	Database string
	// Schema holds the ledger. Default hookonce.
	Schema string
	// Endpoint is the scope in which event ids are claimed, such as shop/payments. All replicas of the program have the same
	// one, and it never changes. Required.
	Endpoint string
	// Path that the handler serves, exactly. Required.
	Path string
	// PublicURL that the provider was given, without a query; for providers that sign it.
	PublicURL string
	// Preset is the name of the provider's scheme, such as Stripe; or Scheme is set. Required.
	Preset string
	Scheme *Scheme
	// Secrets that are accepted; at least one.
	Secrets []Secret
	// Tolerance is how far a signed timestamp may be from the clock. Default DefaultTolerance.
	Tolerance time.Duration
	// MaxBodyBytes is the largest body that is read. Default 1 MiB.
	MaxBodyBytes int64
	// Effects run in their order.
	Effects      []Effect
	Destinations []Destination
	// DestinationNetworks may have destinations in them, beside the public internet. Default relay.PrivateNetworks.
	DestinationNetworks []netip.Prefix
	// Kept is how long the ledger keeps claims and payloads; it is noted for receiver prune, which removes what is older.
	// Zero: nothing is noted yet.
	Kept struct{ Claims, Payloads time.Duration }
	// Count is told of requests by the names of receiver.Count, and of the causes of rejections. It must not block. Optional.
	Count func(name, cause string)
	// Logger for what goes wrong on our side. Default slog.Default().
	Logger *slog.Logger
}

// ErrOptions says that options are missing, cannot work or contradict each other. The text names the field, and says what
// to do; it quotes neither the connection URI nor a secret.
var ErrOptions = errors.New("the receiver's options cannot be used")

func (o *Options) scheme() (Scheme, error) {
	if o.Scheme != nil {
		s := o.Scheme.Clone()
		if err := scheme.Validate(s); err != nil {
			return s, fmt.Errorf("%w: Scheme: %w", ErrOptions, err)
		}
		return s, nil
	}
	s, known := scheme.Preset(o.Preset)
	if !known {
		return s, fmt.Errorf("%w: Preset: there is none called %q; names are written as in docs/reference/schemes.md", ErrOptions, o.Preset)
	}
	return s, nil
}

// secrets decodes the secrets as the scheme has them.
func secrets(s Scheme, texts []Secret) ([]receiver.Secret, error) {
	if len(texts) == 0 {
		return nil, fmt.Errorf("%w: there is no secret", ErrOptions)
	}
	// Fingerprints are compared within this process only.
	ring := keyring.Keyring{Salt: make([]byte, keyring.SaltBytes)}
	_, _ = rand.Read(ring.Salt) // It never fails.
	decoded := make([]receiver.Secret, len(texts))
	for i, text := range texts {
		key, err := s.DecodeSecret([]byte(text.Text))
		if err != nil {
			return nil, fmt.Errorf("%w: secret %d: %w", ErrOptions, i, err)
		}
		decoded[i] = receiver.Secret{Key: key, Fingerprint: ring.Fingerprint(key), NotAfter: text.NotAfter}
	}
	return decoded, nil
}

// function is the name under which the ledger knows an effect, and under which what is booked once per resource is kept. A
// function in SQL is the same for all endpoints; one in Go belongs to this one, since another program may call its own
// alike. No function in SQL can have such a name.
func (o *Options) function(e Effect) string {
	if e.Run != nil {
		return "go:" + o.Endpoint + "/" + e.Name
	}
	return e.Function
}

// functions are the effects in Go as the ledger calls them.
func (o *Options) functions() map[string]ledger.EffectFunc {
	functions := map[string]ledger.EffectFunc{}
	for _, e := range o.Effects {
		if e.Run == nil {
			continue
		}
		functions[o.function(e)] = func(ctx context.Context, tx pgx.Tx, event receiver.Event) (json.RawMessage, error) {
			result, err := e.Run(ctx, tx, event)
			if err != nil {
				return nil, err
			}
			text, err := json.Marshal(result)
			if err != nil {
				return nil, fmt.Errorf("write the result of effect %s: %w", e.Name, err)
			}
			return text, nil
		}
	}
	return functions
}

// route says what is done for an event.
func (o *Options) route(event receiver.Event) receiver.Work {
	var work receiver.Work
	for _, e := range o.Effects {
		if wanted(e.EventTypes, event.Type) {
			work.Effects = append(work.Effects, receiver.Effect{
				Name: e.Name, Function: o.function(e), OncePerResource: e.OncePerResource,
			})
		}
	}
	for _, d := range o.Destinations {
		if wanted(d.EventTypes, event.Type) {
			work.Destinations = append(work.Destinations, d.Name)
		}
	}
	return work
}

func wanted(patterns []string, eventType string) bool {
	return len(patterns) == 0 || receiver.MatchesType(patterns, eventType)
}

func (o *Options) destinations() []relay.Destination {
	destinations := make([]relay.Destination, len(o.Destinations))
	for i, d := range o.Destinations {
		destinations[i] = relay.Destination{Name: d.Name, URL: d.URL, Timeout: d.Timeout, Delays: slices.Clone(d.Delays)}
	}
	return destinations
}
