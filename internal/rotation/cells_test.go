// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation_test

import "github.com/hookonce/hookonce/internal/rotation"

// states are the columns of the table.
var states = [...]rotation.State{
	rotation.Pending, rotation.Rejected, rotation.AlreadyCurrent, rotation.Propagating, rotation.OverlapActive,
	rotation.Retiring, rotation.Completed, rotation.Revoked, rotation.Superseded,
}

// same is a cell in which the state stays and the keyring too.
const same = "same"

// table is what follows each input in each state: the state, and the secrets in the keyring if it is written.
var table = map[input][len(states)]string{
	// Pending, Rejected, AlreadyCurrent, Propagating, OverlapActive, Retiring, Completed, Revoked, Superseded
	nothing:          {same, same, same, same, same, same, same, same, same},
	secretComes:      {"Propagating: beta alpha", "Propagating: beta alpha", same, same, same, same, same, same, same},
	secretGoes:       {same, "Pending", same, same, same, same, same, same, same},
	secretSpoils:     {"Rejected", same, same, same, same, same, same, same, same},
	secretIsFormer:   {"AlreadyCurrent", "AlreadyCurrent", same, same, same, same, same, same, same},
	receiversLoad:    {same, same, same, "OverlapActive: beta alpha", same, "Completed", same, same, same},
	receiversLag:     {same, same, same, same, same, same, same, same, same},
	noReceivers:      {same, same, same, same, same, same, same, same, same},
	timeOfOverdue:    {same, same, same, same, same, same, same, same, same},
	timeOfOverlap:    {same, same, same, "Propagating: beta", "Retiring: beta", same, same, same, "Superseded: gamma"},
	endpointGoes:     {same, "Pending", same, "Pending", "Pending", "Pending", same, same, "Pending"},
	endpointSuspends: {same, same, same, same, same, same, same, same, same},
	keyringGoes:      {same, "Pending", same, "Pending", "Pending", "Pending", same, same, "Pending"},
	keyringAnew:      {same, same, same, "Completed", "Completed", "Completed", same, same, "Completed"},
	statusLost:       {same, same, same, same, same, same, same, same, same},
	becomesImmediate: {same, same, same, same, "Retiring: beta", "Retiring: beta", "Revoked: beta", same, "Superseded: gamma beta"},
	overlapShortens:  {same, same, same, same, "Retiring: beta", same, same, same, "Superseded: gamma beta"},
	overlapLengthens: {same, same, same, "Propagating: beta alpha", "OverlapActive: beta alpha", same, same, same, "Superseded: gamma beta alpha"},
	capped:           {same, same, same, "Propagating: beta", "Retiring: beta", same, same, same, "Superseded: gamma beta"},
	siblingLater:     {"Superseded", "Superseded", same, same, same, same, same, same, same},
	siblingBefore:    {same, same, same, same, same, same, same, same, same},
}
