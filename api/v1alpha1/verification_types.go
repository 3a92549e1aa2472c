// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Verification says how a delivery proves that it comes from the provider.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxOverlap) || !has(self.overlap) || duration(self.maxOverlap) >= duration(self.overlap)",message="verification.maxOverlap is shorter than verification.overlap: make it at least as long, or leave it out"
// +kubebuilder:validation:XValidation:rule="!(self.scheme in ['Adyen', 'Shopify']) || !has(self.overlap) || duration(self.overlap) >= duration('1h')",message="verification.overlap must be at least 1h with this scheme: its provider goes over to a new secret step by step and signs with the old one meanwhile"
// +kubebuilder:validation:XValidation:rule="(self.scheme == 'HMAC') == has(self.hmac)",message="set verification.hmac when, and only when, verification.scheme is HMAC"
// +kubebuilder:validation:XValidation:rule="!has(self.bodyReuse) || self.bodyReuse == 'Duplicate' || self.scheme in ['GitHub', 'GitLabToken', 'Shopify', 'Convoy'] || (has(self.hmac) && (has(self.hmac.eventIDSigned) ? !self.hmac.eventIDSigned : !(self.hmac.stringToSign.contains('{id}') || (self.hmac.signature.algorithm == 'Token' ? has(self.hmac.eventID.made) && self.hmac.eventID.made == 'PerRequest' && !has(self.hmac.eventID.header) && !has(self.hmac.eventID.path) && !has(self.hmac.eventID.compose) : !has(self.hmac.eventID.header) && (!has(self.hmac.eventID.compose) || self.hmac.eventID.compose.all(c, has(c.path) && (!has(self.hmac.signature.path) || self.hmac.stringToSign.contains('{item.' + c.path + '}') || self.hmac.stringToSign.contains('{item.' + c.path + '...}')))) && (!has(self.hmac.eventID.otherwise) || self.hmac.eventID.otherwise.all(o, has(o.path) && (!has(self.hmac.signature.path) || self.hmac.stringToSign.contains('{item.' + o.path + '}') || self.hmac.stringToSign.contains('{item.' + o.path + '...}')))) && (!has(self.hmac.signature.path) || ((!has(self.hmac.eventID.path) || self.hmac.stringToSign.contains('{item.' + self.hmac.eventID.path + '}') || self.hmac.stringToSign.contains('{item.' + self.hmac.eventID.path + '...}')) && (!has(self.hmac.eventID.made) || self.hmac.eventID.made == 'PerRequest')))))))",message="bodyReuse NewEvent changes nothing where the signature covers the event id: remove it; a body under a new id is another event there"
// +kubebuilder:validation:XValidation:rule="!has(self.hmac) || !has(self.hmac.bodyBetweenAttempts) || self.hmac.bodyBetweenAttempts == 'Same' || (has(self.bodyReuse) && self.bodyReuse == 'NewEvent') || (has(self.hmac.eventIDSigned) ? self.hmac.eventIDSigned : self.hmac.stringToSign.contains('{id}') || (self.hmac.signature.algorithm == 'Token' ? has(self.hmac.eventID.made) && self.hmac.eventID.made == 'PerRequest' && !has(self.hmac.eventID.header) && !has(self.hmac.eventID.path) && !has(self.hmac.eventID.compose) : !has(self.hmac.eventID.header) && (!has(self.hmac.eventID.compose) || self.hmac.eventID.compose.all(c, has(c.path) && (!has(self.hmac.signature.path) || self.hmac.stringToSign.contains('{item.' + c.path + '}') || self.hmac.stringToSign.contains('{item.' + c.path + '...}')))) && (!has(self.hmac.eventID.otherwise) || self.hmac.eventID.otherwise.all(o, has(o.path) && (!has(self.hmac.signature.path) || self.hmac.stringToSign.contains('{item.' + o.path + '}') || self.hmac.stringToSign.contains('{item.' + o.path + '...}')))) && (!has(self.hmac.signature.path) || ((!has(self.hmac.eventID.path) || self.hmac.stringToSign.contains('{item.' + self.hmac.eventID.path + '}') || self.hmac.stringToSign.contains('{item.' + self.hmac.eventID.path + '...}')) && (!has(self.hmac.eventID.made) || self.hmac.eventID.made == 'PerRequest')))))",message="hmac.bodyBetweenAttempts Changes needs a signed event id: only a known body tells a captured delivery where the id is not signed. Name an id that is signed, or give that protection up with bodyReuse NewEvent"
// +kubebuilder:validation:XValidation:rule="self.scheme != 'Meta' || (has(self.handshake) && has(self.handshake.verifyToken))",message="scheme Meta asks, before it sends anything, with a text that you choose: set verification.handshake.verifyToken to what you enter there as the verify token"
// +kubebuilder:validation:XValidation:rule="!has(self.handshake) || !has(self.handshake.verifyToken) || self.scheme in ['Meta', 'HMAC']",message="handshake.verifyToken is for the schemes Meta and HMAC; no other asks with it: remove it"
type Verification struct {
	// scheme is how the provider signs: a preset, or HMAC with verification.hmac for any other provider. No default. A change
	// takes effect in running receivers without a restart.
	// +required
	Scheme SchemeName `json:"scheme,omitempty"`

	// secretRef names the Secret and key that hold the signing secret; for StandardWebhooksEd25519 the provider's public key.
	// A changed byte in it is a rotation: the former secret stays accepted for the overlap. No default.
	// +required
	SecretRef SecretKeyReference `json:"secretRef,omitzero"`

	// tolerance is how far the signed timestamp may be from the receiver's clock, in either direction; deliveries outside
	// of it are rejected with 401. Schemes without a signed timestamp ignore it. Default 5m; from 1s to 1h.
	// +optional
	// +default="5m"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('1h')",message="tolerance must be from 1s to 1h; 5m is what providers use"
	Tolerance Duration `json:"tolerance,omitempty"`

	// overlap is how long the former secret stays accepted after the bytes of secretRef changed, counted from the moment
	// that the last ready receiver has the new one. Default 24h; from 0s to 168h. A SecretRotation brings its own.
	// +optional
	// +default="24h"
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('168h')",message="overlap must be from 0s to 168h (seven days)"
	Overlap Duration `json:"overlap,omitempty"`

	// retire says when the time of a former secret is over after the bytes of secretRef changed: AtDeadline, at the end of the
	// overlap, used or not; or WhenUnused, when it has verified no delivery for as long as the overlap, and at the latest
	// after maxOverlap. A SecretRotation brings its own. Default AtDeadline.
	// +optional
	// +default="AtDeadline"
	Retire Retire `json:"retire,omitempty"`

	// maxOverlap is for how long, counted as overlap is, the former secret is accepted at most with retire WhenUnused;
	// otherwise it means nothing. Default 168h; from overlap to 168h.
	// +optional
	// +default="168h"
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('168h')",message="maxOverlap must be at most 168h (seven days)"
	MaxOverlap Duration `json:"maxOverlap,omitempty"`

	// bodyReuse says what a known body under a new event id is, where the signature does not cover the id (Convoy, GitHub,
	// GitLabToken, Shopify, and HMAC with such an id): Duplicate, which gets the stored answer, or NewEvent, for providers
	// that send identical bodies on purpose. NewEvent gives up a protection: whoever has captured one delivery can have its
	// effects again, as often as they make up an id, for as long as its secret is accepted. Default Duplicate.
	// +optional
	BodyReuse BodyReuse `json:"bodyReuse,omitempty"`

	// handshake says what the answers to a provider need that asks whether the endpoint wants its deliveries. Absent: the
	// handshakes of the scheme that need nothing are answered all the same.
	// +optional
	Handshake *HandshakeOptions `json:"handshake,omitempty"`

	// hmac describes the scheme when scheme is HMAC, and is absent otherwise.
	// +optional
	HMAC *HMACScheme `json:"hmac,omitempty"`
}

// HandshakeOptions says what the answers to a provider's questions need. A change takes effect without a restart.
//
// +kubebuilder:validation:MinProperties=1
type HandshakeOptions struct {
	// verifyToken is the text that must come with a GET of Meta and of WebSub hubs (hub.mode=subscribe); hub.challenge is the
	// answer then, and 403 otherwise. Needed by scheme Meta; with HMAC it turns that handshake on; refused elsewhere. It is no
	// secret, and so it is here: the provider sends it in the query of a URL, which every proxy logs, and it gives nothing to
	// whoever knows it but the challenge that they sent themselves. Deliveries are proven by the signature alone. No default;
	// 1 to 128 visible ASCII
	// characters.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[!-~]+$`
	VerifyToken string `json:"verifyToken,omitempty"`

	// origins are the senders of CloudEvents that are given consent when they ask with OPTIONS (WebHook-Request-Origin): names
	// as they say them, such as eventemitter.example.com, or "*" for every one. It turns that handshake on, with any scheme;
	// consent is no permission: deliveries are proven by the signature alone. Default: none, and OPTIONS is answered with 405.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Origins []Origin `json:"origins,omitempty"`
}

// Origin is the name by which a sender of CloudEvents asks for consent, or "*".
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:Pattern=`^([*]|[-A-Za-z0-9._:/]+)$`
type Origin string
