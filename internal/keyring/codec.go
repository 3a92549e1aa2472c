// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package keyring

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// MaxBytes bounds the encoded document; a Kubernetes Secret holds at most 1 MiB.
const MaxBytes = 1 << 20

// VersionError says that the document was written by a build that uses another version.
type VersionError struct {
	// Version that the document has; 0 if it has none.
	Version int
}

// Error implements error.
func (e *VersionError) Error() string {
	return fmt.Sprintf("keyring has version %d, this build reads version %d", e.Version, Version)
}

// InvalidError says what is wrong with a document. It never quotes it.
type InvalidError struct {
	// Field of the document, such as previous[1].notAfter.
	Field string
	// Problem with it.
	Problem string
}

// Error implements error.
func (e *InvalidError) Error() string {
	return "keyring is damaged: " + e.Field + " " + e.Problem
}

// The document. Fields that a later release adds are ignored, so that it can be read by the release before; a change of
// meaning needs another version.
type (
	document struct {
		Version    int         `json:"version"`
		Revision   int64       `json:"revision"`
		Salt       []byte      `json:"salt"`
		Current    entry       `json:"current"`
		Previous   []entry     `json:"previous,omitempty"`
		Tombstones []Tombstone `json:"tombstones,omitempty"`
	}
	entry struct {
		Fingerprint      string    `json:"fingerprint"`
		Secret           []byte    `json:"secret"`
		Added            time.Time `json:"added"`
		Source           Source    `json:"source"`
		Rotation         string    `json:"rotation,omitempty"`
		Names            []string  `json:"names,omitempty"`
		NotAfter         time.Time `json:"notAfter,omitzero"`
		Final            bool      `json:"final,omitempty"`
		OverlapStart     time.Time `json:"overlapStart,omitzero"`
		ReplacedBy       string    `json:"replacedBy,omitempty"`
		ReplacedRevision int64     `json:"replacedRevision,omitempty"`
	}
)

// Parse reads a keyring. The error is a *VersionError or an *InvalidError, and never quotes the document.
func Parse(data []byte) (*Keyring, error) {
	if len(data) > MaxBytes {
		return nil, &InvalidError{Field: "document", Problem: "is larger than 1 MiB"}
	}
	var version struct {
		Version int `json:"version"`
	}
	// The decoder's own errors quote what they stumble over, so they are not passed on.
	if err := json.Unmarshal(data, &version); err != nil {
		return nil, &InvalidError{Field: "document", Problem: "is not a JSON object with a version"}
	}
	if version.Version != Version {
		return nil, &VersionError{Version: version.Version}
	}
	var doc document
	decoder := json.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(&doc); err != nil {
		return nil, &InvalidError{Field: "document", Problem: "is not of the form of version 1"}
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, &InvalidError{Field: "document", Problem: "is followed by something else"}
	}
	k := doc.keyring()
	if err := k.check(); err != nil {
		return nil, err
	}
	return k, nil
}

// Encode writes a keyring; the same keyring gives the same bytes. The error is an *InvalidError.
func (k *Keyring) Encode() ([]byte, error) {
	if err := k.check(); err != nil {
		return nil, err
	}
	doc := document{
		Version:  Version,
		Revision: k.Revision,
		Salt:     k.Salt,
		Current:  entryOf(k.Current),
	}
	for _, e := range k.Previous {
		doc.Previous = append(doc.Previous, entryOf(e))
	}
	for _, t := range k.Tombstones {
		t.Time, t.OverlapStart = t.Time.UTC(), t.OverlapStart.UTC()
		doc.Tombstones = append(doc.Tombstones, t)
	}
	data, err := json.Marshal(doc)
	if err != nil {
		return nil, &InvalidError{Field: "document", Problem: "has a time that JSON cannot hold"}
	}
	if len(data) > MaxBytes {
		return nil, &InvalidError{Field: "document", Problem: "is larger than 1 MiB"}
	}
	return data, nil
}

func (d *document) keyring() *Keyring {
	k := &Keyring{Revision: d.Revision, Salt: d.Salt, Current: d.Current.entry()}
	for _, e := range d.Previous {
		k.Previous = append(k.Previous, e.entry())
	}
	for _, t := range d.Tombstones {
		t.Time, t.OverlapStart = t.Time.UTC(), t.OverlapStart.UTC()
		k.Tombstones = append(k.Tombstones, t)
	}
	return k
}

func (e entry) entry() Entry {
	return Entry{
		Fingerprint:      e.Fingerprint,
		Secret:           e.Secret,
		Added:            e.Added.UTC(),
		Source:           e.Source,
		Rotation:         e.Rotation,
		Names:            e.Names,
		NotAfter:         e.NotAfter.UTC(),
		Final:            e.Final,
		OverlapStart:     e.OverlapStart.UTC(),
		ReplacedBy:       e.ReplacedBy,
		ReplacedRevision: e.ReplacedRevision,
	}
}

func entryOf(e Entry) entry {
	return entry{
		Fingerprint:      e.Fingerprint,
		Secret:           e.Secret,
		Added:            e.Added.UTC(),
		Source:           e.Source,
		Rotation:         e.Rotation,
		Names:            e.Names,
		NotAfter:         e.NotAfter.UTC(),
		Final:            e.Final,
		OverlapStart:     e.OverlapStart.UTC(),
		ReplacedBy:       e.ReplacedBy,
		ReplacedRevision: e.ReplacedRevision,
	}
}

// check says which invariant does not hold.
func (k *Keyring) check() error {
	if k.Revision < 1 {
		return &InvalidError{Field: "revision", Problem: "is less than 1"}
	}
	if len(k.Salt) != SaltBytes {
		return &InvalidError{Field: "salt", Problem: fmt.Sprintf("is not %d bytes long", SaltBytes)}
	}
	seen := make(map[string]string, 1+len(k.Previous)+len(k.Tombstones))
	once := func(field, fingerprint string) error {
		if !isFingerprint(fingerprint) {
			return &InvalidError{Field: field + ".fingerprint", Problem: "is not 64 lower-case hexadecimal digits"}
		}
		if other, ok := seen[fingerprint]; ok {
			return &InvalidError{Field: field + ".fingerprint", Problem: "is the same as that of " + other}
		}
		seen[fingerprint] = field
		return nil
	}
	if err := once("current", k.Current.Fingerprint); err != nil {
		return err
	}
	if err := k.Current.checkCurrent(); err != nil {
		return err
	}
	for i, e := range k.Previous {
		field := fmt.Sprintf("previous[%d]", i)
		if err := once(field, e.Fingerprint); err != nil {
			return err
		}
		if err := e.checkPrevious(field); err != nil {
			return err
		}
	}
	for i, t := range k.Tombstones {
		field := fmt.Sprintf("tombstones[%d]", i)
		if err := once(field, t.Fingerprint); err != nil {
			return err
		}
		if err := t.check(field); err != nil {
			return err
		}
	}
	return nil
}

func (e Entry) checkCurrent() error {
	switch {
	case len(e.Secret) == 0:
		return &InvalidError{Field: "current.secret", Problem: "is empty"}
	case !e.NotAfter.IsZero():
		return &InvalidError{Field: "current.notAfter", Problem: "is set"}
	case e.Final || !e.OverlapStart.IsZero() || e.ReplacedBy != "" || e.ReplacedRevision != 0:
		return &InvalidError{Field: "current", Problem: "is marked as a former secret"}
	}
	return nil
}

func (e Entry) checkPrevious(field string) error {
	switch {
	case len(e.Secret) == 0:
		return &InvalidError{Field: field + ".secret", Problem: "is empty"}
	case e.NotAfter.IsZero():
		return &InvalidError{Field: field + ".notAfter", Problem: "is missing"}
	case e.Final == e.OverlapStart.IsZero():
		return &InvalidError{Field: field + ".overlapStart", Problem: "must be set when, and only when, final is"}
	}
	return nil
}

func (t Tombstone) check(field string) error {
	switch {
	case t.Time.IsZero():
		return &InvalidError{Field: field + ".time", Problem: "is missing"}
	case t.Reason != Expired && t.Reason != Revoked:
		return &InvalidError{Field: field + ".reason", Problem: "is neither Expired nor Revoked"}
	}
	return nil
}

func isFingerprint(s string) bool {
	raw, err := hex.DecodeString(s)
	return err == nil && len(raw) == 32 && hex.EncodeToString(raw) == s
}
