// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// SchemeName names how a provider signs: a preset, or HMAC to spell every field out.
//
// +kubebuilder:validation:Enum=Paymos;StandardWebhooks;Stripe;GitHub;HMAC
type SchemeName string

// The schemes that verification.scheme accepts.
const (
	// SchemePaymos is Paymos, a payments provider: X-Webhook-Signature with one or more v1 values.
	SchemePaymos SchemeName = "Paymos"
	// SchemeStandardWebhooks is the Standard Webhooks specification: webhook-id, webhook-timestamp, webhook-signature.
	SchemeStandardWebhooks SchemeName = "StandardWebhooks"
	// SchemeStripe is Stripe: Stripe-Signature with one or more v1 values.
	SchemeStripe SchemeName = "Stripe"
	// SchemeGitHub is GitHub: X-Hub-Signature-256 over the body; the delivery's id is not signed.
	SchemeGitHub SchemeName = "GitHub"
	// SchemeHMAC is any HMAC scheme, described field by field in verification.hmac.
	SchemeHMAC SchemeName = "HMAC"
)

// BodyReuse says what a known body under a new event id is.
//
// +kubebuilder:validation:Enum=Duplicate;NewEvent
type BodyReuse string

const (
	// BodyReuseDuplicate takes a known body under a new id that is not signed for a duplicate.
	BodyReuseDuplicate BodyReuse = "Duplicate"
	// BodyReuseNewEvent takes it for another event.
	BodyReuseNewEvent BodyReuse = "NewEvent"
)

// BodyBetweenAttempts says whether a provider sends the same body with each attempt of one event.
//
// +kubebuilder:validation:Enum=Same;Changes
type BodyBetweenAttempts string

const (
	// BodySame takes another body under a known id for a conflict.
	BodySame BodyBetweenAttempts = "Same"
	// BodyChanges takes it for a duplicate.
	BodyChanges BodyBetweenAttempts = "Changes"
)

// Verification says how a delivery proves that it comes from the provider.
//
// +kubebuilder:validation:XValidation:rule="(self.scheme == 'HMAC') == has(self.hmac)",message="set verification.hmac when, and only when, verification.scheme is HMAC"
// +kubebuilder:validation:XValidation:rule="!has(self.bodyReuse) || self.bodyReuse == 'Duplicate' || self.scheme == 'GitHub' || (has(self.hmac) && (has(self.hmac.eventIDSigned) ? !self.hmac.eventIDSigned : has(self.hmac.eventID.header) && !self.hmac.stringToSign.contains('{id}')))",message="bodyReuse NewEvent changes nothing where the signature covers the event id: remove it; a body under a new id is another event there"
// +kubebuilder:validation:XValidation:rule="!has(self.hmac) || !has(self.hmac.bodyBetweenAttempts) || self.hmac.bodyBetweenAttempts == 'Same' || (has(self.bodyReuse) && self.bodyReuse == 'NewEvent') || (has(self.hmac.eventIDSigned) ? self.hmac.eventIDSigned : has(self.hmac.eventID.path) || self.hmac.stringToSign.contains('{id}'))",message="hmac.bodyBetweenAttempts Changes needs a signed event id: only a known body tells a captured delivery where the id is not signed. Name an id that is signed, or give that protection up with bodyReuse NewEvent"
type Verification struct {
	// scheme is how the provider signs: Paymos (a payments provider), StandardWebhooks, Stripe or GitHub, or HMAC with
	// verification.hmac for any other provider. No default. A change takes effect in running receivers without a restart.
	// +required
	Scheme SchemeName `json:"scheme,omitempty"`

	// secretRef names the Secret and key that hold the signing secret. A changed byte in it is a rotation: the former
	// secret stays accepted for the overlap. No default.
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

	// bodyReuse says what a known body under a new event id is, where the signature does not cover the id (GitHub, and HMAC
	// with such an id): Duplicate, which gets the stored answer, or NewEvent, for providers that send identical bodies on
	// purpose. NewEvent gives up a protection: whoever has captured one delivery can have its effects again, as often as they
	// make up an id, for as long as its secret is accepted. Default Duplicate.
	// +optional
	BodyReuse BodyReuse `json:"bodyReuse,omitempty"`

	// hmac describes the scheme when scheme is HMAC, and is absent otherwise.
	// +optional
	HMAC *HMACScheme `json:"hmac,omitempty"`
}

// HMACScheme describes a scheme whose signature is an HMAC over the raw body, alone or with an id and a timestamp.
//
// +kubebuilder:validation:XValidation:rule="!self.stringToSign.contains('{timestamp}') || has(self.timestamp)",message="stringToSign contains {timestamp}: say in hmac.timestamp where the timestamp is"
// +kubebuilder:validation:XValidation:rule="!has(self.timestamp) || self.stringToSign.contains('{timestamp}')",message="hmac.timestamp is set but stringToSign has no {timestamp}: an unsigned timestamp proves nothing, remove it or sign it"
// +kubebuilder:validation:XValidation:rule="!self.stringToSign.contains('{id}') || has(self.eventID.header)",message="stringToSign contains {id}: set hmac.eventID.header to the header that carries the id"
type HMACScheme struct {
	// signature says where the signatures are and how they are written.
	// +required
	Signature HMACSignature `json:"signature,omitzero"`

	// stringToSign is what the provider signs, with the placeholders {timestamp}, {id} and {body}; for instance
	// "{timestamp}.{body}". {body} must be in it, once and last. Default "{body}".
	// +optional
	// +default="{body}"
	// +kubebuilder:validation:MinLength=6
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.endsWith('{body}')",message="stringToSign must end with {body}; everything that is signed with it goes before"
	StringToSign string `json:"stringToSign,omitempty"`

	// key says how the signing secret's text becomes the HMAC key.
	// +optional
	// +default={}
	Key HMACKey `json:"key,omitzero"`

	// timestamp says where the signed timestamp is. Absent: the scheme signs none, and the claim alone stops replays.
	// +optional
	Timestamp *HMACTimestamp `json:"timestamp,omitempty"`

	// eventID says where the id of the delivery is. It must be 1 to 255 printable ASCII characters without spaces.
	// +required
	EventID HeaderOrPath `json:"eventID,omitzero"`

	// eventIDSigned says whether the signature covers the id. When false, the digest of the body is claimed too (see
	// bodyReuse), so that a captured delivery with a made-up id has no second effect. Default: true when the id is read from the body or
	// stringToSign contains {id}, false otherwise.
	// +optional
	EventIDSigned *bool `json:"eventIDSigned,omitempty"`

	// bodyBetweenAttempts says whether the provider sends the same body with each attempt of one event: Same, where another
	// body under a known id is a conflict and answered with 422, or Changes, where it is a duplicate, for providers that
	// write a counter or a time of the attempt into the body. With Changes a second event under an id by mistake goes
	// unnoticed. Default Same.
	// +optional
	BodyBetweenAttempts BodyBetweenAttempts `json:"bodyBetweenAttempts,omitempty"`

	// eventType says where the type of the event is. Absent: every event has the empty type.
	// +optional
	EventType *HeaderOrPath `json:"eventType,omitempty"`

	// resourceID says where the id of the thing that the event is about is. Needed by effects with key ResourceAndType.
	// +optional
	ResourceID *HeaderOrPath `json:"resourceID,omitempty"`
}

// HMACSignature says where the signatures of a delivery are.
type HMACSignature struct {
	// header that carries the signatures; upper and lower case are the same. No default.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[-A-Za-z0-9]+$`
	Header string `json:"header,omitempty"`

	// separator between the elements of the header: a comma, a semicolon or a space. Default: the header is one element.
	// +optional
	// +kubebuilder:validation:Enum=",";";";" "
	Separator string `json:"separator,omitempty"`

	// prefix of an element that is a signature, for instance "v1=", "sha256=" or "v1,". Elements without it are skipped.
	// Default: none, every element is a signature.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Prefix string `json:"prefix,omitempty"`

	// encoding of a signature: Hex or Base64. Default Hex.
	// +optional
	// +default="Hex"
	// +kubebuilder:validation:Enum=Hex;Base64
	Encoding string `json:"encoding,omitempty"`

	// algorithm of the HMAC: SHA256, SHA384 or SHA512. Default SHA256.
	// +optional
	// +default="SHA256"
	// +kubebuilder:validation:Enum=SHA256;SHA384;SHA512
	Algorithm string `json:"algorithm,omitempty"`
}

// HMACKey says how a signing secret's text becomes the HMAC key.
type HMACKey struct {
	// encoding of the secret: Raw (its bytes are the key), Base64 or Hex. Default Raw.
	// +optional
	// +default="Raw"
	// +kubebuilder:validation:Enum=Raw;Base64;Hex
	Encoding string `json:"encoding,omitempty"`

	// prefix that is removed before the secret is decoded, for instance "whsec_". A secret without it is taken as it is.
	// Default: none.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Prefix string `json:"prefix,omitempty"`
}

// HMACTimestamp says where the signed timestamp is.
type HMACTimestamp struct {
	// header that carries the timestamp. Default: the signature's header, as an element with the prefix below.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[-A-Za-z0-9]+$`
	Header string `json:"header,omitempty"`

	// prefix of the element that is the timestamp, for instance "t=". Default: none.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Prefix string `json:"prefix,omitempty"`

	// unit of the timestamp, counted from 1970-01-01 UTC: Seconds or Milliseconds. Default Seconds.
	// +optional
	// +default="Seconds"
	// +kubebuilder:validation:Enum=Seconds;Milliseconds
	Unit string `json:"unit,omitempty"`
}

// HeaderOrPath says where a value is: in a header, or at a path in the JSON body. Exactly one of the two is set.
//
// +kubebuilder:validation:XValidation:rule="has(self.header) != has(self.path)",message="set exactly one of header and path"
type HeaderOrPath struct {
	// header that carries the value, if path is absent. Upper and lower case are the same.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:Pattern=`^[-A-Za-z0-9]+$`
	Header string `json:"header,omitempty"`

	// path of the value in the JSON body, if header is absent: member names joined by dots, such as "data.invoice_id".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:Pattern=`^[^.]+(\.[^.]+)*$`
	Path string `json:"path,omitempty"`
}
