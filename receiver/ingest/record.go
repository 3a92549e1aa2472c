// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"context"
	"crypto/sha256"
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
	if len(events) != 1 {
		// One answer is for one event: none must not be acknowledged, and of two nobody would know which.
		x.handler.options.Log.Error("A request has another number of events than one, without being a batch", "events", len(events))
		x.refuse(internal)
		return
	}
	x.handler.options.Count(receiver.CountReceived, "")
	event := x.event(events[0], headers)
	receipt, refused, err := x.record(recording, event)
	answer, refused := x.settle(event, receipt, refused, err)
	if refused != nil {
		x.refuse(refused)
		return
	}
	x.acknowledged(answer.Status, answer.Body)
}

func (x *exchange) event(v receiver.VerifiedEvent, headers []byte) receiver.Event {
	return receiver.Event{
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
}

// record hands the event to the ledger. The provider's disconnect does not reach the ledger: what was verified is
// recorded, and the provider's retry gets its answer. It may run beside itself, and changes nothing of the exchange.
func (x *exchange) record(ctx context.Context, event receiver.Event) (receiver.Receipt, *refusal, error) {
	copies, entered := x.handler.copies.enter(event.ID)
	if !entered {
		return receiver.Receipt{}, inFlight, nil
	}
	defer copies.Add(-1)
	var work receiver.Work
	if x.settings.Route != nil {
		work = x.settings.Route(event)
	}
	receipt, err := x.handler.options.Ledger.Record(ctx, event, work)
	return receipt, nil, err
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

// settle returns the answer that the ledger has committed, or why there is none: what record returned.
func (x *exchange) settle(event receiver.Event, receipt receiver.Receipt, refused *refusal, err error) (receiver.Answer, *refusal) {
	switch {
	case refused != nil:
		return receiver.Answer{}, refused
	case err != nil:
		return receiver.Answer{}, x.unrecorded(event, err)
	}
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
