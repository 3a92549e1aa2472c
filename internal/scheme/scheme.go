// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package scheme describes, as data, how providers sign and identify their events, and how the text of a signing secret
// becomes a key. The operator checks secrets with it and hands the description to receivers; receivers verify with it.
package scheme

import "time"

// Encoding says how bytes are written as text.
type Encoding string

// The encodings of signatures and of secrets.
const (
	Raw    Encoding = "Raw"
	Hex    Encoding = "Hex"
	Base64 Encoding = "Base64"
)

// Algorithm is the hash of an HMAC.
type Algorithm string

// The algorithms that schemes may use.
const (
	SHA256 Algorithm = "SHA256"
	SHA384 Algorithm = "SHA384"
	SHA512 Algorithm = "SHA512"
)

// Unit is the unit of a timestamp counted from 1970-01-01 UTC.
type Unit string

// The units of timestamps.
const (
	Seconds      Unit = "Seconds"
	Milliseconds Unit = "Milliseconds"
)

// Scheme is how one provider signs and identifies its events.
type Scheme struct {
	// Name of the preset, or HMAC.
	Name string `json:"name"`
	// Signature says where the signatures are.
	Signature Signature `json:"signature"`
	// StringToSign with the placeholders {id}, {timestamp} and {body}; it ends with {body}.
	StringToSign string `json:"stringToSign"`
	// Key says how a secret's text becomes a key.
	Key Key `json:"key"`
	// Timestamp says where the signed time is; nil if the scheme signs none.
	Timestamp *Timestamp `json:"timestamp,omitempty"`
	// EventID, EventType and ResourceID are looked up in order: the first source that has a value wins.
	EventID    []Source `json:"eventID"`
	EventType  []Source `json:"eventType,omitempty"`
	ResourceID []Source `json:"resourceID,omitempty"`
	// EventIDSigned says whether the signature covers the event id. If not, the body's digest is claimed too.
	EventIDSigned bool `json:"eventIDSigned"`
	// BodyReuse says that the provider sends identical bodies as different events on purpose: then the body's digest is not
	// claimed, and a captured body passes under any id that is not signed.
	BodyReuse bool `json:"bodyReuse,omitempty"`
	// Behavior says what the provider does around retries and rotations.
	Behavior Behavior `json:"behavior"`
}

// Signature says where the signatures of a delivery are and how they are written.
type Signature struct {
	Header string `json:"header"`
	// Separator between the elements of the header; empty if the header is one element.
	Separator string `json:"separator,omitempty"`
	// Prefix of the elements that are signatures; others are skipped.
	Prefix    string    `json:"prefix,omitempty"`
	Encoding  Encoding  `json:"encoding"`
	Algorithm Algorithm `json:"algorithm"`
}

// Timestamp says where the signed time of a delivery is.
type Timestamp struct {
	// Header that carries it; equal to the signature's header if it is an element there.
	Header string `json:"header"`
	// Prefix of the element; empty if the header is the timestamp alone.
	Prefix string `json:"prefix,omitempty"`
	Unit   Unit   `json:"unit"`
}

// Source is one place where a value may be: exactly one field is set.
type Source struct {
	Header string   `json:"header,omitempty"`
	Path   []string `json:"path,omitempty"`
}

// Key says how the text of a signing secret becomes a key.
type Key struct {
	Encoding Encoding `json:"encoding"`
	// Prefix that is removed before decoding; a secret without it is decoded as it is.
	Prefix string `json:"prefix,omitempty"`
	// MinBytes is the least length of the decoded key; see MinKeyBytes.
	MinBytes int `json:"minBytes"`
	// MaxBytes is the greatest length of the decoded key; 0 means MaxKeyBytes.
	MaxBytes int `json:"maxBytes,omitempty"`
}

// Behavior is what a provider does around retries and rotations; the presets say where each figure comes from.
type Behavior struct {
	// RetryHorizon is how long after the first attempt the provider may still send an event by itself.
	RetryHorizon time.Duration `json:"retryHorizon"`
	// BodyChanges says that the provider changes the body between attempts (an attempt counter in it): the same id with
	// another body is a duplicate then, not a conflict.
	BodyChanges bool `json:"bodyChanges,omitempty"`
}
