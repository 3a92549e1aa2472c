// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/hookonce/hookonce/receiver/database"
)

// lookingTimeout is how long people wait for what is not found by an index.
const lookingTimeout = time.Minute

// maxAttempts of an event are returned at most; a delivery has 33 before it is failed.
const maxAttempts = 1000

// The states of a delivery.
const (
	StatePending   = "Pending"
	StateFailed    = "Failed"
	StateDelivered = "Delivered"
)

// ErrNoEvent says that the ledger has no claim of an event id.
var ErrNoEvent = errors.New("no event of this id is known: it never came, or its claim is past its retention")

// Filter chooses deliveries.
type Filter struct {
	// State is one of the states, or empty for all. Destination is empty for all.
	State, Destination string
	// Since is how far back to look: pending ones by when their event came, others by when they ended.
	Since time.Time
	// Limit is how many to return at most, the latest.
	Limit int
}

// Delivery is one event's way to one destination.
type Delivery struct {
	State       string    `json:"state"`
	ID          uuid.UUID `json:"id"`
	Destination string    `json:"destination"`
	// EventID and EventType are empty where the event's payload is past its retention.
	EventID   string `json:"eventID,omitempty"`
	EventType string `json:"eventType,omitempty"`
	Attempts  int    `json:"attempts"`
	// Time is when the next attempt is due, or when the delivery failed or was delivered.
	Time time.Time `json:"time"`
	// StatusCode is the destination's last HTTP status, 0 for none; Reason says why it failed.
	StatusCode     int    `json:"statusCode,omitempty"`
	Reason         string `json:"reason,omitempty"`
	IdempotencyKey string `json:"idempotencyKey"`
}

// Attempt is one attempt of a delivery.
type Attempt struct {
	Delivery    uuid.UUID     `json:"delivery"`
	Destination string        `json:"destination"`
	Number      int           `json:"number"`
	Started     time.Time     `json:"started"`
	Duration    time.Duration `json:"durationNanoseconds"`
	// Outcome is Delivered, Retried or Failed.
	Outcome        string `json:"outcome"`
	StatusCode     int    `json:"statusCode,omitempty"`
	Reason         string `json:"reason,omitempty"`
	IdempotencyKey string `json:"idempotencyKey"`
	// Replay is the name of the replay that the delivery was sent again by; empty for none.
	Replay string `json:"replay,omitempty"`
}

// History is what became of one event.
type History struct {
	EventID  string    `json:"eventID"`
	Received time.Time `json:"received"`
	// StatusCode is that of the answer that the provider got, and gets again. Refused says that a function refused the event.
	StatusCode int  `json:"statusCode"`
	Refused    bool `json:"refused,omitempty"`
	// EventType and ResourceID are known while the payload is kept.
	EventType   string     `json:"eventType,omitempty"`
	ResourceID  string     `json:"resourceID,omitempty"`
	PayloadKept bool       `json:"payloadKept"`
	Deliveries  []Delivery `json:"deliveries"`
	Attempts    []Attempt  `json:"attempts"`
}

// Deliveries returns the latest deliveries of the endpoint, newest first. It may take a minute. Errors wrap
// receiver.ErrUnavailable.
func (l *Ledger) Deliveries(ctx context.Context, filter Filter) ([]Delivery, error) {
	found := []Delivery{}
	err := l.look(ctx, "list deliveries", func(batch *pgx.Batch, scope int32) {
		batch.Queue(l.sql.historyDeliveries, scope, filter.State, filter.Destination, nil, filter.Since, filter.Limit).
			Query(collect(&found, scanDelivery))
	})
	return found, err
}

// History returns what became of the event with the provider's id. It may take a minute. Errors wrap receiver.ErrUnavailable,
// or ErrNoEvent.
func (l *Ledger) History(ctx context.Context, eventID string) (*History, error) {
	h := &History{EventID: eventID, Deliveries: []Delivery{}, Attempts: []Attempt{}}
	var event uuid.UUID
	var state int16
	key := idKey(eventID)
	err := l.look(ctx, "look for an event", func(batch *pgx.Batch, scope int32) {
		batch.Queue(l.sql.historyEvent, scope, key[:]).QueryRow(func(row pgx.Row) error {
			err := row.Scan(&event, &h.Received, &h.StatusCode, &state, &h.EventType, &h.ResourceID, &h.PayloadKept)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			return err
		})
	})
	switch {
	case err != nil:
		return nil, err
	case event == uuid.Nil:
		return nil, fmt.Errorf("event %q: %w", eventID, ErrNoEvent)
	}
	h.Received, h.Refused = h.Received.UTC(), state == stateRefused
	return h, l.look(ctx, "read an event's attempts", func(batch *pgx.Batch, scope int32) {
		batch.Queue(l.sql.historyDeliveries, scope, "", "", event, h.Received, maxAttempts).Query(collect(&h.Deliveries, scanDelivery))
		batch.Queue(l.sql.historyAttempts, scope, event, h.Received, maxAttempts).Query(collect(&h.Attempts, scanAttempt))
	})
}

// look asks what people ask, who wait for longer than receivers do.
func (l *Ledger) look(ctx context.Context, doing string, fill func(batch *pgx.Batch, scope int32)) error {
	return l.inTransaction(ctx, doing, func(batch *pgx.Batch, scope int32) {
		batch.Queue("select set_config('statement_timeout', $1, true)", database.Milliseconds(lookingTimeout))
		fill(batch, scope)
	})
}

func collect[T any](into *[]T, scan func(pgx.CollectableRow) (T, error)) func(pgx.Rows) error {
	return func(rows pgx.Rows) (err error) {
		*into, err = pgx.CollectRows(rows, scan)
		return err
	}
}

func scanDelivery(row pgx.CollectableRow) (d Delivery, err error) {
	err = row.Scan(&d.State, &d.ID, &d.Destination, &d.EventID, &d.EventType, &d.Attempts, &d.Time, &d.StatusCode, &d.Reason,
		&d.IdempotencyKey)
	d.Time = d.Time.UTC()
	return d, err
}

func scanAttempt(row pgx.CollectableRow) (a Attempt, err error) {
	var milliseconds int64
	var outcome int16
	err = row.Scan(&a.Delivery, &a.Destination, &a.Number, &a.Started, &milliseconds, &outcome, &a.StatusCode, &a.Reason, &a.IdempotencyKey,
		&a.Replay)
	a.Started, a.Duration = a.Started.UTC(), time.Duration(milliseconds)*time.Millisecond
	a.Outcome = map[int16]string{1: "Delivered", 2: "Retried", 3: "Failed"}[outcome]
	return a, err
}
