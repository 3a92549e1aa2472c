// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"crypto/sha256"

	"github.com/google/uuid"
)

// Digest is the SHA-256 of a body.
type Digest = [sha256.Size]byte

// Attempt is one request, as its sender saw it.
type Attempt struct {
	// Endpoint is the place in History.Endpoints.
	Endpoint int
	EventID  string
	Body     Digest
	// Status of the answer; 0 if there was none, so that nobody but the ledger knows what became of the request.
	Status int
	// Answer is the body of the answer, byte for byte.
	Answer string
	// RetryAfter says that the answer told the sender when to try again.
	RetryAfter bool
}

// Endpoint is what a receiver was configured to do.
type Endpoint struct {
	Name string
	// BodyClaimed says that the id is not signed, so that one body has one effect under whatever ids it comes.
	BodyClaimed bool
}

// Expected is what must be there for an event if, and only if, its claim is.
type Expected struct {
	Type, Resource string
	// Refused says that a function refuses the event: its claim is kept, and nothing else.
	Refused bool
	// Effects are the names of those that are booked once per event, and Guarded of those once per (resource, type).
	Effects, Guarded []string
	Deliveries       []ExpectedDelivery
}

// ExpectedDelivery is an outbox row that an event brings.
type ExpectedDelivery struct {
	Destination string
	// Key is the idempotency key; empty if the ledger makes it.
	Key  string
	Body Digest
}

// Claim is a row of the dedup table.
type Claim struct {
	Endpoint int
	Event    uuid.UUID
	Body     Digest
	// Status and Result are the stored answer; HasResult is false if the answer follows from the id.
	Status    int
	Result    string
	HasResult bool
}

// Event is a row of what was received.
type Event struct {
	ID       uuid.UUID
	Endpoint int
	EventID  string
	Type     string
	Resource string
	Body     Digest
}

// Effect is a row that a function wrote.
type Effect struct {
	Name     string
	Endpoint int
	Event    uuid.UUID
	EventID  string
	Resource string
	Type     string
	Body     Digest
}

// Delivery is a row of the outbox, or of what failed for good.
type Delivery struct {
	ID          uuid.UUID
	Event       uuid.UUID
	Destination string
	Failed      bool
}

// Booked is a row of the history of attempts.
type Booked struct {
	Delivery uuid.UUID
	Number   int
}

// Arrival is what a destination got under one key, however often.
type Arrival struct {
	Endpoint    int
	Destination string
	Key         string
	EventID     string
	Body        Digest
	// Accepted says that the destination answered one of the attempts with a success.
	Accepted bool
}

// Counts are the endpoint's counters.
type Counts struct{ Received, Processed, Refused, Duplicates int64 }

// History is all that is known about a run.
type History struct {
	Endpoints []Endpoint
	// Expect says what a body brings to its endpoint; false if nobody sent it.
	Expect func(endpoint int, body Digest) (Expected, bool)

	Attempts []Attempt

	Claims     []Claim
	Events     []Event
	Effects    []Effect
	Deliveries []Delivery
	Booked     []Booked
	// Counters by endpoint; nil if they are not to be judged.
	Counters []Counts
	// CountersExact says that nothing was killed or cut off, so that the counters must be exact; otherwise they only must
	// be plausible.
	CountersExact bool

	Arrivals []Arrival
}
