// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// maxIDBytes is the length of the longest id, type or resource id.
const maxIDBytes = 255

// signedHead returns what is signed before the body. The id and the timestamp that it contains are the sender's, and are proven
// only by the signature.
func signedHead(s scheme.Scheme, signed parsed, header http.Header) ([]byte, error) {
	id := ""
	if strings.Contains(s.StringToSign, scheme.PlaceholderID) {
		if len(s.EventID) != 1 || s.EventID[0].Header == "" {
			return nil, reject(receiver.CauseUnusableScheme)
		}
		id = header.Get(s.EventID[0].Header)
		if cause := checkSignedID(s, id); cause != "" {
			return nil, reject(cause)
		}
	}
	text, ok := expand(s, id, signed.timestamp)
	if !ok {
		return nil, reject(receiver.CauseUnusableScheme)
	}
	return []byte(text), nil
}

// checkSignedID refuses ids that could be shifted into what is signed after them: with {id}.{timestamp}.{body}, the id a.1
// at 2 signs the same bytes as the id a at 1 with a body that begins with 2.
func checkSignedID(s scheme.Scheme, id string) string {
	if id == "" {
		return receiver.CauseMissingEventID
	}
	after := scheme.AfterID(s.StringToSign)
	if after == "" {
		return receiver.CauseUnusableScheme
	}
	if !isToken(id) || strings.Contains(id, after) {
		return receiver.CauseBadEventID
	}
	return ""
}

// expand replaces the placeholders before {body}, in one pass: an id that reads {timestamp} stays what it is.
func expand(s scheme.Scheme, id, timestamp string) (string, bool) {
	head, ok := strings.CutSuffix(s.StringToSign, scheme.PlaceholderBody)
	if !ok || strings.Contains(head, scheme.PlaceholderBody) {
		return "", false
	}
	if strings.Contains(head, scheme.PlaceholderTimestamp) != (s.Timestamp != nil) {
		return "", false
	}
	return strings.NewReplacer(scheme.PlaceholderID, id, scheme.PlaceholderTimestamp, timestamp).Replace(head), true
}

// isToken says whether a text is 1 to 255 bytes from ! to ~: what an event id may be.
func isToken(text string) bool {
	if text == "" || len(text) > maxIDBytes {
		return false
	}
	for i := range len(text) {
		if text[i] < 0x21 || text[i] > 0x7e {
			return false
		}
	}
	return true
}

// isText says whether a text is 1 to 255 bytes of UTF-8 without control characters: what a type or a resource id may be.
// The replacement character is refused like what it replaces, since two broken texts would be one.
func isText(text string) bool {
	if text == "" || len(text) > maxIDBytes {
		return false
	}
	for _, r := range text {
		if r == utf8.RuneError || unicode.IsControl(r) {
			return false
		}
	}
	return true
}
