// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// prepared is what follows from the settings for every request, so that no request has to work it out again.
type prepared struct {
	Settings

	// from is what it was made of.
	from *Settings
	// plainPath says that the path is written without escapes.
	plainPath bool
	// requestLine is what a delivery begins with, if it is sent in the usual way; empty if there is none.
	requestLine []byte
	// allow are the methods that are served.
	allow string
	// signature and alias are the canonical names of the header that must be there; empty if there is none.
	signature, alias string
	// kept are the headers that are stored, and keptAliases those if the provider uses its other names.
	kept, keptAliases []keptHeader
	// claimBody says that the id of an event is not signed, so that its body counts too.
	claimBody bool
	// acknowledgment and its type replace what is answered; nil if the stored answer is.
	acknowledgment     []byte
	acknowledgmentType []string
}

// keptHeader is one header that is stored.
type keptHeader struct {
	// name is canonical, and member is its name in the stored object, quoted, with a colon.
	name, member string
}

// prepare returns what follows from the settings; they are the same ones for many requests.
func (h *Handler) prepare(s *Settings) *prepared {
	if p := h.prepared.Load(); p != nil && p.from == s {
		return p
	}
	if s == nil {
		s = &Settings{}
	}
	p := &prepared{Settings: *s, from: s}
	p.MaxBodyBytes = max(p.MaxBodyBytes, 0)
	setDefault(&p.MaxBodyBytes, DefaultMaxBodyBytes)
	setDefault(&p.MaxInFlightBytes, DefaultMaxInFlightBytes)
	if p.Check == nil {
		p.Check = func(secrets []receiver.Secret, r *receiver.Request, now time.Time, tolerance time.Duration) (receiver.Verified, error) {
			return h.options.Verify(p.Scheme, secrets, r, now, tolerance)
		}
	}
	p.plainPath = (&url.URL{Path: p.Path}).EscapedPath() == p.Path
	if p.plainPath && p.Path != "" {
		p.requestLine = []byte(http.MethodPost + " " + p.Path + " HTTP/1.1\r\n")
	}
	methods := []string{http.MethodPost}
	if h.options.Methods != nil {
		methods = append(methods, slices.DeleteFunc(slices.Clone(h.options.Methods(p.Scheme)), isPost)...)
	}
	p.allow = strings.Join(methods, ", ")
	p.signature = http.CanonicalHeaderKey(p.Scheme.Signature.Header)
	p.alias = http.CanonicalHeaderKey(aliasOf(p.Scheme, p.signature))
	p.kept, p.keptAliases = keptHeaders(p.Scheme, false), keptHeaders(p.Scheme, true)
	p.claimBody = !p.Scheme.EventIDSigned && !p.Scheme.BodyReuse
	if text := p.Scheme.Acknowledgment; text != "" {
		p.acknowledgment, p.acknowledgmentType = []byte(text), typeJSON
		if !json.Valid(p.acknowledgment) {
			p.acknowledgmentType = []string{http.DetectContentType(p.acknowledgment)}
		}
	}
	h.prepared.Store(p)
	return p
}

func isPost(method string) bool { return method == http.MethodPost }

// aliasOf returns the other name of a header, or "".
func aliasOf(s scheme.Scheme, name string) string {
	if name == "" {
		return ""
	}
	for own, alias := range s.HeaderAliases {
		if strings.EqualFold(own, name) {
			return alias
		}
	}
	return ""
}
