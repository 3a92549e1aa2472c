// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/hookonce/hookonce/receiver"
)

// Headers of an attempt, beside Content-Type, which is the provider's.
const (
	// IdempotencyKeyHeader is the same on every attempt of a delivery, on every replica and after a replay.
	IdempotencyKeyHeader = "Idempotency-Key"
	// EventIDHeader carries the provider's event id.
	EventIDHeader = "Hookonce-Event-Id"
	// EventTypeHeader carries the provider's event type; absent if there is none or it is not printable ASCII.
	EventTypeHeader = "Hookonce-Event-Type"
	// AttemptHeader carries the number of the attempt, from 1, as far as attempts were booked: one whose process ended before
	// it was is not counted, so that a delivery may have arrived before with any number. Only the key tells.
	AttemptHeader = "Hookonce-Attempt"
)

// carrier takes deliveries to one destination, whose settings may change between attempts.
type carrier interface {
	// carry makes one attempt, within the destination's timeout.
	carry(ctx context.Context, to Destination, d receiver.Delivery) (Answer, error)
	// close lets go of what is kept between attempts. Another attempt may follow.
	close()
}

// headers of one attempt, signed if the destination has keys.
func headers(to Destination, d receiver.Delivery, now time.Time) http.Header {
	header := http.Header{}
	header.Set(IdempotencyKeyHeader, d.IdempotencyKey)
	header.Set(EventIDHeader, d.EventID)
	header.Set(AttemptHeader, strconv.Itoa(d.Attempt))
	if d.ContentType != "" {
		header.Set("Content-Type", d.ContentType)
	}
	if printable(d.EventType) {
		header.Set(EventTypeHeader, d.EventType)
	}
	sign(header, to.SigningKeys, d, now)
	return header
}

// printable says whether the text can be a header's value: not empty, and of the bytes from space to ~ only.
func printable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return text != ""
}
