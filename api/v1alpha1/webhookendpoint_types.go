// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WebhookEndpoint is a receiver of one provider's webhooks. Its receivers verify each delivery, claim the event in the
// same Postgres transaction as its effects and outbox rows, and replay the stored answer to duplicates.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=whe,categories=hookonce
// +kubebuilder:selectablefield:JSONPath=".spec.verification.scheme"
// +kubebuilder:printcolumn:name="PROVIDER",type=string,JSONPath=".spec.verification.scheme",description="scheme of the provider"
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=".status.conditions[?(@.type=='Ready')].status",description="whether the cluster does what the spec asks"
// +kubebuilder:printcolumn:name="STATUS",type=string,JSONPath=".status.conditions[?(@.type=='Ready')].reason",description="why"
// +kubebuilder:printcolumn:name="RECEIVERS",type=string,JSONPath=".status.receivers.summary",description="ready of desired receivers"
// +kubebuilder:printcolumn:name="FAILED",type=integer,JSONPath=".status.deliveries.failed",description="deliveries that ran out of attempts"
// +kubebuilder:printcolumn:name="PENDING",type=integer,JSONPath=".status.deliveries.pending",description="deliveries under way or waiting for a retry"
// +kubebuilder:printcolumn:name="OVERLAP-UNTIL",type=string,JSONPath=".status.overlapEndTime",description="until when a former secret is accepted"
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=".status.url",priority=1,description="public URL that the provider is given"
// +kubebuilder:printcolumn:name="RECEIVED",type=integer,JSONPath=".status.deliveries.received",priority=1
// +kubebuilder:printcolumn:name="DUPLICATES",type=integer,JSONPath=".status.deliveries.duplicates",priority=1
// +kubebuilder:printcolumn:name="REJECTED",type=integer,JSONPath=".status.deliveries.rejected",priority=1
// +kubebuilder:printcolumn:name="OLDEST-PENDING",type=date,JSONPath=".status.deliveries.oldestPendingTime",priority=1
// +kubebuilder:printcolumn:name="MESSAGE",type=string,JSONPath=".status.conditions[?(@.type=='Ready')].message",priority=1
type WebhookEndpoint struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what the endpoint should be.
	// +required
	Spec WebhookEndpointSpec `json:"spec,omitzero"`

	// status is what the operator last saw.
	// +optional
	// +default={"observedGeneration": -1}
	Status WebhookEndpointStatus `json:"status,omitzero"`
}

// WebhookEndpointList is a list of WebhookEndpoints.
//
// +kubebuilder:object:root=true
type WebhookEndpointList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the endpoints.
	Items []WebhookEndpoint `json:"items"`
}

// WebhookEndpointSpec is what a WebhookEndpoint should be.
//
// +kubebuilder:validation:XValidation:rule="!has(self.effects) || !has(self.verification.hmac) || has(self.verification.hmac.resourceID) || self.effects.all(e, !has(e.key) || e.key == 'Event')",message="an effect with key ResourceAndType needs verification.hmac.resourceID"
// +kubebuilder:validation:XValidation:rule="!has(self.effects) || !(self.verification.scheme in ['GitHub', 'GitLab', 'GitLabToken', 'Slack', 'Meta', 'Dropbox']) || self.effects.all(e, !has(e.key) || e.key == 'Event')",message="this verification.scheme has no resource id: use key Event in effects"
// +kubebuilder:validation:XValidation:rule="!has(self.destinations) || !(self.verification.scheme in ['GitHub', 'GitLab', 'GitLabToken', 'Slack', 'Meta', 'Dropbox'] || (has(self.verification.hmac) && !has(self.verification.hmac.resourceID))) || self.destinations.all(d, !has(d.ordering) || d.ordering == 'None')",message="ordering PerResource needs a resource id: this verification.scheme has none, or hmac.resourceID is absent"
// +kubebuilder:validation:XValidation:rule="!(self.verification.scheme in ['Square', 'Twilio', 'HubSpot'] || (has(self.verification.hmac) && self.verification.hmac.stringToSign.contains('{url}'))) || has(self.exposure.url) || has(self.exposure.host)",message="the signature of this verification.scheme covers the URL that the provider was given: set exposure.url to it, or exposure.host if it is https:// with that host and exposure.path"
// +kubebuilder:validation:XValidation:rule="!has(self.retention.claims) || duration(self.retention.claims) >= duration(has(self.verification.hmac) ? self.verification.hmac.retryHorizon : self.verification.scheme in ['Stripe', 'Paddle', 'Square', 'GitLab', 'GitHub', 'GitLabToken'] ? '72h' : self.verification.scheme == 'Adyen' ? '720h' : self.verification.scheme == 'Meta' ? '36h' : self.verification.scheme == 'Svix' ? '27h35m5s' : self.verification.scheme == 'Slack' ? '24h6m' : self.verification.scheme == 'HubSpot' ? '24h' : self.verification.scheme == 'Paymos' ? '16h3m' : self.verification.scheme == 'Shopify' ? '4h' : self.verification.scheme == 'Dropbox' ? '10m' : '75h35m5s') + duration('170h')",message="retention.claims is shorter than the provider may send an event again",messageExpression="has(self.verification.hmac) ? 'retention.claims must be at least 170h longer than hmac.retryHorizon: the provider may send an event again for that long, former secrets are accepted for up to 168h more, clocks differ by up to 2h, and an event that is forgotten before is processed twice. Set that much or more, or leave it out' : self.verification.scheme in ['Stripe', 'Paddle', 'Square', 'GitLab', 'GitHub', 'GitLabToken'] ? 'retention.claims must be at least 242h with this scheme: its provider may send an event again for 72h, former secrets are accepted for up to 168h more, clocks differ by up to 2h, and an event that is forgotten before is processed twice. Set that much or more, or leave it out' : self.verification.scheme == 'Adyen' ? 'retention.claims must be at least 890h with this scheme: its provider may send an event again for 720h, former secrets are accepted for up to 168h more, clocks differ by up to 2h, and an event that is forgotten before is processed twice. Set that much or more, or leave it out' : self.verification.scheme == 'Meta' ? 'retention.claims must be at least 206h with this scheme: its provider may send an event again for 36h, former secrets are accepted for up to 168h more, clocks differ by up to 2h, and an event that is forgotten before is processed twice. Set that much or more, or leave it out' : self.verification.scheme == 'Svix' ? 'retention.claims must be at least 198h with this scheme: its provider may send an event again for 27h35m5s, former secrets are accepted for up to 168h more, clocks differ by up to 2h, and an event that is forgotten before is processed twice. Set that much or more, or leave it out' : self.verification.scheme == 'Slack' ? 'retention.claims must be at least 195h with this scheme: its provider may send an event again for 24h6m, former secrets are accepted for up to 168h more, clocks differ by up to 2h, and an event that is forgotten before is processed twice. Set that much or more, or leave it out' : self.verification.scheme == 'HubSpot' ? 'retention.claims must be at least 194h with this scheme: its provider may send an event again for 24h, former secrets are accepted for up to 168h more, clocks differ by up to 2h, and an event that is forgotten before is processed twice. Set that much or more, or leave it out' : self.verification.scheme == 'Paymos' ? 'retention.claims must be at least 187h with this scheme: its provider may send an event again for 16h3m, former secrets are accepted for up to 168h more, clocks differ by up to 2h, and an event that is forgotten before is processed twice. Set that much or more, or leave it out' : self.verification.scheme == 'Shopify' ? 'retention.claims must be at least 174h with this scheme: its provider may send an event again for 4h, former secrets are accepted for up to 168h more, clocks differ by up to 2h, and an event that is forgotten before is processed twice. Set that much or more, or leave it out' : self.verification.scheme == 'Dropbox' ? 'retention.claims must be at least 171h with this scheme: its provider may send an event again for 10m, former secrets are accepted for up to 168h more, clocks differ by up to 2h, and an event that is forgotten before is processed twice. Set that much or more, or leave it out' : 'retention.claims must be at least 246h with this scheme: its provider may send an event again for 75h35m5s, former secrets are accepted for up to 168h more, clocks differ by up to 2h, and an event that is forgotten before is processed twice. Set that much or more, or leave it out'"
type WebhookEndpointSpec struct {
	// verification says how a delivery proves that it comes from the provider.
	// +required
	Verification Verification `json:"verification,omitzero"`

	// database is the Postgres that holds the ledger, and in which the effects run.
	// +required
	Database Database `json:"database,omitzero"`

	// effects are SQL functions called inside the claim's transaction, in this order. Default: none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Effects []Effect `json:"effects,omitempty"`

	// destinations are the systems that get a copy of each matching event, at least once. Default: none.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	Destinations []Destination `json:"destinations,omitempty"`

	// retention says how long the ledger keeps what it no longer needs, and when it is cleaned.
	// +optional
	// +default={}
	Retention Retention `json:"retention,omitzero"`

	// exposure says where the provider reaches the receivers.
	// +optional
	// +default={}
	Exposure Exposure `json:"exposure,omitzero"`

	// limits bound what a delivery may cost before its signature is known to be right.
	// +optional
	// +default={}
	Limits Limits `json:"limits,omitzero"`

	// receiver describes the receiver pods.
	// +optional
	// +default={}
	Receiver Receiver `json:"receiver,omitzero"`

	// suspend stops the operator from changing anything for this endpoint. Receivers go on serving, and still stop
	// accepting former secrets on time. Default false.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// Database names the Postgres that holds the ledger.
type Database struct {
	// secretRef names the Secret and key that hold the connection URI, such as postgres://user:password@host:5432/name.
	// CloudNativePG writes it under the key uri. No default.
	// +required
	SecretRef SecretKeyReference `json:"secretRef,omitzero"`

	// schema in that database that holds the ledger's tables. It cannot be changed. Default hookonce.
	// +optional
	// +default="hookonce"
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z_][a-z0-9_]*$') && !self.startsWith('pg_')",message="database.schema must be a plain name such as hookonce: lower-case letters, digits and _, not beginning with a digit or with pg_, which is Postgres's own"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="database.schema cannot be changed: the ledger would forget every claim. Create a new endpoint with the other schema instead"
	Schema string `json:"schema,omitempty"`
}

// EffectKey says what an effect happens once for.
//
// +kubebuilder:validation:Enum=Event;ResourceAndType
type EffectKey string

const (
	// EffectKeyEvent runs the effect once for each event id of this endpoint.
	EffectKeyEvent EffectKey = "Event"
	// EffectKeyResourceAndType runs the effect once for each resource id and event type, whichever delivery or endpoint
	// carried it.
	EffectKeyResourceAndType EffectKey = "ResourceAndType"
)

// EventTypePattern is an event type, a prefix followed by .* such as "invoice.*", or "*" for every type.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=128
// +kubebuilder:validation:XValidation:rule="self.matches('^([*]|[^*\\\\s]+([.][*])?)$')",message="eventTypes takes types such as invoice.paid, prefixes such as invoice.*, and * for all: a star stands alone or after the last dot"
type EventTypePattern string

// Effect is a SQL function called inside the claim's transaction.
type Effect struct {
	// name of the effect, unique in this endpoint; the stored answer lists the result under it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// eventTypes that the effect is for: types, prefixes such as "invoice.*", or "*".
	// +required
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	EventTypes []EventTypePattern `json:"eventTypes,omitempty"`

	// function to call, with its schema: shop.on_invoice_paid. It takes one argument of type hookonce.event (the ledger's
	// schema) and returns jsonb, the stored result. An error rolls everything back and the provider is asked to retry;
	// SQLSTATE HK001 means refused: the claim is kept and the provider gets a 2xx. A function cannot wait for a lock longer
	// than 2 s, since the provider waits meanwhile: it fails, and the provider is asked to retry.
	// +required
	// +kubebuilder:validation:MinLength=3
	// +kubebuilder:validation:MaxLength=127
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z_][a-z0-9_]{0,62}[.][a-z_][a-z0-9_]{0,62}$')",message="function must be a schema and a name in lower case, such as shop.on_invoice_paid, without parentheses: its argument is the event"
	Function string `json:"function,omitempty"`

	// key says what the effect happens once for: Event, or ResourceAndType. Default Event.
	// ResourceAndType belongs to the function's name in the ledger: two effects, of one endpoint or of several with the same
	// ledger, that call the same function share it, and a function under another name books everything again. An event
	// without a resource id has the effect once for its event id, as with Event. Schemes that have none at all cannot have
	// ResourceAndType: GitHub, GitLab, GitLabToken, Slack, Meta, Dropbox, and HMAC without hmac.resourceID.
	// +optional
	Key EffectKey `json:"key,omitempty"`
}

// Retention says how long the ledger keeps what it no longer needs. What is unfinished is never removed, and what has failed
// only if failed says so.
//
// +kubebuilder:validation:XValidation:rule="!has(self.payloads) || duration(self.payloads) <= (has(self.claims) ? (duration(self.claims) < duration('170h') ? duration(self.payloads) : duration(self.claims)) : duration('720h'))",message="retention.payloads must not be longer than retention.claims, which counts as 720h here if it is absent: set retention.claims to as much, or payloads to less"
type Retention struct {
	// claims is how long an event id is remembered: a delivery that comes later than this is taken for a new one. Absent: 720h
	// (30 days), or what the scheme needs if that is more (Adyen: 890h). At least what the scheme needs: for as long as the
	// provider may send an event again (hmac.retryHorizon, docs/reference/schemes.md), 168h for former secrets, and 2h for
	// clocks that differ; with Paymos, for instance, 186h3m. A longer time makes the ledger larger, and nothing slower.
	// +optional
	Claims Duration `json:"claims,omitempty"`

	// payloads is how long bodies and headers are kept after their deliveries are done. Default 168h (7 days); at least 1h,
	// and not longer than claims.
	// +optional
	// +default="168h"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1h')",message="retention.payloads must be at least 1h"
	Payloads Duration `json:"payloads,omitempty"`

	// attempts is how long the history of attempts is kept. Default: as long as payloads; at least 1h. A DeliveryReplay of what
	// was delivered finds it by its attempts.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1h')",message="retention.attempts must be at least 1h, or absent to keep attempts as long as payloads"
	Attempts Duration `json:"attempts,omitempty"`

	// failed is how long failed deliveries are kept, with their bodies, for a DeliveryReplay to send them again; then they are
	// removed, and FAILED no longer counts them. Default: until they are replayed, however long that is. At least 24h.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('24h')",message="retention.failed must be at least 24h, or absent to keep failed deliveries until they are replayed"
	Failed Duration `json:"failed,omitempty"`

	// schedule of the prune job, five cron fields, in UTC: minute, hour, day of month, month and day of week (0 to 6, Sunday
	// is 0). Default "17 3 * * *": at 03:17 UTC each day.
	// +optional
	// +default="17 3 * * *"
	// +kubebuilder:validation:MinLength=9
	// +kubebuilder:validation:MaxLength=128
	// +kubebuilder:validation:XValidation:rule="self.upperAscii().matches('^ *([*]|[0-5]?[0-9](-[0-5]?[0-9])?)(/[1-9][0-9]?)?(,([*]|[0-5]?[0-9](-[0-5]?[0-9])?)(/[1-9][0-9]?)?)* +([*]|([01]?[0-9]|2[0-3])(-([01]?[0-9]|2[0-3]))?)(/[1-9][0-9]?)?(,([*]|([01]?[0-9]|2[0-3])(-([01]?[0-9]|2[0-3]))?)(/[1-9][0-9]?)?)* +([*]|(0?[1-9]|[12][0-9]|3[01])(-(0?[1-9]|[12][0-9]|3[01]))?)(/[1-9][0-9]?)?(,([*]|(0?[1-9]|[12][0-9]|3[01])(-(0?[1-9]|[12][0-9]|3[01]))?)(/[1-9][0-9]?)?)* +([*]|(0?[1-9]|1[0-2]|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)(-(0?[1-9]|1[0-2]|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC))?)(/[1-9][0-9]?)?(,([*]|(0?[1-9]|1[0-2]|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)(-(0?[1-9]|1[0-2]|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC))?)(/[1-9][0-9]?)?)* +([*]|([0-6]|SUN|MON|TUE|WED|THU|FRI|SAT)(-([0-6]|SUN|MON|TUE|WED|THU|FRI|SAT))?)(/[1-9][0-9]?)?(,([*]|([0-6]|SUN|MON|TUE|WED|THU|FRI|SAT)(-([0-6]|SUN|MON|TUE|WED|THU|FRI|SAT))?)(/[1-9][0-9]?)?)* *$')",message="retention.schedule must have five cron fields: minute 0-59, hour 0-23, day of month 1-31, month 1-12 or JAN-DEC, day of week 0-6 or SUN-SAT (Sunday is 0); each is *, a number, a range such as 1-5, or a list of these, with a step such as */6 if need be, for instance 17 3 * * *"
	Schedule string `json:"schedule,omitempty"`
}

// Exposure says where the provider reaches the receivers.
type Exposure struct {
	// path that receivers serve; every other path is 404. Default /webhooks/ and the endpoint's name.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.matches('^/[-A-Za-z0-9._~/]*$') && !self.matches('//|/[.]{1,2}(/|$)')",message="exposure.path must begin with / and have letters, digits and - . _ ~ only, without empty parts, . and .., which proxies take out: such as /webhooks/payments"
	Path string `json:"path,omitempty"`

	// host by which the provider reaches the receivers, such as hooks.example.com: the public URL is https://, the host and
	// path then, unless url says another one. Nothing is routed by it. Default: none, and no public URL is known. A change
	// takes effect without a restart; schemes that sign the URL refuse what the provider sends to the former one.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="exposure.host must be a DNS name in lower case, such as hooks.example.com: a scheme, a port or a path go into exposure.url"
	Host string `json:"host,omitempty"`

	// url is the whole public URL, byte for byte as the provider was given it, with http or https, a port if it has one, and
	// without a query: what a signature that covers the URL was made over. It wins over host, and its path may be another than
	// path where a proxy rewrites it. Default: https://, host and path; none without host. Schemes Square, Twilio, HubSpot and
	// HMAC with {url} need either. A change takes effect without a restart.
	// +optional
	// +kubebuilder:validation:MinLength=8
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="isURL(self) && self.matches('^https?://[^/?#@]+(/[^?#]*)?$') && url(self).getHostname() != ''",message="exposure.url must begin with http:// or https:// and have no user, query or fragment, such as https://hooks.example.com/webhooks/payments; the query of a request is added to it by itself"
	URL string `json:"url,omitempty"`
}

// Limits bound what a delivery may cost.
type Limits struct {
	// maxBodyBytes is the largest body that is read; a larger one is answered with 413. Default 1048576 (1 MiB); from 1024
	// to 33554432 (32 MiB). GitHub sends up to 25 MB.
	// +optional
	// +default=1048576
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=33554432
	MaxBodyBytes int64 `json:"maxBodyBytes,omitempty"`
}

// Receiver describes the receiver pods.
type Receiver struct {
	// replicas is how many receivers run. Default 2; from 1 to 64.
	// +optional
	// +default=2
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	Replicas *int32 `json:"replicas,omitempty"`
}
