// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SecretRotation changes the signing secret of a WebhookEndpoint: the new secret becomes current, and the former one
// stays accepted for the overlap, counted from the moment that the last ready receiver has the new one.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=srot,categories=hookonce
// +kubebuilder:selectablefield:JSONPath=".spec.endpointRef.name"
// +kubebuilder:printcolumn:name="ENDPOINT",type=string,JSONPath=".spec.endpointRef.name",description="endpoint whose secret changes"
// +kubebuilder:printcolumn:name="READY",type=string,JSONPath=".status.conditions[?(@.type=='Ready')].status",description="whether the new secret is in use everywhere"
// +kubebuilder:printcolumn:name="STATE",type=string,JSONPath=".status.conditions[?(@.type=='Ready')].reason",description="state of the rotation"
// +kubebuilder:printcolumn:name="PREVIOUS-UNTIL",type=string,JSONPath=".status.overlapEndTime",description="until when the former secret is accepted"
// +kubebuilder:printcolumn:name="LAST-OLD-USE",type=date,JSONPath=".status.lastOldUseTime",description="how long ago a delivery verified with the former secret"
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="TRIGGER",type=string,JSONPath=".status.trigger",priority=1
// +kubebuilder:printcolumn:name="RECEIVERS",type=string,JSONPath=".status.receivers.summary",priority=1
// +kubebuilder:printcolumn:name="NEW",type=string,JSONPath=".status.currentFingerprint",priority=1
// +kubebuilder:printcolumn:name="PREVIOUS",type=string,JSONPath=".status.previousFingerprint",priority=1
// +kubebuilder:printcolumn:name="MESSAGE",type=string,JSONPath=".status.conditions[?(@.type=='Ready')].message",priority=1
type SecretRotation struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the rotation that is asked for.
	// +required
	Spec SecretRotationSpec `json:"spec,omitzero"`

	// status is how far it is.
	// +optional
	// +default={"observedGeneration": -1}
	Status SecretRotationStatus `json:"status,omitzero"`
}

// SecretRotationList is a list of SecretRotations.
//
// +kubebuilder:object:root=true
type SecretRotationList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the rotations.
	Items []SecretRotation `json:"items"`
}

// Revocation says when the former secret stops being accepted.
//
// +kubebuilder:validation:Enum=AfterOverlap;Immediate
type Revocation string

const (
	// RevocationAfterOverlap accepts the former secret until the overlap ends.
	RevocationAfterOverlap Revocation = "AfterOverlap"
	// RevocationImmediate refuses the former secret as soon as every ready receiver has the new one.
	RevocationImmediate Revocation = "Immediate"
)

// Retire says when the time of a former secret is over.
//
// +kubebuilder:validation:Enum=AtDeadline;WhenUnused
type Retire string

const (
	// RetireAtDeadline refuses the former secret at the end of the overlap, used or not.
	RetireAtDeadline Retire = "AtDeadline"
	// RetireWhenUnused keeps the former secret beyond the overlap while the provider signs with it.
	RetireWhenUnused Retire = "WhenUnused"
)

// SecretRotationSpec is the rotation that is asked for.
//
// +kubebuilder:validation:XValidation:rule="!has(self.maxOverlap) || !has(self.overlap) || duration(self.maxOverlap) >= duration(self.overlap)",message="maxOverlap is shorter than overlap: make it at least as long, or leave it out"
type SecretRotationSpec struct {
	// endpointRef names the WebhookEndpoint. It cannot be changed. No default.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="endpointRef cannot be changed: create another SecretRotation"
	EndpointRef EndpointReference `json:"endpointRef,omitzero"`

	// secretRef names the Secret and key that hold the new secret. It cannot be changed. No default.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="secretRef cannot be changed: create another SecretRotation"
	SecretRef SecretKeyReference `json:"secretRef,omitzero"`

	// overlap is how long the former secret stays accepted, counted from the moment that the last ready receiver has the
	// new one. Shortening it below what has passed ends the overlap; lengthening it does not bring an expired secret back.
	// Default 24h; from 0s to 168h.
	// +optional
	// +default="24h"
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('168h')",message="overlap must be from 0s to 168h (seven days)"
	Overlap Duration `json:"overlap,omitempty"`

	// retire says when the former secret's time is over: AtDeadline, at the end of the overlap, used or not; or WhenUnused,
	// when it has verified no delivery for as long as the overlap, and at the latest after maxOverlap. While it is kept
	// so, OldSecretStillInUse is True and says what to do. Default AtDeadline.
	// +optional
	// +default="AtDeadline"
	Retire Retire `json:"retire,omitempty"`

	// maxOverlap is for how long, counted as overlap is, the former secret is accepted at most with retire WhenUnused;
	// otherwise it means nothing. Default 168h; from overlap to 168h.
	// +optional
	// +default="168h"
	// +kubebuilder:validation:XValidation:rule="duration(self) <= duration('168h')",message="maxOverlap must be at most 168h (seven days)"
	MaxOverlap Duration `json:"maxOverlap,omitempty"`

	// previousNotAfter is a moment after which the former secret is refused even if the overlap is longer, for instance
	// the provider's own expiry. Default: none.
	// +optional
	PreviousNotAfter *metav1.Time `json:"previousNotAfter,omitempty"`

	// revocation is AfterOverlap, or Immediate to refuse the former secret as soon as every ready receiver has the new one.
	// It can be changed to Immediate and not back; of a rotation that is over, this makes sure that its former secret cannot
	// come back. Default AfterOverlap.
	// +optional
	// +default="AfterOverlap"
	// +kubebuilder:validation:XValidation:rule="!(oldSelf == 'Immediate' && self == 'AfterOverlap')",message="revocation cannot go back from Immediate: a revoked secret stays revoked"
	Revocation Revocation `json:"revocation,omitempty"`
}

// SecretRotationStatus is how far a rotation is.
type SecretRotationStatus struct {
	// conditions of the rotation. The reason of Ready is its state: Pending, Propagating, OverlapActive, Retiring and
	// Completed, or AlreadyCurrent, Superseded, Revoked or Rejected. OldSecretStillInUse is there while the provider signs
	// with a former secret whose time is nearly over, or is prolonged.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// trigger is what asked for the rotation: SecretRotation (somebody applied it) or SecretChange (the bytes under the
	// endpoint's secretRef changed).
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Trigger string `json:"trigger,omitempty"`

	// startTime is when the new secret became current.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// propagatedTime is when the last ready receiver had the new secret. The overlap is counted from here.
	// +optional
	PropagatedTime *metav1.Time `json:"propagatedTime,omitempty"`

	// overlapEndTime is the moment, as RFC 3339 text, after which the former secret is refused.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	OverlapEndTime string `json:"overlapEndTime,omitempty"`

	// completionTime is when the former secret was gone everywhere.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// lastOldUseTime is when a delivery last verified with the former secret. While that is in use it is written at most
	// every 5 minutes, so a later use may not show yet.
	// +optional
	LastOldUseTime *metav1.Time `json:"lastOldUseTime,omitempty"`

	// currentFingerprint identifies the new secret.
	// +optional
	// +kubebuilder:validation:MaxLength=12
	CurrentFingerprint string `json:"currentFingerprint,omitempty"`

	// previousFingerprint identifies the former secret.
	// +optional
	// +kubebuilder:validation:MaxLength=12
	PreviousFingerprint string `json:"previousFingerprint,omitempty"`

	// receivers says how many ready receivers have the new secret.
	// +optional
	Receivers *ReceiversStatus `json:"receivers,omitempty"`
}
