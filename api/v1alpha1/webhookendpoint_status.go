// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// WebhookEndpointStatus is what the operator last saw of an endpoint.
type WebhookEndpointStatus struct {
	// conditions of the endpoint; Ready, Reconciling and Stalled follow kstatus.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// receivers says how many receivers serve.
	// +optional
	Receivers *ReceiversStatus `json:"receivers,omitempty"`

	// deliveries counts what the ledger holds, as of observedTime.
	// +optional
	Deliveries *DeliveriesStatus `json:"deliveries,omitempty"`

	// currentSecret is the secret that is live.
	// +optional
	CurrentSecret *SecretStatus `json:"currentSecret,omitempty"`

	// previousSecrets are former secrets that are still accepted.
	// +optional
	// +listType=map
	// +listMapKey=fingerprint
	// +kubebuilder:validation:MaxItems=10
	PreviousSecrets []SecretStatus `json:"previousSecrets,omitempty"`

	// usesObservedTime is when uses and lastUsedTime of the secrets were read; it changes only when one of them does. A
	// secret's first use is shown at once, anything later at most every 5 minutes.
	// +optional
	UsesObservedTime *metav1.Time `json:"usesObservedTime,omitempty"`

	// overlapEndTime is the moment, as RFC 3339 text, after which no former secret is accepted. Absent without an overlap.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	OverlapEndTime string `json:"overlapEndTime,omitempty"`

	// serviceName is the Service in front of the receivers.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceName string `json:"serviceName,omitempty"`

	// path that receivers serve.
	// +optional
	// +kubebuilder:validation:MaxLength=320
	Path string `json:"path,omitempty"`

	// url is the public URL that the provider is given. Absent if it is not known: see exposure.host and exposure.url.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	URL string `json:"url,omitempty"`
}

// ReceiversStatus says how many receivers serve.
type ReceiversStatus struct {
	// desired is how many receivers should run.
	// +optional
	Desired int32 `json:"desired"`
	// ready is how many receivers serve.
	// +optional
	Ready int32 `json:"ready"`
	// updated is how many ready receivers have loaded the newest keyring.
	// +optional
	Updated int32 `json:"updated"`
	// summary is ready/desired, for people.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Summary string `json:"summary,omitempty"`
}

// DeliveriesStatus counts what the ledger holds. Receivers write what they have counted at least every 10 s, and one that is
// killed loses what it counted in its last 10 s; the claims themselves are safe. Counts never go back to zero because a
// database or a receiver is away: then the condition DeliveriesHealthy is Unknown and the last numbers stay.
type DeliveriesStatus struct {
	// observedTime is when these numbers were read; it changes only when one of them does.
	// +optional
	ObservedTime *metav1.Time `json:"observedTime,omitempty"`
	// received counts verified deliveries, duplicates included.
	// +optional
	Received int64 `json:"received"`
	// processed counts events claimed and committed.
	// +optional
	Processed int64 `json:"processed"`
	// duplicates counts deliveries that were answered with a stored result.
	// +optional
	Duplicates int64 `json:"duplicates"`
	// rejected counts requests that were refused: wrong signature, malformed, too large, same id with another body.
	// +optional
	Rejected int64 `json:"rejected"`
	// pending counts outbox deliveries under way or waiting for a retry. 100000 means that many or more.
	// +optional
	Pending int64 `json:"pending"`
	// failed counts outbox deliveries that ran out of attempts and wait for a replay. 100000 means that many or more.
	// +optional
	Failed int64 `json:"failed"`
	// oldestPendingTime is when the oldest pending delivery was accepted.
	// +optional
	OldestPendingTime *metav1.Time `json:"oldestPendingTime,omitempty"`
	// lastFailure is the latest delivery that ran out of attempts.
	// +optional
	LastFailure *FailureStatus `json:"lastFailure,omitempty"`
}

// FailureStatus is a delivery that ran out of attempts.
type FailureStatus struct {
	// time at which the last attempt failed.
	// +optional
	Time *metav1.Time `json:"time,omitempty"`
	// destination that it was for.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Destination string `json:"destination,omitempty"`
	// eventID is the provider's id of the event.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	EventID string `json:"eventID,omitempty"`
	// reason of the last attempt's failure: an HTTP status or a transport error.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`
}

// SecretStatus describes a secret without revealing it.
type SecretStatus struct {
	// fingerprint identifies the secret to people: 12 hexadecimal digits, salted, so that it does not help to guess it.
	// +required
	// +kubebuilder:validation:MinLength=12
	// +kubebuilder:validation:MaxLength=12
	Fingerprint string `json:"fingerprint,omitempty"`
	// source is the Secret that it came from.
	// +optional
	Source *SecretKeyReference `json:"source,omitempty"`
	// notAfter is when the secret stops being accepted, as RFC 3339 text. Absent for the current secret.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	NotAfter string `json:"notAfter,omitempty"`
	// uses counts the deliveries that verified with the secret, as of usesObservedTime; one that is signed with two secrets
	// counts for the newer. Receivers count in memory and the operator adds up what it reads of them, so that some are missing
	// after one of them went away: it was that many or more.
	// +optional
	Uses int64 `json:"uses"`
	// lastUsedTime is when a delivery last verified with the secret, as of usesObservedTime, so a later use may not show yet.
	// +optional
	LastUsedTime *metav1.Time `json:"lastUsedTime,omitempty"`
}
