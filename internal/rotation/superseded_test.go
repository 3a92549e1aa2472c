// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/rotation"
)

// another is a second rotation of the same endpoint, in a world of its own with the keyring shared by hand.
func (w *world) another(name string) *world {
	w2 := *w
	w2.spec = spec(name)
	w2.spec.Created = w.now
	w2.seen.Secret = usable(name)
	w2.seen.Recorded = rotation.Recorded{}
	return &w2
}

// follow lets w see what the operator wrote for another rotation.
func (w *world) follow(other *world) *world {
	w.seen.Keyring, w.seen.Receivers, w.now = other.seen.Keyring, other.seen.Receivers, other.now
	return w
}

func TestStackedRotationsKeepTheirOwnDeadlines(t *testing.T) {
	first := newWorld(t).until(rotation.OverlapActive)
	alphaEnd := first.last.OverlapEnd
	first.to(time.Hour)
	second := first.another("gamma").until(rotation.OverlapActive)
	if got := second.texts(); got != "gamma beta alpha" {
		t.Fatalf("secrets %q", got)
	}
	betaEnd := second.last.OverlapEnd
	if !betaEnd.After(alphaEnd) {
		t.Fatalf("alpha until %v, beta until %v", alphaEnd, betaEnd)
	}

	d := first.follow(second).plan()
	first.expect(rotation.Superseded, "")
	if d.Keyring != nil || d.Finished() || !d.OverlapActive || !d.OverlapEnd.Equal(alphaEnd) || !d.State.Ready() {
		t.Errorf("the first rotation: %+v", d)
	}
	// The superseded rotation brings its own former secret to its end, and only that.
	first.now = alphaEnd
	first.plan()
	if got := first.texts(); got != "gamma beta" {
		t.Errorf("secrets %q", got)
	}
	first.load(0, 1)
	d = first.plan()
	first.expect(rotation.Superseded, "")
	if !d.Finished() || !d.PreviousRetired {
		t.Errorf("the first rotation in the end: %+v", d)
	}
	second.follow(first).now = betaEnd
	second.plan()
	second.expect(rotation.Retiring, "")
	if got := second.texts(); got != "gamma" {
		t.Errorf("secrets %q", got)
	}
}

func TestARevert(t *testing.T) {
	first := newWorld(t).until(rotation.OverlapActive)
	first.to(time.Minute)
	back := first.another("back")
	back.seen.Secret = usable("alpha")
	back.plan()
	back.expect(rotation.Propagating, "")
	if got := back.texts(); got != "alpha beta" {
		t.Errorf("secrets %q", got)
	}
	if !back.seen.Keyring.Current.NotAfter.IsZero() {
		t.Error("alpha still has a deadline")
	}
	d := first.follow(back).plan()
	first.expect(rotation.Superseded, "")
	if !d.Finished() || !d.OverlapEnd.IsZero() || d.Keyring != nil {
		t.Errorf("the reverted rotation: %+v", d)
	}
}

func TestARotationThatIsSupersededWhileItPropagates(t *testing.T) {
	first := newWorld(t)
	first.plan()
	first.to(rotation.OverdueAfter)
	second := first.another("gamma")
	second.plan()
	if got := second.texts(); got != "gamma beta alpha" {
		t.Fatalf("secrets %q", got)
	}
	first.follow(second).plan()
	first.expect(rotation.Superseded, "")
	if first.former().Final {
		t.Error("the first overlap was counted before its secret was everywhere")
	}
	first.to(10*time.Minute).load(0, 1)
	first.plan()
	first.expect(rotation.Superseded, "")
	if want := t0.Add(10*time.Minute + day); !first.former().NotAfter.Equal(want) || !first.last.Propagated {
		t.Errorf("alpha until %v, want %v", first.former().NotAfter, want)
	}
}

func TestRevocationOfASupersededRotation(t *testing.T) {
	first := newWorld(t).until(rotation.OverlapActive)
	first.to(time.Minute)
	second := first.another("gamma").until(rotation.OverlapActive)
	first.follow(second).spec.Immediate = true
	first.plan()
	if got := first.texts(); got != "gamma beta" {
		t.Errorf("secrets %q", got)
	}
	if first.seen.Keyring.Standing(candidate("alpha")) != keyring.IsRevoked {
		t.Error("alpha is not revoked")
	}
}

func TestEvictionIsSaid(t *testing.T) {
	w := newWorld(t)
	for i, name := range []string{"beta", "gamma", "delta", "epsilon"} {
		w = w.another(name)
		w.plan()
		if got, want := len(w.last.Evicted), max(0, i-2); got != want {
			t.Errorf("%s: %d evicted, want %d", name, got, want)
		}
		w.load(0, 1)
		w.plan()
	}
	if got := w.texts(); got != "epsilon delta gamma beta" {
		t.Errorf("secrets %q", got)
	}
}
