// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package keyring is the codec of the keyring: the document, in a Secret that the operator owns, that says which signing
// secrets an endpoint's receivers accept and until when. It is the only contract about secrets between the operator and
// the receivers. Fingerprints are HMAC-SHA256 values under the keyring's own random salt.
package keyring

import "time"

// FileName is the key in the Secret's data, and so the name of the file in the mounted folder.
const FileName = "keyring.json"

// Version is the version of the document that this build writes.
const Version = 1

// Keyring is every signing secret of one endpoint that matters: the current one, previous ones that are still accepted,
// and the tombstones of those that must never be accepted again.
type Keyring struct {
	Version int `json:"version"`
	// Revision grows by one with each change; receivers report the one they have loaded.
	Revision int64 `json:"revision"`
	// Salt of the fingerprints: 32 random bytes, made once.
	Salt []byte `json:"salt"`
	// Current is the live secret.
	Current Entry `json:"current"`
	// Previous are former secrets, newest first, each accepted until its own NotAfter.
	Previous []Entry `json:"previous,omitempty"`
	// Tombstones of secrets that are refused even if they are mounted.
	Tombstones []Tombstone `json:"tombstones,omitempty"`
}

// Entry is one secret in the keyring.
type Entry struct {
	// Fingerprint is the full salted digest of the key, in hexadecimal; people see its first 12 digits.
	Fingerprint string `json:"fingerprint"`
	// Secret is the text of the secret as the user wrote it, without a trailing line break.
	Secret []byte `json:"secret"`
	// Added is when the secret became current.
	Added time.Time `json:"added"`
	// Source is the user's Secret and key that it was read from.
	Source Source `json:"source"`
	// Rotation is the UID of the SecretRotation that brought it; empty for the secret that was adopted first.
	Rotation string `json:"rotation,omitempty"`
	// NotAfter is when the secret stops being accepted; zero for the current one.
	NotAfter time.Time `json:"notAfter,omitzero"`
	// Final says that NotAfter was counted from full propagation and does not move again by itself.
	Final bool `json:"final,omitempty"`
}

// Source names the user's Secret and key.
type Source struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// Tombstone marks a secret that must never be accepted again.
type Tombstone struct {
	Fingerprint string    `json:"fingerprint"`
	Time        time.Time `json:"time"`
	// Reason is Expired or Revoked.
	Reason string `json:"reason"`
	// Rotation is the UID of the SecretRotation that retired it.
	Rotation string `json:"rotation,omitempty"`
}

// Reasons of a Tombstone.
const (
	Expired = "Expired"
	Revoked = "Revoked"
)
