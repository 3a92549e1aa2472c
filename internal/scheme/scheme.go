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

// Algorithm is the hash of an HMAC, or how a scheme that is not an HMAC proves where a delivery comes from.
type Algorithm string

// The algorithms that schemes may use.
const (
	SHA1   Algorithm = "SHA1"
	SHA256 Algorithm = "SHA256"
	SHA384 Algorithm = "SHA384"
	SHA512 Algorithm = "SHA512"
	// Ed25519 is a signature that the public key, which the secret's text stands for, verifies.
	Ed25519 Algorithm = "Ed25519"
	// Token is no signature: the header carries the secret itself. It proves who sent a delivery and nothing of its content.
	Token Algorithm = "Token"
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
	// HeaderAliases are other names under which the provider sends the headers of this scheme: canonical name to alias. They
	// are used together, and only where the signature's header is absent under its own name.
	HeaderAliases map[string]string `json:"headerAliases,omitempty"`
	// StringToSign is what is signed, with the placeholders that ParseStringToSign knows. Empty for a Token, which signs
	// nothing.
	StringToSign string `json:"stringToSign"`
	// Key says how a secret's text becomes a key.
	Key Key `json:"key"`
	// Timestamp says where the signed time is; nil if the scheme signs none.
	Timestamp *Timestamp `json:"timestamp,omitempty"`
	// EventID, EventType and ResourceID are looked up in order: the first source that has a value wins.
	EventID    []Source `json:"eventID"`
	EventType  []Source `json:"eventType,omitempty"`
	ResourceID []Source `json:"resourceID,omitempty"`
	// EventIDSigned says that senders cannot make up event ids: the signature covers them, or the receiver makes them. If not,
	// the body's digest is claimed too. See CoversID.
	EventIDSigned bool `json:"eventIDSigned"`
	// BodyReuse says that the provider sends identical bodies as different events on purpose: then the body's digest is not
	// claimed, and a captured body passes under any id that is not signed.
	BodyReuse bool `json:"bodyReuse,omitempty"`
	// FormField is the field of a form-encoded body that carries the event as JSON; empty if the scheme has none. Whether a
	// body is a form is seen from the body, since the Content-Type is not signed: JSON begins with { or [.
	FormField string `json:"formField,omitempty"`
	// FormObject says that a form without FormField is an event too: a JSON object of its fields, whose values are texts, or
	// arrays of texts where a field is there more than once.
	FormObject bool `json:"formObject,omitempty"`
	// Batch says that one request carries several events; nil if it carries one.
	Batch *Batch `json:"batch,omitempty"`
	// Handshakes are the requests by which the provider asks whether the endpoint wants its deliveries.
	Handshakes []Handshake `json:"handshakes,omitempty"`
	// Acknowledgment is the body of every successful answer where the provider insists on one; empty for the stored answer.
	Acknowledgment string `json:"acknowledgment,omitempty"`
	// Behavior says what the provider does around retries and rotations.
	Behavior Behavior `json:"behavior"`
}

// Batch says where the events of one request are.
type Batch struct {
	// Path of the array in the body; empty if the body is the array.
	Path []string `json:"path,omitempty"`
	// Member of each element that holds the event; empty if the element is the event.
	Member string `json:"member,omitempty"`
}

// HandshakeKind says how a provider asks whether an endpoint wants its deliveries.
type HandshakeKind string

// The handshakes that are answered.
const (
	// URLVerification (Slack): a signed POST whose member type is url_verification; the answer is its member challenge.
	URLVerification HandshakeKind = "URLVerification"
	// URLValidation (Zoom): a signed POST whose member event is endpoint.url_validation; the answer is payload.plainToken
	// and its HMAC under the secret that the request was signed with.
	URLValidation HandshakeKind = "URLValidation"
	// HubChallenge (Meta, WebSub): GET with hub.mode=subscribe, hub.verify_token and hub.challenge; the answer is the latter.
	HubChallenge HandshakeKind = "HubChallenge"
	// EchoChallenge (Dropbox): GET with the parameter challenge, which is the answer.
	EchoChallenge HandshakeKind = "EchoChallenge"
	// OriginConsent (CloudEvents): OPTIONS with WebHook-Request-Origin; the answer names the origin and a rate.
	OriginConsent HandshakeKind = "OriginConsent"
	// Ping (GitHub): a signed POST of the type ping, which is answered and is no event.
	Ping HandshakeKind = "Ping"
)

// Handshake is one of them and what its answer needs.
type Handshake struct {
	Kind HandshakeKind `json:"kind"`
	// VerifyToken must come with a HubChallenge.
	VerifyToken string `json:"verifyToken,omitempty"`
	// Origins that OriginConsent is given to; "*" is every one.
	Origins []string `json:"origins,omitempty"`
}

// Signature says where the signatures of a delivery are and how they are written. One of Header and Path is set.
type Signature struct {
	Header string `json:"header,omitempty"`
	// Path of the signature in each item of a batch.
	Path []string `json:"path,omitempty"`
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
	// Compose makes one value of several headers and paths, all of which must be there; no two lists of values make the same
	// one. They are joined with colons; colons and backslashes in them get a backslash in front. What is then longer than
	// 255 bytes, or is not visible ASCII, is replaced by its SHA-256 in hexadecimal.
	Compose []Source `json:"compose,omitempty"`
	// BodyDigest is the SHA-256, in hexadecimal, of the event's bytes, for providers that give their events no id. Where {form}
	// is signed, which says the same of many bodies, it is that of the whole string to sign.
	BodyDigest bool `json:"bodyDigest,omitempty"`
	// PerRequest makes a new id for each request, for notifications that carry nothing but "look again".
	PerRequest bool `json:"perRequest,omitempty"`
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
	// Rotation says how the provider goes over from one secret to the next.
	Rotation Rotation `json:"rotation,omitempty"`
}

// lag is how long a provider may take to go over to a new secret: Shopify says up to an hour, Adyen says "some time".
const lag = time.Hour

// LeastOverlap is for how long at least a former secret must be accepted after a change for no delivery to be lost, and why,
// as the end of a sentence; zero where nothing is signed with the former secret any more. It is a week at most, which is the
// longest overlap there is.
func (b Behavior) LeastOverlap() (least time.Duration, reason string) {
	const week = 7 * 24 * time.Hour
	switch b.Rotation {
	case RotationLagging:
		return lag, "its provider goes over to a new secret step by step and signs with the old one meanwhile"
	case RotationOldEventsKeepOld:
		return min(b.RetryHorizon, week), "its provider signs what it sends again with the secret of the first attempt"
	case RotationBoth, RotationImmediate:
	}
	return 0, ""
}

// Rotation is how a provider goes over from one secret to the next.
type Rotation string

// The ways in which providers change secrets, from the most to the least that a receiver can rely on.
const (
	// RotationBoth: for some time each delivery is signed with both secrets.
	RotationBoth Rotation = "Both"
	// RotationLagging: one signature; the provider's servers go over to the new secret one after the other.
	RotationLagging Rotation = "Lagging"
	// RotationOldEventsKeepOld: events from before the change stay signed with the old secret, however late they come.
	RotationOldEventsKeepOld Rotation = "OldEventsKeepOld"
	// RotationImmediate: one signature, with the new secret from the moment of the change. It is also what is assumed of a
	// provider of which nothing is known: the receivers know the new secret before the provider does.
	RotationImmediate Rotation = "Immediate"
)
