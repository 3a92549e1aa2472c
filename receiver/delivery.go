// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package receiver

import (
	"time"

	"github.com/google/uuid"
)

// Delivery is the obligation to bring one event to one destination: a row of the outbox, leased to this process.
type Delivery struct {
	ID          uuid.UUID
	Destination string
	// IdempotencyKey is the same on every attempt, on every replica and after a replay.
	IdempotencyKey string
	EventID        string
	EventType      string
	ContentType    string
	Body           []byte
	// Attempt is the number of the attempt that the lease is for, from 1. Attempts that were never booked, because their
	// process ended, are not counted.
	Attempt int
	// Ordered says that other deliveries of its resource to the destination may wait for it. One that has just been committed is
	// leased to nobody then: its turn has to come.
	Ordered bool
	// Lease fences the bookkeeping: a settlement under a lease that has been taken over changes nothing.
	Lease Lease
}

// Lease is the right to attempt a delivery until Expires, by this process's clock.
type Lease struct {
	Token   uuid.UUID
	Expires time.Time
}

// Outcome is what an attempt means for its delivery.
type Outcome int

// What an attempt may mean.
const (
	// Delivered removes the delivery from the outbox.
	Delivered Outcome = iota + 1
	// Retry keeps it, due again after Settlement.Delay.
	Retry
	// Exhausted moves it to the failed deliveries.
	Exhausted
)

// Settlement is the bookkeeping of one attempt.
type Settlement struct {
	Delivery Delivery
	Outcome  Outcome
	// Delay before the next attempt, by the database's clock; for Retry only.
	Delay time.Duration
	// Started and Duration are when the attempt began and how long it took.
	Started  time.Time
	Duration time.Duration
	// StatusCode is the destination's HTTP status; 0 if there was none.
	StatusCode int
	// Reason says why the attempt did not succeed; at most 256 bytes, never a secret or a body.
	Reason string
}

// The names of counts.
const (
	// CountReceived are the events of requests whose signature held.
	CountReceived = "received"
	// CountProcessed are new events whose effects are committed.
	CountProcessed = "processed"
	// CountRefused are new events that a function refused.
	CountRefused = "refused"
	// CountDuplicates are events that were there already.
	CountDuplicates = "duplicates"
	// CountHandshakes are the provider's questions that were answered: no events.
	CountHandshakes = "handshakes"
	// CountRejected are requests that were not accepted through a fault of theirs; each has a cause.
	CountRejected = "rejected"
)

// How long counts are kept by the minute, and then by the day (UTC).
const (
	CountMinutesKept = 48 * time.Hour
	CountDaysKept    = 400 * 24 * time.Hour
)

// Count is an increase of one counter since the last flush.
type Count struct {
	// Name is one of the names above.
	Name string
	// Cause of a rejection, such as bad_signature; empty otherwise.
	Cause string
	// Minute is the minute in which it was counted.
	Minute time.Time
	N      int64
}
