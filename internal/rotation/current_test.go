// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"testing"
	"time"

	"github.com/hookonce/hookonce/internal/rotation"
)

// repeat is a rotation to the secret that owned has made current.
func (w *world) repeat() *world {
	w2 := w.emergency(w.now)
	w2.spec.Immediate = false
	return w2
}

// A rotation to the secret that another one has just brought does not say that the former one is gone before it is.
func TestAlreadyCurrentWaitsForTheOverlapOfAnother(t *testing.T) {
	owned := newWorld(t).until(rotation.OverlapActive)
	w := owned.repeat()
	d := w.plan()
	w.expect(rotation.AlreadyCurrent, "")
	if !d.Propagated || d.PreviousRetired || d.Finished() || d.WakeAfter != intervals.Secret || !d.State.Ready() {
		t.Errorf("during the overlap: %+v", d)
	}
	owned.until(rotation.Retiring)
	if d := w.follow(owned).plan(); d.PreviousRetired || d.Finished() {
		t.Errorf("while receivers still have the former secret: %+v", d)
	}
	w.load(0, 1)
	if d := w.plan(); !d.PreviousRetired || !d.Finished() {
		t.Errorf("in the end: %+v", d)
	}
	w.expect(rotation.AlreadyCurrent, "")
}

// A rotation that found its secret current makes it current no second time when another secret follows.
func TestAlreadyCurrentIsSuperseded(t *testing.T) {
	owned := newWorld(t).until(rotation.OverlapActive)
	w := owned.repeat()
	w.plan()
	w.expect(rotation.AlreadyCurrent, "")
	older := owned.another("gamma")
	older.spec.Created = t0.Add(-time.Hour)
	w.follow(older.until(rotation.OverlapActive))
	w.seen.Siblings = append(w.seen.Siblings, siblingOf(older))
	if d := w.plan(); d.Keyring != nil || !d.Finished() {
		t.Errorf("after another secret became current: %+v", d)
	}
	w.expect(rotation.Superseded, "")
}

// Nor does it when its Secret goes, or holds something else, while it waits for the overlap.
func TestAlreadyCurrentNeedsItsSecretNoMore(t *testing.T) {
	for name, secret := range map[string]rotation.Secret{"Missing": missing, "Spoiled": spoiled, "Other": usable("delta")} {
		t.Run(name, func(t *testing.T) {
			owned := newWorld(t).until(rotation.OverlapActive)
			w := owned.repeat()
			w.plan()
			w.seen.Secret = secret
			if d := w.plan(); d.Keyring != nil || !d.Propagated || d.Finished() {
				t.Errorf("during the overlap: %+v", d)
			}
			w.expect(rotation.AlreadyCurrent, "")
		})
	}
}

// What is created in one second takes its turn by name, and r9 is before r10.
func TestTurnsWithinOneSecond(t *testing.T) {
	for _, order := range [][2]string{
		{"payments-r9-0a", "payments-r10-0a"}, {"q4", "q10"}, {"a", "b"}, {"a", "a1"}, {"a1b2", "a1b10"}, {"a01", "a001"}, {"a2", "aa"},
	} {
		for i, name := range order {
			w := newWorld(t)
			w.spec.Name = name
			w.seen.Siblings = []rotation.Sibling{{UID: "uid-other", Name: order[1-i], Created: t0}}
			w.plan()
			if first := w.last.State == rotation.Propagating; first != (i == 0) {
				t.Errorf("%v: %s is %s", order, name, w.last.State)
			}
		}
	}
}

// The last use of a secret that has just been refused is exact: nobody will know it later.
func TestLastUseOfARefusedSecretIsExact(t *testing.T) {
	w := newWorld(t).until(rotation.OverlapActive)
	alpha := w.former().Fingerprint
	w.now = w.last.OverlapEnd.Add(-4 * time.Minute)
	w.seen.Receivers[0].LastUsed[alpha] = w.now
	shown := w.plan().LastOldUse
	w.now = w.last.OverlapEnd
	used := w.now.Add(-time.Second)
	w.seen.Receivers[1].LastUsed[alpha] = used
	if d := w.plan(); !d.LastOldUse.Equal(used) || d.LastOldUse.Equal(shown) {
		t.Errorf("last use %v, want %v; before the end it was %v", d.LastOldUse, used, shown)
	}
	w.load(0, 1)
	if d := w.plan(); !d.LastOldUse.Equal(used) || !d.Finished() {
		t.Errorf("last use in the end %v, want %v", d.LastOldUse, used)
	}
}
