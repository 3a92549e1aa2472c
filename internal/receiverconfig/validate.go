// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package receiverconfig

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
)

// destinationPattern is a URL that may be shown to whoever may read the endpoint: without credentials.
var destinationPattern = regexp.MustCompile(`^https?://[^/?#@]+([/?][^#]*)?$`)

// publicPattern is a URL that the query of a request can be put behind. What it matches is signed byte for byte, so nothing
// in it is put into a canonical form.
var publicPattern = regexp.MustCompile(`^https?://[^/?#@]+(/[^?#]*)?$`)

// Parts of what a claim has to outlive beside the provider's retries.
const (
	// maxOverlap is the longest time for which a former secret is accepted: verification.overlap of an endpoint, and overlap of
	// a rotation, have no larger one.
	maxOverlap = 168 * time.Hour
	// maxSkew is how much later an event may be accepted than it was sent: its timestamp may be ahead of our clock, or behind
	// it, by verification.tolerance, which is at most 1h.
	maxSkew = 2 * time.Hour
)

// LeastClaims returns how long claims must be kept at least: an event of that scheme may come again for as long.
func LeastClaims(s scheme.Scheme) time.Duration {
	return s.Behavior.RetryHorizon + maxOverlap + maxSkew
}

// Keys of an Effect.
const (
	KeyEvent           = "Event"
	KeyResourceAndType = "ResourceAndType"
)

// Validate says what in the configuration a receiver cannot work with. The operator's admission rules refuse most of it
// before; a receiver on its own has only this.
func (c *Config) Validate() error {
	var problems []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	refuse(c.Endpoint == "", "endpoint is empty")
	refuse(!strings.HasPrefix(c.Path, "/"), "path %q does not start with /", c.Path)
	refuse(c.Tolerance <= 0, "tolerance is not positive")
	refuse(c.MaxBodyBytes <= 0, "maxBodyBytes is not positive")
	refuse(!isName(c.Schema) || strings.HasPrefix(c.Schema, "pg_"),
		"schema %q is no plain lower-case name, or begins with pg_, which is Postgres's own", c.Schema)
	least := LeastClaims(c.Scheme)
	refuse(time.Duration(c.Retention.Claims) < least, "retention.claims is %v, and must be at least %v: the provider may send an "+
		"event again for %v, former secrets are accepted for up to %v more, and clocks differ",
		time.Duration(c.Retention.Claims), least, c.Scheme.Behavior.RetryHorizon, maxOverlap)
	refuse(c.Retention.Payloads <= 0, "retention.payloads is not positive")
	refuse(c.Retention.Attempts < 0, "retention.attempts is negative")
	refuse(c.Retention.Failed < 0, "retention.failed is negative")
	refuse(c.Retention.Payloads > c.Retention.Claims, "retention.payloads is longer than retention.claims")
	if err := scheme.Validate(c.Scheme); err != nil {
		problems = append(problems, fmt.Errorf("scheme: %w", err))
	}
	problems = append(problems, c.validateURL()...)
	problems = append(problems, c.validateHandshakes()...)
	problems = append(problems, c.validateEffects()...)
	problems = append(problems, c.validateDestinations()...)
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("configuration: %w", errors.Join(problems...))
}

func (c *Config) validateURL() []error {
	if c.PublicURL == "" {
		if c.Scheme.Signs(scheme.PlaceholderURL) {
			return []error{fmt.Errorf("publicURL is empty, and signatures of scheme %s cover it", c.Scheme.Name)}
		}
		return nil
	}
	if !ValidPublicURL(c.PublicURL) {
		return []error{errors.New("publicURL is not an absolute http or https URL without a user, a query and a fragment")}
	}
	return nil
}

// isName says whether a schema or a function may be called so in SQL; quoting others would hide a mistake.
func isName(text string) bool {
	const maxBytes = 63
	plain := strings.Trim(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
	return plain && text != "" && len(text) <= maxBytes && (text[0] < '0' || text[0] > '9')
}

// ValidPublicURL says that a provider can be given the URL: absolute, http or https, without a user, a query and a fragment.
func ValidPublicURL(text string) bool {
	// The error of url.Parse quotes the URL.
	parsed, err := url.Parse(text)
	return err == nil && parsed.Hostname() != "" && publicPattern.MatchString(text)
}

// ValidDestinationURL says that events can be posted to the URL: absolute, http or https, without a user and a fragment.
func ValidDestinationURL(text string) bool {
	// The error of url.Parse quotes the URL, which may hold credentials.
	parsed, err := url.Parse(text)
	return err == nil && parsed.Hostname() != "" && destinationPattern.MatchString(text)
}

// ValidEventType says that it is a type, a prefix followed by .*, or * for all.
func ValidEventType(pattern string) bool {
	name := strings.TrimSuffix(pattern, ".*")
	return pattern == "*" || name != "" && !strings.ContainsAny(name, "* \t\r\n")
}

// validateHandshakes checks what an endpoint adds to the handshakes of its scheme.
func (c *Config) validateHandshakes() []error {
	var problems []error
	for _, handshake := range c.Scheme.Handshakes {
		if handshake.Kind == scheme.HubChallenge && handshake.VerifyToken == "" {
			problems = append(problems, errors.New("scheme: the handshake HubChallenge has no verifyToken"))
		}
		if handshake.Kind == scheme.OriginConsent && len(handshake.Origins) == 0 {
			problems = append(problems, errors.New("scheme: the handshake OriginConsent has no origins"))
		}
	}
	return problems
}

func (c *Config) validateEffects() []error {
	var problems []error
	names := map[string]bool{}
	for i, effect := range c.Effects {
		at := fmt.Sprintf("effects[%d]", i)
		if effect.Name == "" || names[effect.Name] {
			problems = append(problems, fmt.Errorf("%s: name %q is empty or not unique", at, effect.Name))
		}
		names[effect.Name] = true
		if schema, name, _ := strings.Cut(effect.Function, "."); !isName(schema) || !isName(name) {
			problems = append(problems, fmt.Errorf("%s: function %q is not schema.name in lower case", at, effect.Function))
		}
		if effect.Key != KeyEvent && effect.Key != KeyResourceAndType {
			problems = append(problems, fmt.Errorf("%s: key %q is neither %s nor %s", at, effect.Key, KeyEvent, KeyResourceAndType))
		}
		problems = append(problems, validatePatterns(at, effect.EventTypes)...)
	}
	return problems
}

func (c *Config) validateDestinations() []error {
	var problems []error
	names := map[string]bool{}
	for i, destination := range c.Destinations {
		at := fmt.Sprintf("destinations[%d]", i)
		if destination.Name == "" || names[destination.Name] {
			problems = append(problems, fmt.Errorf("%s: name %q is empty or not unique", at, destination.Name))
		}
		names[destination.Name] = true
		problems = append(problems, destination.validateAddress(at)...)
		if destination.Timeout <= 0 {
			problems = append(problems, fmt.Errorf("%s: timeout is not positive", at))
		}
		if destination.Concurrency < 0 {
			problems = append(problems, fmt.Errorf("%s: concurrency is negative", at))
		}
		if destination.Ordering != "" && destination.Ordering != OrderingPerResource {
			problems = append(problems, fmt.Errorf("%s: ordering %q is neither empty nor %s", at, destination.Ordering, OrderingPerResource))
		}
		problems = append(problems, validatePatterns(at, destination.EventTypes)...)
	}
	return problems
}

// validateAddress checks where deliveries go.
func (d *Destination) validateAddress(at string) []error {
	if d.Subject == "" {
		if !ValidDestinationURL(d.URL) {
			return []error{fmt.Errorf("%s: url is not an absolute http or https URL without a user and a fragment", at)}
		}
		return nil
	}
	var problems []error
	if !validServer(d.URL) {
		problems = append(problems, fmt.Errorf("%s: url is not nats:// or tls:// and a host, without a user and a path", at))
	}
	if !validSubject(d.Subject) {
		problems = append(problems, fmt.Errorf("%s: subject %q cannot be published to", at, d.Subject))
	}
	return problems
}

// validServer says that a NATS server may be there: nothing but a scheme, a host and a port.
func validServer(text string) bool {
	parsed, err := url.Parse(text)
	return err == nil && (parsed.Scheme == "nats" || parsed.Scheme == "tls") && parsed.Hostname() != "" &&
		text == parsed.Scheme+"://"+parsed.Host
}

// EventTypePlaceholder is a token of a subject that stands for the event type.
const EventTypePlaceholder = "{eventType}"

// validSubject says that messages may be published to the subject: no wildcard, one event type at most, and none of the
// subjects that belong to the server or to answers: so the first token is no event type, which the provider chooses.
func validSubject(subject string) bool {
	types := 0
	for token := range strings.SplitSeq(subject, ".") {
		if token == EventTypePlaceholder {
			types++
			continue
		}
		letters := strings.Trim(token, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
		if token == "" || letters != "" {
			return false
		}
	}
	return types <= 1 && !strings.HasPrefix(subject, EventTypePlaceholder) && !strings.HasPrefix(subject, "_INBOX")
}

// validatePatterns checks event types.
func validatePatterns(at string, patterns []string) []error {
	if len(patterns) == 0 {
		return []error{fmt.Errorf("%s: eventTypes is empty", at)}
	}
	var problems []error
	for _, pattern := range patterns {
		if !ValidEventType(pattern) {
			problems = append(problems, fmt.Errorf("%s: event type %q is neither a type, a prefix such as invoice.*, nor *", at, pattern))
		}
	}
	return problems
}
