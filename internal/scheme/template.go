// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"errors"
	"fmt"
	"strings"
)

// The placeholders of Scheme.StringToSign.
const (
	// PlaceholderID is the event id from its header.
	PlaceholderID = "{id}"
	// PlaceholderTimestamp is the timestamp as it is written in its header, without its prefix.
	PlaceholderTimestamp = "{timestamp}"
	// PlaceholderMethod is the HTTP method: POST.
	PlaceholderMethod = "{method}"
	// PlaceholderURL is the public URL that the request was sent to, with its query.
	PlaceholderURL = "{url}"
	// PlaceholderForm is what Twilio signs of a body: the names and values of a form, sorted by name and run together; nothing
	// where the parameter bodySHA256 of the URL has the digest of the body.
	PlaceholderForm = "{form}"
	// PlaceholderBody is the body, byte for byte.
	PlaceholderBody = "{body}"
	// PlaceholderItem is the beginning of {item.<path>}: a member of a batch's item, by the names on the way to it with dots
	// between them. A member that is absent or null is empty. {item.<path>...} may contain the text that follows it.
	PlaceholderItem = "{item."
)

// itemRest marks the one member of an item that may contain the text between the members.
const itemRest = "..."

const knownPlaceholders = "{id}, {timestamp}, {method}, {url}, {form}, {body} and, in a batch, {item.<path>}"

// Part is one piece of a string to sign: a text, or a placeholder.
type Part struct {
	// Literal is the text; empty for a placeholder.
	Literal string
	// Placeholder is one of the Placeholder constants; empty for a text.
	Placeholder string
	// Path of a PlaceholderItem.
	Path []string
	// Free says that the value of a PlaceholderItem may contain the texts beside it.
	Free bool
}

// ParseStringToSign cuts a string to sign into its parts. No two texts follow each other.
func ParseStringToSign(text string) ([]Part, error) {
	var parts []Part
	for text != "" {
		at := strings.IndexAny(text, "{}")
		if at < 0 {
			return append(parts, Part{Literal: text}), nil
		}
		if at > 0 {
			parts = append(parts, Part{Literal: text[:at]})
		}
		end := strings.IndexByte(text[at:], '}')
		if text[at] == '}' || end < 0 {
			return nil, errors.New("the placeholders are " + knownPlaceholders + "; other braces are not allowed")
		}
		part, err := parsePlaceholder(text[at : at+end+1])
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
		text = text[at+end+1:]
	}
	return parts, nil
}

func parsePlaceholder(text string) (Part, error) {
	switch text {
	case PlaceholderID, PlaceholderTimestamp, PlaceholderMethod, PlaceholderURL, PlaceholderForm, PlaceholderBody:
		return Part{Placeholder: text}, nil
	}
	path, ok := strings.CutPrefix(strings.TrimSuffix(text, "}"), PlaceholderItem)
	if !ok {
		return Part{}, fmt.Errorf("%s is unknown; the placeholders are %s", text, knownPlaceholders)
	}
	path, free := strings.CutSuffix(path, itemRest)
	names := strings.Split(path, ".")
	if err := validatePath(names); err != nil {
		return Part{}, fmt.Errorf("%s: %w", text, err)
	}
	return Part{Placeholder: PlaceholderItem, Path: names, Free: free}, nil
}

// Signs says whether the string to sign has the placeholder.
func (s Scheme) Signs(placeholder string) bool { return strings.Contains(s.StringToSign, placeholder) }

// validateStringToSign refuses what does not sign the event, and what can be read in two ways: a signature over the bytes
// a.1.2 must not hold for the id a.1 and for the id a.
func validateStringToSign(s Scheme) []error {
	if s.Signature.Algorithm == Token {
		if s.StringToSign != "" {
			return []error{errors.New("stringToSign: a Token signs nothing; leave it out")}
		}
		return nil
	}
	parts, err := ParseStringToSign(s.StringToSign)
	if err != nil {
		return []error{fmt.Errorf("stringToSign: %w", err)}
	}
	problems := validateContent(s, parts)
	for _, placeholder := range []string{
		PlaceholderID, PlaceholderTimestamp, PlaceholderMethod, PlaceholderURL, PlaceholderForm, PlaceholderBody,
	} {
		if strings.Count(s.StringToSign, placeholder) > 1 {
			problems = append(problems, fmt.Errorf("stringToSign: %s is in it more than once", placeholder))
		}
	}
	if s.Signs(PlaceholderTimestamp) != (s.Timestamp != nil) {
		problems = append(problems, errors.New("stringToSign: {timestamp} is in it when, and only when, timestamp says where it is"))
	}
	if s.Signs(PlaceholderID) && (len(s.EventID) != 1 || s.EventID[0].Header == "") {
		problems = append(problems, errors.New("stringToSign: {id} needs eventID.header, and no other source of the id"))
	}
	return append(problems, validateBoundaries(parts)...)
}

// validateContent holds a scheme to signing its events: the body, the form or members of each item.
func validateContent(s Scheme, parts []Part) []error {
	var problems []error
	items, contents := 0, 0
	for _, part := range parts {
		switch part.Placeholder {
		case PlaceholderBody, PlaceholderForm:
			contents++
		case PlaceholderItem:
			items++
		case PlaceholderID, PlaceholderTimestamp, PlaceholderMethod, PlaceholderURL:
			if len(s.Signature.Path) > 0 {
				problems = append(problems, fmt.Errorf("stringToSign: with signature.path each item is signed alone: "+
					"only {item.<path>} can be in it, not %s", part.Placeholder))
			}
		}
	}
	switch {
	case len(s.Signature.Path) > 0 && (items == 0 || contents > 0):
		problems = append(problems, errors.New("stringToSign: with signature.path it is made of {item.<path>}, without {body} and {form}"))
	case len(s.Signature.Path) == 0 && items > 0:
		problems = append(problems, errors.New("stringToSign: {item.<path>} needs signature.path, the place of each item's signature"))
	case len(s.Signature.Path) == 0 && contents != 1:
		problems = append(problems, errors.New("stringToSign: it must contain {body} or, for forms as Twilio signs them, {form}, "+
			"and one of them only"))
	}
	if s.Signs(PlaceholderForm) && s.Batch != nil {
		problems = append(problems, errors.New("stringToSign: {form} is one event; remove batch"))
	}
	return problems
}

// validateBoundaries refuses a value whose end cannot be found. What may be anything (the body, the form, one member of an
// item) can be once in a string to sign; values before it end, and values behind it begin, at a text which they then must
// not contain. Timestamps and methods need none: both have one length, the former because old ones are refused.
func validateBoundaries(parts []Part) []error {
	var problems []error
	free := len(parts)
	for i, part := range parts {
		if part.Placeholder == PlaceholderBody || part.Placeholder == PlaceholderForm || part.Free {
			if free < i {
				problems = append(problems, errors.New("stringToSign: only one of its values may be anything; remove ... from the other members"))
			}
			free = min(free, i)
		}
	}
	for i, part := range parts {
		// Neither the JSON that follows nor Twilio's forms can be taken for the rest of a URL: see verify.
		urlBefore := part.Placeholder == PlaceholderURL && i+1 == free && free < len(parts) && parts[free].Placeholder != PlaceholderItem
		if urlBefore || !part.needsText() {
			continue
		}
		if i < free && !hasLiteral(parts, i+1) && i+1 < len(parts) {
			problems = append(problems, fmt.Errorf("stringToSign: put the character that the provider signs after %s after it, "+
				"or it and what follows can be shifted into each other", part))
		}
		if i > free && !hasLiteral(parts, i-1) {
			problems = append(problems, fmt.Errorf("stringToSign: put the character that the provider signs before %s before it, "+
				"or it and what comes first can be shifted into each other", part))
		}
	}
	return problems
}

// needsText says whether the end of the part's value is found by a text beside it.
func (p Part) needsText() bool {
	return p.Placeholder == PlaceholderURL || p.Placeholder == PlaceholderID || p.Placeholder == PlaceholderItem
}

// String writes the part as it is in a string to sign.
func (p Part) String() string {
	switch {
	case p.Placeholder == "":
		return p.Literal
	case p.Placeholder != PlaceholderItem:
		return p.Placeholder
	case p.Free:
		return PlaceholderItem + strings.Join(p.Path, ".") + itemRest + "}"
	}
	return PlaceholderItem + strings.Join(p.Path, ".") + "}"
}

func hasLiteral(parts []Part, i int) bool { return i >= 0 && i < len(parts) && parts[i].Literal != "" }
