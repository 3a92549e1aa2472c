// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

// Package canary looks for secrets where they must not be. Tests use secrets that nothing else contains, and search what
// the software wrote and shows for them, in every form that a program may have given them.
package canary

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Place is somewhere that people or programs may read.
type Place struct{ Name, Text string }

// Find returns where secrets appear, and in which form. A place without text is a finding too: it proves nothing.
func Find(places []Place, secrets []string) []string {
	var found []string
	for _, p := range places {
		if p.Text == "" {
			found = append(found, p.Name+" is empty")
		}
	}
	for _, secret := range secrets {
		for form, text := range forms(secret) {
			for _, p := range places {
				if strings.Contains(p.Text, text) {
					found = append(found, fmt.Sprintf("%s has a secret (%s)", p.Name, form))
				}
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// forms are the ways in which a secret may be written somewhere, as a whole or inside something longer; base64 also of
// what holds it as base64 already, as a Secret holds the keyring.
func forms(secret string) map[string]string {
	escaped := inJSON(secret, true)
	out := map[string]string{
		"raw": secret, "JSON": strings.Trim(escaped, `"`), "JSON twice": strings.Trim(inJSON(escaped, true), `"\`),
		"JSON without HTML": strings.Trim(inJSON(secret, false), `"`), "quoted": strings.Trim(fmt.Sprintf("%q", secret), `"`),
		"URL query": url.QueryEscape(secret), "URL path": url.PathEscape(secret),
		"hex": hex.EncodeToString([]byte(secret)), "HEX": strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"bytes": strings.Trim(fmt.Sprint([]byte(secret)), "[]"),
	}
	for name, text := range inBase64(secret) {
		out[name] = text
		for again, text := range inBase64(text) {
			out[name+", "+again] = text
		}
	}
	return out
}

// inJSON is a text as JSON has it, with or without what is dangerous in HTML.
func inJSON(text string, escapeHTML bool) string {
	out := new(strings.Builder)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(escapeHTML)
	if err := encoder.Encode(text); err != nil {
		// Strings can always be encoded.
		return text
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// inBase64 is what a text is in base64, whatever stands before and behind it: there it begins at one of three places, and
// what depends on the neighbors is cut off.
func inBase64(text string) map[string]string {
	out := map[string]string{}
	for name, encoding := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64url": base64.RawURLEncoding} {
		for shift := range 3 {
			encoded := encoding.EncodeToString(append(make([]byte, shift), text...))
			first := []int{0, 2, 3}[shift]
			out[fmt.Sprintf("%s+%d", name, shift)] = encoded[first : len(encoded)-len(encoded)%4]
		}
	}
	return out
}
