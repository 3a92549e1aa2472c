// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/hookonce/hookonce/internal/scheme"
)

// headerHypotheses: something between the sender and us changed the headers, or it is another provider's delivery.
var headerHypotheses = []Hypothesis{
	{"OtherScheme", "every preset whose header of the signature is there", listed(func(a attempt, c Case) []proposal {
		var out []proposal
		for _, name := range scheme.Names() {
			other, _ := scheme.Preset(name)
			if name == a.scheme.Name || other.Signature.Header == "" || !carries(a.request.Header, other) {
				continue
			}
			changed := c
			changed.Scheme = other
			tried, _ := newAttempt(changed)
			tried.now = a.now
			out = append(out, proposal{tried, -1, fmt.Sprintf("it is a delivery of the scheme %s: set verification.scheme to that", name)})
		}
		return out
	})},
	{"HeaderName", "the scheme's headers under the names that gateways give them", listed(func(a attempt, _ Case) []proposal {
		changed, renamed := a, []string{}
		for _, name := range readHeaders(a.scheme) {
			if changed.request.Header.Get(name) != "" {
				continue
			}
			for _, sent := range slices.Sorted(maps.Keys(a.request.Header)) {
				if sent != name && plainName(sent) == plainName(name) {
					changed = changed.withHeader(name, a.request.Header[sent]...)
					renamed = append(renamed, fmt.Sprintf("%s (it came as %s)", name, sent))
					break
				}
			}
		}
		if len(renamed) == 0 {
			return nil
		}
		return []proposal{{
			changed, -1, "headers came under other names: let the gateway pass them on as they are: " + strings.Join(renamed, ", "),
		}}
	})},
	{"HeaderTwice", "each header once", listed(func(a attempt, _ Case) []proposal {
		var out []proposal
		for _, name := range readHeaders(a.scheme) {
			for _, value := range a.request.Header.Values(name) {
				if len(a.request.Header.Values(name)) > 1 {
					out = append(out, proposal{a.withHeader(name, value), -1, fmt.Sprintf("the header %s is there more than once: "+
						"let the proxy that adds it replace it instead", name)})
				}
			}
		}
		return out
	})},
	{"HeaderList", "the signature's header without empty elements and blanks between them", listed(func(a attempt, _ Case) []proposal {
		return a.editElements(strings.TrimSpace,
			"the signature's header has blanks or empty elements in it: send it as the scheme says, without them")
	})},
}

// readHeaders are the names of the headers that a scheme reads, in canonical writing.
func readHeaders(s scheme.Scheme) []string {
	names := []string{s.Signature.Header}
	if s.Timestamp != nil {
		names = append(names, s.Timestamp.Header)
	}
	for _, sources := range [][]scheme.Source{s.EventID, s.EventType, s.ResourceID} {
		for _, source := range sources {
			names = append(names, source.Header)
		}
	}
	for i, name := range names {
		names[i] = http.CanonicalHeaderKey(name)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

func carries(header http.Header, s scheme.Scheme) bool {
	alias := s.HeaderAliases[s.Signature.Header]
	return header.Get(s.Signature.Header) != "" || alias != "" && header.Get(alias) != ""
}

// plainName is what is left of a header's name on its way through CGI and gateways.
func plainName(name string) string {
	plain := strings.ReplaceAll(strings.ToLower(name), "_", "-")
	for _, prefix := range []string{"http-", "x-forwarded-", "x-original-", "x-"} {
		plain = strings.TrimPrefix(plain, prefix)
	}
	return plain
}

// aboutHeaders says whose delivery it looks like, where the scheme's own header is missing.
func aboutHeaders(a attempt) []string {
	if a.scheme.Signature.Header == "" || carries(a.request.Header, a.scheme) {
		return nil
	}
	senders := map[string][]string{}
	for _, name := range scheme.Names() {
		if other, _ := scheme.Preset(name); other.Signature.Header != "" && carries(a.request.Header, other) {
			senders[other.Signature.Header] = append(senders[other.Signature.Header], name)
		}
	}
	var notes []string
	if legacy, only := a.onlyLegacy(); only {
		notes = append(notes, fmt.Sprintf("it has only the older header %s, with SHA-1, and not %s: let the provider send the latter; "+
			"with these secrets it does not verify so either", legacy, a.scheme.Signature.Header))
	}
	for _, header := range slices.Sorted(maps.Keys(senders)) {
		notes = append(notes, fmt.Sprintf("it has the header %s, which %s sends, but with these secrets it does not verify so either",
			header, strings.Join(senders[header], ", ")))
	}
	return notes
}
