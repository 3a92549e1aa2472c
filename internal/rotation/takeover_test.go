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

// siblingOf is what another rotation's status says.
func siblingOf(w *world) rotation.Sibling {
	return rotation.Sibling{
		UID: w.spec.UID, Name: w.spec.Name, Created: w.spec.Created, Source: w.spec.Source, Immediate: w.spec.Immediate,
		State: w.seen.Recorded.State, Start: w.seen.Recorded.Start, Finished: !w.seen.Recorded.Completion.IsZero(),
	}
}

// emergency is a rotation to the secret that owned has made current, and that revokes the one before.
func (w *world) emergency(created time.Time) *world {
	urgent := w.another("urgent")
	urgent.spec.Created, urgent.spec.Immediate, urgent.spec.Source = created, true, w.spec.Source
	urgent.seen.Secret = w.seen.Secret
	urgent.seen.Siblings = []rotation.Sibling{siblingOf(w)}
	return urgent
}

// A commit has the endpoint's line and a rotation that revokes, and the operator's own rotation is first: the former secret
// is revoked all the same, however far that one is, and whichever of the two is older.
func TestAnEmergencyTakesOverFromTheRotationOfTheSameSecret(t *testing.T) {
	for _, state := range []rotation.State{rotation.Propagating, rotation.OverlapActive, rotation.Retiring, rotation.Completed} {
		for age, created := range map[string]time.Time{"older": t0.Add(-time.Second), "newer": t0.Add(time.Second)} {
			t.Run(string(state)+"/"+age, func(t *testing.T) {
				owned := newWorld(t).until(state)
				urgent := owned.emergency(created)
				urgent.plan()
				if state == rotation.Propagating {
					urgent.expect(rotation.Propagating, "")
					if got := urgent.texts(); got != "beta alpha" {
						t.Fatalf("secrets %q before the new one is everywhere", got)
					}
					urgent.load(0, 1)
					urgent.plan()
				}
				if got := urgent.texts(); got != "beta" || urgent.seen.Keyring.Standing(candidate("alpha")) != keyring.IsRevoked {
					t.Errorf("secrets %q, alpha is not revoked", got)
				}
				urgent.load(0, 1)
				if d := urgent.plan(); !d.PreviousRetired || !d.Propagated {
					t.Errorf("in the end: %+v", d)
				}
				urgent.expect(rotation.Revoked, "")
				if urgent.plan().Keyring != nil {
					t.Error("a second look writes again")
				}

				finished := owned.last.Finished()
				owned.follow(urgent).seen.Siblings = []rotation.Sibling{siblingOf(urgent)}
				if d := owned.plan(); d.Keyring != nil || !d.Finished() {
					t.Errorf("the operator's own rotation: %+v", d)
				}
				if !finished {
					owned.expect(rotation.Superseded, "")
					if !strings.Contains(owned.last.Message, "urgent has taken over") {
						t.Errorf("message %q", owned.last.Message)
					}
				}
			})
		}
	}
}

func TestNothingIsTakenOver(t *testing.T) {
	for name, c := range map[string]struct {
		edit  func(w, urgent *world)
		state rotation.State
	}{
		"for less than a revocation": {func(_, urgent *world) { urgent.spec.Immediate = false }, rotation.AlreadyCurrent},
		"from one that revokes itself": {func(_, urgent *world) {
			urgent.seen.Siblings[0].Immediate = true
		}, rotation.AlreadyCurrent},
		"while the endpoint is suspended": {func(_, urgent *world) { urgent.seen.EndpointSuspended = true }, rotation.Pending},
		"where the former is revoked": {func(w, urgent *world) {
			w.spec.Immediate = true
			urgent.follow(w.until(rotation.Revoked)).seen.Siblings = nil
		}, rotation.AlreadyCurrent},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).until(rotation.OverlapActive)
			urgent := w.emergency(t0.Add(time.Second))
			c.edit(w, urgent)
			if d := urgent.plan(); d.Keyring != nil {
				t.Error("the keyring was written")
			}
			if urgent.last.State != c.state {
				t.Errorf("state %s, want %s", urgent.last.State, c.state)
			}
		})
	}
	t.Run("of an endpoint with one secret", func(t *testing.T) {
		w := newWorld(t)
		w.spec.Immediate, w.seen.Secret = true, usable("alpha")
		w.plan()
		w.expect(rotation.AlreadyCurrent, "")
	})
}

// A rotation that had nothing to do, and is edited to revoke, does.
func TestARotationToTheCurrentSecretRevokesLater(t *testing.T) {
	owned := newWorld(t).until(rotation.OverlapActive)
	w := owned.emergency(t0.Add(time.Second))
	w.spec.Immediate = false
	w.plan()
	w.expect(rotation.AlreadyCurrent, "")
	w.spec.Immediate = true
	w.plan()
	w.expect(rotation.Retiring, "")
	if got := w.texts(); got != "beta" || w.last.Finished() {
		t.Errorf("secrets %q, finished %t", got, w.last.Finished())
	}
	w.now = w.now.Add(time.Minute)
	w.load(0, 1)
	w.plan()
	w.expect(rotation.Revoked, "")
	if !w.last.Completion.Equal(w.now) {
		t.Errorf("completed at %v", w.last.Completion)
	}
}

// A rotation that is over, and is edited to revoke, makes sure that its former secret never comes back.
func TestARotationThatIsOverRevokesLater(t *testing.T) {
	w := newWorld(t).until(rotation.Completed)
	completed := w.last.Completion
	w.now = w.now.Add(72 * time.Hour)
	w.spec.Immediate, w.seen.EndpointSuspended = true, true
	if d := w.plan(); d.Keyring != nil {
		t.Error("the keyring was written while the endpoint is suspended")
	}
	w.expect(rotation.Completed, "")
	w.seen.EndpointSuspended = false
	w.plan()
	w.expect(rotation.Revoked, "")
	if w.seen.Keyring.Standing(candidate("alpha")) != keyring.IsRevoked {
		t.Error("the former secret can come back")
	}
	if !w.last.Completion.Equal(completed) || w.plan().Keyring != nil {
		t.Errorf("completed at %v, was %v, or a second look writes again", w.last.Completion, completed)
	}

	first := newWorld(t).until(rotation.Completed)
	first.follow(first.another("gamma").until(rotation.OverlapActive))
	first.spec.Immediate = true
	first.plan()
	first.expect(rotation.Superseded, "")
	if got := first.texts(); got != "gamma beta" || first.seen.Keyring.Standing(candidate("alpha")) != keyring.IsRevoked {
		t.Errorf("secrets %q, or what a superseded rotation replaced can come back", got)
	}
}

// What people are told while the former secret is revoked: the provider has to switch.
func TestARevocationSaysWhatTheProviderMustDo(t *testing.T) {
	w := newWorld(t)
	w.spec.Immediate = true
	w.plan()
	if m := w.last.Message; !strings.Contains(m, "revoked then: let the provider sign with the new one as soon as Propagated is True") {
		t.Errorf("propagating: %q", m)
	}
	w.load(0, 1)
	w.plan()
	w.expect(rotation.Retiring, "")
	if m := w.last.Message; !strings.Contains(m, "let the provider sign with the new one now") || !w.last.Propagated {
		t.Errorf("retiring: %q, propagated %t", m, w.last.Propagated)
	}
	w.load(0, 1)
	w.plan()
	w.expect(rotation.Revoked, "")
	if m := w.last.Message; !strings.Contains(m, "what the provider still signs with it is refused") {
		t.Errorf("revoked: %q", m)
	}
}
