// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package receiver

import "net/http"

// Request is what a sender sent, as far as verification looks at it.
type Request struct {
	// Method is the HTTP method.
	Method string
	// URL is the public URL that the sender used: that of the endpoint, with the query of this request. Empty if the endpoint
	// has none.
	URL string
	// Header with canonical names, as net/http reads it.
	Header http.Header
	// Body is exactly what was received.
	Body []byte
}

// Verified is what a request whose signature holds says: an answer to a handshake, or its events.
type Verified struct {
	// Fingerprint of the secret that the signature was made with; the first accepted one if several match.
	Fingerprint string
	// Handshake is the answer to a signed handshake; nil if the request carries events.
	Handshake *Reply
	// Events are in the order of the request; one, unless the scheme has batches. An empty batch has none.
	Events []VerifiedEvent
}

// VerifiedEvent is one event of a request whose signature holds.
type VerifiedEvent struct {
	// ID is never empty; Type and ResourceID are empty if the event has none, and are otherwise 1 to 255 bytes of UTF-8
	// without control characters. A type that cannot be such a text counts as none.
	ID         string
	Type       string
	ResourceID string
	// Body is the part of the request's body that is this event, byte for byte: all of it, unless the scheme has batches.
	Body []byte
	// Payload is the event's JSON where the body carries it in a form; nil if the body itself is the payload.
	Payload []byte
}

// Reply is the answer to a handshake.
type Reply struct {
	Status int
	Header http.Header
	Body   []byte
}

// Rejection is why a request is refused before it reaches the ledger.
type Rejection struct {
	// Cause is one of the Cause constants: a label for counters, and the sender's answer.
	Cause string
	// Status is the HTTP status of the answer.
	Status int
}

// Error names the cause.
func (r *Rejection) Error() string { return "rejected: " + r.Cause }

// The causes of rejections by verification. None of them is taken from the request.
const (
	// CauseNoSecret (503): the endpoint has no secret that is accepted now.
	CauseNoSecret = "no_secret"
	// CauseUnusableScheme (503): the scheme of the endpoint cannot be verified with.
	CauseUnusableScheme = "unusable_scheme"
	// CauseMissingHeader (401): the header of the signature or of the timestamp is absent or blank.
	CauseMissingHeader = "missing_header"
	// CauseDuplicateHeader (400): a header that the scheme reads is there more than once.
	CauseDuplicateHeader = "duplicate_header"
	// CauseMalformedHeader (400): the signature's header breaks its grammar: an empty element, a repeated timestamp, or too
	// many elements.
	CauseMalformedHeader = "malformed_header"
	// CauseMissingSignature (401): the signature's header has no element with the scheme's prefix.
	CauseMissingSignature = "missing_signature"
	// CauseMissingTimestamp (401): the signature's header has no timestamp.
	CauseMissingTimestamp = "missing_timestamp"
	// CauseBadTimestamp (400): the timestamp is not a canonical decimal number.
	CauseBadTimestamp = "bad_timestamp"
	// CauseTimestampUnit (400): the timestamp is in another unit than the scheme's, such as milliseconds for seconds.
	CauseTimestampUnit = "timestamp_unit"
	// CauseStaleTimestamp (401): the timestamp is further in the past than the tolerance.
	CauseStaleTimestamp = "stale_timestamp"
	// CauseFutureTimestamp (401): the timestamp is further in the future than the tolerance.
	CauseFutureTimestamp = "future_timestamp"
	// CauseBadSignature (401): no signature was made with a known secret over these bytes.
	CauseBadSignature = "bad_signature"
	// CauseExpiredSecret (401): the signature holds, with a secret that is no longer accepted.
	CauseExpiredSecret = "expired_secret"
	// CauseMalformedBody (400): the signature holds, but the body is not JSON, or a member that is read is there twice.
	CauseMalformedBody = "malformed_body"
	// CauseMissingEventID (400): the event has no id.
	CauseMissingEventID = "missing_event_id"
	// CauseBadEventID (400): the id is not a string of 1 to 255 bytes from ! to ~.
	CauseBadEventID = "bad_event_id"
	// CauseBadHandshake (403): a handshake asks with a token or an origin that the endpoint does not know.
	CauseBadHandshake = "bad_handshake"
	// CauseNoPublicURL (503): the scheme signs the URL, and the endpoint does not know its own.
	CauseNoPublicURL = "no_public_url"
	// CauseBadResourceID (400): the resource id is there and is neither 1 to 255 bytes of UTF-8 without control characters
	// nor a natural number.
	CauseBadResourceID = "bad_resource_id"
	// CauseBodyDiffers: the event id is there already, with another body.
	CauseBodyDiffers = "body_differs"
)
