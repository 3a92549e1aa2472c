// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package verify says whether a request was signed with one of an endpoint's secrets and which event it carries. It is
// pure: no clock, no network, no log. Nothing of the body is looked at before a signature holds.
package verify

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"net/http"
	"slices"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// The types of the domain that this package reads and returns.
type (
	// Request is what a sender sent.
	Request = receiver.Request
	// Verified is what a request whose signature holds says about its event.
	Verified = receiver.Verified
	// Rejection is why a request is refused.
	Rejection = receiver.Rejection
)

// Verify checks a request and returns what it says of its event; the error is always a *Rejection.
//
// Each signature in the header is compared, in constant time, with that of each secret, and all are computed, so that the
// time taken does not tell which one matched. Secrets that are not accepted at now verify nothing; a match with one of
// them is reported as CauseExpiredSecret. Secrets with an empty key are passed over. The timestamp may be tolerance away
// from now in either direction, counted in whole units of the scheme; a tolerance of zero or less means the same unit.
func Verify(s scheme.Scheme, secrets []receiver.Secret, r *Request, now time.Time, tolerance time.Duration) (Verified, error) {
	newHash := hashOf(s.Signature.Algorithm)
	if newHash == nil {
		return Verified{}, reject(receiver.CauseUnusableScheme)
	}
	secrets = usable(secrets)
	if len(secrets) == 0 {
		return Verified{}, reject(receiver.CauseNoSecret)
	}
	if err := checkDuplicates(s, r.Header); err != nil {
		return Verified{}, err
	}
	signed, err := parse(s, r.Header)
	if err != nil {
		return Verified{}, err
	}
	if err := checkTime(s.Timestamp, signed.timestamp, now, tolerance); err != nil {
		return Verified{}, err
	}
	head, err := signedHead(s, signed, r.Header)
	if err != nil {
		return Verified{}, err
	}
	matches := match(newHash, secrets, head, r.Body, signed.candidates)
	fingerprint, err := judge(secrets, matches, now)
	if err != nil {
		return Verified{}, err
	}
	event, err := extract(s, r)
	if err != nil {
		return Verified{}, err
	}
	return Verified{Fingerprint: fingerprint, Events: []receiver.VerifiedEvent{event}}, nil
}

func hashOf(algorithm scheme.Algorithm) func() hash.Hash {
	switch algorithm {
	case scheme.SHA256:
		return sha256.New
	case scheme.SHA384:
		return sha512.New384
	case scheme.SHA512:
		return sha512.New
	}
	return nil
}

// usable drops secrets with an empty key: an HMAC under it can be made by everybody.
func usable(secrets []receiver.Secret) []receiver.Secret {
	if !slices.ContainsFunc(secrets, hasNoKey) {
		return secrets
	}
	return slices.DeleteFunc(slices.Clone(secrets), hasNoKey)
}

func hasNoKey(s receiver.Secret) bool { return len(s.Key) == 0 }

// match says of each secret whether any candidate is its signature of head and body. It never stops early.
func match(newHash func() hash.Hash, secrets []receiver.Secret, head, body []byte, candidates [][]byte) []bool {
	matches := make([]bool, len(secrets))
	for i, secret := range secrets {
		want := sign(newHash, secret.Key, head, body)
		for _, candidate := range candidates {
			if hmac.Equal(candidate, want) {
				matches[i] = true
			}
		}
	}
	return matches
}

func sign(newHash func() hash.Hash, key, head, body []byte) []byte {
	mac := hmac.New(newHash, key)
	mac.Write(head)
	mac.Write(body)
	return mac.Sum(nil)
}

// judge returns the fingerprint of the first accepted secret that matches.
func judge(secrets []receiver.Secret, matches []bool, now time.Time) (string, error) {
	accepted, expired := false, false
	for i, secret := range secrets {
		if secret.Accepted(now) {
			accepted = true
			if matches[i] {
				return secret.Fingerprint, nil
			}
		} else if matches[i] {
			expired = true
		}
	}
	switch {
	case expired:
		return "", reject(receiver.CauseExpiredSecret)
	case !accepted:
		return "", reject(receiver.CauseNoSecret)
	}
	return "", reject(receiver.CauseBadSignature)
}

// statuses are the answers of the causes that are not 400.
var statuses = map[string]int{
	receiver.CauseNoSecret:         http.StatusServiceUnavailable,
	receiver.CauseUnusableScheme:   http.StatusServiceUnavailable,
	receiver.CauseMissingHeader:    http.StatusUnauthorized,
	receiver.CauseMissingSignature: http.StatusUnauthorized,
	receiver.CauseMissingTimestamp: http.StatusUnauthorized,
	receiver.CauseStaleTimestamp:   http.StatusUnauthorized,
	receiver.CauseFutureTimestamp:  http.StatusUnauthorized,
	receiver.CauseBadSignature:     http.StatusUnauthorized,
	receiver.CauseExpiredSecret:    http.StatusUnauthorized,
}

func reject(cause string) *Rejection {
	status, found := statuses[cause]
	if !found {
		status = http.StatusBadRequest
	}
	return &Rejection{Cause: cause, Status: status}
}
