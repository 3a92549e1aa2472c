// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package crash

import (
	"time"

	"github.com/hookonce/hookonce/api/v1alpha1"
)

// texts are the signing secrets, by the word that stands for each in what is compared.
var texts = map[string]string{
	"alpha": "whsec_test_alpha_5f1d0c2ab7e94c6d8a3e6b90",
	"beta":  "whsec_test_beta_c83e7f6410d94b0fa2b5796e1",
	"gamma": "whsec_test_gamma_09b6e2d5f8714c3a96d0417b",
	"delta": "whsec_test_delta_7c2f90d3a1e84b56b0c9d8e7",
	"eps":   "whsec_test_eps_3d0a7b9c5e2f4816a7c0d1e2f3",
	"zeta":  "whsec_test_zeta_b1c2d3e4f5061728394a5b6c7",
	"eta":   "whsec_test_eta_90817263544536271809aabbccd",
	"theta": "whsec_test_theta_1f2e3d4c5b6a79880796a5b4c",
	"iota":  "whsec_test_iota_0a1b2c3d4e5f60718293a4b5c6d",
}

const (
	// minute and overlap are how far the clock goes from step to step: within overlaps, and past their end.
	minute  = 10 * time.Minute
	overlap = 30 * time.Hour
)

// step is one thing that happens to an endpoint, and how it ends.
type step struct {
	name string
	// after is the time since the step before.
	after time.Duration
	do    func(*shop)
	// endpoint and rotations are the states that end it: status and reason of Ready. An empty one means that the object is
	// not there.
	endpoint  string
	rotations map[string]string
	// revokes says that a former secret is refused before its time.
	revokes bool
}

const (
	available = "True/Available"
	active    = "True/OverlapActive"
	completed = "True/Completed"
)

// life is everything that happens to an endpoint, in order. Rotations that the operator makes are named by the revision of
// the keyring and the word for the secret.
func life() []step {
	return []step{
		{
			name: "adoption", do: func(s *shop) {
				s.create(secret("database", "uri", "postgres://shop@db/shop"), signing("signing", "alpha"), endpoint("signing"))
			},
			endpoint: available,
		},
		{
			name: "bytes change", after: minute, do: func(s *shop) { s.put("signing", "beta") },
			endpoint: available, rotations: map[string]string{"payments-r1-beta": active},
		},
		{
			name: "bytes are reverted", after: minute, do: func(s *shop) { s.put("signing", "alpha") },
			endpoint: available, rotations: map[string]string{"payments-r1-beta": "True/Superseded", "payments-r3-alpha": active},
		},
		{
			name: "overlap ends", after: overlap, do: func(*shop) {},
			endpoint: available, rotations: map[string]string{"payments-r3-alpha": completed},
		},
		{
			name: "reference changes", after: minute, do: func(s *shop) {
				s.create(signing("third", "gamma"))
				s.name("third")
			},
			endpoint: available, rotations: map[string]string{"payments-r6-gamma": active},
		},
		{
			name: "rotation names a Secret, stacked", after: minute, do: func(s *shop) {
				s.create(signing("fourth", "delta"), rotationTo("q1", "fourth"))
			},
			endpoint: available, rotations: map[string]string{"payments-r6-gamma": "True/Superseded", "q1": active},
		},
		{
			name: "spec names it too", after: minute, do: func(s *shop) { s.name("fourth") },
			endpoint: available, rotations: map[string]string{"q1": active},
		},
		{
			name: "both overlaps end", after: overlap, do: func(*shop) {},
			endpoint: available, rotations: map[string]string{"payments-r6-gamma": "True/Superseded", "q1": completed},
		},
		{
			name: "immediate revocation", after: minute, do: func(s *shop) {
				urgent := rotationTo("q2", "fifth")
				urgent.Spec.Revocation = v1alpha1.RevocationImmediate
				s.create(signing("fifth", "eps"), urgent)
			},
			endpoint: "False/SecretRevoked", rotations: map[string]string{"q2": "True/Revoked"}, revokes: true,
		},
		{
			name: "spec names the new one", after: minute, do: func(s *shop) { s.name("fifth") },
			endpoint: available,
		},
		{
			name: "rotation to be revoked", after: minute, do: func(s *shop) {
				s.create(signing("sixth", "zeta"), rotationTo("q3", "sixth"))
			},
			endpoint: available, rotations: map[string]string{"q3": active},
		},
		{
			name: "revocation in the overlap", after: minute, do: func(s *shop) {
				s.name("sixth")
				patch(s, "q3", &v1alpha1.SecretRotation{}, func(rotation *v1alpha1.SecretRotation) {
					rotation.Spec.Revocation = v1alpha1.RevocationImmediate
				})
			},
			endpoint: available, rotations: map[string]string{"q3": "True/Revoked"}, revokes: true,
		},
		{
			name: "rotation to be deleted", after: minute, do: func(s *shop) {
				s.create(signing("seventh", "eta"), rotationTo("q4", "seventh"))
			},
			endpoint: available, rotations: map[string]string{"q4": active},
		},
		{
			name: "rotation is deleted", after: minute, do: func(s *shop) { s.delete(rotationTo("q4", "seventh")) },
			endpoint: available, rotations: map[string]string{"q4": ""},
		},
		{
			name: "overlap without rotation ends", after: overlap, do: func(s *shop) { s.name("seventh") },
			endpoint: available,
		},
		{
			name: "rotation to be taken over", after: minute, do: func(s *shop) {
				s.create(signing("eighth", "theta"), rotationTo("q5", "eighth"))
			},
			endpoint: available, rotations: map[string]string{"q5": active},
		},
		{
			name: "emergency takes over", after: minute, do: func(s *shop) {
				urgent := rotationTo("q6", "eighth")
				urgent.Spec.Revocation = v1alpha1.RevocationImmediate
				s.create(urgent)
			},
			endpoint: "False/SecretRevoked", rotations: map[string]string{"q5": "True/Superseded", "q6": "True/Revoked"}, revokes: true,
		},
		{
			name: "rotation before the end", after: minute, do: func(s *shop) {
				s.name("eighth")
				s.create(signing("ninth", "iota"), rotationTo("q7", "ninth"))
			},
			endpoint: available, rotations: map[string]string{"q7": active},
		},
		{
			name: "endpoint is deleted", after: minute, do: func(s *shop) { s.delete(endpoint("eighth")) },
			rotations: map[string]string{"q7": "False/Pending"},
		},
		{
			name: "endpoint is made anew", after: minute, do: func(s *shop) { s.create(endpoint("ninth")) },
			endpoint: available, rotations: map[string]string{"q7": completed},
		},
	}
}

// clocks are the moments at which the steps begin.
func clocks(steps []step) []time.Time {
	at := epoch
	out := make([]time.Time, len(steps))
	for i := range steps {
		at = at.Add(steps[i].after)
		out[i] = at
	}
	return out
}
