// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/rotation"
)

// again is the rotation of w, deleted and applied again from the same manifest.
func (w *world) again() *world {
	next := w.another(w.spec.Name)
	next.spec = w.spec
	next.spec.UID, next.spec.Created = w.spec.UID+"-again", w.now
	next.seen.Secret = w.seen.Secret
	return next
}

// A manifest that comes back to Git brings back no secret that a later rotation has replaced: whether its time is over or
// not, and though the status of the rotation before is gone.
func TestARotationThatIsAppliedAgainBringsNothingBack(t *testing.T) {
	for _, state := range []rotation.State{rotation.OverlapActive, rotation.Completed} {
		t.Run(string(state), func(t *testing.T) {
			first := newWorld(t).until(rotation.Completed)
			second := first.another("gamma").until(state)
			first.follow(second)
			d := first.again().plan()
			if d.Keyring != nil || d.State != rotation.Superseded || !d.Finished() || !d.State.Ready() {
				t.Errorf("applied again: %+v", d)
			}
			if !strings.Contains(d.Message, "create a SecretRotation of another name") || !strings.Contains(d.Message, "webhook-beta") {
				t.Errorf("message %q", d.Message)
			}
		})
	}
}

// Nor does one whose secret was current several times, through rotations of other names.
func TestARotationThatIsAppliedAgainAfterARollback(t *testing.T) {
	first := newWorld(t).until(rotation.Completed)
	second := first.another("gamma").until(rotation.Completed)
	back := second.another("back")
	back.seen.Secret = usable("beta")
	third := back.until(rotation.Completed).another("delta").until(rotation.Completed)
	first.follow(third)
	if d := first.again().plan(); d.Keyring != nil || d.State != rotation.Superseded {
		t.Errorf("applied again: %+v", d)
	}
}

// While its secret is current, a rotation that is applied again has nothing to do.
func TestARotationThatIsAppliedAgainWhileItsSecretIsCurrent(t *testing.T) {
	w := newWorld(t).until(rotation.OverlapActive)
	end := w.former().NotAfter
	next := w.again()
	next.plan()
	next.expect(rotation.AlreadyCurrent, "")
	if ring := next.seen.Keyring; len(ring.Previous) != 1 || !ring.Previous[0].NotAfter.Equal(end) {
		t.Errorf("former secrets %v", ring.Previous)
	}
}

// The name may be used again for another secret.
func TestANameMayBeUsedForAnotherSecret(t *testing.T) {
	w := newWorld(t).until(rotation.Completed)
	next := w.again()
	next.seen.Secret = usable("gamma")
	next.plan()
	next.expect(rotation.Propagating, "")
}

// A cluster is made anew from Git: the endpoint names the last secret, and the rotations of years are applied with it, all in
// one second. The secrets that they brought one after the other do not become current again.
func TestAClusterThatIsMadeAnewFromGit(t *testing.T) {
	ring := adopted(t)
	names := []string{"2026-q2", "2026-q3", "2026-q4"}
	worlds := make([]*world, len(names))
	for i, name := range names {
		w := newWorld(t)
		w.spec, w.seen.Keyring, w.seen.Secret = spec(name), ring, usable(name)
		worlds[i] = w
	}
	last := worlds[2]
	last.spec.Source, last.seen.Secret = ring.Current.Source, usable("alpha")
	order := []int{1, 0, 2, 1, 0, 2, 0, 1, 2}
	for _, i := range order {
		w := worlds[i]
		w.seen.Siblings = nil
		for j, other := range worlds {
			if j != i {
				w.seen.Siblings = append(w.seen.Siblings, siblingOf(other))
			}
		}
		if w.plan().Keyring != nil {
			t.Fatalf("%s changes the keyring: %s", w.spec.Name, w.last.Message)
		}
	}
	for i, want := range []rotation.State{rotation.Superseded, rotation.Superseded, rotation.AlreadyCurrent} {
		worlds[i].expect(want, "")
	}
	if ring.Standing(candidate("alpha")) != keyring.IsCurrent {
		t.Error("another secret is current")
	}
}

// A rotation deleted and applied again, and an operator of another release: the requests of B66. What a person asks for with
// a new name is done.
func TestRollbackByIntent(t *testing.T) {
	w := newWorld(t).until(rotation.OverlapActive)
	w.now = w.now.Add(time.Minute)
	back := w.another("back-to-alpha")
	back.seen.Secret = usable("alpha")
	back.until(rotation.OverlapActive)
	if got := back.texts(); got != "alpha beta" {
		t.Errorf("secrets %q", got)
	}
	// The Secret that the endpoint or the first rotation names has not changed since: it does not rotate back by itself.
	if d := w.follow(back).plan(); d.Keyring != nil || d.State != rotation.Superseded {
		t.Errorf("the rotation that was taken back: %+v", d)
	}
	if d := w.again().plan(); d.Keyring != nil || d.State != rotation.Superseded {
		t.Errorf("applied again: %+v", d)
	}
}
