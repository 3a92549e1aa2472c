// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
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

// parsed is what the headers say before anything is known to be true. The signatures are in the scratch.
type parsed struct {
	id, timestamp string
}

// parse reads the signatures, the timestamp and a signed id. Elements with other prefixes, and signatures that cannot be
// decoded, are passed over: providers add new versions beside the old ones.
func (v *Verifier) parse(s *scratch, n *names, header http.Header) (parsed, error) {
	// Proxies and libraries disagree about which of two equal headers counts.
	for _, name := range n.all {
		if len(header[name]) > 1 {
			return parsed{}, reject(receiver.CauseDuplicateHeader)
		}
	}
	signatures := first(header, n.signature)
	if blank(signatures) {
		return parsed{}, reject(receiver.CauseMissingHeader)
	}
	signed := parsed{id: first(header, n.id)}
	listed, err := v.parseList(s, signatures)
	switch {
	case err != nil:
		return parsed{}, err
	case v.shared && !listed.hasTimestamp:
		return parsed{}, reject(receiver.CauseMissingTimestamp)
	case v.shared:
		signed.timestamp = listed.timestamp
	case v.scheme.Timestamp != nil:
		if signed.timestamp, err = v.ownTimestamp(first(header, n.timestamp)); err != nil {
			return parsed{}, err
		}
	}
	if !listed.hasSignature {
		return parsed{}, reject(receiver.CauseMissingSignature)
	}
	return signed, nil
}

func first(header http.Header, name string) string {
	if values := header[name]; len(values) > 0 {
		return values[0]
	}
	return ""
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

func (v *Verifier) ownTimestamp(value string) (string, error) {
	if blank(value) {
		return "", reject(receiver.CauseMissingHeader)
	}
	text, ok := strings.CutPrefix(value, v.scheme.Timestamp.Prefix)
	if !ok {
		return "", reject(receiver.CauseBadTimestamp)
	}
	return text, nil
}

// list is what the signature's header has.
type list struct {
	timestamp                  string
	hasTimestamp, hasSignature bool
}

// parseList reads the elements of the signature's header. Blanks are part of an element: a prefix matches exactly or not at
// all.
func (v *Verifier) parseList(s *scratch, value string) (list, error) {
	var out list
	separator := v.scheme.Signature.Separator
	s.candidates = s.candidates[:0]
	for count, more := 0, true; more; count++ {
		element := value
		if more = false; separator != "" {
			element, value, more = strings.Cut(value, separator)
			if element == "" || count == maxElements {
				return list{}, reject(receiver.CauseMalformedHeader)
			}
		}
		if text, ok := strings.CutPrefix(element, v.scheme.Signature.Prefix); ok {
			out.hasSignature = true
			v.candidate(s, text)
		}
		if !v.shared {
			continue
		}
		if text, ok := strings.CutPrefix(element, v.scheme.Timestamp.Prefix); ok {
			if out.hasTimestamp {
				return list{}, reject(receiver.CauseMalformedHeader)
			}
			out.timestamp, out.hasTimestamp = text, true
		}
	}
	return out, nil
}

// strictBase64 refuses stray bits, and together with the right length everything but the one canonical writing.
var strictBase64 = base64.StdEncoding.Strict()

// candidate decodes a signature and keeps it if it can be one. Hexadecimal is accepted in either case, and of base64 the one
// canonical writing: one signature, one text.
func (v *Verifier) candidate(s *scratch, text string) {
	at := len(s.candidates)
	s.text = append(s.text[:0], text...)
	switch v.scheme.Signature.Encoding {
	case scheme.Hex:
		if len(text) != hex.EncodedLen(v.size) {
			return
		}
		s.candidates = slices.Grow(s.candidates, v.size)[:at+v.size]
		if _, err := hex.Decode(s.candidates[at:], s.text); err != nil {
			s.candidates = s.candidates[:at]
		}
	case scheme.Base64:
		if len(text) != base64.StdEncoding.EncodedLen(v.size) {
			return
		}
		room := base64.StdEncoding.DecodedLen(len(text))
		s.candidates = slices.Grow(s.candidates, room)[:at+room]
		n, err := strictBase64.Decode(s.candidates[at:], s.text)
		if err != nil || n != v.size {
			n = 0
		}
		s.candidates = s.candidates[:at+n]
	case scheme.Raw:
		// A token has any length: its digest is compared with that of the secret.
		sum := sha256.Sum256(s.text)
		s.candidates = append(s.candidates, sum[:]...)
	}
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
