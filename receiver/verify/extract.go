// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/hookonce/hookonce/receiver"
)

// read says what a request whose signature holds carries: the handshake that it is, or its events.
func (v *Verifier) read(s *scratch, n *names, r *Request, secret receiver.Secret) (Verified, error) {
	out := Verified{Fingerprint: secret.Fingerprint}
	if v.scheme.Batch != nil {
		items, err := s.items(r.Body, v.scheme.Batch)
		if err != nil {
			return Verified{}, reject(receiver.CauseMalformedBody)
		}
		out.Events = make([]receiver.VerifiedEvent, 0, len(items))
		for _, at := range items {
			item := at.of(r.Body)
			if err := s.scan(item, v.tree); err != nil {
				return Verified{}, reject(receiver.CauseMalformedBody)
			}
			event, err := v.event(s, n, r, item, nil)
			if err != nil {
				return Verified{}, err
			}
			out.Events = append(out.Events, event)
		}
		return out, nil
	}
	payload, err := v.payload(r.Body)
	if err != nil {
		return Verified{}, err
	}
	document := r.Body
	if payload != nil {
		document = payload
	}
	// Where nothing is read from the body, it may be anything.
	if v.paths > 0 {
		if err := s.scan(document, v.tree); err != nil {
			return Verified{}, reject(receiver.CauseMalformedBody)
		}
	}
	if out.Handshake, err = v.handshake(s, n, r, secret.Key); err != nil {
		return Verified{}, err
	}
	if out.Handshake != nil {
		return out, nil
	}
	event, err := v.event(s, n, r, r.Body, payload)
	if err != nil {
		return Verified{}, err
	}
	out.Events = []receiver.VerifiedEvent{event}
	return out, nil
}

// event reads the id, the type and the resource id of the event that was scanned.
func (v *Verifier) event(s *scratch, n *names, r *Request, body, payload []byte) (receiver.VerifiedEvent, error) {
	id, err := v.eventID(s, n, r, body)
	if err != nil {
		return receiver.VerifiedEvent{}, err
	}
	subject := v.first(s, n, r, v.subjects, asFound)
	if subject.kind != absent && !isStorable(subject) {
		// Taken for absent, it would have effects that are booked once per resource booked once per event: twice.
		return receiver.VerifiedEvent{}, reject(receiver.CauseBadResourceID)
	}
	eventType := v.first(s, n, r, v.types, asTextOrAbsent)
	return receiver.VerifiedEvent{
		ID: id, Type: string(eventType.text), ResourceID: string(subject.text), Body: body, Payload: payload,
	}, nil
}

func (v *Verifier) eventID(s *scratch, n *names, r *Request, body []byte) (string, error) {
	for i := range v.ids {
		source := &v.ids[i]
		switch {
		case source.perRequest:
			return rand.Text(), nil
		case source.bodyDigest && v.form:
			// Many bodies say the same and have the same signature; they are one event, whatever port the URL had.
			return digestOf(s.message), nil
		case source.bodyDigest:
			return digestOf(body), nil
		case len(source.compose) > 0:
			if id, ok := v.composed(s, n, r, source.compose); ok {
				return id, nil
			}
			continue
		}
		switch found := s.lookup(source, n, r); {
		case found.kind == absent:
		case found.kind != text || !isToken(string(found.text)):
			return "", reject(receiver.CauseBadEventID)
		default:
			return string(found.text), nil
		}
	}
	return "", reject(receiver.CauseMissingEventID)
}

func digestOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

var escape = strings.NewReplacer(`\`, `\\`, `:`, `\:`)

// composed makes one id of several values, and says whether all of them are there. A digest has no colon, and so is never
// what values are joined to.
func (v *Verifier) composed(s *scratch, n *names, r *Request, sources []source) (string, bool) {
	values := make([]string, len(sources))
	for i := range sources {
		found := s.lookup(&sources[i], n, r)
		if found.kind == absent || found.kind == other {
			return "", false
		}
		values[i] = escape.Replace(string(found.text))
	}
	id := strings.Join(values, ":")
	if !isToken(id) {
		id = digestOf([]byte(id))
	}
	return id, true
}

func asFound(v value) value { return v }

// asTextOrAbsent passes over what cannot be stored as a text: the type only describes the event, which was signed and is
// worth more than its type.
func asTextOrAbsent(v value) value {
	if isStorable(v) {
		return v
	}
	return value{}
}

// isStorable accepts texts, and natural numbers digit by digit as they are written: several providers number their things.
func isStorable(v value) bool {
	switch v.kind {
	case text:
		return isText(string(v.text))
	case number:
		return isText(string(v.text)) && isNatural(v.text)
	case absent, boolean, other:
	}
	return false
}

func isNatural(digits []byte) bool {
	for _, digit := range digits {
		if digit < '0' || digit > '9' {
			return false
		}
	}
	return true
}

// first returns the first value that the sources have once each was read.
func (v *Verifier) first(s *scratch, n *names, r *Request, sources []source, read func(value) value) value {
	for i := range sources {
		if found := read(s.lookup(&sources[i], n, r)); found.kind != absent {
			return found
		}
	}
	return value{}
}

// lookup returns the value at a header or a path.
func (s *scratch) lookup(at *source, n *names, r *Request) value {
	if at.index >= 0 {
		return s.values[at.index]
	}
	if header := first(r.Header, at.header[n.alias]); header != "" {
		return value{kind: text, text: []byte(header)}
	}
	return value{}
}
