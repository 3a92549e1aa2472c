// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package snapshot loads what a receiver is told by its mounted folders: the configuration, the keyring and the user's
// own Secret. It swaps the whole of it when a folder changes, without a restart, and keeps the last usable parts where the
// new ones are damaged.
//
// The keyring decides which secrets are accepted. The bytes of the user's Secret are accepted beside it, provisionally, as
// long as the keyring knows nothing of them: so a change of the secret works before the operator has seen it, and a secret
// that was retired stays refused even while it is still mounted. Without a keyring nothing is accepted.
package snapshot

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/receiver"
)

// Snapshot is what the folders said at one moment. It is never changed.
type Snapshot struct {
	// Config in force; nil until a usable one has been loaded.
	Config *receiverconfig.Config
	// Secrets that deliveries may be verified with, each until its own NotAfter: the current one first.
	Secrets []receiver.Secret
	// Outgoing are the secrets of destinations, by name. A destination that is not here needs one that is not there, and
	// cannot be delivered to.
	Outgoing map[string]Outgoing

	config  receiverstatus.Config
	keyring receiverstatus.Keyring
	source  receiverstatus.Source
	// waiting are the destinations whose secrets cannot be used.
	waiting []receiverstatus.Destination
	uses    map[string]*use
	ring    *keyring.Keyring
}

// use counts how often a secret has verified a delivery, and when it last did, in Unix seconds.
type use struct {
	count, last atomic.Int64
}

// The reasons for which a receiver cannot serve.
var (
	ErrNoConfig = errors.New("no usable configuration has been loaded")
	ErrNoSecret = errors.New("no signing secret is accepted")
)

// Usable says whether deliveries can be verified at the moment now; if not, why: ErrNoConfig or ErrNoSecret.
func (s *Snapshot) Usable(now time.Time) error {
	if s.Config == nil {
		return ErrNoConfig
	}
	for _, secret := range s.Secrets {
		if secret.Accepted(now) {
			return nil
		}
	}
	return ErrNoSecret
}

// Report fills in what the status document says of the folders and of the secrets' use.
func (s *Snapshot) Report(status *receiverstatus.Status) {
	if s.Config != nil {
		status.Endpoint = s.Config.Endpoint
	}
	status.Config, status.Keyring, status.Source = s.config, s.keyring, s.source
	status.Destinations = s.waiting
	status.Secrets = make([]receiverstatus.Secret, 0, len(s.Secrets))
	for _, secret := range s.Secrets {
		entry := receiverstatus.Secret{Fingerprint: secret.Fingerprint, Role: secret.Role, NotAfter: secret.NotAfter}
		if u := s.uses[secret.Fingerprint]; u != nil {
			entry.Uses = u.count.Load()
			if last := u.last.Load(); last != 0 {
				entry.LastUsed = time.Unix(last, 0).UTC()
			}
		}
		status.Secrets = append(status.Secrets, entry)
	}
}

// Role returns the role of the secret with this fingerprint, or "" if it is not in the snapshot.
func (s *Snapshot) Role(fingerprint string) string {
	for _, secret := range s.Secrets {
		if secret.Fingerprint == fingerprint {
			return secret.Role
		}
	}
	return ""
}
