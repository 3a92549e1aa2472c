// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DeliveryReplay sends deliveries of a WebhookEndpoint again, under the idempotency keys that they had. Its deliveries are
// chosen once, when it is first seen; deleting it takes nothing back.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=dreplay,categories=hookonce
// +kubebuilder:selectablefield:JSONPath=".spec.endpointRef.name"
// +kubebuilder:printcolumn:name="ENDPOINT",type=string,JSONPath=".spec.endpointRef.name",description="endpoint whose deliveries are sent again"
// +kubebuilder:printcolumn:name="STATE",type=string,JSONPath=".status.conditions[?(@.type=='Ready')].reason",description="state of the replay"
// +kubebuilder:printcolumn:name="MATCHED",type=integer,JSONPath=".status.matched",description="deliveries that were chosen"
// +kubebuilder:printcolumn:name="SENT",type=integer,JSONPath=".status.sent",description="deliveries that are back in the outbox, or were"
// +kubebuilder:printcolumn:name="SUCCEEDED",type=integer,JSONPath=".status.succeeded",description="of them, delivered"
// +kubebuilder:printcolumn:name="FAILED",type=integer,JSONPath=".status.failed",description="of them, out of attempts again"
// +kubebuilder:printcolumn:name="AGE",type=date,JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="REASON",type=string,JSONPath=".spec.reason",priority=1
// +kubebuilder:printcolumn:name="MESSAGE",type=string,JSONPath=".status.conditions[?(@.type=='Ready')].message",priority=1
type DeliveryReplay struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is the replay that is asked for.
	// +required
	Spec DeliveryReplaySpec `json:"spec,omitzero"`

	// status is how far it is.
	// +optional
	// +default={"observedGeneration": -1}
	Status DeliveryReplayStatus `json:"status,omitzero"`
}

// DeliveryReplayList is a list of DeliveryReplays.
//
// +kubebuilder:object:root=true
type DeliveryReplayList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard list metadata.
	metav1.ListMeta `json:"metadata,omitempty"`
	// items are the replays.
	Items []DeliveryReplay `json:"items"`
}

// Approval says who lets a replay begin.
//
// +kubebuilder:validation:Enum=Automatic;Manual
type Approval string

const (
	// ApprovalAutomatic sends what was chosen at once.
	ApprovalAutomatic Approval = "Automatic"
	// ApprovalManual counts what was chosen, and sends nothing.
	ApprovalManual Approval = "Manual"
)

// ReplayState says where the deliveries are that a replay chooses.
//
// +kubebuilder:validation:Enum=Failed;Delivered
type ReplayState string

const (
	// ReplayFailed are deliveries that ran out of attempts.
	ReplayFailed ReplayState = "Failed"
	// ReplayDelivered are deliveries that were delivered.
	ReplayDelivered ReplayState = "Delivered"
)

// DeliveryReplaySpec is the replay that is asked for.
type DeliveryReplaySpec struct {
	// endpointRef names the WebhookEndpoint. It cannot be changed. No default.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="endpointRef cannot be changed: create another DeliveryReplay"
	EndpointRef EndpointReference `json:"endpointRef,omitzero"`

	// selector chooses the deliveries. It cannot be changed. Default: everything that has failed.
	// +optional
	// +default={"state": "Failed"}
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="selector cannot be changed: create another DeliveryReplay"
	Selector ReplaySelector `json:"selector,omitzero"`

	// approval is Automatic, or Manual to count the deliveries only (status.matched): changing it to Automatic then sends what
	// was counted. It can be changed to Automatic and not back. Default Automatic.
	// +optional
	// +default="Automatic"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf || self == 'Automatic'",message="approval cannot go back to Manual: what was sent is sent"
	Approval Approval `json:"approval,omitempty"`

	// ratePerSecond bounds how many deliveries are put back into the outbox each second. Default 10; from 1 to 1000.
	// +optional
	// +default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	RatePerSecond int32 `json:"ratePerSecond,omitempty"`

	// stopAfterFailures ends the replay once so many of its deliveries have failed at their first attempt; the rest stays
	// where it is. Default 10; from 1 to 1000000.
	// +optional
	// +default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	StopAfterFailures int32 `json:"stopAfterFailures,omitempty"`

	// reason is why, for the audit in the ledger's table replay. Default: none.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason,omitempty"`

	// requestedBy is who wanted it, for the audit. Default: the field manager that made the object, such as
	// kubectl-client-side-apply.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	RequestedBy string `json:"requestedBy,omitempty"`
}

// ReplaySelector chooses deliveries. What it does not say restricts nothing.
//
// +kubebuilder:validation:XValidation:rule="!has(self.failureReason) || !has(self.state) || self.state == 'Failed'",message="failureReason is for state Failed: a delivery that was delivered has none"
// +kubebuilder:validation:XValidation:rule="!has(self.receivedAfter) || !has(self.receivedBefore) || self.receivedAfter < self.receivedBefore",message="receivedAfter must be before receivedBefore"
type ReplaySelector struct {
	// state is Failed, for deliveries that ran out of attempts, or Delivered, for such as were delivered and are to be made
	// again while their payloads are kept; messages of functions' own are not among these. Default Failed.
	// +optional
	// +default="Failed"
	State ReplayState `json:"state,omitempty"`

	// destination is the name of the destination that the deliveries are for; it need not be in the endpoint's spec any
	// more, but deliveries to it wait then. Default: any.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Destination string `json:"destination,omitempty"`

	// eventTypes are the types of the events: types, prefixes such as "invoice.*", or "*". Default: any.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	EventTypes []EventTypePattern `json:"eventTypes,omitempty"`

	// eventIDs are the provider's ids of the events. Default: any.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=255
	EventIDs []string `json:"eventIDs,omitempty"`

	// receivedAfter is the moment from which on the events were received. Default: any.
	// +optional
	ReceivedAfter *metav1.Time `json:"receivedAfter,omitempty"`

	// receivedBefore is the moment before which the events were received. Default: any.
	// +optional
	ReceivedBefore *metav1.Time `json:"receivedBefore,omitempty"`

	// failureReason is a part of the reason for which the deliveries failed, such as "answered 503". Default: any.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	FailureReason string `json:"failureReason,omitempty"`
}

// DeliveryReplayStatus is how far a replay is.
type DeliveryReplayStatus struct {
	// conditions of the replay. The reason of Ready is its state: Counting, AwaitingApproval, Sending, Delivering, Completed
	// or TooManyFailures. Counted is True once status.matched is known, Complete once everything that was sent has been
	// delivered or has failed.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// matched are the deliveries that were chosen; absent while they are counted.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Matched *int64 `json:"matched,omitempty"`

	// sent are those that were put back into the outbox. The numbers from here on are written at most every 30 s while only
	// they change.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Sent *int64 `json:"sent,omitempty"`

	// skipped are those that were on their way already, or are gone.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Skipped *int64 `json:"skipped,omitempty"`

	// succeeded are those that were sent and delivered.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Succeeded *int64 `json:"succeeded,omitempty"`

	// failed are those that were sent and ran out of attempts again.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Failed *int64 `json:"failed,omitempty"`

	// observedTime is when the numbers were written.
	// +optional
	ObservedTime *metav1.Time `json:"observedTime,omitempty"`

	// completionTime is when the last delivery that was sent had been delivered or had failed.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`
}
