// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/hookonce/hookonce/internal/scheme"
)

// secretHypotheses: our secret is damaged, or written in another way than the scheme expects.
var secretHypotheses = []Hypothesis{
	{"ExpiredSecret", "secrets that are accepted no more", listed(func(a attempt, _ Case) []proposal {
		var out []proposal
		for i, secret := range a.secrets {
			if secret.Expired && a.keys[i] != nil {
				changed := a
				changed.secrets = append([]Secret(nil), a.secrets...)
				changed.secrets[i].Expired = false
				out = append(out, proposal{changed, i, "it was signed with a secret whose time is over: let the sender use the current one, " +
					"or give it time with a rotation that has an overlap"})
			}
		}
		return out
	})},
	editSecret("SecretLineBreak", "the secret without line breaks",
		"there is a line break in the secret's file: write it with printf %s instead of echo",
		func(text string) string { return strings.NewReplacer("\r", "", "\n", "").Replace(text) }),
	editSecret("SecretByteOrderMark", "the secret without invisible marks",
		"there is an invisible mark in the secret's file, such as a byte order mark: save it as UTF-8 without one", withoutMarks),
	editSecret("SecretBlank", "the secret without blanks around it", "there are blanks around the secret: remove them", strings.TrimSpace),
	editSecret("SecretQuotes", "the secret without quotes around it", "there are quotes around the secret: remove them",
		func(text string) string { return strings.Trim(strings.TrimSpace(text), "\"'`") }),
	editSecret("SecretName", "the secret without a name before it",
		"the secret's file has name=secret: leave only the secret in it", withoutName),
	editSecret("SecretSignaturePrefix", "the secret without a signature's prefix",
		"the secret begins with a prefix that belongs to signatures, such as v1,: remove it",
		func(text string) string { return strings.TrimPrefix(strings.TrimPrefix(text, "v1a,"), "v1,") }),
	editSecret("SecretEncodedTwice", "the secret decoded from base64",
		"the secret was encoded twice, as base64 of what it should be: put it into stringData, or encode it once", fromBase64),
	editSecret("SecretBase64Writing", "the secret in standard base64 with its padding",
		"the secret is in another writing of base64: write it with + and / and with = at the end", standardBase64),
	editSecret("SecretPrefix", "the secret with its prefix once, in small letters",
		"the secret has its prefix twice or in capital letters: write it once, as the provider shows it", onePrefix),
}

// onePrefix writes a prefix that is there twice, or in capitals, as it should be.
func onePrefix(text string) string {
	rest := text
	for len(rest) >= len(symmetricPrefix) && strings.EqualFold(rest[:len(symmetricPrefix)], symmetricPrefix) {
		rest = rest[len(symmetricPrefix):]
	}
	if rest == text {
		return text
	}
	return symmetricPrefix + rest
}

// editSecret tries each secret after an edit of its text.
func editSecret(name, tries, message string, edit func(string) string) Hypothesis {
	return Hypothesis{name, tries, listed(func(a attempt, _ Case) []proposal {
		var out []proposal
		for i, secret := range a.secrets {
			text := string(scheme.Trim(secret.Text))
			edited := edit(text)
			if edited == text {
				continue
			}
			if key, err := a.scheme.DecodeSecret([]byte(edited)); err == nil {
				out = append(out, proposal{a.withKey(i, key), i, message})
			}
		}
		return out
	})}
}

// keyHypotheses: the sender makes another key of the same secret.
var keyHypotheses = []Hypothesis{
	otherKey("KeyIsText", "the secret's text as the key", "the sender signs with the secret's text, and the scheme decodes it first: "+
		"a scheme HMAC with key.encoding Raw accepts that, or let the sender decode it",
		func(text []byte) [][]byte { return [][]byte{text} }),
	otherKey("KeyIsTextWithoutPrefix", "the secret's text without its prefix as the key",
		"the sender signs with the secret's text without its prefix, such as whsec_: let it sign with the whole text; "+
			"a scheme HMAC with key.encoding Raw and key.prefix accepts that",
		func(text []byte) [][]byte { return [][]byte{withoutPrefix(text)} }),
	otherKey("KeyIsBase64", "the secret decoded from base64 as the key",
		"the sender decodes the secret from base64, and the scheme takes its text: "+
			"a scheme HMAC with key.encoding Base64 accepts that, or let the sender take the text",
		func(text []byte) [][]byte { return base64Keys(text) }),
	otherKey("KeyIsHex", "the secret decoded from hexadecimal as the key",
		"the sender decodes the secret from hexadecimal, and the scheme does not: "+
			"a scheme HMAC with key.encoding Hex accepts that", func(text []byte) [][]byte {
			key, err := hex.DecodeString(string(withoutPrefix(text)))
			if err != nil {
				return nil
			}
			return [][]byte{key}
		}),
	otherKey("SenderLineBreak", "the secret with a line break as a part of the key",
		"the sender signs with a line break at the end of its secret: remove it there", func(text []byte) [][]byte {
			return [][]byte{append(bytes.Clone(text), '\n'), append(bytes.Clone(text), "\r\n"...)}
		}),
	otherKey("SenderSecretEmpty", "an empty key", "the sender signs with an empty key: its secret is not set",
		// A key of one zero byte makes the same HMAC as the empty one, which no verifier takes.
		func([]byte) [][]byte { return [][]byte{{0}} }),
}

func otherKey(name, tries, message string, keys func(text []byte) [][]byte) Hypothesis {
	return Hypothesis{name, tries, listed(func(a attempt, _ Case) []proposal {
		var out []proposal
		for i, secret := range a.secrets {
			if isPublic(secret) {
				// Everybody may know it: what is signed so proves nothing, and nobody is told to accept it.
				continue
			}
			for _, key := range keys(scheme.Trim(secret.Text)) {
				if len(key) > 0 {
					out = append(out, proposal{a.withKey(i, key), i, message})
				}
			}
		}
		return out
	})}
}

// The prefixes that providers put before their secrets and their public keys.
const (
	symmetricPrefix = "whsec_"
	publicPrefix    = "whpk_"
)

var keyPrefixes = []string{symmetricPrefix, publicPrefix}

// isPublic says whether a secret is the public key of a sender that signs with ed25519.
func isPublic(secret Secret) bool {
	return bytes.HasPrefix(bytes.TrimLeft(secret.Text, " \t\r\n\"'`"), []byte(publicPrefix))
}

// aboutPublicKeys says which scheme the public keys among the secrets are for.
func aboutPublicKeys(a attempt) []string {
	if a.scheme.Signature.Algorithm == scheme.Ed25519 {
		return nil
	}
	var notes []string
	for i, secret := range a.secrets {
		if isPublic(secret) {
			notes = append(notes, fmt.Sprintf("secret %d is a public key, which belongs to the scheme %s: set verification.scheme to that, "+
				"or take the symmetric secret, whsec_...; a public key is no key of HMAC, since everybody who knows it could sign",
				i, scheme.StandardWebhooksEd25519))
		}
	}
	return notes
}

func withoutPrefix(text []byte) []byte {
	for _, prefix := range keyPrefixes {
		if rest, found := bytes.CutPrefix(text, []byte(prefix)); found {
			return rest
		}
	}
	return text
}

// base64Keys decodes every writing of base64, with and without the prefix.
func base64Keys(text []byte) [][]byte {
	var out [][]byte
	for _, candidate := range [][]byte{text, withoutPrefix(text)} {
		if key, err := base64.RawStdEncoding.DecodeString(plainBase64(string(candidate))); err == nil {
			out = append(out, key)
		}
	}
	return out
}

// plainBase64 is the standard alphabet without padding.
func plainBase64(text string) string {
	return strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "=")
}

// standardBase64 keeps the prefix.
func standardBase64(text string) string {
	rest := string(withoutPrefix([]byte(text)))
	key, err := base64.RawStdEncoding.DecodeString(plainBase64(strings.TrimSpace(rest)))
	if err != nil {
		return text
	}
	return text[:len(text)-len(rest)] + base64.StdEncoding.EncodeToString(key)
}

func fromBase64(text string) string {
	decoded, err := base64.RawStdEncoding.DecodeString(plainBase64(text))
	if err != nil {
		return text
	}
	return string(scheme.Trim(decoded))
}

// withoutMarks removes what has no width, and turns UTF-16 into UTF-8.
func withoutMarks(text string) string {
	if len(text) >= 2 && (text[:2] == "\xff\xfe" || text[:2] == "\xfe\xff") {
		low, high := 0, 1
		if text[0] == 0xfe {
			low, high = 1, 0
		}
		var units []uint16
		for i := 2; i+1 < len(text); i += 2 {
			units = append(units, uint16(text[i+low])|uint16(text[i+high])<<8)
		}
		return strings.TrimRight(string(utf16.Decode(units)), "\r\n")
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, text)
}

// withoutName returns what is behind the name of an environment file.
func withoutName(text string) string {
	name, rest, found := strings.Cut(strings.TrimPrefix(text, "export "), "=")
	if !found || name == "" || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") != "" {
		return text
	}
	return strings.Trim(rest, "\"'")
}
