// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package receiver

import "errors"

// Event is one delivery of the provider whose signature holds.
type Event struct {
	// ID is the provider's id of the delivery: 1 to 255 bytes from ! to ~.
	ID string
	// Type is the provider's event type: 1 to 255 bytes of UTF-8 without control characters; empty if it has none.
	Type string
	// ResourceID is the id of the thing that the event is about: a text like Type; empty if it has none.
	ResourceID string
	// ContentType is the request's Content-Type as received.
	ContentType string
	// Headers are the request's headers that are stored, as a JSON object of arrays.
	Headers []byte
	// Body is exactly what was received.
	Body []byte
	// Payload is the event's JSON where Body carries it in a form; nil if Body itself is the payload.
	Payload []byte
	// BodyDigest is the SHA-256 of Body.
	BodyDigest [32]byte
	// ClaimBody says that the id is not signed, so that the body's digest must be claimed with it.
	ClaimBody bool
	// BodyMayChange says that the provider changes the body between attempts: the same id with another body is a duplicate.
	BodyMayChange bool
}

// Work is what the endpoint does for one event.
type Work struct {
	Effects      []Effect
	Destinations []string
	// Ordered are those of the destinations that get the events of each resource in their order.
	Ordered []string
}

// Effect is one SQL function to call in the claim's transaction.
type Effect struct {
	Name     string
	Function string
	// OncePerResource books the effect once per (function, resource id, event type) instead of once per event.
	OncePerResource bool
}

// Answer is what the provider gets, and gets again for each duplicate.
type Answer struct {
	Status int
	Body   []byte
}

// Kind says what became of a delivery.
type Kind int

// What may become of a delivery that reached the ledger.
const (
	// Processed events were new: claim, effects and outbox rows are committed.
	Processed Kind = iota + 1
	// Refused events were new; a function refused them with SQLSTATE HK001, and only the claim is kept.
	Refused
	// Duplicate events were there already; the answer is the stored one.
	Duplicate
	// Conflict is an id that is there already with another body: nothing was done.
	Conflict
)

// Receipt is what the ledger says of a delivery.
type Receipt struct {
	Kind   Kind
	Answer Answer
	// Deliveries are the outbox rows of a new event, already leased to this process.
	Deliveries []Delivery
}

// ErrInFlight says that another delivery of the same event is still being processed: the provider should retry.
var ErrInFlight = errors.New("another delivery of this event is still in flight")

// ErrUnavailable says that the ledger could not answer, or that the outcome of a commit is unknown: the provider should
// retry, and the retry finds the truth.
var ErrUnavailable = errors.New("the ledger is unavailable")
