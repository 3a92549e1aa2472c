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

// Limits of what a scheme may ask for.
const (
	// maxDepth is how many member names a path may have.
	maxDepth = 16
	// maxText is the length of the longest field name, token, origin or acknowledgment, in bytes.
	maxText = 1024
)

// CoversID says whether senders cannot make up event ids: each source is in what is signed, or is made by the receiver.
func (s Scheme) CoversID() bool {
	if s.Signature.Algorithm == Token {
		return len(s.EventID) == 1 && s.EventID[0].PerRequest
	}
	if s.Signs(PlaceholderID) {
		return true
	}
	for source := range leaves(s.EventID) {
		if !s.covers(source) {
			return false
		}
	}
	return len(s.EventID) > 0
}

func (s Scheme) covers(source Source) bool {
	switch {
	case source.PerRequest:
		return true
	case source.Header != "":
		return false
	case len(s.Signature.Path) == 0:
		return true
	case source.BodyDigest:
		// Each item has members that are not signed.
		return false
	}
	parts, err := ParseStringToSign(s.StringToSign)
	return err == nil && slices.ContainsFunc(parts, func(p Part) bool { return p.Path != nil && slices.Equal(p.Path, source.Path) })
}

func validateIDs(s Scheme) []error {
	var problems []error
	if len(s.EventID) == 0 {
		problems = append(problems, errors.New("eventID: say in which header or at which path of the body the event's id is"))
	}
	if s.EventIDSigned && !s.CoversID() {
		problems = append(problems, errors.New("eventIDSigned: it is true, but the id is in a header and "+
			"stringToSign has no {id}, or it is in a member that is not signed: leave it out, or name the signed id"))
	}
	for i, source := range s.EventID {
		if (source.BodyDigest || source.PerRequest) && i < len(s.EventID)-1 {
			problems = append(problems, errors.New("eventID: bodyDigest and perRequest always have a value; put them last"))
		}
	}
	for source := range leaves(s.EventID) {
		if s.Batch != nil && source.Header != "" {
			problems = append(problems, errors.New("eventID.header: the events of a batch would all have that id; name a path in the item"))
		}
	}
	for _, sources := range [][]Source{s.EventType, s.ResourceID} {
		if slices.ContainsFunc(sources, func(source Source) bool { return source.BodyDigest || source.PerRequest || len(source.Compose) > 0 }) {
			problems = append(problems, errors.New("eventType, resourceID: compose, bodyDigest and perRequest make ids of events only"))
		}
	}
	return problems
}

func validateSources(field string, sources []Source) []error {
	var problems []error
	for _, source := range sources {
		if source.kinds() != 1 {
			problems = append(problems, fmt.Errorf("%s: set exactly one of header, path, compose, bodyDigest and perRequest", field))
			continue
		}
		if len(source.Compose) == 1 {
			problems = append(problems, fmt.Errorf("%s.compose: it makes one value of several; name at least two, "+
				"or the one without compose", field))
		}
		for _, part := range source.Compose {
			if part.kinds() != 1 || (part.Header == "" && len(part.Path) == 0) {
				problems = append(problems, fmt.Errorf("%s.compose: it is made of headers and paths", field))
				continue
			}
			problems = append(problems, validatePlace(field+".compose", part)...)
		}
		problems = append(problems, validatePlace(field, source)...)
	}
	return problems
}

func validatePlace(field string, source Source) []error {
	var problems []error
	if source.Header != "" {
		if err := validateHeader(source.Header); err != nil {
			problems = append(problems, fmt.Errorf("%s.header: %w", field, err))
		}
	}
	if len(source.Path) > 0 {
		if err := validatePath(source.Path); err != nil {
			problems = append(problems, fmt.Errorf("%s.path: %w", field, err))
		}
	}
	return problems
}

func (s Source) kinds() int {
	kinds := 0
	for _, set := range []bool{s.Header != "", len(s.Path) > 0, len(s.Compose) > 0, s.BodyDigest, s.PerRequest} {
		if set {
			kinds++
		}
	}
	return kinds
}

func validatePath(path []string) error {
	if len(path) > maxDepth {
		return fmt.Errorf("it has more than %d members", maxDepth)
	}
	for _, name := range path {
		if name == "" || !utf8.ValidString(name) || strings.ContainsRune(name, utf8.RuneError) {
			return errors.New("a member's name is empty or not UTF-8")
		}
	}
	return nil
}

// validateBodies is about what one request carries.
func validateBodies(s Scheme) []error {
	var problems []error
	if b := s.Batch; b != nil {
		if err := validatePath(b.Path); err != nil {
			problems = append(problems, fmt.Errorf("batch.path: %w", err))
		}
		if !utf8.ValidString(b.Member) || strings.ContainsRune(b.Member, utf8.RuneError) {
			problems = append(problems, errors.New("batch.member: the name is not UTF-8"))
		}
		if s.FormField != "" || s.FormObject {
			problems = append(problems, errors.New("batch: a form carries one event; remove formField and formObject, or batch"))
		}
	}
	if len(s.FormField) > maxText || !utf8.ValidString(s.FormField) {
		problems = append(problems, fmt.Errorf("formField: the name is not UTF-8 or longer than %d bytes", maxText))
	}
	if len(s.Acknowledgment) > maxText {
		problems = append(problems, fmt.Errorf("acknowledgment: it is longer than %d bytes", maxText))
	}
	return problems
}

func validateHandshakes(s Scheme) []error {
	var problems []error
	seen := map[HandshakeKind]bool{}
	for _, h := range s.Handshakes {
		if seen[h.Kind] {
			problems = append(problems, fmt.Errorf("handshakes: %s is there twice", h.Kind))
		}
		seen[h.Kind] = true
		if err := validateHandshake(s, h); err != nil {
			problems = append(problems, fmt.Errorf("handshakes: %w", err))
		}
		if h.Kind != HubChallenge && h.VerifyToken != "" {
			problems = append(problems, fmt.Errorf("handshakes: verifyToken belongs to HubChallenge; remove it from %s", h.Kind))
		}
		if h.Kind != OriginConsent && len(h.Origins) > 0 {
			problems = append(problems, fmt.Errorf("handshakes: origins belong to OriginConsent; remove them from %s", h.Kind))
		}
	}
	return problems
}

func validateHandshake(s Scheme, h Handshake) error {
	switch h.Kind {
	case URLVerification, URLValidation:
		if s.Batch != nil {
			return fmt.Errorf("%s is read from a body that is one event; remove batch", h.Kind)
		}
		if h.Kind == URLValidation && (s.Signature.Algorithm == Token || s.Signature.Algorithm == Ed25519) {
			return fmt.Errorf("%s is answered with an HMAC, and %s has no key for one", h.Kind, s.Signature.Algorithm)
		}
	case Ping:
		if len(s.EventType) == 0 {
			return fmt.Errorf("%s is known by its type; say in eventType where that is", h.Kind)
		}
	case HubChallenge:
		// The presets have none: a user's own token is added, and without one no challenge is answered.
		if s.Name == HMAC && h.VerifyToken == "" {
			return errors.New("HubChallenge needs verifyToken, the text that you gave the provider; without one everybody could subscribe")
		}
		return validateVisible("verifyToken", h.VerifyToken)
	case OriginConsent:
		return validateOrigins(h.Origins)
	case EchoChallenge:
	default:
		return fmt.Errorf("%q is unknown; there are URLVerification, URLValidation, HubChallenge, EchoChallenge, OriginConsent and Ping", h.Kind)
	}
	return nil
}

func validateOrigins(origins []string) error {
	if len(origins) == 0 {
		return errors.New(`OriginConsent needs origins, the hosts that may send; "*" is every one`)
	}
	for _, origin := range origins {
		if origin == "" {
			return errors.New("origins: one is empty")
		}
		if err := validateVisible("origins", origin); err != nil {
			return err
		}
	}
	return nil
}

func validateVisible(field, text string) error {
	if len(text) > maxText {
		return fmt.Errorf("%s: it is longer than %d bytes", field, maxText)
	}
	if err := validatePrefix(text); err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}
