// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package ingest

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/hookonce/hookonce/internal/scheme"
)

// credentials are never stored, whatever a scheme reads from them.
var credentials = []string{"authorization", "proxy-authorization", "cookie", "x-api-key"}

// storedHeaders returns the headers that are kept with an event, as a JSON object of arrays with names in lower case:
// Content-Type, User-Agent, and what the scheme reads except the signature, which is worth something to whoever could
// send it again.
func storedHeaders(s scheme.Scheme, header http.Header) []byte {
	names := []string{"Content-Type", "User-Agent"}
	if s.Timestamp != nil {
		names = append(names, s.Timestamp.Header)
	}
	for _, sources := range [][]scheme.Source{s.EventID, s.EventType, s.ResourceID} {
		for _, source := range sources {
			names = append(names, source.Header)
		}
	}
	kept := map[string][]string{}
	for _, name := range names {
		values := header.Values(name)
		if len(values) > 0 && !strings.EqualFold(name, s.Signature.Header) && !isCredential(name) {
			kept[strings.ToLower(name)] = values
		}
	}
	encoded, err := json.Marshal(kept)
	if err != nil {
		return []byte("{}")
	}
	return encoded
}

func isCredential(name string) bool {
	for _, credential := range credentials {
		if strings.EqualFold(name, credential) {
			return true
		}
	}
	return false
}
