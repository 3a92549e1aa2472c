// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import "time"

// The pieces that the senders of Standard Webhooks share.
var (
	standardSignature = Signature{Header: "Webhook-Signature", Separator: " ", Prefix: "v1,", Encoding: Base64, Algorithm: SHA256}
	standardKey       = Key{Encoding: Base64, Prefix: "whsec_", MinBytes: 24, MaxBytes: 64}
	standardTimestamp = &Timestamp{Header: "Webhook-Timestamp", Unit: Seconds}
	standardID        = []Source{{Header: "Webhook-Id"}}
)

const standardString = "{id}.{timestamp}.{body}"

// standardPresets are those of providers that send Standard Webhooks.
var standardPresets = []Scheme{
	{
		Name:          StandardWebhooks,
		Signature:     standardSignature,
		StringToSign:  standardString,
		Key:           standardKey,
		Timestamp:     standardTimestamp,
		EventID:       standardID,
		EventType:     []Source{at("type")},
		ResourceID:    []Source{at("data", "id")},
		EventIDSigned: true,
		Behavior:      Behavior{RetryHorizon: DefaultRetryHorizon, Rotation: RotationBoth},
	},
	{
		Name:          StandardWebhooksEd25519,
		Signature:     Signature{Header: "Webhook-Signature", Separator: " ", Prefix: "v1a,", Encoding: Base64, Algorithm: Ed25519},
		StringToSign:  standardString,
		Key:           Key{Encoding: Base64, Prefix: "whpk_", MinBytes: 32, MaxBytes: 32},
		Timestamp:     standardTimestamp,
		EventID:       standardID,
		EventType:     []Source{at("type")},
		ResourceID:    []Source{at("data", "id")},
		EventIDSigned: true,
		Behavior:      Behavior{RetryHorizon: DefaultRetryHorizon, Rotation: RotationBoth},
	},
	{
		// Its retries come after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h and 10 h.
		Name:      Svix,
		Signature: Signature{Header: "Svix-Signature", Separator: " ", Prefix: "v1,", Encoding: Base64, Algorithm: SHA256},
		HeaderAliases: map[string]string{
			"Svix-Signature": "Webhook-Signature", "Svix-Timestamp": "Webhook-Timestamp", "Svix-Id": "Webhook-Id",
		},
		StringToSign:  standardString,
		Key:           standardKey,
		Timestamp:     &Timestamp{Header: "Svix-Timestamp", Unit: Seconds},
		EventID:       []Source{{Header: "Svix-Id"}},
		EventType:     []Source{at("type"), at("eventType")},
		ResourceID:    []Source{at("data", "id")},
		EventIDSigned: true,
		Behavior:      Behavior{RetryHorizon: 27*time.Hour + 35*time.Minute + 5*time.Second, Rotation: RotationBoth},
	},
	{
		// Whether the old secret signs on for a day is a choice at the provider, and the default is that it does not.
		Name:          OpenAI,
		Signature:     standardSignature,
		StringToSign:  standardString,
		Key:           standardKey,
		Timestamp:     standardTimestamp,
		EventID:       standardID,
		EventType:     []Source{at("type")},
		ResourceID:    []Source{at("data", "id")},
		EventIDSigned: true,
		Behavior:      Behavior{RetryHorizon: DefaultRetryHorizon, Rotation: RotationImmediate},
	},
	{
		// A webhook with a signing token. The type is in a header that is not signed, under the name that GitLab's users know
		// it by. It retries by hand only, as GitHub does.
		Name:          GitLab,
		Signature:     standardSignature,
		StringToSign:  standardString,
		Key:           standardKey,
		Timestamp:     standardTimestamp,
		EventID:       standardID,
		EventType:     []Source{{Header: "X-Gitlab-Event"}},
		EventIDSigned: true,
		Behavior:      Behavior{RetryHorizon: 72 * time.Hour, Rotation: RotationImmediate},
	},
}
