// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The placeholders of Scheme.StringToSign.
const (
	PlaceholderID        = "{id}"
	PlaceholderTimestamp = "{timestamp}"
	PlaceholderBody      = "{body}"
)

// maxDepth is how many member names a path may have.
const maxDepth = 16

// hopHeaders never reach a handler as they were sent, or not at all, so that nothing can be read from them.
var hopHeaders = []string{
	"host", "connection", "content-length", "transfer-encoding", "trailer", "te", "upgrade", "keep-alive", "proxy-connection",
}

// WithDefaults fills in what a scheme that a user describes may leave open: the name HMAC, hexadecimal SHA-256 over the
// body, a raw key, a timestamp in seconds in the signature's header, the lengths of keys and the retry horizon.
func (s Scheme) WithDefaults() Scheme {
	s = s.clone()
	setDefault(&s.Name, HMAC)
	setDefault(&s.Signature.Encoding, Hex)
	setDefault(&s.Signature.Algorithm, SHA256)
	setDefault(&s.StringToSign, PlaceholderBody)
	setDefault(&s.Key.Encoding, Raw)
	if s.Key.Encoding == Raw {
		setDefault(&s.Key.MinBytes, MinKeyBytes)
	}
	setDefault(&s.Key.MinBytes, MinIssuedKeyBytes)
	if s.Timestamp != nil {
		setDefault(&s.Timestamp.Header, s.Signature.Header)
		setDefault(&s.Timestamp.Unit, Seconds)
	}
	setDefault(&s.Behavior.RetryHorizon, DefaultRetryHorizon)
	return s
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// CoversID says whether the signature covers the event id: it is read from the body alone, or {id} is signed.
func (s Scheme) CoversID() bool {
	if strings.Contains(s.StringToSign, PlaceholderID) {
		return true
	}
	return len(s.EventID) > 0 && !slices.ContainsFunc(s.EventID, func(source Source) bool { return source.Header != "" })
}

// Validate says what is wrong with a scheme: each problem by the field's name in the manifest and with its remedy, joined.
// A scheme that it accepts can be verified with.
func Validate(s Scheme) error {
	problems := slices.Concat(
		validateSignature(s.Signature),
		validateStringToSign(s),
		validateTimestamp(s),
		validateKey(s.Key),
		validateSources("eventID", s.EventID),
		validateSources("eventType", s.EventType),
		validateSources("resourceID", s.ResourceID),
	)
	if s.Name == "" {
		problems = append(problems, errors.New("scheme: the name is empty"))
	}
	if len(s.EventID) == 0 {
		problems = append(problems, errors.New("eventID: say in which header or at which path of the body the event's id is"))
	}
	if s.EventIDSigned && !s.CoversID() {
		problems = append(problems, errors.New("eventIDSigned: it is true, but the id is in a header and "+
			"stringToSign has no {id}: leave it out, or name the signed id"))
	}
	if s.Behavior.RetryHorizon <= 0 {
		problems = append(problems, errors.New("behavior.retryHorizon: it must be positive"))
	}
	return errors.Join(problems...)
}

func validateSignature(s Signature) []error {
	var problems []error
	if err := validateHeader(s.Header); err != nil {
		problems = append(problems, fmt.Errorf("signature.header: %w", err))
	}
	if !slices.Contains([]string{"", ",", ";", " "}, s.Separator) {
		problems = append(problems, fmt.Errorf("signature.separator: %q is not a comma, a semicolon or a space", s.Separator))
	}
	if s.Separator != "" && strings.Contains(s.Prefix, s.Separator) {
		problems = append(problems, fmt.Errorf("signature.prefix: %q contains the separator, so that no element can begin with it", s.Prefix))
	}
	if err := validatePrefix(s.Prefix); err != nil {
		problems = append(problems, fmt.Errorf("signature.prefix: %w", err))
	}
	if s.Encoding != Hex && s.Encoding != Base64 {
		problems = append(problems, fmt.Errorf("signature.encoding: %q is neither Hex nor Base64", s.Encoding))
	}
	if s.Algorithm != SHA256 && s.Algorithm != SHA384 && s.Algorithm != SHA512 {
		problems = append(problems, fmt.Errorf("signature.algorithm: %q is none of SHA256, SHA384 and SHA512", s.Algorithm))
	}
	return problems
}

func validateStringToSign(s Scheme) []error {
	var problems []error
	text := s.StringToSign
	if !strings.HasSuffix(text, PlaceholderBody) {
		problems = append(problems, errors.New("stringToSign: it must end with {body}"))
	}
	for _, placeholder := range []string{PlaceholderID, PlaceholderTimestamp, PlaceholderBody} {
		if strings.Count(text, placeholder) > 1 {
			problems = append(problems, fmt.Errorf("stringToSign: %s is in it more than once", placeholder))
		}
	}
	if rest := withoutPlaceholders(text); strings.ContainsAny(rest, "{}") {
		problems = append(problems, errors.New("stringToSign: the placeholders are {id}, {timestamp} and {body}; other braces are not allowed"))
	}
	if strings.Contains(text, PlaceholderTimestamp) != (s.Timestamp != nil) {
		problems = append(problems, errors.New("stringToSign: {timestamp} is in it when, and only when, timestamp says where it is"))
	}
	if strings.Contains(text, PlaceholderID) {
		if len(s.EventID) != 1 || s.EventID[0].Header == "" {
			problems = append(problems, errors.New("stringToSign: {id} needs eventID.header, and no other source of the id"))
		}
		if AfterID(text) == "" {
			problems = append(problems, errors.New("stringToSign: put the character that the provider signs after {id} "+
				"after it, or ids and bodies can be shifted into each other"))
		}
	}
	return problems
}

// AfterID is the literal text that follows {id} in a string to sign. An id that contains it would be ambiguous.
func AfterID(stringToSign string) string {
	_, rest, _ := strings.Cut(stringToSign, PlaceholderID)
	literal, _, _ := strings.Cut(rest, "{")
	return literal
}

func withoutPlaceholders(text string) string {
	return strings.NewReplacer(PlaceholderID, "", PlaceholderTimestamp, "", PlaceholderBody, "").Replace(text)
}

func validateTimestamp(s Scheme) []error {
	t := s.Timestamp
	if t == nil {
		return nil
	}
	var problems []error
	if err := validateHeader(t.Header); err != nil {
		problems = append(problems, fmt.Errorf("timestamp.header: %w", err))
	}
	if err := validatePrefix(t.Prefix); err != nil {
		problems = append(problems, fmt.Errorf("timestamp.prefix: %w", err))
	}
	if t.Unit != Seconds && t.Unit != Milliseconds {
		problems = append(problems, fmt.Errorf("timestamp.unit: %q is neither Seconds nor Milliseconds", t.Unit))
	}
	if !strings.EqualFold(t.Header, s.Signature.Header) {
		return problems
	}
	switch {
	case s.Signature.Separator == "":
		problems = append(problems, errors.New("timestamp.header: the signature's header is one element; "+
			"set signature.separator or name another header"))
	case t.Prefix == "" || s.Signature.Prefix == "":
		problems = append(problems, errors.New("timestamp.prefix: the signature and the timestamp share a header, so both need a prefix"))
	case strings.HasPrefix(t.Prefix, s.Signature.Prefix) || strings.HasPrefix(s.Signature.Prefix, t.Prefix):
		problems = append(problems, errors.New("timestamp.prefix: it and signature.prefix begin alike, so that elements cannot be told apart"))
	case strings.Contains(t.Prefix, s.Signature.Separator):
		problems = append(problems, errors.New("timestamp.prefix: it contains signature.separator"))
	}
	return problems
}

func validateKey(k Key) []error {
	var problems []error
	if k.Encoding != Raw && k.Encoding != Hex && k.Encoding != Base64 {
		problems = append(problems, fmt.Errorf("key.encoding: %q is none of Raw, Hex and Base64", k.Encoding))
	}
	if k.MinBytes < 1 {
		problems = append(problems, errors.New("key.minBytes: it must be at least 1; an empty key lets everybody sign"))
	}
	if k.MaxBytes != 0 && k.MaxBytes < k.MinBytes {
		problems = append(problems, errors.New("key.maxBytes: it is less than key.minBytes"))
	}
	return problems
}

func validateSources(field string, sources []Source) []error {
	var problems []error
	for _, source := range sources {
		if (source.Header == "") == (len(source.Path) == 0) {
			problems = append(problems, fmt.Errorf("%s: set exactly one of header and path", field))
			continue
		}
		if source.Header != "" {
			if err := validateHeader(source.Header); err != nil {
				problems = append(problems, fmt.Errorf("%s.header: %w", field, err))
			}
			continue
		}
		if len(source.Path) > maxDepth {
			problems = append(problems, fmt.Errorf("%s.path: it has more than %d members", field, maxDepth))
		}
		for _, name := range source.Path {
			if name == "" || !utf8.ValidString(name) || strings.ContainsRune(name, utf8.RuneError) {
				problems = append(problems, fmt.Errorf("%s.path: a member's name is empty or not UTF-8", field))
			}
		}
	}
	return problems
}

func validateHeader(name string) error {
	if name == "" {
		return errors.New("name the header")
	}
	for i := range len(name) {
		if !isHeaderByte(name[i]) {
			return fmt.Errorf("%q is not a header's name; use letters, digits and -", name)
		}
	}
	if slices.Contains(hopHeaders, strings.ToLower(name)) {
		return fmt.Errorf("%q belongs to the connection and cannot be read from a request", name)
	}
	return nil
}

func isHeaderByte(b byte) bool {
	return b == '-' || b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}

// validatePrefix accepts what can be the beginning of an element: visible ASCII, since headers cannot carry the rest.
func validatePrefix(prefix string) error {
	for i := range len(prefix) {
		if prefix[i] < 0x21 || prefix[i] > 0x7e {
			return fmt.Errorf("%q has a character that is not visible ASCII", prefix)
		}
	}
	return nil
}
