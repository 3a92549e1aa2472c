// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Destination is a system that gets a copy of each matching event.
//
// +kubebuilder:validation:XValidation:rule="!has(self.onExhausted) || self.onExhausted == 'Skip' || (has(self.ordering) && self.ordering == 'PerResource')",message="onExhausted Block needs ordering PerResource: without an order nothing waits"
// +kubebuilder:validation:XValidation:rule="has(self.nats) == self.url.matches('^(nats|tls)://')",message="url must begin with nats:// or tls:// where nats is set, and with http:// or https:// where it is not"
type Destination struct {
	// name of the destination, unique in this endpoint. Unfinished deliveries belong to it by this name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// url that deliveries are posted to, http or https; redirects are not followed. With nats it is the server's, such as
	// nats://nats.shop.svc:4222, or tls:// to insist on TLS. A host that leads to loopback, link-local
	// or other special addresses, or to a cloud's metadata, gets nothing; private networks are allowed unless the operator's
	// --destination-networks says otherwise.
	// +required
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="isURL(self) && self.matches('^(https?://[^/?#@]+([/?][^#]*)?|(nats|tls)://[^/?#@]+)$') && url(self).getHostname() != ''",message="url must be absolute, start with http:// or https:// (with nats: nats:// or tls://, and nothing behind the host and port) and have no user, password or fragment, such as http://fulfilment.shop.svc/hooks: whoever may read the endpoint reads its URLs"
	URL string `json:"url,omitempty"`

	// eventTypes that go to the destination: types, prefixes such as "invoice.*", or "*".
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	EventTypes []EventTypePattern `json:"eventTypes,omitempty"`

	// timeout of one attempt, from dialing to the end of the answer. Default 10s; from 100ms to 60s.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('100ms') && duration(self) <= duration('60s')",message="timeout must be from 100ms to 60s"
	Timeout Duration `json:"timeout,omitempty"`

	// retry says when a failed attempt is made again.
	// +optional
	Retry *Retry `json:"retry,omitempty"`

	// concurrency is how many attempts are made at once to the destination, by each receiver. Default 8; from 1 to 64.
	// +optional
	// +default=8
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Concurrency int32 `json:"concurrency,omitempty"`

	// ordering is None, or PerResource to bring the events of each resource in the order in which they were received: a delivery
	// waits until those of its resource before it are done, and others pass. An event without a resource id waits for nothing.
	// PerResource holds for events that come after the change to it, None at once. Default None.
	// +optional
	// +default="None"
	Ordering Ordering `json:"ordering,omitempty"`

	// onExhausted says, with ordering PerResource, what becomes of later deliveries of a resource when one has run out of
	// attempts: Skip, and they go on without it, or Block, and they wait until it has been replayed and delivered, or removed by
	// retention.failed. Default Skip.
	// +optional
	// +default="Skip"
	OnExhausted ExhaustedPolicy `json:"onExhausted,omitempty"`

	// signingSecretRef names what deliveries to the destination are signed with, in the headers webhook-id, webhook-timestamp
	// and webhook-signature of Standard Webhooks: whsec_ and the key in base64, 24 to 64 bytes of it. Two of them, separated
	// by white space, sign each delivery twice, so that the destination can change from one to the other. While the Secret or
	// its key is missing, deliveries to the destination wait, without attempts. Default: none, and nothing is signed. New
	// bytes take effect without a restart; naming another Secret restarts the receivers.
	// +optional
	SigningSecretRef *SecretKeyReference `json:"signingSecretRef,omitempty"`

	// nats lets deliveries be published to a stream of NATS JetStream instead of being posted. A delivery is done when the
	// stream has stored it. Default: none.
	// +optional
	NATS *NATS `json:"nats,omitempty"`
}

// NATS says how deliveries are published to a stream of NATS JetStream. The stream is the user's own.
type NATS struct {
	// subject that deliveries are published to, such as shop.payments; a stream has to have it among its subjects. One token
	// but the first may be {eventType}, which stands for the event type: shop.payments.{eventType} gives shop.payments.invoice.paid. No
	// default.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:XValidation:rule="self.matches('^[-A-Za-z0-9_]+([.]([-A-Za-z0-9_]+|[{]eventType[}]))*$') && !self.matches('[}].*[}]|^_INBOX')",message="nats.subject must be tokens of letters, digits, - and _ with dots between them, such as shop.payments or shop.payments.{eventType}: no wildcards, {eventType} once and not first, and not _INBOX"
	Subject string `json:"subject,omitempty"`

	// credentialsSecretRef names what receivers log in with: a .creds file, the seed of an nkey (SU...), user:password, or a
	// token. While the Secret or its key is missing, deliveries to the destination wait, without attempts. Default: none, and
	// nobody logs in. New bytes take effect without a restart; naming another Secret restarts the receivers.
	// +optional
	CredentialsSecretRef *SecretKeyReference `json:"credentialsSecretRef,omitempty"`
}

// Ordering says in which order deliveries reach a destination.
//
// +kubebuilder:validation:Enum=None;PerResource
type Ordering string

const (
	// OrderingNone lets each delivery go by itself.
	OrderingNone Ordering = "None"
	// OrderingPerResource keeps the order of each resource's events.
	OrderingPerResource Ordering = "PerResource"
)

// ExhaustedPolicy says what a delivery without attempts left does to those after it.
//
// +kubebuilder:validation:Enum=Skip;Block
type ExhaustedPolicy string

const (
	// ExhaustedSkip lets later deliveries of the resource go on.
	ExhaustedSkip ExhaustedPolicy = "Skip"
	// ExhaustedBlock lets later deliveries of the resource wait.
	ExhaustedBlock ExhaustedPolicy = "Block"
)

// ClientErrorPolicy says what an answer does that blames the delivery.
//
// +kubebuilder:validation:Enum=Retry;Fail
type ClientErrorPolicy string

const (
	// ClientErrorsRetry lets the delivery be attempted again, as after any other failure.
	ClientErrorsRetry ClientErrorPolicy = "Retry"
	// ClientErrorsFail lets the delivery be failed at once.
	ClientErrorsFail ClientErrorPolicy = "Fail"
)

// Retry says when a failed attempt is made again.
type Retry struct {
	// delays before the second and each further attempt, each at most 168h; a delivery has one attempt more than there are
	// delays, then it is failed. Default 1m, 2m, 4m, 8m, 16m, 32m, 1h, 2h, 4h, 8h: eleven attempts over 16 h 3 min.
	// A destination that asks for more time, with Retry-After, gets it, up to 24h.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:XValidation:rule="duration(self) <= duration('168h')",message="a delay must be at most 168h (seven days)"
	Delays []Duration `json:"delays,omitempty"`

	// clientErrors says what an answer 4xx other than 408, 425 and 429 does: Retry, or Fail, which ends the delivery at once,
	// and it waits for a replay among the failed ones. Default Retry: such answers come from half-finished deployments and
	// expired credentials more often than from deliveries that can never be taken.
	// +optional
	// +default="Retry"
	ClientErrors ClientErrorPolicy `json:"clientErrors,omitempty"`
}
