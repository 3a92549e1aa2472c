// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The reasons of a SecretProblem.
const (
	// SecretEmpty: nothing, only blanks, or nothing after the prefix.
	SecretEmpty = "SecretEmpty"
	// SecretTooShort: the key has fewer bytes than Key.MinBytes.
	SecretTooShort = "SecretTooShort"
	// SecretTooLong: the key has more bytes than Key.MaxBytes.
	SecretTooLong = "SecretTooLong"
	// SecretUndecodable: not the base64 or hexadecimal that the scheme asks for, not text, or no public key of anybody.
	SecretUndecodable = "SecretUndecodable"
	// SecretWhitespace: a blank at the start or the end, a line break inside, or an invisible mark such as a BOM.
	SecretWhitespace = "SecretWhitespace"
	// SecretWrongPrefix: the text begins with something that no signing secret begins with.
	SecretWrongPrefix = "SecretWrongPrefix"
	// SecretMasked: what a dashboard shows instead of the secret.
	SecretMasked = "SecretMasked"
)

// SecretProblem says why a text cannot be a signing secret. Its Message has the remedy and never the text.
type SecretProblem struct {
	// Reason is one of the CamelCase words above, fit for a condition.
	Reason  string
	Message string
}

// Error is the message.
func (p *SecretProblem) Error() string { return p.Message }

// Trim removes one line break, \n or \r\n, from the end of a secret's text: the one that editors and echo put there. It is
// the only repair that is made; Decode refuses everything else that is damaged.
func Trim(secret []byte) []byte {
	if trimmed, found := bytes.CutSuffix(secret, []byte("\r\n")); found {
		return trimmed
	}
	return bytes.TrimSuffix(secret, []byte("\n"))
}

// Decode returns the key that a secret's text stands for; the error is a *SecretProblem. It trims by itself: give it
// the bytes as they were found, or as Trim left them.
func (k Key) Decode(secret []byte) ([]byte, error) {
	text := Trim(secret)
	if problem := k.inspect(text); problem != nil {
		return nil, problem
	}
	encoded := strings.TrimPrefix(string(text), k.Prefix)
	if encoded == "" {
		return nil, &SecretProblem{SecretEmpty, fmt.Sprintf("the secret is empty after %q", k.Prefix)}
	}
	if masked(encoded) {
		return nil, &SecretProblem{SecretMasked, "the secret is masked, as dashboards show it; copy it with the button that reveals it"}
	}
	key, problem := k.decode(encoded)
	if problem != nil && (k.Encoding == Base64 || k.Encoding == Hex) {
		problem = k.explain(encoded, problem)
	}
	if problem == nil {
		problem = k.checkLength(len(key))
	}
	if problem != nil {
		return nil, problem
	}
	return key, nil
}

func (k Key) decode(text string) ([]byte, *SecretProblem) {
	switch k.Encoding {
	case Raw:
		return []byte(text), nil
	case Hex:
		key, err := hex.DecodeString(text)
		if err != nil {
			return nil, &SecretProblem{SecretUndecodable, "the secret is not hexadecimal: " +
				"an even number of 0-9 and a-f is expected" + afterPrefix(k.Prefix)}
		}
		return key, nil
	case Base64:
		return k.decodeBase64(text)
	default:
		return nil, &SecretProblem{SecretUndecodable, fmt.Sprintf("the scheme's key encoding %q is unknown", k.Encoding)}
	}
}

// decodeBase64 accepts one writing of each key. The URL-safe alphabet is refused on purpose: a sender that decodes - and _
// in another way than we do would sign with another key, and nobody could see why.
func (k Key) decodeBase64(text string) ([]byte, *SecretProblem) {
	if strings.ContainsAny(text, "-_") {
		return nil, &SecretProblem{SecretUndecodable, "the secret has - or _, of URL-safe base64; " +
			"write it with + and / in standard base64" + afterPrefix(k.Prefix)}
	}
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || base64.StdEncoding.EncodeToString(key) != text {
		return nil, &SecretProblem{SecretUndecodable, "the secret is not standard base64 with its padding" +
			afterPrefix(k.Prefix) + "; copy it again, whole"}
	}
	return key, nil
}

// explain says of a text behind its prefix, which does not decode, that there are quotes or another prefix in it, if there are;
// otherwise the problem stays. The _ of a prefix would pass for a character of URL-safe base64.
func (k Key) explain(text string, problem *SecretProblem) *SecretProblem {
	if strings.ContainsAny(text, "\"'`") {
		return &SecretProblem{SecretUndecodable, "the secret has quotes around it, or in it; write it without them"}
	}
	prefix := k.Prefix
	if prefix == "" {
		prefix = symmetricPrefix
	}
	if len(text) < len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return problem
	}
	message := fmt.Sprintf("the secret begins with %q twice; write it once", prefix)
	switch {
	case text[:len(prefix)] != prefix:
		message = fmt.Sprintf("the secret's prefix is in capitals; write it as %q", prefix)
	case k.Prefix == "":
		message = fmt.Sprintf("the secret begins with %q, and the scheme has no prefix; set key.prefix to that, or remove it", prefix)
	}
	return &SecretProblem{SecretWrongPrefix, message}
}

func afterPrefix(prefix string) string {
	if prefix == "" {
		return ""
	}
	return fmt.Sprintf(" after %q", prefix)
}

func (k Key) checkLength(length int) *SecretProblem {
	most := k.MaxBytes
	if most == 0 {
		most = MaxKeyBytes
	}
	switch {
	case length == 0:
		return &SecretProblem{SecretEmpty, "the secret decodes to an empty key, with which everybody can sign"}
	case length < k.MinBytes:
		return &SecretProblem{SecretTooShort, fmt.Sprintf(
			"the secret's key has %d bytes; this scheme's have at least %d: was it cut off?", length, k.MinBytes)}
	case length > most:
		return &SecretProblem{SecretTooLong, fmt.Sprintf(
			"the secret's key has %d bytes; this scheme's have at most %d: is it another file?", length, most)}
	}
	return nil
}

// inspect finds damage that is the same whatever the encoding.
func (k Key) inspect(text []byte) *SecretProblem {
	if len(bytes.TrimSpace(text)) == 0 {
		return &SecretProblem{SecretEmpty, "the secret is empty"}
	}
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		return &SecretProblem{SecretWhitespace, "the secret is UTF-16 with a byte order mark; save it as UTF-8 without one"}
	}
	if !utf8.Valid(text) {
		return &SecretProblem{SecretUndecodable, "the secret is not UTF-8 text; " +
			"write a binary key as base64 or hexadecimal, and say so in key.encoding"}
	}
	if problem := inspectRunes(string(text)); problem != nil {
		return problem
	}
	return k.inspectPrefix(string(text))
}

func inspectRunes(text string) *SecretProblem {
	first, _ := utf8.DecodeRuneInString(text)
	last, _ := utf8.DecodeLastRuneInString(text)
	if unicode.IsSpace(first) || unicode.IsSpace(last) {
		return &SecretProblem{SecretWhitespace, "the secret begins or ends with a blank or a line break " +
			"(one line break at the end is removed, no more); write it with printf %s instead of echo"}
	}
	for _, r := range text {
		switch {
		case r == '\n' || r == '\r':
			return &SecretProblem{SecretWhitespace, "the secret has a line break inside; it must be one line"}
		case unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029':
			return &SecretProblem{SecretWhitespace, "the secret has an invisible mark in it, " +
				"such as a byte order mark or a zero-width space; save it as UTF-8 without one"}
		case unicode.IsControl(r):
			return &SecretProblem{SecretUndecodable, "the secret has a control character in it; it must be text"}
		}
	}
	return nil
}

// wrongPrefixes are beginnings that a secret may have by mistake, and what they mean.
var wrongPrefixes = []struct{ prefix, message string }{
	{"v1,", "the secret begins with \"v1,\", which belongs to signatures; remove it"},
	{"v1a,", "the secret begins with \"v1a,\", which belongs to ed25519 signatures; this scheme needs %s"},
	{publicPrefix, "the secret begins with \"whpk_\": it is a public ed25519 key; this scheme needs %s"},
	{privatePrefix, "the secret begins with \"whsk_\": it is a private ed25519 key; this scheme needs %s"},
	{"d2hzZWNf", "the secret is base64 of a text that begins with \"whsec_\": it was encoded twice; " +
		"put it into stringData, or encode it once"},
}

// The prefixes of Standard Webhooks' keys: the secret of HMAC schemes, and the two halves of an ed25519 key.
const (
	symmetricPrefix = "whsec_"
	publicPrefix    = "whpk_"
	privatePrefix   = "whsk_"
)

func (k Key) inspectPrefix(text string) *SecretProblem {
	needed := "the symmetric secret, whsec_..."
	switch k.Prefix {
	case publicPrefix:
		needed = "the public key, whpk_..."
		if strings.HasPrefix(text, symmetricPrefix) {
			return &SecretProblem{SecretWrongPrefix, "the secret begins with \"whsec_\": it is a symmetric secret; this scheme needs " + needed}
		}
	case privatePrefix:
		needed = "the private key, whsk_..."
	}
	for _, wrong := range wrongPrefixes {
		if wrong.prefix != k.Prefix && strings.HasPrefix(text, wrong.prefix) {
			return &SecretProblem{SecretWrongPrefix, strings.Replace(wrong.message, "%s", needed, 1)}
		}
	}
	return nil
}

// SigningKey says how the text of what deliveries are signed with becomes a key, for those who play the provider: a private
// key where Key is a public one, and Key itself everywhere else.
func (s Scheme) SigningKey() Key {
	if s.Signature.Algorithm != Ed25519 {
		return s.Key
	}
	prefix := s.Key.Prefix
	if prefix == publicPrefix {
		prefix = privatePrefix
	}
	return Key{Encoding: s.Key.Encoding, Prefix: prefix, MinBytes: ed25519.PrivateKeySize, MaxBytes: ed25519.PrivateKeySize}
}

// masked finds the runs of stars and dots that dashboards write over secrets.
func masked(text string) bool {
	return strings.Contains(text, "****") || strings.ContainsAny(text, "•●…") || strings.Trim(text, "*.xX") == ""
}
