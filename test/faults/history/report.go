// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"maps"
	"slices"
)

// Kind is a way in which the promise can be broken.
type Kind string

// The kinds of violations.
const (
	// Lost is an acknowledged delivery that is not in the ledger.
	Lost Kind = "acknowledged and lost"
	// DoubleClaim is an id, or a body where it is claimed, that the ledger holds as two events.
	DoubleClaim Kind = "claimed twice"
	// PartialEvent is an event without its claim, or a claim without its event.
	PartialEvent Kind = "claim and event do not go together"
	// MissingEffect is an event in the ledger whose effect is not there.
	MissingEffect Kind = "effect missing"
	// DoubleEffect is an effect that is there more than once.
	DoubleEffect Kind = "effect doubled"
	// UnclaimedEffect is an effect of an event that is not in the ledger, or that was refused.
	UnclaimedEffect Kind = "effect without claim"
	// ForeignEffect is an effect with another body, type or resource than its event.
	ForeignEffect Kind = "effect of another body"
	// DifferingAnswers are two acknowledgments of one id that differ.
	DifferingAnswers Kind = "answers differ"
	// WrongAnswer is an acknowledgment that is not what the ledger has stored.
	WrongAnswer Kind = "answer is not the stored one"
	// ConflictAccepted is an acknowledgment of another body than the claimed one.
	ConflictAccepted Kind = "conflicting body acknowledged"
	// FalseConflict is a conflict that was answered where there is none.
	FalseConflict Kind = "conflict without a reason"
	// WrongStatus is an answer that a signed delivery must never get.
	WrongStatus Kind = "unexpected status"
	// WrongEvent is an event in the ledger that differs from what was sent.
	WrongEvent Kind = "event differs from what was sent"
	// DeliveryLost is a delivery that neither arrived nor is in the outbox.
	DeliveryLost Kind = "delivery lost"
	// DeliveryStuck is a delivery that is still in the outbox at the end, or failed for good.
	DeliveryStuck Kind = "delivery unfinished at the end"
	// ManyKeys is a delivery that arrived under more than one idempotency key, or two that share one.
	ManyKeys Kind = "idempotency key not unique"
	// WrongDelivery is an arrival that no claimed event has brought, or with a changed body or key.
	WrongDelivery Kind = "delivery without claim, or changed"
	// LateWriter is an attempt that was booked although its lease had been taken over.
	LateWriter Kind = "attempt booked without its lease"
	// WrongCounters are counters that cannot be true.
	WrongCounters Kind = "counters not plausible"
)

// Violation is one break of the promise.
type Violation struct {
	Kind     Kind
	Endpoint string
	// Subject is the event's id, or what else the violation is about.
	Subject string
	Detail  string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: %s %s: %s", v.Kind, v.Endpoint, v.Subject, v.Detail)
}

// mostPerKind violations of a kind are kept; more are only counted.
const mostPerKind = 10

// Report is the verdict on a history.
type Report struct {
	// Violations holds at most ten of each kind, and Count how many there are.
	Violations []Violation
	Count      map[Kind]int
	// Acknowledged counts the distinct ids with a 2xx, Unacknowledged those without, and Whole how many of the latter are
	// in the ledger all the same.
	Acknowledged, Unacknowledged, Whole int
}

// Kinds are the kinds of violations that were found, sorted.
func (r *Report) Kinds() []Kind { return slices.Sorted(maps.Keys(r.Count)) }

// Total is how many violations were found of the kinds, or of all if none is given.
func (r *Report) Total(kinds ...Kind) int {
	total := 0
	for kind, n := range r.Count {
		if len(kinds) == 0 || slices.Contains(kinds, kind) {
			total += n
		}
	}
	return total
}

func (r *Report) add(v Violation) {
	r.Count[v.Kind]++
	if r.Count[v.Kind] <= mostPerKind {
		r.Violations = append(r.Violations, v)
	}
}
