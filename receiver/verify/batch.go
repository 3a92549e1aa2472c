// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// maxItems is how many events a batch may have: as many as the provider with the largest ones puts into it.
const maxItems = 1000

// span is where an item is in the body.
type span struct{ start, end int }

func (p span) of(body []byte) []byte { return body[p.start:p.end:p.end] }

// items finds the events of a batch.
func (s *scratch) items(body []byte, batch *scheme.Batch) ([]span, error) {
	b := batchReader{scratch: s, member: batch.Member}
	s.open(body)
	err := b.find(batch.Path)
	if err == nil && !b.found {
		err = errNoBatch
	}
	if err := s.close(body, err); err != nil {
		return nil, err
	}
	return b.items, nil
}

type batchReader struct {
	*scratch
	member string
	found  bool
	items  []span
}

// find reads the next value, in which the array is at the path.
func (b *batchReader) find(path []string) error {
	if len(path) == 0 {
		return b.array()
	}
	if b.decoder.PeekKind() != jsontext.KindBeginObject {
		return errNoBatch
	}
	seen := false
	return b.members(func(name []byte) error {
		if string(name) != path[0] {
			return b.skip()
		}
		if seen {
			return errDuplicateName
		}
		seen = true
		return b.find(path[1:])
	})
}

func (b *batchReader) array() error {
	if b.decoder.PeekKind() != jsontext.KindBeginArray {
		return errNoBatch
	}
	b.found = true
	if _, err := b.decoder.ReadToken(); err != nil {
		return fmt.Errorf("read a batch: %w", err)
	}
	for b.decoder.PeekKind() != jsontext.KindEndArray {
		if len(b.items) == maxItems {
			return errNoBatch
		}
		if err := b.element(); err != nil {
			return err
		}
	}
	if _, err := b.decoder.ReadToken(); err != nil {
		return fmt.Errorf("read the end of a batch: %w", err)
	}
	return nil
}

// element reads one element, which is an event or has it as a member.
func (b *batchReader) element() error {
	if b.decoder.PeekKind() != jsontext.KindBeginObject {
		return errNoBatch
	}
	if b.member == "" {
		return b.item()
	}
	seen := false
	err := b.members(func(name []byte) error {
		if string(name) != b.member {
			return b.skip()
		}
		if seen {
			return errDuplicateName
		}
		seen = true
		return b.item()
	})
	if err == nil && !seen {
		return errNoBatch
	}
	return err
}

// item keeps the place of the next value.
func (b *batchReader) item() error {
	raw, err := b.decoder.ReadValue()
	if err != nil {
		return fmt.Errorf("read an item: %w", err)
	}
	end := int(b.decoder.InputOffset())
	b.items = append(b.items, span{end - len(raw), end})
	return nil
}

// verifyItems verifies a batch in which each item has a signature of its own. All must be right: what is beside a forged
// item is nothing that the provider has sent.
func (v *Verifier) verifyItems(s *scratch, secrets []receiver.Secret, r *Request, now time.Time) (Verified, error) {
	items, err := s.items(r.Body, v.scheme.Batch)
	if err != nil {
		return Verified{}, reject(receiver.CauseMalformedBody)
	}
	if len(items) == 0 {
		// Nothing in it is signed.
		return Verified{}, reject(receiver.CauseMissingSignature)
	}
	out := Verified{Events: make([]receiver.VerifiedEvent, 0, len(items))}
	oldest := 0
	for _, at := range items {
		item := at.of(r.Body)
		if err := s.scan(item, v.tree); err != nil {
			return Verified{}, reject(receiver.CauseMalformedBody)
		}
		if err := v.composeItem(s); err != nil {
			return Verified{}, err
		}
		v.match(s, secrets, nil)
		which, err := judge(secrets, s.matches, now)
		if err != nil {
			return Verified{}, err
		}
		// Secrets are listed from the newest to the oldest: one that is still in use must not look unused.
		oldest = max(oldest, which)
		event, err := v.event(s, &v.own, r, item, nil)
		if err != nil {
			return Verified{}, err
		}
		out.Events = append(out.Events, event)
	}
	out.Fingerprint = secrets[oldest].Fingerprint
	return out, nil
}

// composeItem puts the string to sign of the item that was scanned, and its signature, into the scratch.
func (v *Verifier) composeItem(s *scratch) error {
	signature := s.values[v.signature]
	if signature.kind != text {
		return reject(receiver.CauseMissingSignature)
	}
	if _, err := v.parseList(s, string(signature.text)); err != nil {
		return err
	}
	s.message, s.other = s.message[:0], s.other[:0]
	for i := range v.parts {
		p := &v.parts[i]
		if p.index < 0 {
			s.message = append(s.message, p.Literal...)
			continue
		}
		member := s.values[p.index]
		if member.kind == other || !p.bounds(string(member.text)) {
			return reject(receiver.CauseBadSignature)
		}
		s.message = append(s.message, member.text...)
	}
	s.split = len(s.message)
	return nil
}
