// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import "time"

// paymentPresets are those of providers that move money.
var paymentPresets = []Scheme{
	{
		Name:         Paymos,
		Signature:    Signature{Header: "X-Webhook-Signature", Separator: ",", Prefix: "v1=", Encoding: Hex, Algorithm: SHA256},
		StringToSign: "{timestamp}.{body}",
		Key:          Key{Encoding: Raw, MinBytes: MinIssuedKeyBytes},
		Timestamp:    &Timestamp{Header: "X-Webhook-Signature", Prefix: "t=", Unit: Seconds},
		EventID:      []Source{at("event_id")},
		EventType:    []Source{at("event_type")},
		ResourceID:   []Source{at("data", "invoice_id"), at("data", "withdrawal_id"), at("data", "id")},

		EventIDSigned: true,
		Behavior:      Behavior{RetryHorizon: 16*time.Hour + 3*time.Minute, Rotation: RotationBoth},
	},
	{
		// The event has a count of pending deliveries in it (pending_webhooks), which need not be the same in each attempt.
		Name:          Stripe,
		Signature:     Signature{Header: "Stripe-Signature", Separator: ",", Prefix: "v1=", Encoding: Hex, Algorithm: SHA256},
		StringToSign:  "{timestamp}.{body}",
		Key:           Key{Encoding: Raw, MinBytes: MinIssuedKeyBytes},
		Timestamp:     &Timestamp{Header: "Stripe-Signature", Prefix: "t=", Unit: Seconds},
		EventID:       []Source{at("id")},
		EventType:     []Source{at("type")},
		ResourceID:    []Source{at("data", "object", "id")},
		EventIDSigned: true,
		Behavior:      Behavior{RetryHorizon: 72 * time.Hour, BodyChanges: true, Rotation: RotationBoth},
	},
	{
		// A replay of an event is another notification: notification_id differs, event_id does not. That several signatures
		// come during a rotation is said by others only, so that a cut is assumed.
		Name:          Paddle,
		Signature:     Signature{Header: "Paddle-Signature", Separator: ";", Prefix: "h1=", Encoding: Hex, Algorithm: SHA256},
		StringToSign:  "{timestamp}:{body}",
		Key:           Key{Encoding: Raw, MinBytes: MinIssuedKeyBytes},
		Timestamp:     &Timestamp{Header: "Paddle-Signature", Prefix: "ts=", Unit: Seconds},
		EventID:       []Source{at("event_id")},
		EventType:     []Source{at("event_type")},
		ResourceID:    []Source{at("data", "id")},
		EventIDSigned: true,
		Behavior:      Behavior{RetryHorizon: 72 * time.Hour, BodyChanges: true, Rotation: RotationImmediate},
	},
	{
		// The horizon is that of the older documentation, which is longer than that of today's.
		Name:          Square,
		Signature:     Signature{Header: "X-Square-Hmacsha256-Signature", Encoding: Base64, Algorithm: SHA256},
		StringToSign:  "{url}{body}",
		Key:           Key{Encoding: Raw, MinBytes: MinKeyBytes},
		EventID:       []Source{at("event_id"), {BodyDigest: true}},
		EventType:     []Source{at("type")},
		ResourceID:    []Source{at("data", "id")},
		EventIDSigned: true,
		Behavior:      Behavior{RetryHorizon: 72 * time.Hour, Rotation: RotationImmediate},
	},
	{
		// Each item is signed alone, over eight of its members. Its signature is a member too, so that an attempt after a
		// rotation has another body. merchantReference is the merchant's own text and may have colons.
		Name:      Adyen,
		Signature: Signature{Path: []string{"additionalData", "hmacSignature"}, Encoding: Base64, Algorithm: SHA256},
		StringToSign: "{item.pspReference}:{item.originalReference}:{item.merchantAccountCode}:{item.merchantReference...}:" +
			"{item.amount.value}:{item.amount.currency}:{item.eventCode}:{item.success}",
		Key:            Key{Encoding: Hex, MinBytes: 32, MaxBytes: 64},
		EventID:        []Source{{Compose: []Source{at("pspReference"), at("eventCode"), at("success")}}},
		EventType:      []Source{at("eventCode")},
		ResourceID:     []Source{at("pspReference")},
		EventIDSigned:  true,
		Batch:          &Batch{Path: []string{"notificationItems"}, Member: "NotificationRequestItem"},
		Acknowledgment: "[accepted]",
		Behavior:       Behavior{RetryHorizon: 30 * 24 * time.Hour, BodyChanges: true, Rotation: RotationLagging},
	},
	{
		Name:      Shopify,
		Signature: Signature{Header: "X-Shopify-Hmac-Sha256", Encoding: Base64, Algorithm: SHA256},
		HeaderAliases: map[string]string{
			"X-Shopify-Hmac-Sha256": "Shopify-Hmac-Sha256", "X-Shopify-Webhook-Id": "Shopify-Webhook-Id",
			"X-Shopify-Event-Id": "Shopify-Event-Id", "X-Shopify-Topic": "Shopify-Topic", "X-Shopify-Resource-Id": "Shopify-Resource-Id",
		},
		StringToSign: "{body}",
		Key:          Key{Encoding: Raw, MinBytes: MinKeyBytes},
		EventID:      []Source{{Header: "X-Shopify-Webhook-Id"}, {Header: "X-Shopify-Event-Id"}},
		EventType:    []Source{{Header: "X-Shopify-Topic"}},
		ResourceID:   []Source{at("id"), {Header: "X-Shopify-Resource-Id"}},
		Behavior:     Behavior{RetryHorizon: 4 * time.Hour, Rotation: RotationLagging},
	},
}
