// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/receiverconfig"
	"github.com/hookonce/hookonce/internal/receiverstatus"
	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// content is what reading one file gave.
type content struct {
	data []byte
	err  error
}

func (c content) equal(other content) bool {
	switch {
	case c.err != nil && other.err != nil:
		return c.err.Error() == other.err.Error()
	case c.err != nil || other.err != nil:
		return false
	default:
		return bytes.Equal(c.data, other.data)
	}
}

// contents of the files.
type contents struct {
	config, keyring, source content
	// outgoing are the files of destinations' secrets, by name.
	outgoing map[string]content
}

func (c contents) equal(other contents) bool {
	return c.config.equal(other.config) && c.keyring.equal(other.keyring) && c.source.equal(other.source) &&
		maps.EqualFunc(c.outgoing, other.outgoing, content.equal)
}

// build makes the snapshot that follows previous. It always succeeds: a part that cannot be used keeps the one before it,
// and says so in its status.
func build(files contents, previous *Snapshot, now time.Time) *Snapshot {
	next := &Snapshot{uses: map[string]*use{}}
	next.loadConfig(files.config, previous)
	next.loadKeyring(files.keyring, previous, now)
	if next.Config != nil && next.ring != nil {
		next.acceptKeyring()
	}
	next.loadSource(files.source)
	next.loadOutgoing(files.outgoing)
	for _, secret := range next.Secrets {
		if u := previous.uses[secret.Fingerprint]; u != nil {
			next.uses[secret.Fingerprint] = u
		} else {
			next.uses[secret.Fingerprint] = &use{}
		}
	}
	return next
}

func (s *Snapshot) loadConfig(file content, previous *Snapshot) {
	config, err := parse(file, receiverconfig.Parse)
	if err != nil {
		s.Config = previous.Config
		s.config = receiverstatus.Config{Digest: previous.config.Digest, Error: fmt.Sprintf("load configuration: %v", err)}
		return
	}
	s.Config = config
	s.config = receiverstatus.Config{Digest: receiverconfig.Digest(file.data)}
}

func (s *Snapshot) loadKeyring(file content, previous *Snapshot, now time.Time) {
	ring, err := parse(file, keyring.Parse)
	if err == nil {
		err = follows(ring, previous.ring)
	}
	if err != nil {
		s.ring = previous.ring
		s.keyring = previous.keyring
		s.keyring.Error = fmt.Sprintf("load keyring: %v", err)
		return
	}
	s.ring = ring
	s.keyring = receiverstatus.Keyring{Revision: ring.Revision, Loaded: previous.keyring.Loaded}
	if previous.ring == nil || previous.ring.Revision != ring.Revision || !bytes.Equal(previous.ring.Salt, ring.Salt) {
		s.keyring.Loaded = now.UTC()
	}
}

func parse[T any](file content, parse func([]byte) (*T, error)) (*T, error) {
	if file.err != nil {
		return nil, file.err
	}
	return parse(file.data)
}

// follows refuses to go back to an earlier revision of the same keyring, which a stale cache may show: it could accept a
// secret that has been revoked since. A keyring with another salt is another one.
func follows(ring, loaded *keyring.Keyring) error {
	if loaded == nil || !bytes.Equal(ring.Salt, loaded.Salt) || ring.Revision >= loaded.Revision {
		return nil
	}
	return fmt.Errorf("revision %d is older than %d, which is in force", ring.Revision, loaded.Revision)
}

// acceptKeyring accepts the keyring's secrets. One that cannot be decoded is left out and reported; it verifies nothing.
func (s *Snapshot) acceptKeyring() {
	s.accept(s.ring.Current, receiverstatus.RoleCurrent)
	for _, entry := range s.ring.Previous {
		s.accept(entry, receiverstatus.RolePrevious)
	}
}

func (s *Snapshot) accept(entry keyring.Entry, role string) {
	key, err := s.Config.Scheme.DecodeSecret(entry.Secret)
	if err != nil {
		s.keyring.Error = fmt.Sprintf("%s secret %s cannot be used: %v", role, keyring.Short(entry.Fingerprint), err)
		return
	}
	s.Secrets = append(s.Secrets, receiver.Secret{
		Key: key, Fingerprint: entry.Fingerprint, Role: role, NotAfter: entry.NotAfter,
	})
}

// loadSource accepts the mounted bytes if they can be a key and the keyring knows nothing of them.
func (s *Snapshot) loadSource(file content) {
	if errors.Is(file.err, fs.ErrNotExist) {
		return
	}
	s.source.Present = true
	if file.err != nil {
		s.source.Problem = fmt.Sprintf("load mounted secret: %v", file.err)
		return
	}
	if s.Config == nil || s.ring == nil {
		s.source.Problem = "not judged: there is no configuration or no keyring yet"
		return
	}
	key, err := s.Config.Scheme.DecodeSecret(file.data)
	if err != nil {
		s.source.Problem = err.Error()
		return
	}
	s.source.Fingerprint = s.ring.Fingerprint(key)
	if s.ring.Standing(keyring.Candidate{Key: key, Secret: scheme.Trim(file.data)}) != keyring.IsUnknown {
		return
	}
	s.Secrets = append(s.Secrets, receiver.Secret{
		Key: key, Fingerprint: s.source.Fingerprint, Role: receiverstatus.RoleProvisional,
	})
}
