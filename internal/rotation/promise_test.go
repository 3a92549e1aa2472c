// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"flag"
	"math/rand/v2"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// rotations is how often a secret changes at least in the simulations of one run.
var rotations = flag.Int("rotations", 10_000, "changes of a secret that are simulated")

// People, operators and receivers do anything in any order; the keyring is as the model says throughout. The seed of a run
// is -rapid.seed, and printed.
func TestAnySequenceKeepsThePromise(t *testing.T) {
	given := flag.Lookup("rapid.seed")
	seed, err := strconv.ParseUint(given.Value.String(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if seed == 0 {
		seed = uint64(rand.Uint32()) //nolint:gosec // A seed is no secret.
	}
	defer func(was string) { _ = flag.Set("rapid.seed", was) }(given.Value.String())
	changed, histories, judged := 0, 0, 0
	for round := uint64(0); changed < *rotations && !t.Failed() && round < 1000; round++ {
		if err := flag.Set("rapid.seed", strconv.FormatUint(seed+round, 10)); err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			s := newSimulation(t)
			t.Repeat(map[string]func(*rapid.T){
				"create": s.create, "edit": s.edit, "remove": s.remove, "receive": s.receive, "wait": s.wait, "suspend": s.suspend,
				"reapply": s.reapply, "secret": s.secret, "use": s.use, "scale": s.scale,
				"operate": s.loadAndOperate, "operate skewed": s.operateSkewed, "": s.check,
			})
			changed, histories, judged = changed+s.changes, histories+1, judged+s.judged
		})
	}
	t.Logf("%d rotations in %d histories, seed %d, %d looks at a receiver: none refused too early, accepted too late, or resurrected",
		changed, histories, seed, judged)
	if changed < *rotations {
		t.Errorf("%d rotations, want %d", changed, *rotations)
	}
}
