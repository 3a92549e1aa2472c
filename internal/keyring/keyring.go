// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package keyring is the codec of the keyring: the document, in a Secret that the operator owns, that says which signing
// secrets an endpoint's receivers accept and until when. It is the only contract about secrets between the operator and
// the receivers. Fingerprints are HMAC-SHA256 values under the keyring's own random salt.
//
// A Keyring is never changed in place: each change is a method that returns a new one with the next revision. Only
// [Keyring.Encode] writes secrets out; formatting, logging or marshaling a Keyring shows none.
package keyring

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"
)

// FileName is the key in the Secret's data, and so the name of the file in the mounted folder.
const FileName = "keyring.json"

// Version is the version of the document that this build writes, and the only one that it reads.
const Version = 1

// SaltBytes is the length of the salt.
const SaltBytes = 32

// shortDigits is how much of a fingerprint people see.
const shortDigits = 12

// Keyring is every signing secret of one endpoint that matters: the current one, previous ones that are still accepted,
// and the tombstones of those that are refused.
type Keyring struct {
	// Revision grows by one with each change; receivers report the one they have loaded.
	Revision int64
	// Salt of the fingerprints: SaltBytes random bytes, made once.
	Salt Sensitive
	// Current is the live secret.
	Current Entry
	// Previous are former secrets, newest first, each accepted until its own NotAfter.
	Previous []Entry
	// Tombstones of secrets that are refused even if they are mounted, newest first.
	Tombstones []Tombstone
}

// Entry is one secret in the keyring.
type Entry struct {
	// Fingerprint is the full salted digest of the key, in hexadecimal; people see it through Short.
	Fingerprint string
	// Secret is the text of the secret as the user wrote it, without a trailing line break.
	Secret Sensitive
	// Added is when the secret became current, to the second.
	Added time.Time
	// Source is the user's Secret and key that it was read from.
	Source Source
	// Rotation is the UID of the SecretRotation that brought it; empty for the secret that was adopted first.
	Rotation string
	// Names are those of the SecretRotations that have made it current, newest first and at most maxNames: one that is
	// deleted and applied again has another UID and the same name.
	Names []string

	// NotAfter is the moment from which the secret is refused; zero for the current one.
	NotAfter time.Time
	// Final says that NotAfter was counted from full propagation and does not move again by itself.
	Final bool
	// OverlapStart is when the last ready receiver had the secret's successor: NotAfter was counted from it. Zero until
	// Final.
	OverlapStart time.Time
	// ReplacedBy is the UID of the SecretRotation that made it a former secret, and that governs its NotAfter.
	ReplacedBy string
	// ReplacedRevision is the revision that made it a former secret: a receiver that has loaded it has the successor.
	ReplacedRevision int64
}

// AcceptedAt says whether receivers accept the secret at t: NotAfter itself is already too late.
func (e Entry) AcceptedAt(t time.Time) bool {
	return e.NotAfter.IsZero() || t.Before(e.NotAfter)
}

// Source names the user's Secret and key.
type Source struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// Tombstone marks a secret that is refused even if it is mounted.
type Tombstone struct {
	Fingerprint string `json:"fingerprint"`
	// Time at which it was retired, to the second.
	Time time.Time `json:"time"`
	// Reason is Expired or Revoked. A rotation may make an expired secret current again, a revoked one never.
	Reason string `json:"reason"`
	// Rotation is the UID of the SecretRotation that had made it a former secret.
	Rotation string `json:"rotation,omitempty"`
	// Names are those of the SecretRotations that had made it current, newest first.
	Names []string `json:"names,omitempty"`
	// Revision of the keyring from which the secret's bytes are gone.
	Revision int64 `json:"revision"`
	// OverlapStart is when the last ready receiver had the secret's successor; zero if it was retired before that.
	OverlapStart time.Time `json:"overlapStart,omitzero"`
}

// Reasons of a Tombstone.
const (
	Expired = "Expired"
	Revoked = "Revoked"
)

// Fingerprint returns the fingerprint of a decoded key: hexadecimal HMAC-SHA256 under the salt.
func (k *Keyring) Fingerprint(key []byte) string {
	mac := hmac.New(sha256.New, k.Salt)
	mac.Write(key)
	return hex.EncodeToString(mac.Sum(nil))
}

// Short returns what people see of a fingerprint: its first 12 digits.
func Short(fingerprint string) string {
	if len(fingerprint) <= shortDigits {
		return fingerprint
	}
	return fingerprint[:shortDigits]
}

// Find returns the current or previous secret that has this full fingerprint.
func (k *Keyring) Find(fingerprint string) (Entry, bool) {
	if k.Current.Fingerprint == fingerprint {
		return k.Current, true
	}
	for _, e := range k.Previous {
		if e.Fingerprint == fingerprint {
			return e, true
		}
	}
	return Entry{}, false
}

// Accepted returns the secrets that receivers accept at t: the current one, then previous ones, newest first.
func (k *Keyring) Accepted(t time.Time) []Entry {
	accepted := []Entry{k.Current}
	for _, e := range k.Previous {
		if e.AcceptedAt(t) {
			accepted = append(accepted, e)
		}
	}
	return accepted
}

// Standing is what the keyring knows of a secret.
type Standing int

// What the keyring may know of a secret.
const (
	// IsUnknown secrets are not in the keyring.
	IsUnknown Standing = iota
	// IsCurrent is the live secret.
	IsCurrent
	// IsPrevious secrets were current before; NotAfter says until when they are accepted.
	IsPrevious
	// IsExpired secrets have a tombstone because their time was over.
	IsExpired
	// IsRevoked secrets have a tombstone because somebody revoked them.
	IsRevoked
)

// Standing returns what the keyring knows of a secret. The same key is the same secret, whatever its text; and so is the
// same text, so that a change of how a scheme decodes it is not taken for a new secret.
func (k *Keyring) Standing(c Candidate) Standing {
	fingerprint := k.Fingerprint(c.Key)
	same := func(e Entry) bool {
		return e.Fingerprint == fingerprint || bytes.Equal(e.Secret, c.Secret)
	}
	if same(k.Current) {
		return IsCurrent
	}
	if slices.ContainsFunc(k.Previous, same) {
		return IsPrevious
	}
	for _, t := range k.Tombstones {
		if t.Fingerprint != fingerprint {
			continue
		}
		if t.Reason == Revoked {
			return IsRevoked
		}
		return IsExpired
	}
	return IsUnknown
}

// NamesOf returns the names of the SecretRotations that have made a secret current, newest first: whether it is current
// now, was before, or has a tombstone.
func (k *Keyring) NamesOf(c Candidate) []string {
	fingerprint := k.Fingerprint(c.Key)
	for _, e := range append([]Entry{k.Current}, k.Previous...) {
		if e.Fingerprint == fingerprint || bytes.Equal(e.Secret, c.Secret) {
			return e.Names
		}
	}
	for _, t := range k.Tombstones {
		if t.Fingerprint == fingerprint {
			return t.Names
		}
	}
	return nil
}

// BroughtBy returns the current or previous secret that the SecretRotation with this UID made current.
func (k *Keyring) BroughtBy(rotation string) (Entry, bool) {
	if k.Current.Rotation == rotation {
		return k.Current, true
	}
	for _, e := range k.Previous {
		if e.Rotation == rotation {
			return e, true
		}
	}
	return Entry{}, false
}

// ReplacedBy returns the previous secret that the SecretRotation with this UID made a former one.
func (k *Keyring) ReplacedBy(rotation string) (Entry, bool) {
	for _, e := range k.Previous {
		if e.ReplacedBy == rotation {
			return e, true
		}
	}
	return Entry{}, false
}

// RetiredBy returns the newest tombstone of a secret that the SecretRotation with this UID had made a former one.
func (k *Keyring) RetiredBy(rotation string) (Tombstone, bool) {
	for _, t := range k.Tombstones {
		if t.Rotation == rotation {
			return t, true
		}
	}
	return Tombstone{}, false
}

// clone returns a copy that shares no memory that a change writes to.
func (k *Keyring) clone() *Keyring {
	c := *k
	c.Previous = slices.Clone(k.Previous)
	c.Tombstones = slices.Clone(k.Tombstones)
	return &c
}
