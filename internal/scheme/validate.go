// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// hopHeaders never reach a handler as they were sent, or not at all, so that nothing can be read from them.
var hopHeaders = []string{
	"host", "connection", "content-length", "transfer-encoding", "trailer", "te", "upgrade", "keep-alive", "proxy-connection",
}

// WithDefaults fills in what a scheme that a user describes may leave open: the name HMAC, hexadecimal SHA-256 over the
// body, a raw key, a timestamp in seconds in the signature's header, the lengths of keys, the retry horizon and a rotation
// that is a cut. A Token and a public Ed25519 key have defaults of their own.
func (s Scheme) WithDefaults() Scheme {
	s = s.Clone()
	setDefault(&s.Name, HMAC)
	setDefault(&s.Signature.Algorithm, SHA256)
	switch s.Signature.Algorithm {
	case Token:
		setDefault(&s.Signature.Encoding, Raw)
	case Ed25519:
		setDefault(&s.StringToSign, PlaceholderBody)
		setDefault(&s.Key.Encoding, Base64)
		setDefault(&s.Key.MinBytes, ed25519.PublicKeySize)
		setDefault(&s.Key.MaxBytes, ed25519.PublicKeySize)
	case SHA1, SHA256, SHA384, SHA512:
		setDefault(&s.StringToSign, PlaceholderBody)
	}
	setDefault(&s.Signature.Encoding, Hex)
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
	setDefault(&s.Behavior.Rotation, RotationImmediate)
	return s
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate says what is wrong with a scheme: each problem by the field's name in the manifest and with its remedy, joined.
// A scheme that it accepts can be verified with.
func Validate(s Scheme) error {
	problems := slices.Concat(
		validateSignature(s),
		validateAliases(s),
		validateStringToSign(s),
		validateTimestamp(s),
		validateKey(s),
		validateIDs(s),
		validateSources("eventID", s.EventID),
		validateSources("eventType", s.EventType),
		validateSources("resourceID", s.ResourceID),
		validateBodies(s),
		validateHandshakes(s),
	)
	if s.Name == "" {
		problems = append(problems, errors.New("scheme: the name is empty"))
	}
	if s.Behavior.RetryHorizon <= 0 {
		problems = append(problems, errors.New("behavior.retryHorizon: it must be positive"))
	}
	switch s.Behavior.Rotation {
	case "", RotationBoth, RotationLagging, RotationOldEventsKeepOld, RotationImmediate:
	default:
		problems = append(problems, fmt.Errorf("behavior.rotation: %q is none of Both, Lagging, OldEventsKeepOld and Immediate; "+
			"Immediate assumes the least", s.Behavior.Rotation))
	}
	return errors.Join(problems...)
}

func validateSignature(s Scheme) []error {
	signature := s.Signature
	var problems []error
	if len(signature.Path) > 0 {
		problems = append(problems, validateSignaturePath(s)...)
	} else if err := validateHeader(signature.Header); err != nil {
		problems = append(problems, fmt.Errorf("signature.header: %w", err))
	}
	if !slices.Contains([]string{"", ",", ";", " "}, signature.Separator) {
		problems = append(problems, fmt.Errorf("signature.separator: %q is not a comma, a semicolon or a space", signature.Separator))
	}
	if signature.Separator != "" && strings.Contains(signature.Prefix, signature.Separator) {
		problems = append(problems, fmt.Errorf("signature.prefix: %q contains the separator, so that no element can begin with it",
			signature.Prefix))
	}
	prefix := signature.Prefix
	if signature.Algorithm == Token {
		prefix = strings.TrimSuffix(prefix, " ") // Bearer
	}
	if err := validatePrefix(prefix); err != nil {
		problems = append(problems, fmt.Errorf("signature.prefix: %w", err))
	}
	return append(problems, validateAlgorithm(s)...)
}

func validateSignaturePath(s Scheme) []error {
	var problems []error
	if err := validatePath(s.Signature.Path); err != nil {
		problems = append(problems, fmt.Errorf("signature.path: %w", err))
	}
	if s.Signature.Header != "" {
		problems = append(problems, errors.New("signature.path: set it or signature.header, not both"))
	}
	if s.Batch == nil {
		problems = append(problems, errors.New("signature.path: it is the place of the signature in each item: say in batch where the items are"))
	}
	if s.Signature.Algorithm == Token {
		problems = append(problems, errors.New("signature.path: a Token comes in a header; set signature.header"))
	}
	return problems
}

func validateAlgorithm(s Scheme) []error {
	var problems []error
	encodings := []Encoding{Hex, Base64}
	switch s.Signature.Algorithm {
	case SHA256, SHA384, SHA512:
	case SHA1:
		if s.Name != HMAC && s.Name != Twilio {
			problems = append(problems, fmt.Errorf("signature.algorithm: %s does not sign with SHA1; use what it signs with", s.Name))
		}
	case Ed25519:
		if s.Key.Encoding == Raw || s.Key.MinBytes != ed25519.PublicKeySize || s.Key.MaxBytes != ed25519.PublicKeySize {
			problems = append(problems, errors.New("key: a public Ed25519 key has 32 bytes, in Base64 or Hex: set minBytes and maxBytes to 32"))
		}
	case Token:
		encodings = []Encoding{Raw}
		if s.Timestamp != nil {
			problems = append(problems, errors.New("timestamp: a Token signs none, and an unsigned one proves nothing; remove it"))
		}
	default:
		problems = append(problems, fmt.Errorf("signature.algorithm: %q is none of SHA256, SHA384, SHA512, Ed25519, Token and, "+
			"for providers that have nothing better, SHA1", s.Signature.Algorithm))
	}
	if !slices.Contains(encodings, s.Signature.Encoding) {
		problems = append(problems, fmt.Errorf("signature.encoding: %q is not %s: signatures are Hex or Base64, and a Token is Raw",
			s.Signature.Encoding, encodings))
	}
	return problems
}

// validateAliases holds aliases to headers that the scheme reads, all of them or none: a signature under one name with an id
// under the other would be a mixture that no provider sends.
func validateAliases(s Scheme) []error {
	if len(s.HeaderAliases) == 0 {
		return nil
	}
	var problems []error
	known := map[string]bool{}
	for _, name := range s.headers() {
		known[strings.ToLower(name)] = true
	}
	taken := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(s.HeaderAliases)) {
		alias := s.HeaderAliases[name]
		if !known[strings.ToLower(name)] {
			problems = append(problems, fmt.Errorf("headerAliases: the scheme reads no header %q; name one that it reads, once", name))
		}
		delete(known, strings.ToLower(name))
		if err := validateHeader(alias); err != nil {
			problems = append(problems, fmt.Errorf("headerAliases: %w", err))
		}
		if taken[strings.ToLower(alias)] {
			problems = append(problems, fmt.Errorf("headerAliases: %q stands for two headers; give each its own alias", alias))
		}
		taken[strings.ToLower(alias)] = true
	}
	if known[strings.ToLower(s.Signature.Header)] {
		problems = append(problems, errors.New("headerAliases: add one for signature.header: the others are used when it is"))
	}
	return problems
}

// headers are those that the scheme reads.
func (s Scheme) headers() []string {
	names := []string{s.Signature.Header}
	if s.Timestamp != nil {
		names = append(names, s.Timestamp.Header)
	}
	for _, sources := range [][]Source{s.EventID, s.EventType, s.ResourceID} {
		for source := range leaves(sources) {
			names = append(names, source.Header)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// leaves yields the sources, and for a composed one what it is made of.
func leaves(sources []Source) func(yield func(Source) bool) {
	return func(yield func(Source) bool) {
		for _, source := range sources {
			if len(source.Compose) == 0 {
				if !yield(source) {
					return
				}
				continue
			}
			for _, part := range source.Compose {
				if !yield(part) {
					return
				}
			}
		}
	}
}

func validateTimestamp(s Scheme) []error {
	t := s.Timestamp
	if t == nil || len(s.Signature.Path) > 0 {
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

func validateKey(s Scheme) []error {
	k := s.Key
	var problems []error
	if k.Encoding != Raw && k.Encoding != Hex && k.Encoding != Base64 {
		problems = append(problems, fmt.Errorf("key.encoding: %q is none of Raw, Hex and Base64", k.Encoding))
	}
	if s.Signature.Algorithm == Token && k.Encoding != Raw {
		problems = append(problems, errors.New("key.encoding: a Token is compared as it is; set Raw"))
	}
	if k.MinBytes < 1 {
		problems = append(problems, errors.New("key.minBytes: it must be at least 1; an empty key lets everybody sign"))
	}
	if k.MaxBytes != 0 && k.MaxBytes < k.MinBytes {
		problems = append(problems, errors.New("key.maxBytes: it is less than key.minBytes"))
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
