// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"slices"
	"time"
)

// The names of schemes. HMAC is not a preset: its fields come from the user.
const (
	Paymos                  = "Paymos"
	StandardWebhooks        = "StandardWebhooks"
	StandardWebhooksEd25519 = "StandardWebhooksEd25519"
	Svix                    = "Svix"
	Stripe                  = "Stripe"
	GitHub                  = "GitHub"
	GitLab                  = "GitLab"
	GitLabToken             = "GitLabToken"
	OpenAI                  = "OpenAI"
	Shopify                 = "Shopify"
	Slack                   = "Slack"
	Paddle                  = "Paddle"
	Square                  = "Square"
	Adyen                   = "Adyen"
	Zoom                    = "Zoom"
	Meta                    = "Meta"
	Twilio                  = "Twilio"
	Convoy                  = "Convoy"
	Dropbox                 = "Dropbox"
	HubSpot                 = "HubSpot"
	HMAC                    = "HMAC"
)

// DefaultRetryHorizon is what is assumed of a provider that nothing is known about: the longest of the example schedule
// in the Standard Webhooks specification.
const DefaultRetryHorizon = 75*time.Hour + 35*time.Minute + 5*time.Second

// Lengths of keys, in bytes.
const (
	// MinKeyBytes is the least length of a key that people choose themselves. It refuses accidents, such as a placeholder
	// or a paste that was cut off, and not weak secrets: providers accept short ones, and refusing what the provider
	// signs with would only stop the deliveries.
	MinKeyBytes = 4
	// MinIssuedKeyBytes is the least length of a key that a provider makes, as text with a prefix or encoded.
	MinIssuedKeyBytes = 16
	// MaxKeyBytes is the greatest length of a key; what is longer is another file pasted by mistake.
	MaxKeyBytes = 1024
)

// presets is the table of the schemes that are known by name. Where the facts come from: docs/reference/schemes.md.
var presets = slices.Concat(paymentPresets, standardPresets, platformPresets)

// Preset returns the scheme of that name, as a copy, and whether there is one. Names are case-sensitive.
func Preset(name string) (Scheme, bool) {
	for _, s := range presets {
		if s.Name == name {
			return s.Clone(), true
		}
	}
	return Scheme{}, false
}

// Names returns the names of the presets in the order of the table.
func Names() []string {
	names := make([]string, len(presets))
	for i, s := range presets {
		names[i] = s.Name
	}
	return names
}

// at is one source in the body: the member with these names on the way to it.
func at(path ...string) Source { return Source{Path: path} }
