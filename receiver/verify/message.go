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

// compose puts the string to sign into the scratch, all but the body. What it is made of is the sender's, and is proven
// only by the signature.
func (v *Verifier) compose(s *scratch, signed parsed, r *Request) error {
	if v.signsID {
		if cause := v.checkSignedID(signed.id); cause != "" {
			return reject(cause)
		}
	}
	url, other := r.URL, ""
	var form []byte
	if v.form {
		var err error
		if form, err = signedForm(r); err != nil {
			return err
		}
		url, other = portVariants(url)
	}
	if err := v.checkURL(r); err != nil {
		return err
	}
	s.message, s.split = v.write(s.message[:0], signed, r.Method, url, form)
	s.other = s.other[:0]
	if other != "" {
		s.other, _ = v.write(s.other, signed, r.Method, other, form)
	}
	return nil
}

// write appends the string to sign without the body, and says where the body belongs. Each placeholder is replaced once: an
// id that reads {timestamp} stays what it is.
func (v *Verifier) write(to []byte, signed parsed, method, url string, form []byte) (text []byte, split int) {
	split = -1
	for i := range v.parts {
		switch v.parts[i].Placeholder {
		case "":
			to = append(to, v.parts[i].Literal...)
		case scheme.PlaceholderID:
			to = append(to, signed.id...)
		case scheme.PlaceholderTimestamp:
			to = append(to, signed.timestamp...)
		case scheme.PlaceholderMethod:
			to = append(to, method...)
		case scheme.PlaceholderURL:
			to = append(to, url...)
		case scheme.PlaceholderForm:
			to = append(to, form...)
		case scheme.PlaceholderBody:
			split = len(to)
		}
	}
	if split < 0 {
		split = len(to)
	}
	return to, split
}

// checkSignedID refuses ids that could be shifted into what is signed beside them: with {id}.{timestamp}.{body}, the id a.1
// at 2 signs the same bytes as the id a at 1 with a body that begins with 2.
func (v *Verifier) checkSignedID(id string) string {
	if id == "" {
		return receiver.CauseMissingEventID
	}
	if !isToken(id) || !v.bounded(scheme.PlaceholderID, id) {
		return receiver.CauseBadEventID
	}
	return ""
}

// checkURL refuses URLs and methods that could be shifted into what is signed beside them. What comes before the query is
// ours; the query is the sender's.
func (v *Verifier) checkURL(r *Request) error {
	if !v.signsURL {
		return nil
	}
	if !v.bounded(scheme.PlaceholderURL, r.URL) {
		return reject(receiver.CauseBadSignature)
	}
	if v.urlThenBody() && (strings.ContainsFunc(r.URL, inNoURL) || (len(r.Body) > 0 && !inNoURL(rune(r.Body[0])))) {
		return reject(receiver.CauseBadSignature)
	}
	if strings.Contains(v.scheme.StringToSign, scheme.PlaceholderMethod) && r.Method != http.MethodPost {
		return reject(receiver.CauseBadSignature)
	}
	return nil
}

// urlThenBody says whether nothing is between the URL and the body. Then the body must begin with a character that is in no
// URL, as JSON does, and the URL must have none of them.
func (v *Verifier) urlThenBody() bool {
	return v.bodyAt > 0 && v.bodyAt < len(v.parts) && v.parts[v.bodyAt-1].Placeholder == scheme.PlaceholderURL
}

func inNoURL(r rune) bool { return r <= ' ' || r == '{' || r == '[' || r == '"' }

// bounded says whether the text that ends a value is found where the value ends, and not in it.
func (v *Verifier) bounded(placeholder, value string) bool {
	for i := range v.parts {
		if v.parts[i].Placeholder == placeholder && !v.parts[i].bounds(value) {
			return false
		}
	}
	return true
}

func (p *part) bounds(value string) bool {
	switch {
	case p.stop == "" || p.Free:
		return true
	case p.behind:
		return lastAtStart(value, p.stop)
	}
	return firstAtEnd(value, p.stop)
}

// firstAtEnd says whether the first place of stop in value+stop is its end.
func firstAtEnd(value, stop string) bool {
	if strings.Contains(value, stop) {
		return false
	}
	for k := 1; k < len(stop); k++ {
		if strings.HasSuffix(value, stop[:k]) && stop[k:] == stop[:len(stop)-k] {
			return false
		}
	}
	return true
}

// lastAtStart says whether the last place of stop in stop+value is its start.
func lastAtStart(value, stop string) bool {
	if strings.Contains(value, stop) {
		return false
	}
	for k := 1; k < len(stop); k++ {
		if strings.HasPrefix(value, stop[len(stop)-k:]) && stop[k:] == stop[:len(stop)-k] {
			return false
		}
	}
	return true
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
