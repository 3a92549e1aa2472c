// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package verify says whether a request was signed with one of an endpoint's secrets and which events it carries. It is
// pure: no clock, no network, no log. Nothing of the body is looked at before a signature holds, except where the
// signature is in the body.
package verify

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// The types of the domain that this package reads and returns.
type (
	// Request is what a sender sent.
	Request = receiver.Request
	// Verified is what a request whose signature holds says.
	Verified = receiver.Verified
	// Rejection is why a request is refused.
	Rejection = receiver.Rejection
)

// latest is what was made of the scheme that Verify was last called with: a receiver has one, for as long as its
// configuration does not change.
var latest atomic.Pointer[Verifier]

// Verify checks a request as New(s).Verify does, and keeps what New makes until another scheme comes.
func Verify(s scheme.Scheme, secrets []receiver.Secret, r *Request, now time.Time, tolerance time.Duration) (Verified, error) {
	v := latest.Load()
	if v == nil || !v.scheme.Equal(&s) {
		v = New(s)
		latest.Store(v)
	}
	return v.Verify(secrets, r, now, tolerance)
}

// Verify checks a signed POST and returns its events, or the answer to the handshake that it is; the error is always a
// *Rejection.
//
// Each signature of the request is compared, in constant time, with that of each secret, and all are computed, so that the
// time taken does not tell which one matched. Secrets that are not accepted at now verify nothing; a match with one of
// them is reported as CauseExpiredSecret. Secrets with an empty key are passed over. The timestamp may be tolerance away
// from now in either direction, counted in whole units of the scheme; a tolerance of zero or less means the same unit.
//
// A Token proves who sent the request, and nothing of its content: neither the ids nor the body are covered.
func (v *Verifier) Verify(secrets []receiver.Secret, r *Request, now time.Time, tolerance time.Duration) (Verified, error) {
	switch {
	case !v.usable:
		return Verified{}, reject(receiver.CauseUnusableScheme)
	case !v.hasKey(secrets):
		return Verified{}, reject(receiver.CauseNoSecret)
	case v.signsURL && r.URL == "":
		return Verified{}, reject(receiver.CauseNoPublicURL)
	}
	s := v.scratch()
	defer v.release(s)
	if len(v.scheme.Signature.Path) > 0 {
		return v.verifyItems(s, secrets, r, now)
	}
	names := v.namesIn(r.Header)
	signed, err := v.parse(s, names, r.Header)
	if err != nil {
		return Verified{}, err
	}
	if err := checkTime(v.scheme.Timestamp, signed.timestamp, now, tolerance); err != nil {
		return Verified{}, err
	}
	if err := v.compose(s, signed, r); err != nil {
		return Verified{}, err
	}
	v.match(s, secrets, r.Body)
	which, err := judge(secrets, s.matches, now)
	if err != nil {
		return Verified{}, err
	}
	return v.read(s, names, r, secrets[which])
}

// statuses are the answers of the causes that are not 400.
var statuses = map[string]int{
	receiver.CauseNoSecret:         http.StatusServiceUnavailable,
	receiver.CauseUnusableScheme:   http.StatusServiceUnavailable,
	receiver.CauseNoPublicURL:      http.StatusServiceUnavailable,
	receiver.CauseMissingHeader:    http.StatusUnauthorized,
	receiver.CauseMissingSignature: http.StatusUnauthorized,
	receiver.CauseMissingTimestamp: http.StatusUnauthorized,
	receiver.CauseStaleTimestamp:   http.StatusUnauthorized,
	receiver.CauseFutureTimestamp:  http.StatusUnauthorized,
	receiver.CauseBadSignature:     http.StatusUnauthorized,
	receiver.CauseExpiredSecret:    http.StatusUnauthorized,
	receiver.CauseBadHandshake:     http.StatusForbidden,
}

func reject(cause string) *Rejection {
	status, found := statuses[cause]
	if !found {
		status = http.StatusBadRequest
	}
	return &Rejection{Cause: cause, Status: status}
}
