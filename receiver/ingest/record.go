// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/hookonce/hookonce/receiver"
)

// acknowledge records the events of a request whose signature holds, and answers.
func (x *exchange) acknowledge(ctx context.Context, events []receiver.VerifiedEvent) {
	recording := &recording{Context: x.handler.deadlines.next(wallClock()), request: ctx}
	headers := x.settings.storedHeaders(x.r.Header)
	if x.settings.Scheme.Batch != nil {
		x.acknowledgeBatch(recording, events, headers)
		return
	}
	for _, event := range events {
		answer, refused := x.record(recording, event, headers)
		if refused != nil {
			x.refuse(refused)
			return
		}
		x.acknowledged(answer.Status, answer.Body)
	}
}

// acknowledgeBatch records all of the events, in their order, whatever becomes of the others: an event that cannot be
// recorded must not hold up those behind it for ever. The provider is asked to retry if it may help; then those that were
// recorded are duplicates.
func (x *exchange) acknowledgeBatch(ctx context.Context, events []receiver.VerifiedEvent, headers []byte) {
	var worst *refusal
	answers := []byte{'['}
	for i, event := range events {
		answer, refused := x.record(ctx, event, headers)
		if refused != nil && (worst == nil || worst.status < refused.status) {
			worst = refused
		}
		if i > 0 {
			answers = append(answers, ',')
		}
		if !json.Valid(answer.Body) {
			answer.Body = []byte("null")
		}
		answers = append(answers, answer.Body...)
	}
	if worst != nil {
		x.refuse(worst)
		return
	}
	x.acknowledged(http.StatusOK, append(answers, ']'))
}

// record hands the event to the ledger. The provider's disconnect does not reach the ledger: what was verified is
// recorded, and the provider's retry gets its answer.
func (x *exchange) record(ctx context.Context, v receiver.VerifiedEvent, headers []byte) (receiver.Answer, *refusal) {
	x.handler.options.Count(receiver.CountReceived, "")
	event := receiver.Event{
		ID:          v.ID,
		Type:        v.Type,
		ResourceID:  v.ResourceID,
		ContentType: first(x.r.Header["Content-Type"]),
		Headers:     headers,
		Body:        v.Body,
		Payload:     v.Payload,
		BodyDigest:  sha256.Sum256(v.Body),
		ClaimBody:   x.settings.claimBody,

		BodyMayChange: x.settings.Scheme.Behavior.BodyChanges,
	}
	copies, entered := x.handler.copies.enter(event.ID)
	if !entered {
		return receiver.Answer{}, inFlight
	}
	defer copies.Add(-1)
	var work receiver.Work
	if x.settings.Route != nil {
		work = x.settings.Route(event)
	}
	receipt, err := x.handler.options.Ledger.Record(ctx, event, work)
	if err != nil {
		return receiver.Answer{}, x.unrecorded(event, err)
	}
	return x.settle(event, receipt)
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

func (x *exchange) unrecorded(event receiver.Event, err error) *refusal {
	if errors.Is(err, receiver.ErrInFlight) {
		return inFlight
	}
	x.handler.options.Log.Warn("An event could not be recorded; the provider is asked to retry",
		"eventID", event.ID, "eventType", event.Type, "error", err)
	return unavailable
}

// settle returns the answer that the ledger has committed.
func (x *exchange) settle(event receiver.Event, receipt receiver.Receipt) (receiver.Answer, *refusal) {
	x.fresh = x.fresh || receipt.Kind == receiver.Processed || receipt.Kind == receiver.Refused
	switch receipt.Kind {
	case receiver.Processed:
		x.handler.options.Count(receiver.CountProcessed, "")
	case receiver.Refused:
		x.handler.options.Count(receiver.CountRefused, "")
	case receiver.Duplicate:
		x.handler.options.Count(receiver.CountDuplicates, "")
	case receiver.Conflict:
		return receiver.Answer{}, conflict
	default:
		x.handler.options.Log.Error("The ledger gave a receipt of no known kind", "eventID", event.ID, "kind", int(receipt.Kind))
		return receiver.Answer{}, internal
	}
	if len(receipt.Deliveries) > 0 {
		x.handler.options.Committed(receipt.Deliveries)
	}
	answer := receipt.Answer
	if answer.Status < http.StatusOK || answer.Status >= http.StatusMultipleChoices {
		// What is committed is acknowledged: any other status would have the provider retry for days, or give up on us.
		x.handler.options.Log.Error("The stored answer is not a success; answered 200", "eventID", event.ID, "status", answer.Status)
		answer.Status = http.StatusOK
	}
	return answer, nil
}
