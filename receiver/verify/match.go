// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // what Twilio signs with; HMAC-SHA1 is not broken by SHA-1's collisions
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"hash"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// hashOf returns the hash of an HMAC, and the length of the algorithm's signatures.
func hashOf(algorithm scheme.Algorithm) (func() hash.Hash, int) {
	switch algorithm {
	case scheme.SHA1:
		return sha1.New, sha1.Size
	case scheme.SHA256:
		return sha256.New, sha256.Size
	case scheme.SHA384:
		return sha512.New384, sha512.Size384
	case scheme.SHA512:
		return sha512.New, sha512.Size
	case scheme.Ed25519:
		return nil, ed25519.SignatureSize
	case scheme.Token:
		return nil, sha256.Size
	}
	return nil, 0
}

// canSign says whether a key can have signed anything: an HMAC under an empty key can be made by everybody, and so can a
// signature under a public key that nobody owns.
func (v *Verifier) canSign(key []byte) bool {
	if v.scheme.Signature.Algorithm == scheme.Ed25519 {
		return scheme.IsPublicKey(key)
	}
	return len(key) > 0
}

func (v *Verifier) hasKey(secrets []receiver.Secret) bool {
	for i := range secrets {
		if v.canSign(secrets[i].Key) {
			return true
		}
	}
	return false
}

// match says in s.matches of each secret whether any candidate is its signature of the string to sign. It never stops
// early.
func (v *Verifier) match(s *scratch, secrets []receiver.Secret, body []byte) {
	s.matches = s.matches[:0]
	for i := range secrets {
		found := false
		if v.canSign(secrets[i].Key) {
			found = v.matches(s, i, secrets[i].Key, body)
		}
		s.matches = append(s.matches, found)
	}
}

func (v *Verifier) matches(s *scratch, i int, key, body []byte) bool {
	switch v.scheme.Signature.Algorithm {
	case scheme.Token:
		sum := sha256.Sum256(key)
		return s.has(sum[:])
	case scheme.Ed25519:
		return v.matchesPublic(s, key, body)
	case scheme.SHA1, scheme.SHA256, scheme.SHA384, scheme.SHA512:
	}
	found := s.has(v.mac(s, i, key, s.message, body))
	if len(s.other) > 0 {
		// A variable, so that both are computed.
		second := s.has(v.mac(s, i, key, s.other, body))
		found = found || second
	}
	return found
}

func (v *Verifier) mac(s *scratch, i int, key, message, body []byte) []byte {
	mac := s.keyed(v, i, key)
	mac.Write(message[:s.split])
	if v.bodyAt < len(v.parts) {
		mac.Write(body)
	}
	mac.Write(message[s.split:])
	return mac.Sum(s.sum[:0])
}

// has compares all candidates with a signature, in constant time.
func (s *scratch) has(signature []byte) bool {
	found := 0
	size := len(signature)
	for at := 0; at+size <= len(s.candidates); at += size {
		found |= subtle.ConstantTimeCompare(s.candidates[at:at+size], signature)
	}
	return found == 1
}

func (v *Verifier) matchesPublic(s *scratch, key, body []byte) bool {
	s.other = append(s.other[:0], s.message[:s.split]...)
	if v.bodyAt < len(v.parts) {
		s.other = append(s.other, body...)
	}
	s.other = append(s.other, s.message[s.split:]...)
	found := false
	for at := 0; at+v.size <= len(s.candidates); at += v.size {
		if ed25519.Verify(key, s.other, s.candidates[at:at+v.size]) {
			found = true
		}
	}
	return found
}

// judge returns the index of the first accepted secret that matches.
func judge(secrets []receiver.Secret, matches []bool, now time.Time) (int, error) {
	accepted, expired := false, false
	for i := range secrets {
		if len(secrets[i].Key) == 0 {
			continue
		}
		if secrets[i].Accepted(now) {
			accepted = true
			if matches[i] {
				return i, nil
			}
		} else if matches[i] {
			expired = true
		}
	}
	switch {
	case expired:
		return 0, reject(receiver.CauseExpiredSecret)
	case !accepted:
		return 0, reject(receiver.CauseNoSecret)
	}
	return 0, reject(receiver.CauseBadSignature)
}

// keyedMAC is an HMAC that was made once for a secret, and is reset for each request.
type keyedMAC struct {
	key []byte
	mac hash.Hash
}

// keyed returns an HMAC for the secret at i. The last one made there serves again if the key is the same.
func (s *scratch) keyed(v *Verifier, i int, key []byte) hash.Hash {
	for len(s.macs) <= i {
		s.macs = append(s.macs, keyedMAC{})
	}
	m := &s.macs[i]
	if m.mac != nil && hmac.Equal(m.key, key) {
		m.mac.Reset()
		return m.mac
	}
	m.key = append(m.key[:0], key...)
	m.mac = hmac.New(v.newHash, key)
	return m.mac
}
