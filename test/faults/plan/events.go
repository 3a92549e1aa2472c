// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/hookonce/hookonce/test/faults/history"
)

// The endpoints, by their places in history.History.Endpoints.
const (
	// Payments has signed ids, effects per event and per resource, a destination, and commands of its effects.
	Payments = iota
	// Feed has signed ids and only a destination.
	Feed
	// Repo has ids that are not signed, an effect for half of its events, and a destination.
	Repo
	// Endpoints is how many there are.
	Endpoints
)

// Names of effects and destinations.
const (
	EffectBook   = "book"
	EffectCharge = "charge"
	Copy         = "copy"
	Commands     = "commands"
)

// The types of events of Payments.
const (
	TypePaid  = "invoice.paid"
	TypeSent  = "invoice.sent"
	TypeVoid  = "invoice.void"
	TypeOrder = "invoice.ordered"
)

// The types of events of Repo. Only pushes have an effect: with and without one, events take different ways to the ledger,
// and what one way has claimed the other must see.
const (
	TypePush = "push"
	TypeStar = "star"
)

// Event is one event as its provider has it.
type Event struct {
	Endpoint           int
	ID, Type, Resource string
	Body               []byte
}

// repeatable gives the same numbers for the same seed and purpose.
func repeatable(seed, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, purpose)) //nolint:gosec // It must be repeatable, and needs no secrecy.
}

// Event returns the event of that number. Two neighbors have one id, at different endpoints: ids are of an endpoint.
func (p *Plan) Event(n int) Event {
	random, pair := repeatable(p.seed, uint64(n)), repeatable(p.seed+1, uint64(n/2))
	first := pair.IntN(Endpoints)
	e := Event{Endpoint: first, ID: fmt.Sprintf("evt_%x_%d", p.seed&0xffff, n/2)}
	if n%2 == 1 {
		e.Endpoint = (first + 1 + pair.IntN(Endpoints-1)) % Endpoints
	}
	switch e.Endpoint {
	case Payments:
		e.Type = paymentType(random.IntN(100))
		// Few resources, so that several events at once are about one.
		e.Resource = fmt.Sprintf("inv_%d", n/8)
	case Feed:
		e.Type, e.Resource = "message.created", fmt.Sprintf("msg_%d", n)
	case Repo:
		e.Type = []string{TypePush, TypeStar}[random.IntN(2)]
	}
	e.Body = body(e, n, filler(random))
	return e
}

func paymentType(percent int) string {
	switch {
	case percent < 50:
		return TypePaid
	case percent < 90:
		return TypeSent
	case percent < 97:
		return TypeOrder
	}
	return TypeVoid
}

// Conflicting is another event under the id of the event: the same but for its body.
func (p *Plan) Conflicting(n int) Event {
	e := p.Event(n)
	e.Body = body(e, n, "another body")
	return e
}

// filler makes bodies of 0.1 to 0.5 KiB, and some of 8 KiB; with characters that a careless path would change.
func filler(random *rand.Rand) string {
	const odd = "\u00e9\u2028<&>\U0001F600 "
	length := random.IntN(400)
	if random.IntN(50) == 0 {
		length = 8 << 10
	}
	return odd + strings.Repeat("x", length)
}

// body is written by hand in parts that an encoder would write otherwise: what is stored must be what was sent.
func body(e Event, n int, note string) []byte {
	text, err := json.Marshal(note)
	if err != nil {
		text = []byte(`""`)
	}
	switch e.Endpoint {
	case Payments:
		return fmt.Appendf(nil, `{"event_id":%q,  "event_type":%q,"data":{"invoice_id":%q,"amount":12345678901234567890.10},"n":%d,"note":%s}`,
			e.ID, e.Type, e.Resource, n, text)
	case Feed:
		return fmt.Appendf(nil, `{"type":%q,"data":{"id":%q},"n":%d,"note":%s}`, e.Type, e.Resource, n, text)
	}
	return fmt.Appendf(nil, `{"ref":"refs/heads/main","n":%d,"note":%s}`, n, text)
}

// Command is what the effect of the event enqueues, if it does: see the function in the test's database.
func Command(e Event) (key string, body []byte) {
	return "ship-" + e.ID, fmt.Appendf(nil, `{"ship": %q}`, e.ID)
}

// Expect is what the event must bring.
func Expect(e Event) history.Expected {
	want := history.Expected{Type: e.Type, Resource: e.Resource}
	if e.Type == TypeVoid {
		want.Refused = true
		return want
	}
	want.Deliveries = []history.ExpectedDelivery{{Destination: Copy, Body: sha256.Sum256(e.Body)}}
	if e.Endpoint == Payments || e.Type == TypePush {
		want.Effects = []string{EffectBook}
	}
	if e.Type == TypePaid {
		want.Guarded = []string{EffectCharge}
	}
	if e.Type == TypeOrder {
		key, command := Command(e)
		want.Deliveries = append(want.Deliveries,
			history.ExpectedDelivery{Destination: Commands, Key: key, Body: sha256.Sum256(command)})
	}
	return want
}
