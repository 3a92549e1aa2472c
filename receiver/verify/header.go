// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// maxElements bounds the work that one header may cause. Providers send one signature for each of two or three secrets.
const maxElements = 100

// maxTimestampDigits is the length of the greatest int64.
const maxTimestampDigits = 19

// No timestamp of our time in seconds has twelve digits, and none in milliseconds has fewer than twelve or more than
// fourteen: it is a mistake of unit that can be named.
const (
	leastMilliseconds = 1e11
	mostMilliseconds  = 1e14
)

// parsed is what the headers say before anything is known to be true.
type parsed struct {
	timestamp  string
	candidates [][]byte
}

// checkDuplicates refuses a request that repeats a header which the scheme reads: proxies and libraries disagree about
// which of the two counts.
func checkDuplicates(s scheme.Scheme, header http.Header) error {
	names := []string{s.Signature.Header}
	if s.Timestamp != nil {
		names = append(names, s.Timestamp.Header)
	}
	for _, sources := range [][]scheme.Source{s.EventID, s.EventType, s.ResourceID} {
		for _, source := range sources {
			names = append(names, source.Header)
		}
	}
	for _, name := range names {
		if name != "" && len(header.Values(name)) > 1 {
			return reject(receiver.CauseDuplicateHeader)
		}
	}
	return nil
}

// parse reads the signatures and the timestamp. Elements with other prefixes, and signatures that cannot be decoded, are
// passed over: providers add new versions beside the old ones.
func parse(s scheme.Scheme, header http.Header) (parsed, error) {
	elements, err := split(header.Get(s.Signature.Header), s.Signature.Separator)
	if err != nil {
		return parsed{}, err
	}
	timestamp, err := timestampOf(s, header, elements)
	if err != nil {
		return parsed{}, err
	}
	out := parsed{timestamp: timestamp}
	found := false
	for _, element := range elements {
		text, ok := strings.CutPrefix(element, s.Signature.Prefix)
		if !ok {
			continue
		}
		found = true
		if candidate, ok := decode(s.Signature.Encoding, text); ok {
			out.candidates = append(out.candidates, candidate)
		}
	}
	if !found {
		return parsed{}, reject(receiver.CauseMissingSignature)
	}
	return out, nil
}

// split cuts a header into its elements. Blanks are part of an element: a prefix matches exactly or not at all.
func split(value, separator string) ([]string, error) {
	if strings.TrimSpace(value) == "" {
		return nil, reject(receiver.CauseMissingHeader)
	}
	if separator == "" {
		return []string{value}, nil
	}
	if strings.Count(value, separator) >= maxElements {
		return nil, reject(receiver.CauseMalformedHeader)
	}
	elements := strings.Split(value, separator)
	if slices.Contains(elements, "") {
		return nil, reject(receiver.CauseMalformedHeader)
	}
	return elements, nil
}

// timestampOf returns the text of the timestamp; empty if the scheme has none.
func timestampOf(s scheme.Scheme, header http.Header, elements []string) (string, error) {
	t := s.Timestamp
	if t == nil {
		return "", nil
	}
	if textproto.CanonicalMIMEHeaderKey(t.Header) != textproto.CanonicalMIMEHeaderKey(s.Signature.Header) {
		value := header.Get(t.Header)
		if strings.TrimSpace(value) == "" {
			return "", reject(receiver.CauseMissingHeader)
		}
		text, ok := strings.CutPrefix(value, t.Prefix)
		if !ok {
			return "", reject(receiver.CauseBadTimestamp)
		}
		return text, nil
	}
	var text string
	found := false
	for _, element := range elements {
		rest, ok := strings.CutPrefix(element, t.Prefix)
		if !ok {
			continue
		}
		if found {
			return "", reject(receiver.CauseMalformedHeader)
		}
		text, found = rest, true
	}
	if !found {
		return "", reject(receiver.CauseMissingTimestamp)
	}
	return text, nil
}

// decode accepts hexadecimal in either case, and of base64 the one canonical writing: one signature, one text.
func decode(encoding scheme.Encoding, text string) ([]byte, bool) {
	switch encoding {
	case scheme.Hex:
		signature, err := hex.DecodeString(text)
		return signature, err == nil
	case scheme.Base64:
		signature, err := base64.StdEncoding.Strict().DecodeString(text)
		return signature, err == nil && base64.StdEncoding.EncodeToString(signature) == text
	case scheme.Raw:
	}
	return nil, false
}

// checkTime compares a timestamp with now, in whole units, as providers' own libraries do.
func checkTime(t *scheme.Timestamp, text string, now time.Time, tolerance time.Duration) error {
	if t == nil {
		return nil
	}
	value, ok := parseDecimal(text)
	if !ok {
		return reject(receiver.CauseBadTimestamp)
	}
	current, allowed := now.Unix(), int64(tolerance/time.Second)
	switch t.Unit {
	case scheme.Seconds:
		if value >= leastMilliseconds {
			return reject(receiver.CauseTimestampUnit)
		}
	case scheme.Milliseconds:
		if value < leastMilliseconds || value >= mostMilliseconds {
			return reject(receiver.CauseTimestampUnit)
		}
		current, allowed = now.UnixMilli(), tolerance.Milliseconds()
	default:
		return reject(receiver.CauseUnusableScheme)
	}
	allowed = max(allowed, 0)
	switch {
	case current-value > allowed:
		return reject(receiver.CauseStaleTimestamp)
	case value-current > allowed:
		return reject(receiver.CauseFutureTimestamp)
	}
	return nil
}

// parseDecimal reads a natural number in its only writing: digits, no sign, no leading zero, no exponent.
func parseDecimal(text string) (int64, bool) {
	if text == "" || len(text) > maxTimestampDigits || (text[0] == '0' && len(text) > 1) {
		return 0, false
	}
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
	}
	value, err := strconv.ParseInt(text, 10, 64)
	return value, err == nil
}
