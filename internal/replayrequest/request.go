// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package replayrequest is the document by which the operator tells a Job which deliveries to replay: what a
// DeliveryReplay says, as the value of receiver replay's --request.
package replayrequest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
)

// Version of the document that this build writes.
const Version = 1

// State says where the deliveries are that a replay chooses.
type State string

// The states.
const (
	// Failed ones ran out of attempts.
	Failed State = "Failed"
	// Delivered ones were delivered, and are made again.
	Delivered State = "Delivered"
)

// Request is one replay.
type Request struct {
	Version int `json:"version"`
	// ID is the DeliveryReplay's UID: a request that is known by it is gone on with, and never begun twice.
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
	// RequestedBy and Reason go into the audit.
	RequestedBy string   `json:"requestedBy,omitempty"`
	Reason      string   `json:"reason,omitempty"`
	Selector    Selector `json:"selector"`
	// Send puts the chosen deliveries into the outbox; without it they are counted only.
	Send bool `json:"send"`
	// RatePerSecond bounds how many are put there each second; 0 is no bound.
	RatePerSecond int `json:"ratePerSecond,omitempty"`
	// StopAfterFailures ends the sending once so many failed at their first attempt; 0 is never.
	StopAfterFailures int `json:"stopAfterFailures,omitempty"`
}

// Selector chooses deliveries. What it does not say restricts nothing.
type Selector struct {
	State       State    `json:"state"`
	Destination string   `json:"destination,omitempty"`
	EventTypes  []string `json:"eventTypes,omitempty"`
	EventIDs    []string `json:"eventIDs,omitempty"`
	// ReceivedAfter is the first moment at which an event was received, ReceivedBefore the first at which it was not.
	ReceivedAfter  time.Time `json:"receivedAfter,omitzero"`
	ReceivedBefore time.Time `json:"receivedBefore,omitzero"`
	// Reason is a part of the last attempt's reason; for failed ones only.
	Reason string `json:"reason,omitempty"`
}

// ParseID reads the UID of a DeliveryReplay.
func ParseID(uid string) (uuid.UUID, error) { return uuid.Parse(uid) }

// Encode returns the document.
func (r *Request) Encode() ([]byte, error) {
	out := *r
	out.Version = Version
	if err := out.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(&out)
}

// Parse reads a document.
func Parse(data []byte) (*Request, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	r := &Request{}
	if err := decoder.Decode(r); err != nil {
		return nil, fmt.Errorf("replay request: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("replay request: there is more after the document")
	}
	return r, r.Validate()
}

// Validate says what cannot be done.
func (r *Request) Validate() error {
	var problems []error
	if r.Version != Version {
		problems = append(problems, fmt.Errorf("version %d is not %d, which this build knows", r.Version, Version))
	}
	if r.ID == uuid.Nil {
		problems = append(problems, errors.New("id is missing"))
	}
	s := &r.Selector
	if s.State != Failed && s.State != Delivered {
		problems = append(problems, fmt.Errorf("selector.state %q is neither %s nor %s", s.State, Failed, Delivered))
	}
	if s.State == Delivered && s.Reason != "" {
		problems = append(problems, errors.New("selector.reason is for failed deliveries"))
	}
	if !s.ReceivedBefore.IsZero() && !s.ReceivedAfter.Before(s.ReceivedBefore) {
		problems = append(problems, errors.New("selector.receivedAfter is not before selector.receivedBefore"))
	}
	if r.RatePerSecond < 0 || r.StopAfterFailures < 0 {
		problems = append(problems, errors.New("ratePerSecond and stopAfterFailures must not be negative"))
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("replay request: %w", err)
	}
	return nil
}
