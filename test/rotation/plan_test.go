// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package rotation

import (
	"fmt"
	"math/rand/v2"

	"github.com/hookonce/hookonce/internal/scheme"
)

// revocation says when a former secret is revoked.
type revocation int

const (
	never revocation = iota
	// atOnce: the rotation that brings the new secret says so.
	atOnce
	// later: somebody says so during the overlap.
	later
)

// step is one rotation of the plan.
type step struct {
	number int
	// applied says that somebody applies a SecretRotation that names a new Secret; otherwise the bytes of the Secret that the
	// endpoint names change.
	applied bool
	// behavior is how the provider goes over to the new secret.
	behavior scheme.Rotation
	revoke   revocation
	// stacked says that the next rotation begins within the overlap of this one.
	stacked bool
	// lineLate says that the endpoint names the new Secret only after the former one has been retired.
	lineLate bool
}

var behaviors = []scheme.Rotation{
	scheme.RotationBoth, scheme.RotationLagging, scheme.RotationOldEventsKeepOld, scheme.RotationImmediate,
}

// dice fall the same again for the same seed and purpose.
func dice(seed, purpose uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, purpose)) //nolint:gosec // It must be repeatable, and needs no secrecy.
}

// newPlan returns so many rotations; the same seed gives the same.
func newPlan(seed uint64, rotations int) []step {
	random := dice(seed, 0)
	steps := make([]step, rotations)
	open := 0
	for i := range steps {
		s := step{number: i, behavior: behaviors[i%len(behaviors)], applied: i/len(behaviors)%2 == 1}
		switch random.IntN(6) {
		case 0:
			s.applied, s.revoke = true, atOnce
		case 1:
			s.revoke = later
		}
		// A keyring keeps three former secrets; a fourth would evict one before its time.
		s.stacked = open < 2 && i+1 < rotations && random.IntN(2) == 0
		open++
		if !s.stacked {
			open = 0
		}
		s.lineLate = s.applied && !s.stacked && random.IntN(2) == 0
		steps[i] = s
	}
	return steps
}

// secretOf is the secret that a step brings; the seed makes those of two runs different.
func secretOf(shop string, seed uint64, number int) string {
	return fmt.Sprintf("%s/secret+%d&n=%d<%016x>", shop, seed, number, dice(seed, uint64(number)+1).Uint64())
}
