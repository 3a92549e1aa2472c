// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/hookonce/hookonce/receiver"
)

// maxFields is how many fields a form may have; providers send some dozens.
const maxFields = 1000

// digestParameter is the parameter of the URL by which Twilio signs bodies that are no forms.
const digestParameter = "bodySHA256"

// field is one field of a form.
type field struct{ name, value string }

// parseForm reads a form in the order of its fields. A semicolon is refused: to some parsers it separates fields.
func parseForm(body string) ([]field, bool) {
	if strings.Count(body, "&") >= maxFields || strings.Contains(body, ";") {
		return nil, false
	}
	var fields []field
	for part := range strings.SplitSeq(body, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		decodedName, err := url.QueryUnescape(name)
		if err != nil {
			return nil, false
		}
		decodedValue, err := url.QueryUnescape(value)
		if err != nil {
			return nil, false
		}
		fields = append(fields, field{decodedName, decodedValue})
	}
	return fields, true
}

// isJSON tells JSON from forms by the first byte: the Content-Type is not signed.
func isJSON(body []byte) bool {
	body = bytes.TrimLeft(body, " \t\r\n")
	return len(body) > 0 && (body[0] == '{' || body[0] == '[')
}

// payload returns the event's JSON if the body carries it in a form, and nil if the body itself is the event.
func (v *Verifier) payload(body []byte) ([]byte, error) {
	if (v.scheme.FormField == "" && !v.scheme.FormObject) || isJSON(body) {
		return nil, nil
	}
	fields, ok := parseForm(string(body))
	if !ok {
		return nil, reject(receiver.CauseMalformedBody)
	}
	var payload []byte
	for _, f := range fields {
		if v.scheme.FormField == "" || f.name != v.scheme.FormField {
			continue
		}
		if payload != nil {
			return nil, reject(receiver.CauseMalformedBody)
		}
		payload = []byte(f.value)
		if !jsontext.Value(payload).IsValid(lenient...) {
			return nil, reject(receiver.CauseMalformedBody)
		}
	}
	if payload == nil && v.scheme.FormObject {
		return formObject(fields), nil
	}
	return payload, nil
}

// formObject writes a form as JSON: a text for each field, and an array of texts for one that is there more than once.
// Bytes that are not UTF-8 are replaced.
func formObject(fields []field) []byte {
	count := make(map[string]int, len(fields))
	for _, f := range fields {
		count[f.name]++
	}
	out := []byte{'{'}
	for i, f := range fields {
		n := count[f.name]
		if n == 0 {
			continue // it was written with the first of its name
		}
		count[f.name] = 0
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(quote(out, f.name), ':')
		if n == 1 {
			out = quote(out, f.value)
			continue
		}
		separator := byte('[')
		for _, other := range fields[i:] {
			if other.name == f.name {
				out = quote(append(out, separator), other.value)
				separator = ','
			}
		}
		out = append(out, ']')
	}
	return append(out, '}')
}

// quote appends a text as JSON; its only error says that bytes were replaced.
func quote(to []byte, text string) []byte {
	quoted, err := jsontext.AppendQuote(to, strings.ToValidUTF8(text, "\uFFFD"))
	if err != nil {
		return append(to, `""`...)
	}
	return quoted
}

// signedForm is what Twilio signs of the body: the fields sorted by name, then by value, equal ones once, names and values
// run together. Where the URL has the digest of the body there is nothing more to sign, and the digest must be right.
func signedForm(r *Request) ([]byte, error) {
	_, query, _ := strings.Cut(r.URL, "?")
	digest, found := "", false
	for part := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(part, "=")
		if name != digestParameter {
			continue
		}
		if found {
			return nil, reject(receiver.CauseBadSignature)
		}
		digest, found = value, true
	}
	if found {
		sum := sha256.Sum256(r.Body)
		if digest != hex.EncodeToString(sum[:]) {
			return nil, reject(receiver.CauseBadSignature)
		}
		return nil, nil
	}
	fields, ok := parseForm(string(r.Body))
	if !ok {
		return nil, reject(receiver.CauseMalformedBody)
	}
	slices.SortFunc(fields, func(a, b field) int {
		return cmp.Or(strings.Compare(a.name, b.name), strings.Compare(a.value, b.value))
	})
	var out []byte
	for _, f := range slices.Compact(fields) {
		out = append(append(out, f.name...), f.value...)
	}
	return out, nil
}

// portVariants returns the URL without a port and with one, the default if it has none: Twilio signs either.
func portVariants(text string) (without, with string) {
	start := strings.Index(text, "://")
	if start < 0 {
		return text, ""
	}
	start += len("://")
	end := len(text)
	if at := strings.IndexAny(text[start:], "/?#"); at >= 0 {
		end = start + at
	}
	host := end
	if colon := strings.LastIndexByte(text[start:end], ':'); colon > strings.LastIndexByte(text[start:end], ']') {
		host = start + colon
	}
	port := text[host:end]
	if port == "" {
		port = ":80"
		if strings.HasPrefix(text, "https:") {
			port = ":443"
		}
	}
	return text[:host] + text[end:], text[:host] + port + text[end:]
}
