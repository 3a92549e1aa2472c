// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// kind is what was found where a value may be.
type kind int

const (
	// absent: not there, null, or the empty string; the next source is asked.
	absent kind = iota
	// text is a JSON string or a header.
	text
	// number is a JSON number.
	number
	// other is a JSON boolean, object or array: nothing that a text can be made of.
	other
)

// value is what was found at one source, as it is written; strings are unescaped.
type value struct {
	kind kind
	text string
}

// extract reads the event's id, type and resource id from a request whose signature holds.
func extract(s scheme.Scheme, r *Request) (receiver.VerifiedEvent, error) {
	var paths [][]string
	for _, sources := range [][]scheme.Source{s.EventID, s.EventType, s.ResourceID} {
		for _, source := range sources {
			if len(source.Path) > 0 {
				paths = append(paths, source.Path)
			}
		}
	}
	values, err := scan(r.Body, paths)
	if err != nil {
		return receiver.VerifiedEvent{}, reject(receiver.CauseMalformedBody)
	}
	found := lookup{request: r, values: values}
	id, eventType, resource := found.first(s.EventID, asFound), found.first(s.EventType, asTextOrAbsent), found.first(s.ResourceID, asFound)
	switch {
	case id.kind == absent:
		return receiver.VerifiedEvent{}, reject(receiver.CauseMissingEventID)
	case id.kind != text || !isToken(id.text):
		return receiver.VerifiedEvent{}, reject(receiver.CauseBadEventID)
	case resource.kind != absent && !isStorable(resource):
		// Taken for absent, it would have effects that are booked once per resource booked once per event: twice.
		return receiver.VerifiedEvent{}, reject(receiver.CauseBadResourceID)
	}
	return receiver.VerifiedEvent{ID: id.text, Type: eventType.text, ResourceID: resource.text, Body: r.Body}, nil
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
		return isText(v.text)
	case number:
		return isText(v.text) && isNatural(v.text)
	case absent, other:
	}
	return false
}

func isNatural(digits string) bool {
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}

// lookup takes the values of the paths in the order in which extract collected them.
type lookup struct {
	request *Request
	values  []value
}

// first returns the first value that the sources have once each was read. It must be called once for each list of sources,
// in order.
func (l *lookup) first(sources []scheme.Source, read func(value) value) value {
	var winner value
	for _, source := range sources {
		var v value
		if len(source.Path) > 0 {
			v, l.values = l.values[0], l.values[1:]
		} else if header := l.request.Header.Get(source.Header); header != "" {
			v = value{kind: text, text: header}
		}
		if winner.kind == absent {
			winner = read(v)
		}
	}
	return winner
}
