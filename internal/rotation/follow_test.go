// Copyright 2026 The Hookonce Authors.
// SPDX-License-Identifier: Apache-2.0

package rotation_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hookonce/hookonce/internal/keyring"
	"github.com/hookonce/hookonce/internal/rotation"
)

const day = 24 * time.Hour

// The usual way, with each keyring on it.
func TestARotationFromStartToEnd(t *testing.T) {
	w := newWorld(t)
	w.plan()
	w.expect(rotation.Propagating, "")

	w.to(time.Minute).load(0)
	if d := w.plan(); d.Keyring != nil || d.Updated != 1 || d.Ready != 2 || d.WakeAfter != intervals.Propagation {
		t.Errorf("one of two receivers: %+v", d)
	}
	w.expect(rotation.Propagating, "")

	w.to(90*time.Second).load(0, 1)
	d := w.plan()
	w.expect(rotation.OverlapActive, "")
	end := t0.Add(90*time.Second + day)
	if f := w.former(); !f.NotAfter.Equal(end) || !f.Final || !d.OverlapEnd.Equal(end) || !d.PropagatedTime.Equal(t0.Add(90*time.Second)) {
		t.Errorf("overlap until %v, said %v, propagated %v", f.NotAfter, d.OverlapEnd, d.PropagatedTime)
	}
	if !d.Propagated || !d.OverlapActive || d.PreviousRetired || d.WakeAfter != intervals.Status {
		t.Errorf("in the overlap: %+v", d)
	}

	w.now = end.Add(-3 * time.Second)
	if d := w.plan(); d.Keyring != nil || d.WakeAfter != 3*time.Second {
		t.Errorf("three seconds before the end: %+v", d)
	}
	w.now = end
	d = w.plan()
	w.expect(rotation.Retiring, "")
	if got := w.texts(); got != "beta" || d.OverlapActive || !d.Propagated || d.PreviousRetired {
		t.Errorf("at the end: secrets %q, %+v", got, d)
	}
	w.now = end.Add(time.Minute)
	w.load(0, 1)
	d = w.plan()
	w.expect(rotation.Completed, "")
	if !d.PreviousRetired || !d.Completion.Equal(w.now) || !d.OverlapEnd.Equal(end) || d.WakeAfter != 0 {
		t.Errorf("completed: %+v", d)
	}
	w.now = end.Add(time.Hour)
	if again := w.plan(); !again.Completion.Equal(d.Completion) || again.Keyring != nil || again.Message != d.Message {
		t.Errorf("a finished rotation changes: %+v", again)
	}
}

// Receivers that are waited for, and such that are not.
func TestPropagationWaitsForReadyReceivers(t *testing.T) {
	cases := map[string]struct {
		arrange func(*world)
		state   rotation.State
		reason  string
	}{
		"all have it":         {func(w *world) { w.load(0, 1) }, rotation.OverlapActive, ""},
		"one has the former":  {func(w *world) { w.load(0) }, rotation.Propagating, ""},
		"one does not answer": {func(w *world) { w.load(0, 1); w.seen.Receivers[1].Answered = false }, rotation.Propagating, ""},
		"the one without it is not ready": {
			func(w *world) { w.load(0); w.seen.Receivers[1].Ready = false }, rotation.OverlapActive, "",
		},
		"none is ready": {
			func(w *world) { w.load(0, 1); w.seen.Receivers[0].Ready, w.seen.Receivers[1].Ready = false, false },
			rotation.Propagating, rotation.NoReadyReceivers,
		},
		"none is there": {func(w *world) { w.seen.Receivers = nil }, rotation.Propagating, rotation.NoReadyReceivers},
		"one has a keyring of another time": {
			func(w *world) {
				w.load(0, 1)
				w.seen.Receivers[1].Revision = 99
				w.seen.Receivers[1].LastUsed = map[string]time.Time{"of another salt": {}}
			},
			rotation.Propagating, "",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.plan()
			w.to(time.Minute)
			c.arrange(w)
			w.plan()
			w.expect(c.state, c.reason)
		})
	}
}

func TestALatePropagationIsOverdueAndMovesTheCeiling(t *testing.T) {
	w := newWorld(t)
	w.plan()
	w.to(rotation.OverdueAfter).load(0)
	d := w.plan()
	w.expect(rotation.Propagating, rotation.PropagationOverdue)
	if d.Keyring != nil || d.WakeAfter != intervals.Status {
		t.Errorf("overdue: %+v", d)
	}
	if w.to(30*time.Minute).plan().Keyring != nil {
		t.Error("the ceiling moved though the overlap fits below it with half an hour to spare")
	}
	if w.to(30*time.Minute+time.Second).plan().Keyring == nil {
		t.Error("the ceiling did not move")
	}
	if want := w.now.Add(25 * time.Hour); !w.former().NotAfter.Equal(want) {
		t.Errorf("ceiling %v, want %v", w.former().NotAfter, want)
	}
	// Receivers that load the moved ceiling, or only the keyring before it, have the new secret.
	w.load(1)
	w.plan()
	w.expect(rotation.OverlapActive, "")
}

func TestACeilingThatPassesEndsTheFormerSecretForGood(t *testing.T) {
	w := newWorld(t)
	w.plan()
	w.load(0)
	w.to(26 * time.Hour) // no operator looked for longer than overlap and slack
	w.plan()
	w.expect(rotation.Propagating, rotation.PropagationOverdue)
	if got := w.texts(); got != "beta" || w.last.OverlapActive {
		t.Errorf("secrets %q, overlap %t", got, w.last.OverlapActive)
	}
	w.load(0, 1)
	d := w.plan()
	w.expect(rotation.Completed, "")
	if !d.PropagatedTime.Equal(w.now) {
		t.Errorf("propagated %v", d.PropagatedTime)
	}
}

// Near a ceiling a leader whose clock is behind cannot know whether receivers refuse the secret already.
func TestASlowClockResurrectsNothing(t *testing.T) {
	for name, loaded := range map[string]bool{"receivers lag": false, "receivers have it": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.plan()
			if loaded {
				w.load(0, 1)
			}
			end := w.former().NotAfter
			w.now = end.Add(-9 * time.Minute)
			w.plan()
			if got := w.former().NotAfter; !got.Equal(end) {
				t.Errorf("the deadline moved from %v to %v", end, got)
			}
		})
	}
}

// Edits of the spec: what they do while both secrets are accepted.
func TestEdits(t *testing.T) {
	propagated := t0.Add(2 * time.Second) // see until
	cases := map[string]struct {
		after time.Duration
		edit  func(*rotation.Spec)
		state rotation.State
		end   time.Time
	}{
		"nothing":                       {time.Hour, func(*rotation.Spec) {}, rotation.OverlapActive, propagated.Add(day)},
		"shortened":                     {time.Hour, func(s *rotation.Spec) { s.Overlap = 2 * time.Hour }, rotation.OverlapActive, propagated.Add(2 * time.Hour)},
		"shortened below what passed":   {3 * time.Hour, func(s *rotation.Spec) { s.Overlap = 2 * time.Hour }, rotation.Retiring, t0.Add(3 * time.Hour)},
		"shortened to nothing":          {time.Hour, func(s *rotation.Spec) { s.Overlap = 0 }, rotation.Retiring, t0.Add(time.Hour)},
		"lengthened":                    {time.Hour, func(s *rotation.Spec) { s.Overlap = 2 * day }, rotation.OverlapActive, propagated.Add(2 * day)},
		"lengthened after the deadline": {25 * time.Hour, func(s *rotation.Spec) { s.Overlap = 7 * day }, rotation.Retiring, propagated.Add(day)},
		"a cap":                         {time.Hour, func(s *rotation.Spec) { s.PreviousNotAfter = t0.Add(4 * time.Hour) }, rotation.OverlapActive, t0.Add(4 * time.Hour)},
		"a cap beyond the overlap":      {time.Hour, func(s *rotation.Spec) { s.PreviousNotAfter = t0.Add(9 * day) }, rotation.OverlapActive, propagated.Add(day)},
		"a cap in the past":             {time.Hour, func(s *rotation.Spec) { s.PreviousNotAfter = t0 }, rotation.Retiring, t0.Add(time.Hour)},
		"revoked":                       {time.Hour, func(s *rotation.Spec) { s.Immediate = true }, rotation.Retiring, t0.Add(time.Hour)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).until(rotation.OverlapActive)
			w.to(c.after)
			c.edit(&w.spec)
			d := w.plan()
			w.expect(c.state, "")
			if !d.OverlapEnd.Equal(c.end) {
				t.Errorf("overlap ends %v, want %v", d.OverlapEnd, c.end)
			}
			if c.state == rotation.OverlapActive && !w.former().NotAfter.Equal(c.end) {
				t.Errorf("enforced %v, want %v", w.former().NotAfter, c.end)
			}
			if c.state == rotation.Retiring && w.texts() != "beta" {
				t.Errorf("secrets %q", w.texts())
			}
			if w.plan().Keyring != nil {
				t.Error("a second look writes again")
			}
		})
	}
}

// The ways in which a former secret's time is bounded from the beginning.
func TestBounds(t *testing.T) {
	cases := map[string]struct {
		edit                    func(*rotation.Spec)
		provisional, propagated string
		notAfter                time.Time
		tombstone               string
	}{
		"no overlap": {
			func(s *rotation.Spec) { s.Overlap = 0 }, "beta alpha", "beta", t0.Add(time.Hour), keyring.Expired,
		},
		"immediate": {
			func(s *rotation.Spec) { s.Immediate = true }, "beta alpha", "beta", t0.Add(time.Hour), keyring.Revoked,
		},
		"cap before the end of the overlap": {
			func(s *rotation.Spec) { s.PreviousNotAfter = t0.Add(time.Hour) }, "beta alpha", "beta alpha", t0.Add(time.Hour), "",
		},
		"cap in the past": {
			func(s *rotation.Spec) { s.PreviousNotAfter = t0.Add(-time.Hour) }, "beta", "beta", time.Time{}, keyring.Expired,
		},
		"cap in the past, immediate": {
			func(s *rotation.Spec) { s.PreviousNotAfter, s.Immediate = t0.Add(-time.Hour), true }, "beta", "beta", time.Time{}, keyring.Revoked,
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.edit(&w.spec)
			w.plan()
			w.expect(rotation.Propagating, "")
			if got := w.texts(); got != c.provisional {
				t.Errorf("at first: secrets %q, want %q", got, c.provisional)
			}
			if !c.notAfter.IsZero() && !w.former().NotAfter.Equal(c.notAfter) {
				t.Errorf("at first until %v, want %v", w.former().NotAfter, c.notAfter)
			}
			w.to(time.Minute).load(0, 1)
			w.plan()
			if got := w.texts(); got != c.propagated {
				t.Errorf("propagated: secrets %q, want %q", got, c.propagated)
			}
			if !w.last.Propagated {
				t.Error("not propagated")
			}
			if c.tombstone == "" {
				return
			}
			tombstone, ok := w.seen.Keyring.RetiredBy(w.spec.UID)
			if !ok || tombstone.Reason != c.tombstone {
				t.Errorf("tombstone %t %q, want %q", ok, tombstone.Reason, c.tombstone)
			}
		})
	}
}

// A leader that restarts, with or without the status of the one before, decides the same: no deadline moves.
func TestRestartsMoveNothing(t *testing.T) {
	for _, state := range []rotation.State{rotation.Propagating, rotation.OverlapActive, rotation.Retiring} {
		for name, forget := range map[string]func(*world){
			"status kept":        func(*world) {},
			"status lost":        func(w *world) { w.seen.Recorded = rotation.Recorded{} },
			"Secret gone":        func(w *world) { w.seen.Secret = rotation.Secret{Reason: "SecretNotFound", Problem: "gone"} },
			"clock 5 min behind": func(w *world) { w.now = w.now.Add(-5 * time.Minute) },
		} {
			t.Run(string(state)+"/"+name, func(t *testing.T) {
				w := newWorld(t).until(state)
				before, ring := w.last, w.seen.Keyring
				w.now = w.now.Add(10 * time.Second)
				forget(w)
				after := w.plan()
				if after.Keyring != nil || w.seen.Keyring != ring {
					t.Fatal("the keyring was written")
				}
				if after.State != state || !after.Start.Equal(before.Start) || !after.OverlapEnd.Equal(before.OverlapEnd) ||
					!after.PropagatedTime.Equal(before.PropagatedTime) || after.Current != before.Current && after.Current != "" {
					t.Errorf("before %+v\nafter  %+v", before, after)
				}
			})
		}
	}
}

func TestASuspendedEndpointIsLeftAlone(t *testing.T) {
	w := newWorld(t).until(rotation.OverlapActive)
	end := w.last.OverlapEnd
	w.seen.EndpointSuspended = true
	w.now = end
	d := w.plan()
	w.expect(rotation.Retiring, "")
	if d.Keyring != nil || d.OverlapActive {
		t.Errorf("suspended: %+v", d)
	}
	w.seen.EndpointSuspended = false
	w.plan()
	if got := w.texts(); got != "beta" {
		t.Errorf("secrets %q", got)
	}
}

func TestLastOldUse(t *testing.T) {
	w := newWorld(t).until(rotation.OverlapActive)
	alpha := w.former().Fingerprint
	use := func(receiver int, at time.Time) { w.seen.Receivers[receiver].LastUsed[alpha] = at }
	look := func(want time.Time) {
		t.Helper()
		if got := w.plan().LastOldUse; !got.Equal(want) {
			t.Errorf("last use %v, want %v", got, want)
		}
	}
	look(time.Time{})
	w.to(2 * time.Minute)
	use(0, t0.Add(90*time.Second))
	use(1, t0.Add(70*time.Second))
	look(t0.Add(90 * time.Second)) // the first use, as the receiver says it: a rotation is not older than what it changed
	w.to(5 * time.Minute)
	use(0, t0.Add(4*time.Minute+50*time.Second))
	look(t0.Add(90 * time.Second)) // in use: not every delivery is a write
	w.to(10 * time.Minute)
	look(t0.Add(4*time.Minute + 50*time.Second)) // not in use any more: the last use counts
	use(1, t0.Add(9*time.Minute+50*time.Second))
	look(t0.Add(9*time.Minute + 50*time.Second))
	w.seen.Receivers[1].LastUsed = map[string]time.Time{} // restarted
	look(t0.Add(9*time.Minute + 50*time.Second))
}

func TestALostKeyring(t *testing.T) {
	w := newWorld(t).until(rotation.OverlapActive)
	w.seen.Keyring = nil
	w.plan()
	w.expect(rotation.Pending, rotation.KeyringNotFound)

	made := candidate("beta")
	made.Rotation = ""
	w.seen.Keyring, _, _ = adopted(t).Promote(made, w.now, w.now)
	w.seen.Keyring = w.seen.Keyring.Retire(w.now)
	d := w.plan()
	w.expect(rotation.Completed, rotation.KeyringLost)
	if !d.Propagated || !d.PreviousRetired || !d.OverlapEnd.IsZero() {
		t.Errorf("%+v", d)
	}
	if diff := cmp.Diff(recorded(d), recorded(w.plan())); diff != "" {
		t.Errorf("a second look (-first +second):\n%s", diff)
	}
}
