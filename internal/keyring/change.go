// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package keyring

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// MaxPrevious is how many former secrets a keyring keeps beside the current one.
const MaxPrevious = 3

// maxNames is how many names of SecretRotations are kept with a secret.
const maxNames = 8

// maxExpired is how many tombstones of expired secrets are kept. Those of revoked ones are kept for ever.
const maxExpired = 64

var (
	// ErrRevoked says that a secret was revoked and cannot become current again.
	ErrRevoked = errors.New("the secret was revoked")
	// ErrAlreadyCurrent says that a secret is the current one.
	ErrAlreadyCurrent = errors.New("the secret is already the current one")
	// ErrNotFound says that no previous secret has the fingerprint.
	ErrNotFound = errors.New("no previous secret has this fingerprint")
	// ErrNotCurrent says that a secret is not the current one.
	ErrNotCurrent = errors.New("the secret is not the current one")
	// ErrFinal says that a deadline was counted from full propagation already, or that the secret has expired.
	ErrFinal = errors.New("the secret's deadline has been settled")
)

// Candidate is a secret that may become current.
type Candidate struct {
	// Key is the decoded key: what fingerprints are made of.
	Key Sensitive
	// Secret is the text as the user wrote it, without a trailing line break.
	Secret Sensitive
	// Source is where it was read.
	Source Source
	// Rotation is the UID of the SecretRotation that brings it; empty for an adoption.
	Rotation string
	// Name of that SecretRotation; empty for an adoption.
	Name string
}

// Adopt makes the first keyring of an endpoint: the candidate is current, nothing is previous. The salt is read from
// random, normally crypto/rand.Reader.
func Adopt(random io.Reader, c Candidate, now time.Time) (*Keyring, error) {
	if len(c.Key) == 0 || len(c.Secret) == 0 {
		return nil, errors.New("adopt secret: it is empty")
	}
	salt := make([]byte, SaltBytes)
	if _, err := io.ReadFull(random, salt); err != nil {
		return nil, fmt.Errorf("make salt: %w", err)
	}
	k := &Keyring{Revision: 1, Salt: salt}
	k.Current = k.entry(c, now)
	return k, nil
}

// Promote makes the candidate current, and the secret that was current a previous one, accepted until the provisional
// notAfter. A candidate that was previous, or has expired, is current again without a deadline and leaves no duplicate.
// If there are more than MaxPrevious former secrets then, the one that expires first is evicted into a tombstone, but
// never the one that has just been replaced; the evicted secrets are returned. The errors are ErrAlreadyCurrent and
// ErrRevoked.
func (k *Keyring) Promote(c Candidate, now, notAfter time.Time) (*Keyring, []Entry, error) {
	if len(c.Key) == 0 || len(c.Secret) == 0 {
		return nil, nil, errors.New("promote secret: it is empty")
	}
	switch k.Standing(c) {
	case IsCurrent:
		return nil, nil, ErrAlreadyCurrent
	case IsRevoked:
		return nil, nil, ErrRevoked
	case IsUnknown, IsPrevious, IsExpired:
	}
	next := k.next()
	former := next.Current
	former.NotAfter = notAfter.UTC().Round(0)
	former.ReplacedBy = c.Rotation
	former.ReplacedRevision = next.Revision
	next.Current = next.entry(c, now)
	next.Current.Names = named(c.Name, k.NamesOf(c))

	// By text too: see Standing.
	next.Previous = slices.DeleteFunc(next.Previous, func(e Entry) bool {
		return e.Fingerprint == next.Current.Fingerprint || string(e.Secret) == string(c.Secret)
	})
	next.Tombstones = slices.DeleteFunc(next.Tombstones, func(t Tombstone) bool {
		return t.Fingerprint == next.Current.Fingerprint
	})
	var evicted []Entry
	for len(next.Previous) >= MaxPrevious {
		first := earliest(next.Previous)
		evicted = append(evicted, next.Previous[first])
		next.bury(next.Previous[first], now, Expired)
		next.Previous = slices.Delete(next.Previous, first, first+1)
	}
	next.Previous = slices.Insert(next.Previous, 0, former)
	return next, evicted, nil
}

// TakeOver lets another SecretRotation stand for the one that brought the current secret: that of c, which names the same
// secret. It governs the secret that this one replaced from now on, deadline and all. If that was retired meanwhile because
// its time was over, it is revoked, for nobody takes over for less. The current secret keeps when it became current. It is
// ErrNotFound if the keyring knows of no former secret that is not revoked, and ErrNotCurrent if the secret is not current.
func (k *Keyring) TakeOver(c Candidate) (*Keyring, error) {
	if k.Standing(c) != IsCurrent {
		return nil, ErrNotCurrent
	}
	found, next := false, k.next()
	was := k.Current.Rotation
	for i := range next.Previous {
		if was != "" && next.Previous[i].ReplacedBy == was {
			next.Previous[i].ReplacedBy, found = c.Rotation, true
		}
	}
	for i := range next.Tombstones {
		t := &next.Tombstones[i]
		if was != "" && t.Rotation == was && t.Reason == Expired && !found {
			t.Rotation, t.Reason, found = c.Rotation, Revoked, true
		}
	}
	if !found {
		return nil, ErrNotFound
	}
	next.Current.Rotation = c.Rotation
	next.Current.Names = named(c.Name, k.Current.Names)
	return next, nil
}

// named puts a name before others.
func named(name string, before []string) []string {
	if name == "" {
		return before
	}
	names := append([]string{name}, slices.DeleteFunc(slices.Clone(before), func(n string) bool { return n == name })...)
	return names[:min(len(names), maxNames)]
}

// Extend moves the provisional deadline of a previous secret. A final deadline, and one that has passed, do not move:
// ErrFinal.
func (k *Keyring) Extend(fingerprint string, now, notAfter time.Time) (*Keyring, error) {
	return k.change(fingerprint, func(e *Entry) error {
		if e.Final || !e.AcceptedAt(now) {
			return ErrFinal
		}
		e.NotAfter = notAfter.UTC().Round(0)
		return nil
	})
}

// Finalize sets the deadline of a previous secret, counted from start: the moment that the last ready receiver had its
// successor. A secret that has expired stays expired: ErrFinal.
func (k *Keyring) Finalize(fingerprint string, now, start, notAfter time.Time) (*Keyring, error) {
	return k.change(fingerprint, func(e *Entry) error {
		if !e.AcceptedAt(now) {
			return ErrFinal
		}
		e.NotAfter = notAfter.UTC().Round(0)
		e.OverlapStart = start.UTC().Round(0)
		e.Final = true
		return nil
	})
}

// Retire removes the bytes of every previous secret that has expired at now and leaves tombstones. It returns the
// keyring itself if there is none.
func (k *Keyring) Retire(now time.Time) *Keyring {
	if !slices.ContainsFunc(k.Previous, func(e Entry) bool { return !e.AcceptedAt(now) }) {
		return k
	}
	next := k.next()
	next.Previous = nil
	for _, e := range k.Previous {
		if e.AcceptedAt(now) {
			next.Previous = append(next.Previous, e)
		} else {
			next.bury(e, now, Expired)
		}
	}
	return next
}

// Revoke removes the bytes of a previous secret, whatever its deadline, and leaves a tombstone that no rotation lifts.
func (k *Keyring) Revoke(fingerprint string, now time.Time) (*Keyring, error) {
	return k.remove(fingerprint, now, Revoked)
}

// Condemn says of what a rotation has retired that it was revoked: no rotation lifts such a tombstone any more. The error is
// ErrNotFound if there is nothing of which that was not said.
func (k *Keyring) Condemn(rotation string) (*Keyring, error) {
	found, next := false, k.next()
	for i := range next.Tombstones {
		t := &next.Tombstones[i]
		if rotation != "" && t.Rotation == rotation && t.Reason == Expired {
			t.Reason, found = Revoked, true
		}
	}
	if !found {
		return nil, ErrNotFound
	}
	return next, nil
}

// Expire removes the bytes of a previous secret, whatever its deadline, and leaves the tombstone of an expired one.
func (k *Keyring) Expire(fingerprint string, now time.Time) (*Keyring, error) {
	return k.remove(fingerprint, now, Expired)
}

func (k *Keyring) remove(fingerprint string, now time.Time, reason string) (*Keyring, error) {
	i := slices.IndexFunc(k.Previous, func(e Entry) bool { return e.Fingerprint == fingerprint })
	if i < 0 {
		return nil, ErrNotFound
	}
	next := k.next()
	next.bury(next.Previous[i], now, reason)
	next.Previous = slices.Delete(next.Previous, i, i+1)
	return next, nil
}

func (k *Keyring) change(fingerprint string, edit func(*Entry) error) (*Keyring, error) {
	next := k.next()
	for i := range next.Previous {
		if next.Previous[i].Fingerprint != fingerprint {
			continue
		}
		if err := edit(&next.Previous[i]); err != nil {
			return nil, err
		}
		return next, nil
	}
	return nil, ErrNotFound
}

// next returns a copy with the next revision.
func (k *Keyring) next() *Keyring {
	n := k.clone()
	n.Revision++
	return n
}

func (k *Keyring) entry(c Candidate, now time.Time) Entry {
	return Entry{
		Fingerprint: k.Fingerprint(c.Key),
		Secret:      slices.Clone(c.Secret),
		Added:       now.UTC().Truncate(time.Second),
		Source:      c.Source,
		Rotation:    c.Rotation,
	}
}

// bury adds the tombstone of a secret, and drops the oldest ones of expired secrets if there are too many.
func (k *Keyring) bury(e Entry, now time.Time, reason string) {
	k.Tombstones = slices.Insert(k.Tombstones, 0, Tombstone{
		Fingerprint: e.Fingerprint,
		Time:        now.UTC().Truncate(time.Second),
		Reason:      reason,
		Rotation:    e.ReplacedBy,
		Names:       e.Names,
		Revision:    k.Revision,

		OverlapStart: e.OverlapStart,
	})
	expired := 0
	k.Tombstones = slices.DeleteFunc(k.Tombstones, func(t Tombstone) bool {
		if t.Reason == Expired {
			expired++
		}
		return t.Reason == Expired && expired > maxExpired
	})
}

// earliest returns the entry that expires first; of several, the oldest.
func earliest(entries []Entry) int {
	first := 0
	for i, e := range entries {
		if !e.NotAfter.After(entries[first].NotAfter) {
			first = i
		}
	}
	return first
}
