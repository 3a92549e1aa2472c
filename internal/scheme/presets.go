// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import (
	"slices"
	"time"
)

// The names of schemes. HMAC is not a preset: its fields come from the user.
const (
	Paymos           = "Paymos"
	StandardWebhooks = "StandardWebhooks"
	Stripe           = "Stripe"
	GitHub           = "GitHub"
	HMAC             = "HMAC"
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
var presets = []Scheme{
	{
		Name:         Paymos,
		Signature:    Signature{Header: "X-Webhook-Signature", Separator: ",", Prefix: "v1=", Encoding: Hex, Algorithm: SHA256},
		StringToSign: "{timestamp}.{body}",
		Key:          Key{Encoding: Raw, MinBytes: MinIssuedKeyBytes},
		Timestamp:    &Timestamp{Header: "X-Webhook-Signature", Prefix: "t=", Unit: Seconds},
		EventID:      []Source{{Path: []string{"event_id"}}},
		EventType:    []Source{{Path: []string{"event_type"}}},
		ResourceID: []Source{
			{Path: []string{"data", "invoice_id"}}, {Path: []string{"data", "withdrawal_id"}}, {Path: []string{"data", "id"}},
		},
		EventIDSigned: true,
		Behavior:      Behavior{RetryHorizon: 16*time.Hour + 3*time.Minute},
	},
	{
		Name:          StandardWebhooks,
		Signature:     Signature{Header: "Webhook-Signature", Separator: " ", Prefix: "v1,", Encoding: Base64, Algorithm: SHA256},
		StringToSign:  "{id}.{timestamp}.{body}",
		Key:           Key{Encoding: Base64, Prefix: "whsec_", MinBytes: 24, MaxBytes: 64},
		Timestamp:     &Timestamp{Header: "Webhook-Timestamp", Unit: Seconds},
		EventID:       []Source{{Header: "Webhook-Id"}},
		EventType:     []Source{{Path: []string{"type"}}},
		ResourceID:    []Source{{Path: []string{"data", "id"}}},
		EventIDSigned: true,
		Behavior:      Behavior{RetryHorizon: DefaultRetryHorizon},
	},
	{
		Name:          Stripe,
		Signature:     Signature{Header: "Stripe-Signature", Separator: ",", Prefix: "v1=", Encoding: Hex, Algorithm: SHA256},
		StringToSign:  "{timestamp}.{body}",
		Key:           Key{Encoding: Raw, MinBytes: MinIssuedKeyBytes},
		Timestamp:     &Timestamp{Header: "Stripe-Signature", Prefix: "t=", Unit: Seconds},
		EventID:       []Source{{Path: []string{"id"}}},
		EventType:     []Source{{Path: []string{"type"}}},
		ResourceID:    []Source{{Path: []string{"data", "object", "id"}}},
		EventIDSigned: true,
		Behavior:      Behavior{RetryHorizon: 72 * time.Hour},
	},
	{
		// GitHub sends one signature; the header is read as a list all the same, so that a sender that adds a second one
		// during a rotation works. It has no timestamp, and neither the id nor the type is signed. It does not retry by
		// itself: the horizon is the time during which a person may ask for a redelivery.
		Name:          GitHub,
		Signature:     Signature{Header: "X-Hub-Signature-256", Separator: ",", Prefix: "sha256=", Encoding: Hex, Algorithm: SHA256},
		StringToSign:  "{body}",
		Key:           Key{Encoding: Raw, MinBytes: MinKeyBytes},
		EventID:       []Source{{Header: "X-Github-Delivery"}},
		EventType:     []Source{{Header: "X-Github-Event"}},
		EventIDSigned: false,
		Behavior:      Behavior{RetryHorizon: 72 * time.Hour},
	},
}

// Preset returns the scheme of that name, as a copy, and whether there is one. Names are case-sensitive.
func Preset(name string) (Scheme, bool) {
	for _, s := range presets {
		if s.Name == name {
			return s.clone(), true
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

func (s Scheme) clone() Scheme {
	if s.Timestamp != nil {
		timestamp := *s.Timestamp
		s.Timestamp = &timestamp
	}
	s.EventID = cloneSources(s.EventID)
	s.EventType = cloneSources(s.EventType)
	s.ResourceID = cloneSources(s.ResourceID)
	return s
}

func cloneSources(sources []Source) []Source {
	copies := slices.Clone(sources)
	for i := range copies {
		copies[i].Path = slices.Clone(copies[i].Path)
	}
	return copies
}
