// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookonce/hookonce/internal/scheme"
	"github.com/hookonce/hookonce/receiver"
)

// signatureHypotheses: the sender signs something else, or writes the signature in another way.
var signatureHypotheses = []Hypothesis{
	{"Algorithm", "the other hashes: SHA-1, SHA-256, SHA-384, SHA-512", listed(otherAlgorithms)},
	{"SignatureLegacy", "the older header of the signature, with SHA-1", listed(func(a attempt, _ Case) []proposal {
		legacy, only := a.onlyLegacy()
		if !only {
			return nil
		}
		changed := a.describing(func(s *scheme.Scheme) {
			s.Signature.Header, s.Signature.Prefix, s.Signature.Algorithm = legacy, "sha1=", scheme.SHA1
		})
		return []proposal{{changed, -1, fmt.Sprintf("it has only the older header %s, with SHA-1, and not %s: let the provider send the latter, "+
			"or, if it cannot, describe a scheme HMAC with signature.header %s and signature.algorithm SHA1, which is weak",
			legacy, a.scheme.Signature.Header, legacy)}}
	})},
	{"SignatureEncoding", "the signature in hexadecimal or base64, whichever the scheme has not", listed(func(a attempt, _ Case) []proposal {
		other := map[scheme.Encoding]scheme.Encoding{scheme.Hex: scheme.Base64, scheme.Base64: scheme.Hex}[a.scheme.Signature.Encoding]
		if other == "" {
			return nil
		}
		changed := a.describing(func(s *scheme.Scheme) { s.Signature.Encoding = other })
		return []proposal{{changed, -1, fmt.Sprintf("the signature is written in %s, and the scheme expects %s: let the sender change it, "+
			"or describe it as a scheme HMAC with signature.encoding %s", other, a.scheme.Signature.Encoding, other)}}
	})},
	{"SignaturePrefix", "the signature with another prefix or none", listed(otherPrefixes)},
	{"SignatureWriting", "the signature without blanks and quotes, and with its padding", listed(func(a attempt, _ Case) []proposal {
		return a.editElements(func(element string) string {
			prefix, rest := "", element
			if cut, found := strings.CutPrefix(strings.TrimSpace(element), a.scheme.Signature.Prefix); found {
				prefix, rest = a.scheme.Signature.Prefix, cut
			}
			rest = strings.TrimPrefix(strings.Trim(rest, " \t\"'"), "0x")
			if a.scheme.Signature.Encoding == scheme.Base64 {
				rest = standardBase64(rest)
			}
			return prefix + rest
		}, "the signature's header has blanks, quotes or another writing of base64 in it: send it as the scheme says, without them")
	})},
	{"StringToSign", "signatures over the body alone, or with the id or the timestamp before it in another way", listed(otherStrings)},
	{"TimestampUnit", "the timestamp in seconds or milliseconds, whichever the scheme has not", listed(otherUnit)},
}

// onlyLegacy returns the name of the header that was before the scheme's, as X-Hub-Signature was before X-Hub-Signature-256, if it
// is there and the scheme's is not.
func (a attempt) onlyLegacy() (string, bool) {
	legacy, found := strings.CutSuffix(a.scheme.Signature.Header, "-256")
	return legacy, found && !carries(a.request.Header, a.scheme) && a.request.Header.Get(legacy) != ""
}

func otherAlgorithms(a attempt, _ Case) []proposal {
	hashes := []scheme.Algorithm{scheme.SHA1, scheme.SHA256, scheme.SHA384, scheme.SHA512}
	if !slices.Contains(hashes, a.scheme.Signature.Algorithm) {
		return nil
	}
	var out []proposal
	for _, algorithm := range hashes {
		if algorithm == a.scheme.Signature.Algorithm {
			continue
		}
		changed := a.describing(func(s *scheme.Scheme) { s.Signature.Algorithm = algorithm })
		message := fmt.Sprintf("the sender signs with %s, and the scheme expects %s: let it use that", algorithm, a.scheme.Signature.Algorithm)
		out = append(out, proposal{changed, -1, message})
		// Headers that name the algorithm name the other one.
		changed = changed.describing(func(s *scheme.Scheme) { s.Signature.Prefix = strings.ToLower(string(algorithm)) + "=" })
		out = append(out, proposal{changed, -1, message})
	}
	return out
}

func otherPrefixes(a attempt, _ Case) []proposal {
	var out []proposal
	for _, prefix := range []string{"", "sha256=", "v0=", "v1=", "v1,", "h1=", "hmac-sha256=", "SHA256=", "V1,", "V1="} {
		changed := a.describing(func(s *scheme.Scheme) { s.Signature.Prefix = prefix })
		name := strconv.Quote(prefix)
		if prefix == "" {
			name = "no prefix"
		}
		out = append(out, proposal{changed, -1, fmt.Sprintf("the signature has %s, and the scheme expects %q: let the sender write it so, "+
			"or describe it as a scheme HMAC with another signature.prefix", name, a.scheme.Signature.Prefix)})
	}
	return out
}

// editElements changes every element of the signature's header.
func (a attempt) editElements(edit func(string) string, message string) []proposal {
	name := a.scheme.Signature.Header
	value := a.request.Header.Get(name)
	if name == "" || len(a.request.Header.Values(name)) != 1 {
		return nil
	}
	elements := []string{value}
	if a.scheme.Signature.Separator != "" {
		elements = strings.Split(value, a.scheme.Signature.Separator)
	}
	var kept []string
	for _, element := range elements {
		if edited := edit(element); edited != "" {
			kept = append(kept, edited)
		}
	}
	return []proposal{{a.withHeader(name, strings.Join(kept, a.scheme.Signature.Separator)), -1, message}}
}

// otherStrings are what other providers sign.
func otherStrings(a attempt, _ Case) []proposal {
	if len(a.scheme.Signature.Path) > 0 || a.scheme.StringToSign == "" {
		return nil
	}
	var out []proposal
	for _, text := range []string{
		"{body}", "{timestamp}.{body}", "{timestamp}:{body}", "{timestamp},{body}", "{timestamp}{body}",
		"{body}{timestamp}", "{body}.{timestamp}",
		"v0:{timestamp}:{body}", "{id}.{timestamp}.{body}", "{timestamp}.{id}.{body}",
		"{url}{body}", "{method}{url}{body}", "{method}{url}{body}{timestamp}",
	} {
		changed := a.describing(func(s *scheme.Scheme) {
			s.StringToSign = text
			if !s.Signs(scheme.PlaceholderTimestamp) {
				s.Timestamp = nil
			}
		})
		if changed.scheme.Signs(scheme.PlaceholderTimestamp) && a.scheme.Timestamp == nil {
			continue
		}
		if changed.scheme.Signs(scheme.PlaceholderID) && (len(a.scheme.EventID) != 1 || a.scheme.EventID[0].Header == "") {
			continue
		}
		out = append(out, proposal{changed, -1, fmt.Sprintf("the sender signs %s, and the scheme expects %s: let it sign that, "+
			"or describe it as a scheme HMAC with another stringToSign", text, a.scheme.StringToSign)})
	}
	return out
}

func otherUnit(a attempt, _ Case) []proposal {
	if a.scheme.Timestamp == nil {
		return nil
	}
	unit := scheme.Milliseconds
	if a.scheme.Timestamp.Unit == scheme.Milliseconds {
		unit = scheme.Seconds
	}
	changed := a.describing(func(s *scheme.Scheme) { s.Timestamp.Unit = unit })
	message := fmt.Sprintf("the timestamp is in %s, and the scheme expects %s: let the sender write it so",
		strings.ToLower(string(unit)), strings.ToLower(string(a.scheme.Timestamp.Unit)))
	out := []proposal{{changed, -1, message}}
	if at, ok := changed.timestamp(); ok {
		aged := changed
		aged.now = at
		out = append(out, proposal{aged, -1, message + "; besides, it is " + distance(at, a.now)})
	}
	return out
}

// timestamp is what the request says of its time.
func (a attempt) timestamp() (time.Time, bool) {
	t := a.scheme.Timestamp
	if t == nil {
		return time.Time{}, false
	}
	text := a.request.Header.Get(t.Header)
	if alias := a.scheme.HeaderAliases[t.Header]; text == "" && alias != "" {
		text = a.request.Header.Get(alias)
	}
	if strings.EqualFold(t.Header, a.scheme.Signature.Header) {
		for element := range strings.SplitSeq(text, a.scheme.Signature.Separator) {
			if strings.HasPrefix(element, t.Prefix) {
				text = element
			}
		}
	}
	n, err := strconv.ParseInt(strings.TrimPrefix(text, t.Prefix), 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	if t.Unit == scheme.Milliseconds {
		return time.UnixMilli(n), true
	}
	return time.Unix(n, 0), true
}

// settleClock looks at a delivery at the time at which it was sent. If that is all that it needs, the clock or the age is
// the finding; otherwise the age is a note, and the search goes on at that time.
func (a *attempt) settleClock(d *Diagnosis, judge Judge) bool {
	if d.Reason != receiver.CauseStaleTimestamp && d.Reason != receiver.CauseFutureTimestamp {
		return false
	}
	at, ok := a.timestamp()
	if !ok {
		return false
	}
	then := *a
	then.now = at
	away := distance(at, a.now)
	if _, err := then.judge(judge); then.holds(err) {
		d.Findings = append(d.Findings, Finding{Name: "TimestampSkew", Message: fmt.Sprintf(
			"the signature holds, and its timestamp is %s, where the tolerance is %d s: synchronize the clocks of sender and receiver; "+
				"or, if the request was captured earlier, judge it at its time with --now %d", away, int64(a.tolerance/time.Second), at.Unix())})
		return true
	}
	d.Notes = append(d.Notes, "its timestamp is "+away+"; what follows is said of the time at which it was sent")
	*a = then
	return false
}

func distance(at, now time.Time) string {
	if at.After(now) {
		return fmt.Sprintf("%d s in the future", int64(at.Sub(now)/time.Second))
	}
	return fmt.Sprintf("%d s in the past", int64(now.Sub(at)/time.Second))
}
