// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// SchemeName names how a provider signs: a preset, or HMAC to spell every field out.
//
// +kubebuilder:validation:Enum=Paymos;StandardWebhooks;StandardWebhooksEd25519;Svix;Stripe;GitHub;GitLab;GitLabToken;OpenAI;Shopify;Slack;Paddle;Square;Adyen;Zoom;Meta;Twilio;Convoy;Dropbox;HubSpot;HMAC
type SchemeName string

// The schemes that verification.scheme accepts.
const (
	// SchemePaymos is Paymos, a payments provider: X-Webhook-Signature with one or more v1 values.
	SchemePaymos SchemeName = "Paymos"
	// SchemeStandardWebhooks is the Standard Webhooks specification with a shared secret (v1): webhook-id,
	// webhook-timestamp, webhook-signature.
	SchemeStandardWebhooks SchemeName = "StandardWebhooks"
	// SchemeStandardWebhooksEd25519 is the same with a key pair (v1a): the secret is the provider's public key, whpk_...
	SchemeStandardWebhooksEd25519 SchemeName = "StandardWebhooksEd25519"
	// SchemeSvix is what Svix sends: Standard Webhooks, with headers that begin with svix- or webhook-.
	SchemeSvix SchemeName = "Svix"
	// SchemeStripe is Stripe: Stripe-Signature with one or more v1 values.
	SchemeStripe SchemeName = "Stripe"
	// SchemeGitHub is GitHub: X-Hub-Signature-256 over the body; the delivery's id is not signed.
	SchemeGitHub SchemeName = "GitHub"
	// SchemeGitLab is GitLab with a signing token: Standard Webhooks.
	SchemeGitLab SchemeName = "GitLab"
	// SchemeGitLabToken is GitLab with a secret token: X-Gitlab-Token carries it, and nothing is signed.
	SchemeGitLabToken SchemeName = "GitLabToken"
	// SchemeOpenAI is OpenAI: Standard Webhooks.
	SchemeOpenAI SchemeName = "OpenAI"
	// SchemeShopify is Shopify: X-Shopify-Hmac-Sha256 over the body; the delivery's id is not signed.
	SchemeShopify SchemeName = "Shopify"
	// SchemeSlack is Slack's Events API: X-Slack-Signature, with a url_verification that is answered.
	SchemeSlack SchemeName = "Slack"
	// SchemePaddle is Paddle Billing: Paddle-Signature with one or more h1 values.
	SchemePaddle SchemeName = "Paddle"
	// SchemeSquare is Square: x-square-hmacsha256-signature over the public URL and the body.
	SchemeSquare SchemeName = "Square"
	// SchemeAdyen is Adyen's standard webhooks: a batch of notificationItems, each with a signature of its own.
	SchemeAdyen SchemeName = "Adyen"
	// SchemeZoom is Zoom: x-zm-signature, with an endpoint.url_validation that is answered.
	SchemeZoom SchemeName = "Zoom"
	// SchemeMeta is Meta (Facebook, Instagram, WhatsApp): X-Hub-Signature-256, with a GET that asks for a verify token.
	SchemeMeta SchemeName = "Meta"
	// SchemeTwilio is Twilio: X-Twilio-Signature over the public URL and the form's fields.
	SchemeTwilio SchemeName = "Twilio"
	// SchemeConvoy is Convoy with advanced signatures: X-Convoy-Signature with one or more v1 values.
	SchemeConvoy SchemeName = "Convoy"
	// SchemeDropbox is Dropbox: X-Dropbox-Signature; its notifications carry no id, and say only that there is news.
	SchemeDropbox SchemeName = "Dropbox"
	// SchemeHubSpot is HubSpot, version 3: X-HubSpot-Signature-v3 over the public URL; several events in one request.
	SchemeHubSpot SchemeName = "HubSpot"
	// SchemeHMAC is any other scheme, described field by field in verification.hmac.
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

// MadeID says what an event's id is made of where the provider gives its events none.
//
// +kubebuilder:validation:Enum=BodyDigest;PerRequest
type MadeID string

const (
	// MadeBodyDigest takes the SHA-256 of the body: identical bodies are the same event.
	MadeBodyDigest MadeID = "BodyDigest"
	// MadePerRequest makes a new id for each request, so that nothing is ever a duplicate. It is for notifications that
	// carry nothing but "look again", whose effects do no harm when they happen twice.
	MadePerRequest MadeID = "PerRequest"
)

// Forms says what a form-encoded body is that carries no event in one of its fields.
//
// +kubebuilder:validation:Enum=Refused;Object
type Forms string

const (
	// FormsRefused refuses it with 400.
	FormsRefused Forms = "Refused"
	// FormsObject takes it for an event: a JSON object of its fields.
	FormsObject Forms = "Object"
)

// HandshakeName names a request by which a provider asks whether an endpoint wants its deliveries.
//
// +kubebuilder:validation:Enum=URLVerification;URLValidation;EchoChallenge;Ping
type HandshakeName string

const (
	// HandshakeURLVerification is Slack's: a signed POST whose member type is url_verification; the answer is its member
	// challenge.
	HandshakeURLVerification HandshakeName = "URLVerification"
	// HandshakeURLValidation is Zoom's: a signed POST whose member event is endpoint.url_validation; the answer is its
	// member payload.plainToken and an HMAC of it.
	HandshakeURLValidation HandshakeName = "URLValidation"
	// HandshakeEchoChallenge is Dropbox's: a GET with the parameter challenge, which is the answer.
	HandshakeEchoChallenge HandshakeName = "EchoChallenge"
	// HandshakePing is GitHub's: a signed POST of the type ping, which is answered and is no event.
	HandshakePing HandshakeName = "Ping"
)
