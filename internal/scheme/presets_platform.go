// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package scheme

import "time"

// platformPresets are those of code hosts, messengers and other platforms.
var platformPresets = []Scheme{
	{
		// GitHub sends one signature; the header is read as a list all the same, so that a sender that adds a second one
		// during a rotation works. It has no timestamp, and neither the id nor the type is signed. It does not retry by
		// itself: the horizon is the time during which a person may ask for a redelivery.
		Name:         GitHub,
		Signature:    Signature{Header: "X-Hub-Signature-256", Separator: ",", Prefix: "sha256=", Encoding: Hex, Algorithm: SHA256},
		StringToSign: "{body}",
		Key:          Key{Encoding: Raw, MinBytes: MinKeyBytes},
		EventID:      []Source{{Header: "X-Github-Delivery"}},
		EventType:    []Source{{Header: "X-Github-Event"}},
		FormField:    "payload",
		Handshakes:   []Handshake{{Kind: Ping}},
		Behavior:     Behavior{RetryHorizon: 72 * time.Hour, Rotation: RotationImmediate},
	},
	{
		// The header carries the token itself, and nothing is signed. Old versions send no id: then it is the body's digest.
		Name:      GitLabToken,
		Signature: Signature{Header: "X-Gitlab-Token", Encoding: Raw, Algorithm: Token},
		Key:       Key{Encoding: Raw, MinBytes: MinKeyBytes},
		EventID:   []Source{{Header: "Idempotency-Key"}, {BodyDigest: true}},
		EventType: []Source{{Header: "X-Gitlab-Event"}},
		Behavior:  Behavior{RetryHorizon: 72 * time.Hour, Rotation: RotationImmediate},
	},
	{
		// Events, then interactions (a form with JSON in it) and commands (a form). The last two have a trigger_id instead of
		// an event_id. An app may ask for retries each hour for a day, after the usual ones.
		Name:          Slack,
		Signature:     Signature{Header: "X-Slack-Signature", Prefix: "v0=", Encoding: Hex, Algorithm: SHA256},
		StringToSign:  "v0:{timestamp}:{body}",
		Key:           Key{Encoding: Raw, MinBytes: MinIssuedKeyBytes},
		Timestamp:     &Timestamp{Header: "X-Slack-Request-Timestamp", Unit: Seconds},
		EventID:       []Source{at("event_id"), at("trigger_id"), {BodyDigest: true}},
		EventType:     []Source{at("event", "type"), at("command"), at("type")},
		EventIDSigned: true,
		FormField:     "payload",
		FormObject:    true,
		Handshakes:    []Handshake{{Kind: URLVerification}},
		Behavior:      Behavior{RetryHorizon: 24*time.Hour + 6*time.Minute, Rotation: RotationImmediate},
	},
	{
		// Events have no id, and two of one object may have one time: only the whole body tells them apart.
		Name:          Zoom,
		Signature:     Signature{Header: "X-Zm-Signature", Prefix: "v0=", Encoding: Hex, Algorithm: SHA256},
		StringToSign:  "v0:{timestamp}:{body}",
		Key:           Key{Encoding: Raw, MinBytes: MinKeyBytes},
		Timestamp:     &Timestamp{Header: "X-Zm-Request-Timestamp", Unit: Seconds},
		EventID:       []Source{{BodyDigest: true}},
		EventType:     []Source{at("event")},
		ResourceID:    []Source{at("payload", "object", "id")},
		EventIDSigned: true,
		Handshakes:    []Handshake{{Kind: URLValidation}},
		Behavior:      Behavior{RetryHorizon: DefaultRetryHorizon, Rotation: RotationImmediate},
	},
	{
		// One request is one event, of up to 1000 changes: they have no ids of their own.
		Name:          Meta,
		Signature:     Signature{Header: "X-Hub-Signature-256", Prefix: "sha256=", Encoding: Hex, Algorithm: SHA256},
		StringToSign:  "{body}",
		Key:           Key{Encoding: Raw, MinBytes: MinIssuedKeyBytes},
		EventID:       []Source{{BodyDigest: true}},
		EventType:     []Source{at("object")},
		EventIDSigned: true,
		Handshakes:    []Handshake{{Kind: HubChallenge}},
		Behavior:      Behavior{RetryHorizon: 36 * time.Hour, Rotation: RotationImmediate},
	},
	{
		// One message has many callbacks, and only all of their fields tell them apart.
		Name:         Twilio,
		Signature:    Signature{Header: "X-Twilio-Signature", Encoding: Base64, Algorithm: SHA1},
		StringToSign: "{url}{form}",
		Key:          Key{Encoding: Raw, MinBytes: MinKeyBytes},
		EventID:      []Source{{BodyDigest: true}},
		EventType: []Source{
			at("EventType"), at("StatusCallbackEvent"), at("MessageStatus"), at("SmsStatus"), at("RecordingStatus"), at("CallStatus"),
		},
		ResourceID:    []Source{at("MessageSid"), at("RecordingSid"), at("CallSid")},
		EventIDSigned: true,
		FormObject:    true,
		Behavior:      Behavior{RetryHorizon: DefaultRetryHorizon, Rotation: RotationImmediate},
	},
	{
		// Advanced signatures. The body is the sender's own; the header is there when the sender named a key of its own.
		Name:         Convoy,
		Signature:    Signature{Header: "X-Convoy-Signature", Separator: ",", Prefix: "v1=", Encoding: Hex, Algorithm: SHA256},
		StringToSign: "{timestamp},{body}",
		Key:          Key{Encoding: Raw, MinBytes: MinKeyBytes},
		Timestamp:    &Timestamp{Header: "X-Convoy-Signature", Prefix: "t=", Unit: Seconds},
		EventID:      []Source{{Header: "X-Convoy-Idempotency-Key"}, {BodyDigest: true}},
		EventType:    []Source{at("event_type"), at("event"), at("type")},
		ResourceID:   []Source{at("data", "id")},
		FormObject:   true,
		Behavior:     Behavior{RetryHorizon: DefaultRetryHorizon, Rotation: RotationBoth},
	},
	{
		// The notification says "look again" and nothing else, often in the same words: each one is new.
		Name:          Dropbox,
		Signature:     Signature{Header: "X-Dropbox-Signature", Encoding: Hex, Algorithm: SHA256},
		StringToSign:  "{body}",
		Key:           Key{Encoding: Raw, MinBytes: MinKeyBytes},
		EventID:       []Source{{PerRequest: true}},
		EventIDSigned: true,
		Handshakes:    []Handshake{{Kind: EchoChallenge}},
		Behavior:      Behavior{RetryHorizon: 10 * time.Minute, Rotation: RotationImmediate},
	},
	{
		// Version 3 of its signatures. eventId alone is not unique, and attemptNumber counts in the body.
		Name:         HubSpot,
		Signature:    Signature{Header: "X-Hubspot-Signature-V3", Encoding: Base64, Algorithm: SHA256},
		StringToSign: "{method}{url}{body}{timestamp}",
		Key:          Key{Encoding: Raw, MinBytes: MinIssuedKeyBytes},
		Timestamp:    &Timestamp{Header: "X-Hubspot-Request-Timestamp", Unit: Milliseconds},
		EventID: []Source{{
			Compose: []Source{at("portalId"), at("subscriptionId"), at("eventId"), at("occurredAt")},
		}},
		EventType:     []Source{at("subscriptionType")},
		ResourceID:    []Source{at("objectId")},
		EventIDSigned: true,
		Batch:         &Batch{},
		Behavior:      Behavior{RetryHorizon: 24 * time.Hour, BodyChanges: true, Rotation: RotationImmediate},
	},
}
