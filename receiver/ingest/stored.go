// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hookonce/hookonce/internal/scheme"
)

// credentials are never stored, whatever a scheme reads from them.
var credentials = []string{"authorization", "proxy-authorization", "cookie", "x-api-key"}

// storedHeaders returns the headers that are kept with an event, as a JSON object of arrays with names in lower case:
// Content-Type, User-Agent, and what the scheme reads except the signature, which is worth something to whoever could
// send it again.
func (p *prepared) storedHeaders(header http.Header) []byte {
	kept := p.kept
	if p.alias != "" && len(header[p.signature]) == 0 {
		kept = p.keptAliases
	}
	size := 2
	for _, k := range kept {
		for _, value := range header[k.name] {
			size += len(k.member) + len(value) + 8
		}
	}
	out := append(make([]byte, 0, size), '{')
	for _, k := range kept {
		values := header[k.name]
		if len(values) == 0 {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, k.member...)
		for i, value := range values {
			out = append(out, "[,"[min(i, 1)])
			out = appendString(out, value)
		}
		out = append(out, ']')
	}
	return append(out, '}')
}

// appendString appends the text as JSON. Nearly all headers are plain and only need quotes.
func appendString(out []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, err := json.Marshal(text)
			if err != nil {
				quoted = []byte(`""`)
			}
			return append(out, quoted...)
		}
	}
	out = append(out, '"')
	out = append(out, text...)
	return append(out, '"')
}

// keptHeaders are the headers that are stored, in the order of their names.
func keptHeaders(s scheme.Scheme, aliases bool) []keptHeader {
	names := []string{"Content-Type", "User-Agent"}
	if s.Timestamp != nil {
		names = append(names, s.Timestamp.Header)
	}
	for _, sources := range [][]scheme.Source{s.EventID, s.EventType, s.ResourceID} {
		names = appendHeaders(names, sources)
	}
	var kept []keptHeader
	for _, name := range names {
		if name == "" || strings.EqualFold(name, s.Signature.Header) || slices.ContainsFunc(credentials, equalTo(name)) {
			continue
		}
		if alias := aliasOf(s, name); aliases && alias != "" {
			name = alias
		}
		k := keptHeader{name: http.CanonicalHeaderKey(name), member: `"` + strings.ToLower(name) + `":`}
		if !slices.ContainsFunc(credentials, equalTo(name)) && !slices.Contains(kept, k) {
			kept = append(kept, k)
		}
	}
	slices.SortFunc(kept, func(a, b keptHeader) int { return strings.Compare(a.member, b.member) })
	return kept
}

// appendHeaders appends the headers that the sources read.
func appendHeaders(names []string, sources []scheme.Source) []string {
	for _, source := range sources {
		names = appendHeaders(append(names, source.Header), source.Compose)
	}
	return names
}

func equalTo(name string) func(string) bool {
	return func(other string) bool { return strings.EqualFold(name, other) }
}
