// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation

// State is how far a rotation is; it is the reason of the condition Ready.
type State string

// The states of a rotation; the diagram of the package shows how they follow each other.
const (
	Pending        State = "Pending"
	Propagating    State = "Propagating"
	OverlapActive  State = "OverlapActive"
	Retiring       State = "Retiring"
	Completed      State = "Completed"
	AlreadyCurrent State = "AlreadyCurrent"
	Superseded     State = "Superseded"
	Revoked        State = "Revoked"
	Rejected       State = "Rejected"
)

// Reasons that say more than the state. The reasons of secrets that are Missing or Unusable come from Observed; a secret
// that decodes to nothing is scheme.SecretEmpty.
const (
	EndpointNotFound      = "EndpointNotFound"
	EndpointSuspended     = "EndpointSuspended"
	KeyringNotFound       = "KeyringNotFound"
	KeyringLost           = "KeyringLost"
	WaitingForPredecessor = "WaitingForPredecessor"
	NoReadyReceivers      = "NoReadyReceivers"
	PropagationOverdue    = "PropagationOverdue"
	SecretRevoked         = "SecretRevoked"
	OverlapTooShort       = "OverlapTooShort"
)

// OldSecretStillInUse is the type of the condition that Decision.OldInUse is shown as, and the reason of its event.
const OldSecretStillInUse = "OldSecretStillInUse"

// Ready says whether the system does what the rotation asks for. An overlap is what it asks for.
func (s State) Ready() bool {
	return s != Pending && s != Propagating && s != Rejected
}

// Reconciling says whether the operator works towards the new secret being in use everywhere.
func (s State) Reconciling() bool { return s == Pending || s == Propagating }

// Stalled says whether nothing will change until somebody acts.
func (s State) Stalled() bool { return s == Rejected }
